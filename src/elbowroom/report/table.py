"""Small tables of a report's page, with clickable times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


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
