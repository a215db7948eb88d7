"""Collisions of a character that is dragged, checked at some moments only and not proven."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.studio.messages import seconds
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import Part
from elbowroom.world.world import Snapshot, World

# Moments that are looked at.
_LOOKS = 32


class DragCollisions:
    """Collision test for a character moved as a whole, with the objects it holds."""

    def __init__(self, world: World, who: str) -> None:
        self._who = who
        self._holds = [hold for hold in world.holds if hold.by == who]
        self._mine = {who, *(hold.object for hold in self._holds)}
        self._exact = ExactWorld(world)
        parts = self._exact.parts
        ends = ((parts[a], parts[b]) for a, b in self._exact.index)
        self._pairs = np.flatnonzero([_meets(p, q, self._mine) for p, q in ends])
        self._record = world.record(np.linspace(*world.span, _LOOKS))

    def first(self, D: Array) -> str:
        """Sentence on the first collision of the character moved by `D` (4, 4); empty if none is found."""
        exact = self._exact
        for k in range(len(self._record)):
            exact.place_snapshot(self._moved(self._record[k], D))
            for pair in exact.near(0.0, self._pairs).tolist():
                if exact.hit(pair) and exact.allowed(pair, -(exact.distance(pair).value or 0.0)) is None:
                    a, b = (exact.parts[i] for i in exact.index[pair])
                    other = b if a.owner in self._mine else a
                    return f"{self._who} would collide with {other.owner} at {seconds(exact.time)}."
        return ""

    def _moved(self, snapshot: Snapshot, D: Array) -> Snapshot:
        """Snapshot with the character and the objects it holds moved by `D`."""
        t = snapshot.time
        held = {h.object: D @ snapshot.things[h.object] for h in self._holds if h.during[0] <= t < h.during[1]}
        joints = {**snapshot.joints, self._who: D @ snapshot.joints[self._who]}
        return Snapshot(t, joints, {**snapshot.things, **held})


def _meets(p: Part, q: Part, mine: set[str]) -> bool:
    """Return whether one of two parts moves with the character and the other neither does nor is the floor."""
    return (p.owner in mine) != (q.owner in mine) and "floor" not in (p.kind, q.kind)
