"""What a report measures, worked out in another way: sums over segments, differences over time, plain geometry.

Nothing here uses the report, Pinocchio, or the detection of stance phases. Whether a foot bears is told by whether it
lies still near its lowest, which is right for clips as they were recorded, and only for those.
"""

from __future__ import annotations

import numpy as np
from scipy.signal import butter, filtfilt
from scipy.spatial import ConvexHull

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.transforms import apply
from elbowroom.motion.clip import Clip
from elbowroom.motion.soles import soles

GRAVITY = np.array([0.0, 0.0, 9.80665])
# Low-pass of gait laboratories, hertz.
_BELOW = 6.0
# A recorded foot bears while its slowest point is slower than this, m/s, and its lowest is at most this far over the
# lowest that it gets in a second before and after, metres.
_SLOW, _LOW = 0.5, 0.06
# A foot lies flat while no point of its sole is higher than this over the lowest that it gets in the step, metres.
_FLAT = 0.04
# Forces below 6 Hz pass from foot to foot within about this time, seconds.
_BLUR = 0.08


def _smooth(values: Array, fps: float) -> Array:
    b, a = butter(2, _BELOW, fs=fps)
    return np.asarray(filtfilt(b, a, values, axis=0, padlen=min(len(values) - 1, round(0.25 * fps) + 6)))


def _segments(clip: Clip) -> tuple[Array, Array, Array]:
    """Masses (J,), places (T, J, 3) and turns (T, J, 3, 3) of all segments."""
    masses = clip.character.masses
    assert masses is not None
    T = clip.world()
    return masses.mass, np.einsum("tjab,jb->tja", T[..., :3, :3], masses.center) + T[..., :3, 3], T[..., :3, :3]


def center_of_mass(clip: Clip) -> Array:
    """Centre of mass (T, 3), metres."""
    mass, at, _ = _segments(clip)
    return np.asarray(np.einsum("j,tja->ta", mass, at) / mass.sum())


def zero_moment_point(clip: Clip, level: float | Array) -> Array:
    """Zero moment point (T, 2) at heights of the ground, metres, from the momenta of all segments; NaN where less than
    0.4 of the weight presses."""
    mass, at, R = _segments(clip)
    inertia_of = clip.character.masses.inertia if clip.character.masses is not None else np.zeros((len(mass), 3, 3))
    fps = clip.fps
    level = np.broadcast_to(np.asarray(level, dtype=float), len(at))
    at = _smooth(at, fps)
    speed = np.gradient(at, 1.0 / fps, axis=0)
    turn = rot.log(rot.from_matrix(np.einsum("tjab,tjcb->tjac", R[2:], R[:-2]))) * (0.5 * fps)
    spin = np.concatenate([turn[:1], turn, turn[-1:]])
    inertia = np.einsum("tjab,jbc,tjdc->tjad", R, inertia_of, R)
    own = _smooth(np.einsum("tjab,tjb->ta", inertia, spin), fps)
    momentum = np.einsum("j,tja->ta", mass, np.cross(at, speed)) + own
    moment = np.gradient(momentum, 1.0 / fps, axis=0) + np.einsum("j,tja->ta", mass, np.cross(at, GRAVITY))
    push = np.einsum("j,tja->ta", mass, np.gradient(speed, 1.0 / fps, axis=0)) + mass.sum() * GRAVITY
    pressed = np.where(push[:, 2] > 0.4 * mass.sum() * GRAVITY[2], push[:, 2], np.nan)
    x = (-moment[:, 1] + level * push[:, 0]) / pressed
    y = (moment[:, 0] + level * push[:, 1]) / pressed
    return np.stack([x, y], axis=-1)


