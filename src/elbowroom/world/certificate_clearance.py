"""Minimum clearance of a collision-free motion: branch and bound over nearby pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.kernels.sweep import FLOOR
from elbowroom.world.certificate_exact import Measured, spans_of
from elbowroom.world.certificate_proof import Items, Proof
from elbowroom.world.own_pairs import belonging
from elbowroom.world.pairs import Pair

# Relative accuracy of the clearance, or the tolerance if that is coarser.
_SHARE = 0.05
# A clearance below this is not refined further, metres: the motion is known to be free.
_SMALL_M = 0.001
# Rounds of bisection, and exact distances, before the bound so far is used.
_ROUNDS, _CALLS = 12, 4000
# Most promising items that are measured in each round, of as many units: an inaccurate one would hide all others.
_PROBES = 24


@dataclass(frozen=True, eq=False)
class Clearance:
    """Minimum distance found, with its place and time, and a lower bound of all distances."""

    value: float | None = None
    at_least: float | None = None
    at: float | None = None
    pair: Pair | None = None
    points: Array | None = None


class _Search:
    def __init__(self, proof: Proof, measured: Measured, tolerance: float) -> None:
        self._proof, self._measured, self._tolerance = proof, measured, tolerance
        self.best = Clearance()
        self.calls = 0

    @property
    def value(self) -> float:
        """The smallest distance so far."""
        return np.inf if self.best.value is None else self.best.value

    @property
    def enough(self) -> float:
        """Distance beyond which the search stops."""
        return self.value - max(self._tolerance, _SHARE * self.value) if np.isfinite(self.value) else np.inf

    def measure(self, items: Items, at: Array) -> Array:
        """Exact distances of items at times (I,), no more than the best so far."""
        reach = 0.0 * at + self.value
        here = Items(items.unit, at, at, items.before, items.after, reach, 0.0 * at, items.depth)
        spans = [s for s in spans_of(self._proof, here) if s.depth == 0.0]
        wanted = [(s.pair, s.begin, self.value, 0.0) for s in spans]
        self.calls += len(wanted)
        self._measured.measure(wanted)
        unit_of = {k: u for u in np.unique(items.unit).tolist() for k in self._proof.units.pairs[u]}
        found = dict.fromkeys(zip(items.unit.tolist(), at.tolist(), strict=True), np.inf)
        for s in spans:
            d, points = self._measured[s.pair, s.begin]
            d = 0.0 if d is None else d
            key = (unit_of[s.pair], s.begin)
            found[key] = min(found[key], d)
            if d < self.value and points is not None:
                self.best = Clearance(d, None, s.begin, self._proof.exact.pairs[s.pair], points)
        limit = self.value
        return np.array([min(found[key], limit) for key in zip(items.unit.tolist(), at.tolist(), strict=True)])


def smallest_clearance(proof: Proof, measured: Measured, close: Items, near: float, tolerance: float) -> Clearance:
    """The smallest clearance; `close` are items for which less than `near` metres is proven so far."""
    search = _Search(proof, measured, tolerance)
    items, proven = close, near
    for _ in range(_ROUNDS):
        items = items.pick(items.slack < search.enough)
        if not len(items) or search.calls > _CALLS:
            break
        order = np.argsort(items.slack, kind="stable")
        _, first = np.unique(items.unit[order], return_index=True)
        lowest = items.pick(order[np.sort(first)[:_PROBES]])
        search.measure(lowest, np.where(lowest.before <= lowest.after, lowest.begin, lowest.end))
        if search.value <= _SMALL_M:
            proven = 0.0
            break
        items = items.pick(items.slack < search.enough)
        small = items.way < tolerance
        if small.any():
            proven = min(proven, float(items.slack[small].min()))
            items = items.pick(~small)
        middle = 0.5 * (items.begin + items.end)
        halfway = proof.at(items.unit, middle, 0.5 * items.half_way + search.value)
        blunt = ~proof.units.sharp[items.unit] & (halfway < search.value)
        if blunt.any():
            halfway[blunt] = np.maximum(halfway[blunt], search.measure(items.pick(blunt), middle[blunt]))
        items = items.halves(halfway)
    if len(items):
        proven = min(proven, float(items.slack.min()))
    best = search.best
    at_least = max(min(proven, search.enough), 0.0) if best.value is not None else near
    if best.value is None:
        return Clearance(None, at_least)
    return Clearance(best.value, at_least, best.at, best.pair, best.points)


def of_others(proof: Proof, items: Items) -> Items:
    """Items of different bodies: neither of one body and its held objects, nor of the floor."""
    names = np.array([*(part.owner for part in proof.exact.parts), "", ""])  # floor and static scene count from the end
    always, held = belonging(proof.exact.world, names[proof.units.parts])
    own = always[items.unit] | (proof.units.parts[items.unit, 1] == FLOOR)
    for begin, end, pairs in held:
        own |= pairs[items.unit] & (items.end >= begin) & (items.begin <= end)
    return items.pick(~own)
