"""Minimum clearance of a collision-free motion, and depths of allowed overlaps: bounds over whole intervals of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.kernels.sweep import FLOOR
from elbowroom.world.certificate_exact import Measured, Span, spans_of
from elbowroom.world.certificate_findings import Allowed, Collision, who_and_limb
from elbowroom.world.certificate_proof import Items, Proof, joined
from elbowroom.world.contacts import Contact
from elbowroom.world.own_pairs import belonging
from elbowroom.world.pairs import Pair
from elbowroom.world.paths import Interval

# Relative accuracy of the clearance, or the tolerance if that is coarser.
_CLEARANCE_SHARE = 0.05
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
        return self.value - max(self._tolerance, _CLEARANCE_SHARE * self.value) if np.isfinite(self.value) else np.inf

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


# Contacts less than this apart in time are merged, seconds.
_JOIN = 0.1
# Excess of bounds over the measured depth, metres, or relative.
_CLOSE, _SHARE = 0.0005, 0.05
# Reserve of bounds over the least that could be proven, metres: a file that is checked again needs it.
_SPARE = 5e-6


class _Depths:
    """Pairs that may overlap, by index, at times: heights above the floor in bulk, others one by one."""

    def __init__(self, proof: Proof, measured: Measured) -> None:
        self._proof, self._measured = proof, measured
        self._unit = {pairs[0]: u for u, pairs in enumerate(proof.units.pairs) if proof.units.parts[u, 1] == FLOOR}

    def at(self, pair: NDArray[np.int64], times: Array, depth: Array, way: Array) -> Array:
        """Signed distances (I,), at most the travel `way` (I,); overlaps as bounds of their depth, at most the allowed
        one.
        """
        out = np.zeros(len(pair))
        unit = np.array([self._unit.get(k, -1) for k in pair.tolist()], dtype=np.int64)
        floor = unit >= 0
        if floor.any():
            out[floor] = self._proof.at(unit[floor], times[floor], np.zeros(int(floor.sum())))
        rows = np.flatnonzero(~floor)
        rest = list(zip(*(column[rows].tolist() for column in (pair, times, way + 1e-4, depth)), strict=True))
        self._measured.measure(rest)
        # deeper overlaps are collisions, reported elsewhere
        found = [(self._measured.reading(k, t, deep), deep) for k, t, _, deep in rest]
        out[~floor] = [-deep if d is None else d for d, deep in found]
        return out


def overlaps_of(
    proof: Proof, measured: Measured, spans: Iterable[Span], collisions: Iterable[Collision]
) -> list[Allowed]:
    """Allowed overlaps of pairs, by branch and bound: the depth is an upper bound over the interval."""
    hits: dict[tuple[str, str], list[Interval]] = {}
    for c in collisions:
        hits.setdefault(c.pair, []).append(c.during)
    by_reason: dict[str, list[Span]] = {}
    for span in spans:
        contact = _contact(proof, span)
        if contact is None:
            continue
        met = hits.get(proof.exact.pairs[span.pair], ()) if hits else ()
        if not any(a < span.end and span.begin < b for a, b in met):
            by_reason.setdefault(contact.why, []).append(span)
    runs = [(why, run) for why, own in by_reason.items() for run in _runs(_Depths(proof, measured), own)]
    exact = proof.exact
    return [Allowed(exact.pairs[k], depth, during, why, *who_and_limb(exact, k)) for why, (k, during, depth) in runs]


def _contact(proof: Proof, span: Span) -> Contact | None:
    """The contact by which a pair may overlap in an interval."""
    contact = proof.contact(span.pair, 0.5 * (span.begin + span.end))
    return None if contact is None or contact.depth == 0.0 or proof.exact.by_shift[span.pair] else contact


def _runs(depths: _Depths, spans: Sequence[Span]) -> list[tuple[int, Interval, float]]:
    """Pairs and intervals in which they overlap, each with a bound of the depth."""
    columns = np.array([(s.pair, s.begin, s.end, s.way, s.bend, s.depth) for s in spans]).T
    pair, (begin, end, way, bend, depth) = columns[0].astype(np.int64), columns[1:]
    before, after = (depths.at(pair, t, depth, way) for t in (begin, end))
    items = Items(pair, begin, end, before, after, way, bend, depth)
    done = items.pick(np.zeros(len(items), dtype=bool))
    while len(items):
        items = items.pick(_bound(items) > 0.0)
        both = joined([items, done])
        run = _run(both)
        seen = np.zeros(int(run.max(initial=-1)) + 1)
        np.maximum.at(seen, run, np.maximum(-both.before, -both.after))
        enough = seen[run[: len(items)]]
        close = (_bound(items) <= enough + np.maximum(_CLOSE, _SHARE * enough)) | (items.way < _CLOSE)
        done = joined([done, items.pick(close)])
        items = items.pick(~close)
        items = items.halves(depths.at(items.unit, 0.5 * (items.begin + items.end), items.depth, items.way))
    out = []
    run = _run(done)
    for r in range(int(run.max(initial=-1)) + 1):
        mine = done.pick(run == r)
        during = float(mine.begin.min()), float(mine.end.max())
        # no collision was found, so none is deeper than allowed
        out.append((int(mine.unit[0]), during, float(np.minimum(_bound(mine) + _SPARE, mine.depth).max())))
    return out


def _bound(items: Items) -> Array:
    """Upper bounds of the depths of pairs in their intervals, (I,), metres."""
    return -0.5 * (items.before + items.after - items.way)


def _run(items: Items) -> NDArray[np.int64]:
    """Index (I,) of the contact that each item belongs to: those of one pair without a longer gap."""
    order = np.lexsort((items.begin, items.unit))
    out = np.zeros(len(items), dtype=np.int64)
    if len(items):
        # pairs one after the other in time, farther apart than any gap
        later = items.unit[order] * (float(np.ptp([items.begin.min(), items.end.max()])) + 2.0 * _JOIN)
        begin, end = items.begin[order] + later, np.maximum.accumulate(items.end[order] + later)
        out[order] = np.concatenate([[0], np.cumsum(begin[1:] > end[:-1] + _JOIN)])
    return out
