"""Intervals of time: merging, and gaps between them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

Interval = tuple[float, float]


def merged(pieces: Iterable[Interval], gap: float = 0.0) -> list[Interval]:
    """Intervals joined where they are no more than a gap apart, in order."""
    out: list[Interval] = []
    for begin, end in sorted(pieces):
        if out and begin <= out[-1][1] + gap:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((begin, end))
    return out


def outside(spans: Iterable[Interval]) -> list[Interval]:
    """The time before, between and after intervals."""
    inside = merged(spans)
    begins, ends = [b for b, _ in inside], [e for _, e in inside]
    return list(zip([-np.inf, *ends], [*begins, np.inf], strict=True))


def holds_at(during: Interval, t: float) -> bool:
    """Return whether a time lies in an interval."""
    return during[0] <= t <= during[1]
