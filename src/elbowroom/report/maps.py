"""Maps to scale, from above or from the side, as SVG: footprints, hand paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.report.plots import COLORS, number, thinned, ticks

_SIDE, _EDGE = 760.0, 34.0


@dataclass(frozen=True, eq=False)
class GroundTrack:
    """A line (T, 2) in metres with a dot at some of its points (D, 2); NaN are gaps."""

    name: str
    points: Array
    color: int = 0
    dots: Array | None = None


@dataclass(frozen=True, eq=False)
class Area:
    """A closed outline (K, 2) in metres; `css` is its class on the page."""

    points: Array
    css: str = "foot"


def plan(
    label: str,
    ways: Sequence[GroundTrack],
    areas: Sequence[Area] = (),
    *,
    width: float = _SIDE,
    most: float = 300.0,
    marks: Sequence[tuple[Array, str]] = (),
) -> str:
    """SVG map to scale, `width` units wide and at most `most` high; `marks` are points (2,) with labels."""
    points = np.concatenate([w.points[np.isfinite(w.points[:, 0])] for w in ways] + [a.points for a in areas])
    if not len(points):
        return ""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.maximum(high - low, 0.06 * float((high - low).max()) + 0.02)
    middle = 0.5 * (low + high)
    scale = min((width - 2 * _EDGE) / room[0], (most - 2 * _EDGE) / room[1])
    size = np.array([width, scale * room[1] + 2 * _EDGE])

    def to_page(p: Array) -> Array:
        return 0.5 * size + (np.asarray(p) - middle) * [scale, -scale]

    parts = [_scale_bar(scale, size)]
    parts += [f'<polygon class="{a.css}" points="{_list(to_page(a.points))}"/>' for a in areas if len(a.points) > 2]
    for way in ways:
        for run in _pieces(way.points):
            page = to_page(way.points[run])
            keep = thinned(page[:, 0]) if np.ptp(page[:, 0]) > np.ptp(page[:, 1]) else thinned(page[:, 1])
            parts.append(f'<polyline class="curve c{way.color % COLORS}" points="{_list(page[keep])}"/>')
        for x, y in to_page(way.dots) if way.dots is not None and len(way.dots) else ():
            parts.append(f'<circle class="dot c{way.color % COLORS}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>')
    for place, words in marks:
        x, y = to_page(place)
        parts.append(f'<circle class="place" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
        anchor, dx = ("end", -8) if x > 0.8 * size[0] else ("start", 8)
        parts.append(
            f'<text class="tag" x="{x + dx:.1f}" y="{y - 6:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
        )
    legend = "".join(f'<span class="key c{w.color % COLORS}">{escape(w.name)}</span>' for w in ways if w.name)
    return (
        f'<figure class="map"><figcaption><b>{escape(label)}</b>{legend}</figcaption>'
        f'<svg viewBox="0 0 {size[0]:.0f} {size[1]:.0f}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg></figure>"
    )


def _scale_bar(scale: float, size: Array) -> str:
    """A bar of a round length in the lower right corner."""
    length = max(t for t in (0.01, *ticks(0.0, 0.22 * size[0] / scale, 4)) if t * scale <= 0.25 * size[0])
    x1, y = size[0] - 10.0, size[1] - 10.0
    words = f"{number(length)} m" if length >= 1.0 else f"{number(100.0 * length)} cm"
    return (
        f'<line class="bar" x1="{x1 - length * scale:.1f}" x2="{x1:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{x1 - 0.5 * length * scale:.1f}" y="{y - 5:.1f}" text-anchor="middle">{words}</text>'
    )


def _pieces(points: Array) -> list[slice]:
    known = np.concatenate([[False], np.isfinite(points[:, 0]), [False]])
    edges = np.flatnonzero(np.diff(known.astype(np.int8))).reshape(-1, 2)
    return [slice(int(a), int(b)) for a, b in edges if b - a > 1]


def _list(points: Array) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
