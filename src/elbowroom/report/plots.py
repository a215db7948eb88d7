"""Curves over time, and maps to scale, as SVG that takes its colours from the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.report.parts import Light, Moment

# The drawing in its own units; the page scales it to its width.
WIDTH, HEIGHT = 760.0, 210.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 14.0, 12.0, 30.0
# Over so many seconds curves that swing would be a block of colour: as many bins show their extremes.
_LONG, _STRETCHES = 60.0, 240
# Points of a curve that are drawn at most, and colours that the page has.
_POINTS = 480
COLORS = 7


@dataclass(frozen=True, eq=False)
class PlotCurve:
    """Curve of a plot: its name, values (T,) with NaN for gaps, and the number of its colour."""

    name: str
    values: Array
    color: int = 0


@dataclass(frozen=True)
class Band:
    """Range of values from `low` to `high` with a light."""

    low: float
    high: float
    light: Light


@dataclass(frozen=True)
class MarkedInterval:
    """Marked interval of seconds, with a light or neutral; over the plot's full height, or as a bar at its top in
    the row and colour of that number."""

    during: tuple[float, float]
    light: Light = "none"
    row: int | None = None


def plot(
    times: Array,
    curves: Sequence[PlotCurve],
    unit: str,
    *,
    bands: Sequence[Band] = (),
    stretches: Sequence[MarkedInterval] = (),
    moments: Sequence[Moment] = (),
    low: float | None = None,
    high: float | None = None,
    most: float = np.inf,
    lows: bool = False,
    digits: int = 1,
    label: str = "",
) -> str:
    """Curves over times (T,) in seconds, in a unit; `low` and `high` are shown at least, nothing over `most`.

    Of long motions the highest values of each stretch are drawn, or the lowest where `lows` matter. Empty without
    frames.
    """
    if len(times) < 2 or not curves:
        return ""
    if times[-1] - times[0] > _LONG:
        times, curves, each = _extremes(times, curves, lows)
        label = f"{label}, {'lowest' if lows else 'highest'} in each {each:.1f} s"
    bottom, top = _range(curves, low, high)
    top = min(top, most)
    begin, end = float(times[0]), float(times[-1])

    def x(t: Array | float) -> Array:
        return LEFT + (np.asarray(t) - begin) / (end - begin) * (WIDTH - LEFT - RIGHT)

    def y(v: Array | float) -> Array:
        return HEIGHT - BOTTOM - (np.clip(v, bottom, top) - bottom) / (top - bottom) * (HEIGHT - TOP - BOTTOM)

    parts = [_grid(begin, end, bottom, top)]
    for band in bands:
        if band.high > bottom and band.low < top:
            y0, y1 = float(y(band.high)), float(y(band.low))
            parts.append(
                f'<rect class="band {band.light}" x="{LEFT:.0f}" y="{y0:.1f}" '
                f'width="{WIDTH - LEFT - RIGHT:.0f}" height="{max(y1 - y0, 0.0):.1f}"/>'
            )
    for stretch in stretches:
        x0, x1 = float(x(max(stretch.during[0], begin))), float(x(min(stretch.during[1], end)))
        y0, high_ = (TOP, HEIGHT - TOP - BOTTOM) if stretch.row is None else (TOP + 8.0 * stretch.row, 5.0)
        css = stretch.light if stretch.row is None else f"row c{stretch.row % COLORS}"
        parts.append(
            f'<rect class="stretch {css}" x="{x0:.1f}" y="{y0:.0f}" '
            f'width="{max(x1 - x0, 1.5):.1f}" height="{high_:.0f}"/>'
        )
    for curve in curves:
        parts += [
            f'<polyline class="curve c{curve.color % COLORS}" points="{_points(x(times[run]), y(curve.values[run]))}"/>'
            for run in _runs(curve.values)
        ]
    for m in moments:
        if begin <= m.time <= end:
            at = float(x(m.time))
            parts.append(
                f'<g class="mark"><line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP:.0f}" y2="{HEIGHT - BOTTOM:.0f}"/>'
                f'<path d="M{at:.1f} {TOP:.0f}l-4 -7h8z"/><title>{m.time:.2f} s: {escape(m.what)}</title></g>'
            )
    parts.append(f'<line class="cursor" x1="0" x2="0" y1="{TOP:.0f}" y2="{HEIGHT - BOTTOM:.0f}"/>')
    legend = "".join(f'<span class="key c{c.color % COLORS}">{escape(c.name)}</span>' for c in curves)
    data = escape(_data(times, curves, unit, digits), quote=True)
    return (
        f'<figure class="plot" data-plot="{data}"><figcaption><b>{escape(label)}, {escape(unit)}</b>{legend}'
        f'<output></output></figcaption><svg viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" '
        f'aria-label="{escape(label)} over time">{"".join(parts)}</svg></figure>'
    )


def _extremes(times: Array, curves: Sequence[PlotCurve], lows: bool) -> tuple[Array, list[PlotCurve], float]:
    """Centres of time bins, curves of the highest or lowest value in each, and the length of a bin, seconds."""
    edges = np.unique(np.linspace(0, len(times), _STRETCHES + 1).astype(int))
    pieces = [slice(a, b) for a, b in pairwise(edges.tolist())]

    def extreme(values: Array) -> float:
        known = values[np.isfinite(values)]
        return float("nan") if not len(known) else float(known.min() if lows else known.max())

    middles = np.array([times[p].mean() for p in pieces])
    middles[0], middles[-1] = times[0], times[-1]
    thinned_curves = [replace(c, values=np.array([extreme(c.values[p]) for p in pieces])) for c in curves]
    return middles, thinned_curves, float(times[-1] - times[0]) / len(pieces)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two, about so many."""
    step = 10.0 ** np.floor(np.log10(max(high - low, 1e-12) / about))
    step *= next(f for f in (1.0, 2.0, 2.5, 5.0, 10.0) if (high - low) / (step * f) <= about + 1)
    first = np.ceil(low / step - 1e-9)
    return [float(k * step) + 0.0 for k in np.arange(first, np.floor(high / step + 1e-9) + 1)]


