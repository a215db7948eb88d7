"""Depths of allowed overlaps: upper bounds over whole intervals of time, not samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.kernels.sweep import FLOOR
from elbowroom.world.certificate_exact import Measured, Span
from elbowroom.world.certificate_findings import Allowed, Collision, who_and_limb
from elbowroom.world.certificate_proof import Items, Proof, joined
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Interval

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
