"""Parts of a report: lights, moments, tables with clickable times, bars of the sources of a motion, and the base of
measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.world.edit import CaptureBlend, PartSource


@dataclass(frozen=True)
class Cell:
    """Words or a number in a table; `html` is already made for the page."""

    text: str
    number: bool = False
    html: str = ""

    @staticmethod
    def at(t: float) -> Cell:
        """A time that moves the cursor of all plots."""
        return Cell("", True, time_link(t))

    @staticmethod
    def span(begin: float, end: float) -> Cell:
        """Cell with an interval of time."""
        return Cell("", False, f"{time_link(begin)} – {time_link(end)}")


def time_link(t: float, anchor: str = "") -> str:
    """A time in seconds that moves the cursor of all plots there, and the page to an anchor if one is given."""
    if not anchor:
        return f'<button type="button" data-t="{t:.3f}">{t:.2f} s</button>'
    return f'<a href="#{escape(anchor, quote=True)}" data-t="{t:.3f}">{t:.2f} s</a>'


def table(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """A table with as many columns as its rows have; nothing without rows."""
    if not rows:
        return ""
    titles = zip(head, rows[0], strict=False)
    top = "".join(f"<th{_css(cell)}>{escape(title)}</th>" for title, cell in titles)
    lines = "".join(
        "<tr>" + "".join(f"<td{_css(c)}>{c.html or escape(c.text)}</td>" for c in row) + "</tr>" for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>'


def _css(cell: Cell) -> str:
    return ' class="num"' if cell.number else ""


# Good, worth a look, bad; 'none' where nothing was measured.
Light = Literal["good", "look", "bad", "none"]

_ORDER: tuple[Light, ...] = ("none", "good", "look", "bad")
# Bodies whose size differs from an adult's by less than this share are judged alike to the eye.
_LIKE_AN_ADULT = 0.03


@dataclass(frozen=True, eq=False)
class Moment:
    """Time in seconds to review: a short description, and the character.

    `badness` is 1 at the threshold between good and needing review, and grows from there: pictures show the worst.
    `part` is what a close-up shows, 'ann.left_foot', `span` metres across, 0 for a whole object; without one the whole
    character is shown. `trails` are lines (N, 3) to be drawn, or single points (1, 3), metres; those on the ground are
    seen from `above`.
    """

    time: float
    what: str
    who: str = ""
    badness: float = 0.0
    part: str = ""
    span: float = 0.8
    trails: tuple[Array, ...] = ()
    above: bool = False


def scaled_limits(limits: tuple[float, float], size: float, unit: Literal["mm", "cm"]) -> dict[str, str]:
    """Text of the scaled thresholds for a body of another size than an adult's; else nothing."""
    if abs(size - 1.0) < _LIKE_AN_ADULT:
        return {}
    green, amber = (f"{size * limit * {'mm': 1000.0, 'cm': 100.0}[unit]:.0f}" for limit in limits)
    return {"for a body of this size": f"green to {green}, amber to {amber} {unit}"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Measure:
    """Measure: its light, one sentence of interpretation, its headline figure and moments.

    `figures` are further numbers by name, with units; `notes` are assumptions and missing data.
    """

    light: Light
    says: str
    headline: str = ""
    moments: tuple[Moment, ...] = ()
    figures: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Common fields of every measure, as plain data for JSON."""
        return {
            "light": self.light,
            "says": self.says,
            "headline": self.headline,
            "moments": [
                {"at_s": round(m.time, 4), "what": m.what, "badness": round(m.badness, 3)} for m in self.moments
            ],
            "notes": list(self.notes),
        }

    def curves(self) -> dict[str, Any]:
        """Curves over time as plain lists for JSON."""
        return {}


def worst(*lights: Light) -> Light:
    """The worst of several lights."""
    return max(lights, key=_ORDER.index, default="none")


def light_of(value: float, look: float, bad: float) -> Light:
    """Light of a value that is green up to `look` and amber up to `bad`; low values are good."""
    return "good" if value <= look else "look" if value <= bad else "bad"


def counted(number: int, what: str) -> str:
    """Count with its noun: '1 pair', '2 pairs'."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def listed(values: Array, digits: int = 4) -> list[Any]:
    """Nested lists of rounded numbers from an array, None where not finite."""
    array = np.asarray(values, dtype=float)
    if array.ndim > 1:
        return [listed(row, digits) for row in array]
    return [round(float(v), digits) if np.isfinite(v) else None for v in array]


# Colours that are distinct on light and dark pages and for colour-blind readers.
COLORS: dict[PartSource, str] = {"planned": "#8a949c", "blended": "#d98a2b", "captured": "#2b7cb0"}
# Size of the drawing, pixels, and the room for names on its left and seconds below.
_WIDTH_PX = 320
_ROW_PX = 16
_LEFT_PX = 64
_BELOW_PX = 16


def drawn_sources(blend: CaptureBlend, now: float | None = None) -> str:
    """HTML of bars over time by part of the body, with a legend; a line at the time `now` in seconds."""
    names = list(dict.fromkeys(name for name, *_ in blend.parts))
    begin = min(span[0] for *_, span in blend.parts)
    end = max(span[1] for *_, span in blend.parts)
    bottom = _ROW_PX * len(names)

    def x(t: float) -> float:
        return _LEFT_PX + (_WIDTH_PX - _LEFT_PX - 4) * (t - begin) / max(end - begin, 1e-6)

    ink = 'style="fill:currentColor;fill-opacity:.7;font-size:10px"'
    said = [escape(name.replace("_", " ")) for name in names]
    out = [f'<text {ink} x="{_LEFT_PX - 4}" y="{_ROW_PX * k + 11}" text-anchor="end">{name}</text>'
           for k, name in enumerate(said)]  # fmt: skip
    for name, source, (first, last) in blend.parts:
        tip = f"{said[names.index(name)]}: {source}, {first:.2f} to {last:.2f} s"
        place = f'x="{x(first):.1f}" y="{_ROW_PX * names.index(name) + 3}" width="{x(last) - x(first):.1f}"'
        out.append(f'<rect {place} height="{_ROW_PX - 6}" fill="{COLORS[source]}"><title>{tip}</title></rect>')
    for t, anchor in ((begin, "start"), (end, "end")):
        out.append(f'<text {ink} x="{x(t):.0f}" y="{bottom + 12}" text-anchor="{anchor}">{t:.2f} s</text>')
    if now is not None and begin <= now <= end:
        out.append(f'<line x1="{x(now):.1f}" x2="{x(now):.1f}" y1="0" y2="{bottom}" stroke="currentColor"/>')
    legend = "".join(
        f'<span style="margin-right:10px"><span style="color:{color}">■</span> {source}</span>'
        for source, color in COLORS.items()
    )
    size = f'width="100%" style="max-width:40rem" viewBox="0 0 {_WIDTH_PX} {bottom + _BELOW_PX}"'
    style = 'class="sources" style="margin:2px 10px;font-size:11px"'
    return f"<div {style}><svg {size}>{''.join(out)}</svg><br/>{legend}</div>"
