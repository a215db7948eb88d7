"""Belonging of objects to one body: its own parts, and objects that it holds, is about to grasp, or has just released.

Their distance is not reported as clearance: thighs brush each other in every walk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.world.world import World

# So long before and after a hold, seconds, a thing and its bearer are near because they are meant to be.
_TAKES = 0.5


def belonging(world: World, owners: NDArray) -> tuple[NDArray[np.bool_], list[tuple[float, float, NDArray[np.bool_]]]]:
    """Which pairs of owners by name (P, 2) are of one body: always (P,), and from and to some seconds, each (P,)."""
    ordered = np.sort(owners, axis=1)
    held = [
        (h.during[0] - _TAKES, h.during[1] + _TAKES, (ordered == sorted((h.object, h.by))).all(axis=1))
        for h in world.holds
    ]
    return owners[:, 0] == owners[:, 1], held


def of_one_body(world: World, a: str, b: str, t: float) -> bool:
    """Return whether two parts by name belong to one body at a time in seconds."""
    always, held = belonging(world, np.array([[world.split(name)[0] for name in (a, b)]]))
    return bool(always[0]) or any(bool(pairs[0]) and begin <= t <= end for begin, end, pairs in held)
