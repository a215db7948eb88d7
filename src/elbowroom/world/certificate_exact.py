"""Exact part of a proof: cases that bounds leave open are measured by Coal and bisected until decided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.kernels import boxes
from elbowroom.kernels.sweep import STATIC
from elbowroom.stopping import report
from elbowroom.world.certificate_proof import Items, Proof

# Collisions are localised to this many seconds, their ends finer.
LOCAL = 1.0 / 240.0
_ENDS = LOCAL / 4.0
# Times posed together.
_BLOCK = 512
# Below the tolerance, bisection goes on while the travel is up to this many times what separates a pair: three halvings
# more prove most of these, and pairs that touch still end.
_WORTHWHILE = 8.0
# Separations below this, metres, count as rounding there: well above the accuracy of measured distances.
_ROUNDING_M = 2e-5

# Difference of transforms of a hand and the object in it that is rounding, metres.
_SAME_M = 1e-12

# Travel of a pair over which several frames are proven by readings at both ends, metres: the overlap that hands are
# allowed.
_RUN_M = 0.005

# Signed distance in metres and nearest points (2, 3), as `ExactWorld.distance` gives them.
Reading = tuple[float | None, Array | None]


class Span(NamedTuple):
    """A pair over an unproven interval.

    `depth` is its allowed overlap, `way` its travel, metres, with a `bend` as in `Items`. A negative depth is allowed
    only if a shift of as much separates the pair throughout.
    """

    pair: int
    begin: float
    end: float
    way: float
    bend: float
    depth: float

    def halves(self) -> tuple[Span, Span]:
        """Its two halves."""
        t = 0.5 * (self.begin + self.end)
        way, bend = 0.5 * self.way + self.bend / 16.0, 0.25 * self.bend
        before = Span(self.pair, self.begin, t, way, bend, self.depth)
        return before, Span(self.pair, t, self.end, way, bend, self.depth)


@dataclass
class Findings:
    """Intervals in which pairs collide, and in which nothing could be proven: pair -> (begin, end)."""

    collide: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    unproven: dict[int, list[tuple[float, float]]] = field(default_factory=dict)


class Measured:
    """Exact signed distances of pairs at times, with nearest points, as in `ExactWorld`, each measured once.

    Depths are lower bounds: enough to detect a collision. `reading` has upper bounds, for allowed overlaps.
    """

    def __init__(self, proof: Proof) -> None:
        self._proof, self._exact = proof, proof.exact
        self._known: dict[int, dict[float, Reading]] = {}
        self._parted: dict[int, dict[float, float]] = {}
        self._last: dict[int, tuple[Array, float, Reading, float | None]] = {}

    def __getitem__(self, key: tuple[int, float]) -> Reading:
        return self._known[key[0]][key[1]]

    def of_pair(self, pair: int) -> dict[float, Reading]:
        """All measurements of a pair, by time."""
        return self._known.get(pair, {})

    def reading(self, pair: int, time: float, depth: float) -> float | None:
        """Distance of a separated pair, minus an upper bound of its depth where it may overlap.

        None where they overlap and there is no such bound.
        """
        value = self._known[pair][time][0]
        if depth <= 0.0 or (value is not None and value > 0.0) or not self._exact.by_separation[pair]:
            return value
        parted = self._parted.get(pair, {}).get(time, np.inf)
        return -parted if np.isfinite(parted) else None

    def measure(self, wanted: Iterable[tuple[int, float, float, float]]) -> None:
        """Measure (pair, time, limit, depth): distances beyond the limit, and depths beyond theirs, need not be
        exact.
        """
        at: dict[float, dict[int, tuple[float, float]]] = {}
        for k, t, limit, depth in wanted:
            if not self._tells(k, t, limit, depth):
                here = at.setdefault(t, {})
                far, deep = here.get(k, (0.0, 0.0))
                here[k] = max(far, limit), max(deep, depth)
        times = np.array(sorted(at))
        for first in range(0, len(times), _BLOCK):
            report("exact distances", first / len(times))
            record = self._proof.stage.world.record(times[first : first + _BLOCK])
            for i, t in enumerate(times[first : first + _BLOCK].tolist()):
                self._exact.place_snapshot(record[i])
                for k, (limit, depth) in at[t].items():
                    self._measure(k, t, limit, depth)

    def _measure(self, k: int, t: float, limit: float, depth: float) -> None:
        """Measure a pair as placed; reuses the result of an unchanged relative transform."""
        exact = self._exact
        a, b = (int(i) for i in exact.index[k])
        T = boxes.relative(exact.placed.T, a, b)
        last = self._last.get(k)
        bounded = bool(exact.by_separation[k]) and depth > 0.0
        # an exact distance serves any limit
        if last is None or b == exact.placed.floor or (last[1] < limit and last[2][1] is None) or _moved(last[0], T):
            d = exact.distance(k, limit)
            last = T, limit, (d.value, d.points), None
        if bounded and last[3] is None and not (last[2][0] is not None and last[2][0] > 0.0):
            last = *last[:3], exact.separation(k, depth)
        self._last[k] = last
        self._known.setdefault(k, {})[t] = last[2]
        if last[3] is not None:
            self._parted.setdefault(k, {})[t] = last[3]

    def _tells(self, pair: int, time: float, limit: float, depth: float) -> bool:
        """Return whether a known distance decides up to a limit; a distance without points is a limit itself."""
        known = self._known.get(pair, {}).get(time)
        if known is None:
            return False
        value, points = known
        apart = value is not None and value > 0.0
        if depth > 0.0 and not apart and self._exact.by_separation[pair]:
            return time in self._parted.get(pair, {})
        return not apart or points is not None or not value < limit  # type: ignore[operator]


def _moved(a: Array, b: Array) -> bool:
    """Return whether two relative transforms (4, 4) differ by more than the rounding of their product."""
    return bool(np.abs(a - b).max() > _SAME_M)


def spans_of(proof: Proof, items: Items) -> list[Span]:
    """Units in pairs; of the static scene only meshes that the part can reach in the interval."""
    parts = proof.units.parts[items.unit]
    rows = np.flatnonzero(parts[:, 1] != STATIC)
    columns = (c[rows].tolist() for c in (items.begin, items.end, items.way, items.bend, items.depth))
    pairs = [proof.units.pairs[u][0] for u in items.unit[rows].tolist()]
    out = [Span(*row) for row in zip(pairs, *columns, strict=True)]
    rows = np.flatnonzero(parts[:, 1] == STATIC)
    for first in range(0, len(rows), _BLOCK):
        out += _static_spans(proof, items, rows[first : first + _BLOCK])
    return out


def _static_spans(proof: Proof, items: Items, rows: NDArray[np.int64]) -> list[Span]:
    exact, units = proof.exact, proof.units
    static = np.flatnonzero([p.kind == "static" for p in exact.parts])
    low, high = exact.placed.low[static], exact.placed.high[static]
    moments, at = np.unique(items.begin[rows], return_inverse=True)
    a = units.parts[items.unit[rows], 0]
    T = proof.place(proof.stage.world.record(moments))[at, a]
    ball = proof.movers.ball[a]
    center = (np.einsum("nij,nj->ni", T[:, :3, :3], ball[:, :3]) + T[:, :3, 3])[:, None]
    gap = np.linalg.norm(np.maximum(np.maximum(low - center, center - high), 0.0), axis=2) - ball[:, 3:]
    number = {u: {int(exact.index[k, 1]): k for k in units.pairs[u]} for u in np.unique(items.unit[rows]).tolist()}
    out = []
    reach = items.way[rows] + np.maximum(-items.depth[rows], 0.0)
    for n, s in zip(*np.nonzero(gap <= reach[:, None]), strict=True):
        i = int(rows[n])
        k = number[int(items.unit[i])].get(int(static[s]))
        if k is not None:
            begin, end = float(items.begin[i]), float(items.end[i])
            depth = proof.depth_allowed(k, 0.5 * (begin + end))
            out.append(Span(k, begin, end, float(items.way[i]), float(items.bend[i]), depth))
    return out


def decide(measured: Measured, spans: list[Span], tolerance: float) -> Findings:
    """Decide where pairs are free, where they collide, and where the tolerance leaves it undecided."""
    found, spans = Findings(), _unsettled(measured, spans, tolerance)
    while spans:
        measured.measure((s.pair, t, 2.0 * s.way + 1e-3, s.depth) for s in spans for t in (s.begin, s.end))
        open_spans: list[Span] = []
        for s in spans:
            before, after = (measured.reading(s.pair, t, s.depth) for t in (s.begin, s.end))
            verdict = verdict_of(s, before, after, tolerance)
            if verdict == "bisect":
                open_spans += s.halves()
            elif verdict == "collide":
                found.collide.setdefault(s.pair, []).append((s.begin, s.end))
            elif verdict == "unproven":
                found.unproven.setdefault(s.pair, []).append((s.begin, s.end))
        spans = open_spans
    return found


def _unsettled(measured: Measured, spans: list[Span], tolerance: float) -> list[Span]:
    """Spans without runs of them in which a pair moves so little that readings at both ends prove all free.

    A hand that holds an object moves by less than a millimetre against it in a frame. What a span's travel bounds, it
    bounds at the span's ends as well; so the travel of adjacent spans adds up to that of their union.
    """
    runs: list[list[Span]] = []
    way = 0.0  # of the last run
    for s in sorted(spans):
        last = runs[-1][-1] if runs else None
        joins = last is not None and (last.pair, last.end, last.depth) == (s.pair, s.begin, s.depth) and s.depth > 0.0
        if joins and way + s.way <= _RUN_M:
            runs[-1].append(s)
            way += s.way
        else:
            runs.append([s])
            way = s.way
    whole = [Span(r[0].pair, r[0].begin, r[-1].end, sum(s.way for s in r), 0.0, r[0].depth) for r in runs]
    measured.measure((w.pair, t, 2.0 * w.way + 1e-3, w.depth) for w in whole for t in (w.begin, w.end))
    left: list[Span] = []
    for run, w in zip(runs, whole, strict=True):
        before, after = (measured.reading(w.pair, t, w.depth) for t in (w.begin, w.end))
        left += [] if verdict_of(w, before, after, tolerance) == "free" else run
    return left


def verdict_of(span: Span, before: float | None, after: float | None, tolerance: float) -> str:
    """'free', 'collide', 'unproven' or 'bisect', by the readings at both ends of a span."""
    depth = max(span.depth, 0.0)
    bad = [_collides(d, depth) for d in (before, after)]
    free = [(0.0 if d is None else d) + depth for d in (before, after)]
    length = span.end - span.begin
    if not any(bad):
        if sum(free) > span.way:
            return "free"
        promising = sum(free) > _ROUNDING_M and span.way < _WORTHWHILE * sum(free)
        return "bisect" if span.way > tolerance or promising else "unproven"
    if all(bad):
        throughout = -sum(free) > span.way or length <= LOCAL
        return "collide" if throughout else "bisect"
    return "collide" if length <= _ENDS else "bisect"


def _collides(distance: float | None, depth: float) -> bool:
    """Return whether a signed distance is a collision where an overlap of some depth is allowed."""
    if distance is None or not np.isfinite(distance):
        return True
    return not (distance > 0.0 or (depth > 0.0 and -distance <= depth))
