"""Whether frames of a known way are free, as quickly as that can be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.tasks.repair_near import RATE
from elbowroom.tasks.repair_stretch import MARGIN, TIGHT
from elbowroom.tasks.repair_ways import KnownWay
from elbowroom.world.fast import BAND, HIT, LimbCheck
from elbowroom.world.paths import Still
from elbowroom.world.world import World

# One in so many frames is looked at first; so many doubts are looked at closely where it need not be sure.
_FEWER, _DOUBTS = 5, 5
# Metres that are far from everybody.
_FAR = 1e3


def without(
    world: World, way: KnownWay, below: Array, times: Array, rows: NDArray[np.int64], moved: Sequence[str]
) -> tuple[float, NDArray[np.bool_]]:
    """How the motion below a way (F, n, 4) is without what is moved: the clearance that it keeps where the way leads,
    and which of its frames are not that free. Hands that put things down come very near to others, and feet stand on
    the floor; that is nothing to go aside for."""
    led = (rows > way.first) & (rows < way.first + len(way.turns) - 1)
    span, far = (float(times[0]), float(times[-1])), _far_away(world, moved)
    for margin in (MARGIN, TIGHT, 0.0):
        check = LimbCheck(far, way.planned.who, way.joints, span, rate=RATE, margin=margin)
        free = check.free_batch(below, times)
        if free[led].all():
            break
    return margin, ~free


def _far_away(world: World, moved: Sequence[str]) -> World:
    """The world with what is moved where nobody is."""
    far = Still(transform([_FAR, _FAR, 0.0]))
    return world.with_(objects={**world.objects, **{n: replace(world.objects[n], path=far) for n in moved}})


def hits(check: LimbCheck, frames: Array, times: Array, near: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of some frames (F, n, 4) are not free: sure ones of every other one that is near, else of all of those."""
    out = np.zeros(len(frames), dtype=bool)
    out[near[::2]] = check.batch(frames[near[::2]], times[near[::2]], keen=True) == HIT
    if not out.any():
        out[near] = ~check.free_batch(frames[near], times[near])
    return out


def frames_free(check: LimbCheck, frames: Array, times: Array, sure: bool) -> bool:
    """Whether frames (F, n, 4) are free; those that are not mostly show it at a few of them. Some doubts are
    left to the exact test, all of them if it is to be `sure`."""
    for some in (slice(None, None, _FEWER), slice(None)):
        codes = check.batch(frames[some], times[some], keen=True)
        if (codes == HIT).any():
            return False
    doubts = np.flatnonzero(codes == BAND)
    if not sure and len(doubts) > _DOUBTS:
        doubts = doubts[np.linspace(0, len(doubts) - 1, _DOUBTS).astype(int)]
    return all(check.free(frames[k], float(times[k])) for k in doubts)
