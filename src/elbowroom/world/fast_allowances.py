"""Allowances of a limb's pairs over time, from holds and contacts: ignored, or allowed to overlap."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.kernels.limb_world import COUNTS, IGNORED, TOLD
from elbowroom.world.exact import ExactWorld

Interval = tuple[float, float]


class ContactAllowances:
    """Columns of `Around.told`, one for each kind of what is told of pairs over a span."""

    def __init__(self, exact: ExactWorld, span: Interval) -> None:
        self._exact, self._span = exact, span
        self._columns: dict[tuple[tuple[Interval, ...], tuple[tuple[Interval, float], ...]], int] = {}
        self.concerned = np.array([*exact.off, *exact.contacts], np.int64)

    def mode(self, k: int, *holds: Interval) -> int:
        """Return whether a pair, by number, counts over the span, or as far as holds last."""
        exact = self._exact
        off = [d for d in exact.off.get(k, ()) if self._meets(d, *holds)]
        touch = [(c.during, c.depth) for c in exact.contacts.get(k, ()) if self._meets(c.during, *holds)]
        begin, end = self._narrowed(*holds)
        if any(d[0] <= begin and d[1] >= end for d in off):
            return IGNORED
        return self._column(off, touch) if off or touch else COUNTS

    def static_mode(self, numbers: list[int], *holds: Interval) -> int:
        """The same for pairs of one part with the whole static scene: where it may touch some, it is asked."""
        touch = [
            (c.during, 0.0) for k in numbers for c in self._exact.contacts.get(k, ()) if self._meets(c.during, *holds)
        ]
        return self._column([], touch) if touch else COUNTS

    def table(self, times: Array) -> Array:
        """Allowances (S, K) from each row of time to the next, within the span; a single row is for all of it."""
        begin, end = times, np.append(times[1:], times[-1])
        if len(times) == 1:
            begin, end = np.array([self._span[0]]), np.array([self._span[1]])
        begin, end = np.minimum(begin, self._span[1]), np.minimum(end, self._span[1])
        out = np.full((len(times), len(self._columns)), -1.0)
        for (off, touch), c in self._columns.items():
            for (first, last), depth in (*touch, *((d, np.inf) for d in off)):
                some, whole = (begin <= last) & (end >= first), (begin >= first) & (end <= last)
                out[some, c] = np.maximum(out[some, c], 0.0)
                out[whole, c] = np.maximum(out[whole, c], depth)
        return out

    def _column(self, off: list[Interval], touch: list[tuple[Interval, float]]) -> int:
        key = (tuple(sorted(set(off))), tuple(sorted(set(touch))))
        return TOLD + self._columns.setdefault(key, len(self._columns))

    def _narrowed(self, *holds: Interval) -> Interval:
        begin, end = self._span
        for first, last in holds:
            begin, end = max(begin, first), min(end, last)
        return begin, end

    def _meets(self, during: Interval, *holds: Interval) -> bool:
        begin, end = self._narrowed(*holds)
        return during[0] <= end and during[1] >= begin
