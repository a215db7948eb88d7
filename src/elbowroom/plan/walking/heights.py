"""Obstacles that are too low to pass under, or too high to step over: their position, and the height that would do."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.envelope import envelope
from elbowroom.plan.walking.ways import HIGH_OVER, STOOP, WALK, Mode, Ways
from elbowroom.world.columns import LAYER_M

# Lowest passage and highest step that are considered, metres.
_LOWEST_M, _HIGHEST_M = 0.3, 1.2


@dataclass(frozen=True, eq=False)
class Barrier:
    """Position (2,) on a path that is too low, or has an obstacle too high to step over; its height and the height that
    would do, metres.
    """

    at: Array
    under: bool
    height: float
    needed: float

    def text(self, who: str, near: str) -> str:
        """The barrier in a sentence; `near` names what is near it."""
        place = f"({self.at[0]:.2f}, {self.at[1]:.2f}), {near},"
        if self.under:
            return f"the path is {self.height:.2f} m high at {place} and {who} needs {self.needed:.2f} m"
        return f"the path is blocked at {place} {self.height:.2f} m high, and {who} steps over {self.needed:.2f} m"


def barrier(ways: Ways, start: Array, goal: Array) -> Barrier | None:
    """The obstacle with the smallest shortfall in height for a path between two points (2,); None where none
    would do.
    """
    tall = envelope(ways.character, "forward").height
    lowest, highest = min(mode.high for mode in ways.modes) * tall, max(mode.low for mode in ways.modes) * tall
    room, step = int(np.ceil(lowest / LAYER_M)), int(highest / LAYER_M)
    found = []
    for under, heights in (
        (True, np.arange(room - 1, _LOWEST_M / LAYER_M, -1)),
        (False, np.arange(step + 1, _HIGHEST_M / LAYER_M)),
    ):
        for height in LAYER_M * heights:
            mode = replace(STOOP, high=height / tall) if under else replace(HIGH_OVER, low=height / tall)
            at = _first(ways, mode, start, goal)
            if at is not None:
                found.append(Barrier(at, under, float(height), LAYER_M * (room if under else step)))
                break
    return min(found, key=lambda b: abs(b.height - b.needed), default=None)


def _first(ways: Ways, mode: Mode, start: Array, goal: Array) -> Array | None:
    """Middle (2,) of the first part of a path that is walked in a mode other than upright; None without a path."""
    way = Ways(ways.columns, ways.character, modes=(WALK, mode)).find(start, goal)
    if way is None:
        return None
    there = [k for k, m in enumerate(way.modes) if m == mode]
    return way.points[there[len(there) // 2]] if there else None
