"""Distances between body parts over the frames of a motion, from their collision shapes; legs that pass too close.

Every shape is the hull of some balls. The separation along any direction is a lower bound of the distance of two hulls;
the best direction of each frame is found by sampling around the last best one, ever closer, which converges because
there is no other maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
import scipy

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.transforms import apply
from elbowroom.kernels.hulls import separate
from elbowroom.locomotion.figure import SIDES, Figure

_SPREADS: Array = 0.7 * 0.62 ** np.arange(10, dtype=float)  # spread of sampled directions, tangents
_FAN: Array = np.arange(7, dtype=float) * 2.0 * np.pi / 7.0


@dataclass(frozen=True, eq=False)
class PartHull:
    """The hull of balls over N frames: centres (N, 3, P) and radii (P,), metres."""

    centers: Array
    radii: Array

    @cached_property
    def middle(self) -> Array:
        """Middle of each frame, (N, 3)."""
        return np.asarray(self.centers.mean(axis=2))

    @cached_property
    def bound(self) -> Array:
        """Radius around the middle of each frame that contains everything, (N,)."""
        reach = np.linalg.norm(self.centers - self.middle[..., None], axis=1) + self.radii
        return np.asarray(reach.max(axis=1))

    def extent(self, directions: Array) -> Array:
        """Extent along directions (N, K, 3), (N, K)."""
        return np.asarray((directions @ self.centers + self.radii).max(axis=2))


def part(character: Character, joints: tuple[int, ...], T: Array, *, own: bool = True) -> PartHull | None:
    """The hull of all shapes of some joints, world transforms T (N, J, 4, 4); None without any.

    Shapes are those for tests against the body's `own` parts, or those for all others.
    """
    centers, radii = [], []
    for met in character.shapes:
        shape = met.own or met if own else met
        if shape.joint in joints:
            points, radius = _balls(shape)
            local = apply(shape.T_joint_shape, points)
            at = T[:, shape.joint]
            centers.append(at[:, :3, :3] @ local.T + at[:, :3, 3:])
            radii.append(np.full(len(points), radius))
    return PartHull(np.concatenate(centers, axis=2), np.concatenate(radii)) if centers else None


def lowest(character: Character, joints: Sequence[int], T: Array) -> Array | None:
    """Height (N,) of the lowest point of all shapes of some joints, world transforms T (N, J, 4, 4); None without
    any.
    """
    each = []
    for shape in character.shapes:
        if shape.joint in joints:
            points, radius = _balls(shape)
            up = T[:, shape.joint, 2]
            each.append((up[:, :3] @ apply(shape.T_joint_shape, points).T).min(axis=1) + up[:, 3] - radius)
    return np.min(each, axis=0) if each else None


def gap(a: PartHull, b: PartHull, enough: float) -> tuple[Array, Array]:
    """Distance (N,) of two parts, metres, negative where they overlap, and its direction (N, 3) from a to b.

    From `enough` on, it may be any number from that to their distance.
    """
    line = b.middle - a.middle
    value = np.linalg.norm(line, axis=1) - a.bound - b.bound
    best = normalize(line)
    separate(a.centers, a.radii, b.centers, b.radii, _SPREADS, _FAN, enough, value, best)
    return value, best


def _balls(shape: Shape) -> tuple[Array, float]:
    """Centres (P, 3) in the shape's frame and radius of the balls whose hull a shape is."""
    if shape.kind == "mesh" and shape.mesh is not None:
        return shape.mesh.vertices, 0.0
    if shape.kind == "box":
        return np.stack(np.meshgrid(*([-1.0, 1.0],) * 3), axis=-1).reshape(-1, 3) * shape.size, 0.0
    ends = [[0.0, 0.0, -shape.size[1]], [0.0, 0.0, shape.size[1]]] if shape.kind == "capsule" else [[0.0, 0.0, 0.0]]
    return np.array(ends), float(shape.size[0])


# metres between the legs, walking, and running, where they move farther between two samples
MARGIN, MARGIN_RUNNING = 0.004, 0.009
_RATE = 60.0  # samples per second
_ENOUGH = 0.4  # share of the margin that may be missing
_AROUND = 0.6  # seconds: the steps around a close pass are made wider
_SOFT = 0.15  # seconds
_SEGMENTS = (("thigh",), ("shin",), ("foot", "toes"))


def too_close(figure: Figure, turns: dict[str, Array], root: Array, rate: float, margin: float) -> Array:
    """Shortfall of the margin between the legs, metres (N,), around frames that have one.

    turns: (N, 4) or (4,) by role, root (N, 3), at `rate` frames per second.
    """
    step = max(1, round(rate / _RATE))
    samples = np.arange(0, len(root), step)
    seen = {role: q[samples] if q.ndim == 2 else q for role, q in turns.items()}
    where, local = figure.assemble(seen, root[samples])
    character = figure.character
    T = character.skeleton.forward(where, local)
    missing = np.zeros(len(samples))
    pairs = _pairs(character)
    parts = {
        joints: part(character, joints, T) for joints in dict.fromkeys(joints for pair in pairs for joints in pair)
    }
    for one, other in pairs:
        a, b = parts[one], parts[other]
        if a is not None and b is not None:
            missing = np.maximum(missing, margin - gap(a, b, margin)[0])
    if missing.max(initial=0.0) < _ENOUGH * margin:
        return np.zeros(len(root))
    fps = rate / step
    missing = scipy.ndimage.maximum_filter1d(missing, 2 * round(_AROUND * fps) + 1)
    return np.interp(
        np.arange(len(root)), samples, scipy.ndimage.gaussian_filter1d(missing, _SOFT * fps, mode="nearest")
    )


@lru_cache(maxsize=32)
def _pairs(character: Character) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Joints of segments of both legs that can collide, without thighs that overlap at rest."""
    rest = character.skeleton.T_rest[None]
    legs = [[tuple(character.roles.get(f"{side}_{p}", -1) for p in names) for names in _SEGMENTS] for side in SIDES]
    found = []
    for (i, one), (k, other) in product(enumerate(legs[0]), enumerate(legs[1])):
        a, b = part(character, one, rest), part(character, other, rest)
        if abs(i - k) < 2 and a is not None and b is not None and gap(a, b, MARGIN)[0][0] > 0.0:
            found.append((one, other))
    return found
