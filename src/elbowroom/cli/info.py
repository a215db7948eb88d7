"""`elbowroom info`: describe the contents of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from elbowroom.cli import options
from elbowroom.cli.console import out, print_json, print_notes
from elbowroom.cli.options import board_as_opened, is_storyboard, named
from elbowroom.cli.results import print_edit


def info(
    file: Annotated[Path, typer.Argument(help="BVH, ASF, AMC, C3D, FBX, GLB, NPZ, NPY, a mesh, or a storyboard.")],
    units: options.UnitsOption = None,
    up: options.Up = None,
    fps: options.Fps = None,
    asf: options.Asf = None,
    body_model: options.BodyModelFile = None,
    fix_rig: options.FixRig = False,
    as_json: options.Json = False,
) -> None:
    """Describe a file: limbs found, assumptions made, and anything missing."""
    from elbowroom.files.describe import describe
    from elbowroom.files.open import ImportHints, open_file

    file = named(file)
    hints = ImportHints(units, up, fps, fix_rig, asf, body_model)
    facts = _storyboard(file) if is_storyboard(file) else describe(open_file(file, hints))
    if as_json:
        print_json(facts)
        return
    out.print(f"{facts['file']}: {facts['format']}", highlight=False, soft_wrap=True, markup=False)
    if facts.get("about"):
        out.print(facts["about"], highlight=False, soft_wrap=True, markup=False)
    for name, character in facts.get("characters", {}).items():
        _print_character(name, character)
    if "clips" in facts:
        _print_clips(facts["clips"])
    if "markers" in facts:
        m = facts["markers"]
        out.print(
            f"{len(m['labels'])} markers, {m['frames']} frames at {m['fps']:g} fps ({m['seconds']:g} s), "
            f"{100 * m['missing_share']:.1f} % missing; markers only: no skeleton, no limbs.",
            highlight=False,
        )
    if "meshes" in facts:
        m = facts["meshes"]
        size = " × ".join(f"{v:.2f}" for v in m["size_m"])
        out.print(f"{m['count']} meshes, {m['triangles']:,} triangles, {size} m", highlight=False)
    for name, thing in facts.get("objects", {}).items():
        size = " × ".join(f"{v:.2f}" for v in thing["size_m"])
        way = f", moves {thing['travelled_m']:.2f} m in {thing['seconds']:.2f} s" if "seconds" in thing else ""
        text = f"object '{name}': {thing['triangles']:,} triangles, {size} m{way}"
        out.print(text, highlight=False, markup=False, soft_wrap=True)
    for hold in facts.get("holds", []):
        begin, end = hold["during"]
        text = f"{hold['by']} holds '{hold['object']}' in the {hold['hand']} hand, {begin:g}–{end:g} s"
        out.print(text, highlight=False, markup=False, soft_wrap=True)
    for n, edit in enumerate(facts.get("edits", [])):
        print_edit(n, edit)
    for task in facts.get("tasks", []):
        words = ", ".join(f"{key} {value}" for key, value in task.items() if key != "verb")
        out.print(f"task '{task['verb']}': {words}", highlight=False, markup=False, soft_wrap=True)
    print_notes(facts["notes"])


def _storyboard(path: Path) -> dict[str, Any]:
    """Print the contents and tasks of a storyboard, without planning."""
    from dataclasses import asdict

    from elbowroom.files.describe import describe
    from elbowroom.storyboard.storyboard import read_storyboard

    board = read_storyboard(path)
    usual = (None, "auto")
    tasks = [{k: v for k, v in asdict(task).items() if v not in usual} for task in board.tasks]
    holds = [{"object": h.object, "by": h.by, "hand": h.hand, "during": list(h.during)} for h in board.world.holds]
    return describe(board_as_opened(board, board.world)) | {
        "about": board.about,
        "tags": list(board.tags),
        "fps": board.fps,
        "holds": holds,
        "tasks": [{"verb": task.verb} | said for task, said in zip(board.tasks, tasks, strict=True)],
    }


def _print_character(name: str, facts: dict[str, Any]) -> None:
    mass = f", {facts['mass_kg']:.0f} kg" if "mass_kg" in facts else ""
    skin = f", skin of {facts['skin_triangles']:,} triangles" if facts["skin_triangles"] else ", no skin"
    table = Table(
        title=f"{escape(name)}: {facts['joints']} joints, {facts['height_m']:.2f} m tall{mass}{skin}, "
        f"{facts['shapes']} collision shapes, limits on {facts['joints_with_limits']} joints",
        title_justify="left",
    )
    table.add_column("limb")
    table.add_column("joints")
    for limb, joints in facts["limbs"].items():
        table.add_row(limb, escape(", ".join(joints)))
    for limb in facts["missing"]:
        table.add_row(limb, "[yellow]not found[/yellow]")
    out.print(table)


def _print_clips(clips: dict[str, dict[str, Any]]) -> None:
    table = Table(title="clips", title_justify="left")
    for column in ("clip", "frames", "fps", "seconds", "mean speed", "root height"):
        table.add_column(column)
    for name, c in clips.items():
        low, high = c["root_height_m"]
        table.add_row(
            escape(name),
            str(c["frames"]),
            f"{c['fps']:g}",
            f"{c['seconds']:.2f}",
            f"{c['mean_speed_m_s']:.2f} m/s",
            f"{low:.2f}–{high:.2f} m",
        )
    out.print(table)
