"""Picture of a clip library: gait cycles as points in speed and turn rate, with their triangulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from elbowroom.locomotion.library import FAMILIES, PER_RAD_M, ClipLibrary, Field, point_of

_COLORS = {
    "stand": "#26323a", "walk": "#2a7f9e", "brisk": "#e08a2e", "turn": "#7a4fb5", "run": "#c0392b", "crouch": "#5d8a3a",
    "side": "#b5507a", "back": "#8a6d3b",
}  # fmt: skip
_INK, _FAINT, _EDGE = "#26323a", "#e4e8ea", "#b9c3c9"
_ALONG = {"side": "to the left, m/s", "back": "backwards, m/s"}


def gait_map(path: str | Path, library: ClipLibrary) -> None:
    """Write a PNG with one diagram for each way of going that the library has; rings are blended, dots recorded."""
    fields = library.fields
    others = [f for f in fields if f != "walk"]
    figure = Figure(figsize=(11.0, 6.2 if others else 5.0), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2 if others else 1, max(len(others), 1), height_ratios=[2.2, 1.0] if others else [1.0])
    _diagram(figure.add_subplot(grid[0, :]), library, "walk", fields["walk"])
    for k, family in enumerate(others):
        _diagram(figure.add_subplot(grid[1, k]), library, family, fields[family])
    clips = len({c.source for c in library.cycles})
    counts = f"{len(library.cycles)} gait cycles of {clips} clips (dots), {len(library.nodes)} blended (rings)"
    figure.suptitle(f"{library.name}: {counts}", color=_INK, fontsize=11, x=0.01, ha="left")
    figure.savefig(path, facecolor="white")


def _diagram(axes: Any, library: ClipLibrary, family: str, field: Field) -> None:
    points = field.points * [1.0, np.degrees(1.0 / PER_RAD_M)]
    if field.triangles is not None and field.hull is not None:
        axes.triplot(points[:, 0], points[:, 1], field.triangles.simplices, color=_EDGE, linewidth=0.6, zorder=1)
        border = np.append(field.hull.vertices, field.hull.vertices[0])
        axes.plot(points[border, 0], points[border, 1], color=_INK, linewidth=1.0, zorder=2)
    for cycle in library.cycles:
        if cycle.mode in FAMILIES[family]:
            x, y = point_of(cycle)
            axes.plot(x, np.degrees(y / PER_RAD_M), ".", markersize=3.0, color=_COLORS[cycle.mode], zorder=2)
    for k, point in zip(field.nodes, points, strict=True):
        color = _COLORS[library.nodes[k].mode]
        size = 6.0 if family == "walk" else 4.5
        axes.plot(*point, "o", markersize=size, color=color, markerfacecolor="white", zorder=3)
    axes.set_xlabel(_ALONG.get(family, "speed, m/s"), color=_INK)
    axes.set_ylabel("turn to the left, °/s", color=_INK)
    axes.set_title(family, loc="left", color=_INK, fontsize=10)
    axes.grid(color=_FAINT, zorder=0)
    axes.tick_params(length=0, colors=_INK)
    for side in axes.spines.values():
        side.set_visible(False)
    if family == "walk":
        modes = dict.fromkeys(library.nodes[k].mode for k in field.nodes)
        marks = [Line2D([], [], linestyle="", marker="o", color=_COLORS[m], label=m) for m in modes]
        axes.legend(handles=marks, frameon=False, loc="upper right", labelcolor=_INK)
