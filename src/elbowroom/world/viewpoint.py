"""Place of a camera: its side, the default one unless another shows more, and the nearest eye that sees all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elbowroom.geometry.rotations import Array, normalize
from elbowroom.world.extent import joint_transforms
from elbowroom.world.visibility import REACH, seen_from
from elbowroom.world.world import World


def axes_towards(front: Array, azimuth: float, elevation: float) -> Array:
    """Right, up and back (rows, (3, 3)) of an eye that looks at something facing `front` (3,).

    `azimuth` counts about +Z from `front`, `elevation` above the horizon, radians.
    """
    heading = np.arctan2(front[1], front[0]) + azimuth
    back = np.array([np.cos(heading) * np.cos(elevation), np.sin(heading) * np.cos(elevation), np.sin(elevation)])
    right = np.array([-np.sin(heading), np.cos(heading), 0.0])
    return np.stack([right, normalize(np.cross(back, right)), back])


def nearest_eye(points: Array, axes: Array, slopes: Array) -> Array:
    """The nearest eye (3,) that looks along -`axes[2]` and sees all points (N, 3).

    `slopes` (2,) are the tangents of half the view's angles across its width and its height. Each side of the
    view is a plane through the eye, so the eye follows from four maxima.
    """
    local = points @ axes.T
    across, depth = local[:, :2] / slopes, local[:, 2:]
    high = (across + depth).max(axis=0)
    low = (depth - across).max(axis=0)
    return np.array([*(0.5 * slopes * (high - low)), np.max(0.5 * (high + low))]) @ axes


# Azimuths from the front that are tried, all round, the usual one first.
USUAL = float(np.radians(38.0))
_SIDES = USUAL + 2.0 * np.pi * np.arange(24) / 24
# How much more must be seen, as a share: to leave the usual side at all, and to look from straight behind.
_LEAVING, _BEHIND = 0.05, 0.15
# Share that must be seen where walls are not cut open, and how much more for each step up.
_ENOUGH, _HIGHER = 0.6, 0.05
_SAMPLES = 12
_STAYS = 1.0  # metres: a character that goes no further is shown from one side at all times


def best_azimuth(
    world: World, front: Array, elevation: float, times: Array, *, only: Array | None = None, reach: float = REACH
) -> float:
    """Azimuth from `front` (3,), radians, from which most is seen at times (T,) in seconds, or of `only` (T, 3).

    It is the usual three-quarter view unless people, what they do and what they handle are hidden from there. The eye
    is `reach` metres away.
    """
    if only is None:
        if len(world.characters) < 2 and not (world.static or world.objects):
            return USUAL
        times = _judged(world, times)
    else:
        picks = np.linspace(0, len(times) - 1, min(_SAMPLES, len(times))).round().astype(int)
        times, only = times[picks], only[picks]
    worth = _seen(world, front, elevation, times, only, reach, cut_open=True) - _cost()
    return float(_SIDES[int(np.argmax(worth.round(6)))])


def open_side(
    world: World, front: Array, elevations: Sequence[float], times: Array, reach: float
) -> tuple[float, float]:
    """Azimuth and elevation, radians, for an eye `reach` metres away to which walls are not cut open.

    It is the best azimuth at the first elevation, unless walls hide too much of the action there.
    """
    times = times[np.linspace(0, len(times) - 1, min(_SAMPLES, len(times))).round().astype(int)]
    azimuth = best_azimuth(world, front, elevations[0], times)
    back = axes_towards(front, azimuth, elevations[0])[2]
    if float(seen_from(world, times, back[None], reach=reach, cut_open=False)[0]) >= _ENOUGH:
        return azimuth, elevations[0]
    worth = [
        _seen(world, front, rise, times, None, reach, cut_open=False) - _cost() - k * _HIGHER
        for k, rise in enumerate(elevations)
    ]
    rise, side = divmod(int(np.argmax(worth)), len(_SIDES))
    return float(_SIDES[side]), elevations[rise]


def _seen(
    world: World, front: Array, elevation: float, times: Array, only: Array | None, reach: float, *, cut_open: bool
) -> Array:
    """Visible share from each of the sides, 0..1."""
    backs = np.array([axes_towards(front, azimuth, elevation)[2] for azimuth in _SIDES])
    seen = seen_from(world, times, backs, only=only, reach=reach, cut_open=cut_open)
    # A point seen past an edge is hidden from slightly further aside, and a near eye looks at all angles.
    return 0.25 * np.roll(seen, 1) + 0.5 * seen + 0.25 * np.roll(seen, -1)


def _cost() -> Array:
    """Additional visibility over the default side required of each side to be chosen."""
    return np.where(_SIDES == USUAL, 0.0, _LEAVING) + _BEHIND * 0.5 * (1.0 - np.cos(_SIDES))


def _judged(world: World, times: Array) -> Array:
    """Times over which a side is judged: the whole motion where people stay, so that each moment looks the same way."""
    begin, end = world.span
    whole = np.linspace(begin, end, _SAMPLES) if end > begin else np.array([begin])
    roots = [joint_transforms(motion, whole)[:, 0, :2, 3] for motion in world.characters.values()]
    if all(float(np.linalg.norm(np.ptp(root, axis=0))) < _STAYS for root in roots):
        return whole
    return np.linspace(times[0], times[-1], min(_SAMPLES, len(times)))
