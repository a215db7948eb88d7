"""Picture of a certificate: coloured bars for every limb over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from elbowroom.world.certificate import Certificate
from elbowroom.world.certificate_findings import Allowed, Collision, Unproven
from elbowroom.world.world import World

_ALLOWED, _UNPROVEN, _INK, _FAINT = "#9db8a8", "#f2b134", "#26323a", "#e4e8ea"
# Deepest overlap that the colours distinguish, metres, at least; and the part of the colour map that is used.
_DEEP = 0.02
_PALE = 0.3
_COLORS = "YlOrRd"
# Chains that are listed with their parent limb.
_PART_OF_OTHERS = ("fingers", "eyes")


def timeline(path: str | Path, certificate: Certificate, world: World) -> None:
    """Write a PNG with one row for every limb of every character: collisions by depth, and allowed contacts."""
    rows = _rows(certificate, world)
    begin, end = world.span
    figure = Figure(figsize=(11.0, 1.7 + 0.36 * max(len(rows), 1)), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    deepest = max((c.depth_m or 0.0 for c in certificate.collisions), default=0.0)
    scale = ScalarMappable(Normalize(0.0, 1000.0 * max(deepest, _DEEP)), colormaps[_COLORS])
    for a in certificate.allowed:
        _bar(axes, rows[_row(a)], a.during, 0.22, _ALLOWED, 0.3, end - begin)
    for c in sorted(certificate.collisions, key=lambda c: c.depth_m or 0.0):
        shade = max((c.depth_m or 0.0) / max(deepest, _DEEP), _PALE)
        color = colormaps[_COLORS](shade)
        _bar(axes, rows[_row(c)], c.during, 0.56, color, -0.06, end - begin)
    for u in certificate.unproven:
        _bar(axes, rows[_row(u)], u.during, 0.56, _UNPROVEN, -0.06, end - begin)
    _label_hits(axes, certificate.collisions, rows, end - begin)
    axes.set_yticks(range(len(rows)), [_words(row) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(begin, max(end, begin + 1e-3))
    axes.set_xlabel("seconds")
    axes.grid(axis="x", color=_FAINT)
    axes.hlines([r + 0.5 for r in range(len(rows) - 1)], begin, end, color=_FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=_INK)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(_headline(certificate), loc="left", color=_INK, fontsize=11)
    _legend(figure, axes, certificate, scale)
    figure.savefig(path, facecolor="white")


def _rows(certificate: Certificate, world: World) -> dict[tuple[str, str], int]:
    """Row of each limb of each character, and of colliding objects."""
    found: dict[tuple[str, str], None] = {}
    for who, motion in world.characters.items():
        chains = motion.body.chains
        found |= {(who, name): None for name, chain in chains.items() if chain.kind not in _PART_OF_OTHERS}
    items: list[Allowed | Collision | Unproven] = [
        *certificate.allowed,
        *certificate.collisions,
        *certificate.unproven,
    ]
    found |= {_row(item): None for item in items}
    return {row: i for i, row in enumerate(found)}


def _row(item: Allowed | Collision | Unproven) -> tuple[str, str]:
    return (item.who[0], item.limb) if item.who else (item.pair.a, "")


def _words(row: tuple[str, str]) -> str:
    who, limb = row
    return f"{who}  {limb.replace('_', ' ')}" if limb else who


def _bar(
    axes: Any, row: int, during: tuple[float, float], height: float, color: object, shift: float, span: float
) -> None:
    """A bar that is never too thin to be seen."""
    width = max(during[1] - during[0], 0.002 * span)
    axes.broken_barh([(during[0], width)], (row + shift - 0.5 * height, height), color=color)


def _label_hits(axes: Any, collisions: Sequence[Collision], rows: dict[tuple[str, str], int], span: float) -> None:
    """Label the longest collision of each limb with the pair, if there is room."""
    longest: dict[tuple[str, str], Collision] = {}
    for c in collisions:
        row = _row(c)
        if row not in longest or c.during[1] - c.during[0] > longest[row].during[1] - longest[row].during[0]:
            longest[row] = c
    for row, c in longest.items():
        names = f"{c.pair.a.rpartition('.')[2]} – {c.pair.b}".replace("_", " ")
        if (c.during[1] - c.during[0]) / span > 0.0085 * len(names):
            axes.text(sum(c.during) / 2.0, rows[row] - 0.06, names, ha="center", va="center", fontsize=7.5, color=_INK)


def _headline(certificate: Certificate) -> str:
    if certificate.free:
        how = (
            "proven collision-free in continuous time"
            if certificate.continuous
            else "collision-free at the sampled times"
        )
        if certificate.clearance_m is None or certificate.pair is None:
            return how
        a, b = certificate.pair
        return f"{how}; minimum clearance {1000 * certificate.clearance_m:.1f} mm at {certificate.at_s:.2f} s: {a}, {b}"
    if certificate.collisions:
        pairs = len({c.pair for c in certificate.collisions})
        return f"{len(certificate.collisions)} collisions of {pairs} pairs"
    return f"not proven: {len(certificate.unproven)} pairs too close to decide"


def _legend(figure: Figure, axes: Any, certificate: Certificate, scale: ScalarMappable) -> None:
    patches = []
    if certificate.allowed:
        patches.append(Patch(color=_ALLOWED, label="allowed contact"))
    if certificate.unproven:
        patches.append(Patch(color=_UNPROVEN, label="not proven"))
    if patches:
        axes.legend(handles=patches, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, fontsize=8)
    if certificate.collisions:
        bar = figure.colorbar(scale, ax=axes, fraction=0.02, pad=0.01)
        bar.set_label("depth, mm", fontsize=8)
        bar.outline.set_visible(False)  # type: ignore[operator]
        bar.ax.tick_params(labelsize=8, length=0)
