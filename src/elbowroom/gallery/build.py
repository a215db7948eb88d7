"""Building of a gallery scenario: planned, proven, written with its picture and its storyboard."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import numpy as np

from elbowroom.errors import MissingExtra
from elbowroom.files.save import save
from elbowroom.gallery.page import Exhibit
from elbowroom.gallery.scenes import Scenario
from elbowroom.geometry.rotations import Array
from elbowroom.pictures.images import strip, write_png
from elbowroom.plan.result import Plan
from elbowroom.storyboard.plan import plan_storyboard

# Moments in a picture, and the size of each in pixels.
_MOMENTS, _SIZE = 6, (260, 300)


def build(scenario: Scenario, folder: Path, seed: int = 0) -> tuple[Plan, Exhibit]:
    """Plan a scenario and write NAME.glb, NAME.html, NAME.png and NAME.yaml into a folder.

    If no motion is found, only the storyboard is written; if pictures cannot be drawn, there are none.
    """
    start = time.perf_counter()
    board = scenario.board()
    plan = plan_storyboard(board, seed=seed)
    seconds = time.perf_counter() - start
    shutil.copyfile(scenario.path, folder / scenario.path.name)
    links, picture = {}, ""
    if plan.found or not board.tasks:
        save([folder / f"{scenario.name}.glb", folder / f"{scenario.name}.html"], plan.world, board.fps, **plan.layers)
        links = {"play": f"{scenario.name}.html", "GLB": f"{scenario.name}.glb"}
        picture = _picture(scenario.name, folder, plan)
    links["storyboard"] = scenario.path.name
    verdict = _verdict(plan)
    figures = _figures(plan) | {"total time": f"{seconds:.1f} s"}
    shown = Exhibit(scenario.name, scenario.shows, scenario.features, plan.found, verdict, figures, links, picture)
    return plan, shown


def _picture(name: str, folder: Path, plan: Plan) -> str:
    try:
        write_png(folder / f"{name}.png", strip(plan.world, moments(plan), size=_SIZE))
    except MissingExtra:
        return ""
    return f"{name}.png"


def moments(plan: Plan) -> Array:
    """Times for a picture: the ends of planned motions, when hands are at their targets; else evenly spread."""
    begin, end = plan.world.span
    ends = np.unique([begin, *(min(p.during[1], end) for p in plan.edits)])
    if len(ends) < _MOMENTS:
        return np.linspace(begin, end, _MOMENTS)
    return ends[np.linspace(0, len(ends) - 1, _MOMENTS).round().astype(int)]


def _verdict(plan: Plan) -> str:
    """Return the verdict: proof and minimum clearance, or the reason of failure."""
    proven = plan.certificate
    if not plan.found:
        return f"{plan.status}: {plan.advice}"
    if proven is None or proven.pair is None or proven.clearance_m is None:
        return "proven collision-free"
    a, b = proven.pair
    return f"proven collision-free; minimum clearance {1000 * proven.clearance_m:.1f} mm, {a} and {b}"


def _figures(plan: Plan) -> dict[str, str]:
    figures = {"triangles": f"{plan.world.triangles:,}"}
    if plan.certificate is not None:
        figures["frames"] = f"{plan.certificate.frames}"
    if plan.edits:
        slowest = max(p.first_solution_s for p in plan.edits)
        figures["plans"] = str(len(plan.edits))
        figures["slowest first solution"] = f"{1000 * slowest:.1f} ms"
        figures["checks"] = f"{sum(p.checks for p in plan.edits):,}"
    return figures
