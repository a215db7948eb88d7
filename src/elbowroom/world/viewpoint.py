"""The side to look from when nobody says which: the usual one, unless another shows much more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elbowroom.geometry.framing import axes_towards
from elbowroom.geometry.rotations import Array
from elbowroom.world.extent import joint_transforms
from elbowroom.world.visibility import seen_from
from elbowroom.world.world import World

# Azimuths that are tried, degrees, the usual one first; straight behind people is no view of what they do.
USUAL = float(np.radians(38.0))
_SIDES = np.radians([38.0, -38.0, 70.0, -70.0, 95.0, -95.0, 120.0, -120.0, 145.0, -145.0])
# How much more must be seen, as a share: to leave the usual side, to turn by half a turn, to rise by a right angle.
_LEAVING, _TURNING, _RISING = 0.05, 0.05, 0.15
_SAMPLES = 12
_STAYS = 1.0  # metres: who goes no further is looked at from one side, whatever moment is shown


def best_side(
    world: World,
    front: Array,
    elevations: Sequence[float],
    times: Array,
    *,
    only: Array | None = None,
    reach: float = 4.0,
) -> tuple[float, float]:
    """Azimuth from `front` (3,) and elevation, radians, from which most is seen at times (T,), or of `only` (T, 3).

    The first of the elevations is the usual one; `reach` in metres is how far away the eye is.
    """
    if only is None and len(world.characters) < 2 and not (world.static or world.objects):
        return USUAL, elevations[0]
    if only is None:
        times = _judged(world, times)
    else:
        picks = np.linspace(0, len(times) - 1, min(_SAMPLES, len(times))).round().astype(int)
        times, only = times[picks], only[picks]
    views = [(float(azimuth), elevation) for elevation in elevations for azimuth in _SIDES]
    backs = np.array([axes_towards(front, *view)[2] for view in views])
    seen = seen_from(world, times, backs, only=only, reach=reach)
    turned = np.array([abs(azimuth - USUAL) for azimuth, _ in views]) / np.pi
    risen = np.array([elevation - elevations[0] for _, elevation in views]) / (0.5 * np.pi)
    leaving = np.where(np.arange(len(views)) == 0, 0.0, _LEAVING)
    return views[int(np.argmax((seen - leaving - _TURNING * turned - _RISING * risen).round(6)))]


def _judged(world: World, times: Array) -> Array:
    """Times over which a side is judged: the whole motion where people stay, so that each moment looks the same way."""
    begin, end = world.span
    whole = np.linspace(begin, end, _SAMPLES) if end > begin else np.array([begin])
    roots = [joint_transforms(motion, whole)[:, 0, :2, 3] for motion in world.characters.values()]
    if all(float(np.linalg.norm(np.ptp(root, axis=0))) < _STAYS for root in roots):
        return whole
    return np.linspace(times[0], times[-1], min(_SAMPLES, len(times)))
