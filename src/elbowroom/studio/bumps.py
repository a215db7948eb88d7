"""What somebody who is dragged runs into: only some moments are looked at, and nothing is proven."""

from __future__ import annotations

import numpy as np

from elbowroom.studio.words import seconds
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import Part
from elbowroom.world.world import World

# Moments that are looked at.
_LOOKS = 32


class Bumps:
    """Whether a person, or what they hold, meets anything in worlds that differ only in where people and things are."""

    def __init__(self, world: World, who: str) -> None:
        self._who = who
        mine = self._mine = {who, *(hold.object for hold in world.holds if hold.by == who)}
        self._exact = ExactWorld(world)
        parts = self._exact.parts
        ends = ((parts[a], parts[b]) for a, b in self._exact.index)
        self._pairs = np.flatnonzero([_meets(p, q, mine) for p, q in ends])

    def first(self, world: World) -> str:
        """The first that is met, in one sentence; empty where none is seen."""
        exact = self._exact
        record = world.record(np.linspace(*world.span, _LOOKS))
        for k in range(len(record)):
            exact.place_snapshot(record[k])
            for pair in exact.near(0.0, self._pairs).tolist():
                if exact.hit(pair) and exact.allowed(pair, -(exact.distance(pair).value or 0.0)) is None:
                    a, b = (exact.parts[i] for i in exact.index[pair])
                    other = b if a.owner in self._mine else a
                    return f"{self._who} would run into {other.owner} at {seconds(float(record.times[k]))}."
        return ""


def _meets(p: Part, q: Part, mine: set[str]) -> bool:
    """Whether one of two parts goes with the person and the other is neither that nor the floor."""
    return (p.owner in mine) != (q.owner in mine) and "floor" not in (p.kind, q.kind)