def number(value: float) -> str:
    """A short number for an axis."""
    return f"{value:.6g}".replace("-", "−") if value else "0"


def _range(curves: Sequence[PlotCurve], low: float | None, high: float | None) -> tuple[float, float]:
    values = np.concatenate([c.values[np.isfinite(c.values)] for c in curves])
    known = [float(v) for v in (low, high) if v is not None]
    bottom = min([float(values.min(initial=np.inf)), *known]) if len(values) or known else 0.0
    top = max([float(values.max(initial=-np.inf)), *known]) if len(values) or known else 1.0
    room = 0.06 * (top - bottom) if top > bottom else 1.0
    return (bottom if low is not None and bottom >= low else bottom - room), top + room


def _grid(begin: float, end: float, bottom: float, top: float) -> str:
    right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM
    out = []
    for v in ticks(bottom, top):
        y = floor - (v - bottom) / (top - bottom) * (floor - TOP)
        zero = " zero" if v == 0.0 else ""
        out.append(f'<line class="grid{zero}" x1="{LEFT:.0f}" x2="{right:.0f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text x="{LEFT - 7:.0f}" y="{y + 3.5:.1f}" text-anchor="end">{number(v)}</text>')
    for t in ticks(begin, end, 8):
        x = LEFT + (t - begin) / (end - begin) * (right - LEFT)
        out.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{floor:.0f}" y2="{floor + 4:.0f}"/>')
        out.append(f'<text x="{x:.1f}" y="{floor + 16:.0f}" text-anchor="middle">{number(t)}</text>')
    out.append(f'<text class="unit" x="{right:.0f}" y="{HEIGHT - 2:.0f}" text-anchor="end">seconds</text>')
    return "".join(out)


def _runs(values: Array) -> list[slice]:
    """Pieces of a curve between its gaps."""
    known = np.concatenate([[False], np.isfinite(values), [False]])
    edges = np.flatnonzero(np.diff(known.astype(np.int8))).reshape(-1, 2)
    return [slice(int(a), int(b)) for a, b in edges if b - a > 1]


def _points(x: Array, y: Array) -> str:
    """Points of a line; of a long one the highest and lowest of each stretch, so that no peak is lost."""
    keep = thinned(y)
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[keep], y[keep], strict=True))


def thinned(values: Array) -> NDArray[np.intp]:
    """Indices of at most so many values as are drawn: all, or the extremes of each stretch."""
    if len(values) <= _POINTS:
        return np.arange(len(values))
    edges = np.linspace(0, len(values), _POINTS // 2 + 1).astype(int)
    picks = {0, len(values) - 1}
    for a, b in pairwise(edges.tolist()):
        piece = np.where(np.isfinite(values[a:b]), values[a:b], 0.0)
        picks |= {int(a + np.argmin(piece)), int(a + np.argmax(piece))}
    return np.array(sorted(picks))


def _data(times: Array, curves: Sequence[PlotCurve], unit: str, digits: int) -> str:
    """Data for the page's script to read values: a limited number of times, and each curve's values there."""
    keep = np.unique(np.linspace(0, len(times) - 1, min(len(times), 240)).astype(int))
    rows = [
        {"n": c.name, "v": [None if not np.isfinite(v) else round(float(v), digits + 1) for v in c.values[keep]]}
        for c in curves
    ]
    area = [LEFT / WIDTH, (WIDTH - RIGHT) / WIDTH, WIDTH]
    shown = {"t": [round(float(t), 3) for t in times[keep]], "c": rows, "u": unit, "d": digits, "a": area}
    return json.dumps(shown, separators=(",", ":"))


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