def sole_points(clip: Clip) -> Array:
    """Points of both soles (T, P, 3), half of them of each foot: corners of what touches flat ground."""
    T, feet = clip.world(), []
    for sole in soles(clip.character):
        toes = sole.toes if sole.toes >= 0 else sole.foot
        parts = [apply(T[:, sole.foot], sole.outline), apply(T[:, toes], sole.toe_outline)]
        feet.append(np.concatenate(parts, axis=1))
    most = max(f.shape[1] for f in feet)
    return np.concatenate([np.pad(f, ((0, 0), (0, most - f.shape[1]), (0, 0)), mode="edge") for f in feet], axis=1)


def bearing(clip: Clip) -> Array:
    """Whether the left and the right foot bear (T, 2), of a clip as it was recorded."""
    points, fps = sole_points(clip), clip.fps
    out = []
    for mine in np.split(points, 2, axis=1):
        slowest = np.linalg.norm(np.gradient(_smooth(mine, fps), 1.0 / fps, axis=0), axis=-1).min(axis=1)
        low = mine[..., 2].min(axis=1)
        near = round(fps)
        lowest = np.array([low[max(t - near, 0) : t + near + 1].min() for t in range(len(low))])
        out.append((slowest < _SLOW) & (low - lowest < _LOW))
    return np.stack(out, axis=1)


def zmp_margin(clip: Clip, level: float) -> Array:
    """How far the zero moment point (T,) is inside of the feet that bear shortly before or after, metres; NaN where
    there is none, or within the first and last 0.25 s."""
    points, on, zmp = sole_points(clip), bearing(clip), zero_moment_point(clip, level)
    halves, around = np.split(points, 2, axis=1), round(_BLUR * clip.fps)
    out = np.full(len(points), np.nan)
    edge = round(0.25 * clip.fps)
    for t in range(edge, len(points) - edge):
        near = range(max(t - around, 0), min(t + around + 1, len(points)))
        under = [half[k, :, :2] for foot, half in enumerate(halves) for k in near if on[k, foot]]
        if under and np.isfinite(zmp[t, 0]):
            out[t] = inside_by(np.concatenate(under), zmp[t])
    return out


def inside_by(points: Array, at: Array) -> float:
    """How far a place (2,) is inside of the hull of points (N, 2), metres, negative outside."""
    corners = points[ConvexHull(points).vertices]
    a, b = corners, np.roll(corners, -1, axis=0)
    along = b - a
    s = np.clip(np.einsum("ka,ka->k", at - a, along) / np.einsum("ka,ka->k", along, along), 0.0, 1.0)
    far = float(np.linalg.norm(a + s[:, None] * along - at, axis=-1).min())
    left = along[:, 0] * (at - a)[:, 1] - along[:, 1] * (at - a)[:, 0]
    return far if bool((left >= 0.0).all()) else -far


def furthest_slide(clip: Clip) -> float:
    """Furthest that a whole foot moves along the floor while it bears and lies flat, metres, of a clip as it was
    recorded: the greatest distance between two places of that point of the sole that stays best."""
    on, furthest = bearing(clip), 0.0
    for mine, down in zip(np.split(sole_points(clip), 2, axis=1), on.T, strict=True):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], down.astype(int), [0]])))
        for first, end in edges.reshape(-1, 2):
            step = mine[first:end]
            flat = (step[..., 2] - step[..., 2].min(axis=0)).max(axis=1) < _FLAT
            if flat.sum() > 1:
                way = step[flat][:, :, :2]
                far = [
                    float(np.linalg.norm(way[:, None, p] - way[None, :, p], axis=-1).max()) for p in range(way.shape[1])
                ]
                furthest = max(furthest, min(far))
    return furthest


def corners_of(shape: Shape) -> tuple[Array, float]:
    """Points (N, 3) of a convex shape, in its frame, of which one is the furthest out in any direction, and how much
    further it gets."""
    if shape.kind == "mesh":
        assert shape.mesh is not None
        return shape.mesh.vertices, 0.0
    if shape.kind == "box":
        return shape.size * np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), axis=-1).reshape(-1, 3), 0.0
    return shape.size[1] * np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]), float(shape.size[0])
