"""`elbowroom convert`: from one format to another, with optional edits."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elbowroom.cli import options
from elbowroom.cli.console import StageTimer, print_json, print_notes, print_written
from elbowroom.cli.options import is_storyboard, named, open_source
from elbowroom.errors import BadValue

if TYPE_CHECKING:
    from elbowroom.motion.clip import Motion


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Clip, rig, scene or storyboard to read.")],
    output: Annotated[list[Path], typer.Argument(metavar="OUT...", help=".glb .bvh .npz .npy .html .usd .usda .usdc")],
    onto: options.Onto = None,
    scene: options.Scenes = None,
    clip: options.ClipName = None,
    cut: Annotated[
        tuple[float, float] | None, typer.Option(metavar="FROM TO", help="Keep only this time range, in seconds.")
    ] = None,
    mirror: Annotated[bool, typer.Option("--mirror", help="Swap left and right.")] = False,
    rate: Annotated[float | None, typer.Option(help="Output frame rate (fps); default: that of the clip.")] = None,
    at: Annotated[str | None, typer.Option(metavar="X,Y", help="Translation on the floor, in metres.")] = None,
    turn: Annotated[float, typer.Option(help="Counter-clockwise rotation about the vertical axis, in degrees.")] = 0.0,
    shapes: options.ShapesOption = False,
    units: options.UnitsOption = None,
    up: options.Up = None,
    fps: options.Fps = None,
    asf: options.Asf = None,
    body_model: options.BodyModelFile = None,
    fix_rig: options.FixRig = False,
    as_json: options.Json = False,
) -> None:
    """Convert between formats; optionally retarget, cut, mirror, resample and reposition.

    Markers of a .c3d file become the motion of a body that is fitted to them.

    Example: elbowroom convert walk.bvh walk.glb walk.html --onto child --cut 0.5 2.0 --at 1,0 --turn 90
    """
    from elbowroom.files.open import ImportHints
    from elbowroom.files.save import check_outputs, save

    paths = check_outputs(output)
    place_at = options.point(at)
    source = named(source)
    clock = StageTimer(quiet=as_json)
    edits = bool(cut is not None or mirror or at is not None or turn)
    if is_storyboard(source) and edits:
        raise BadValue(
            "--cut, --mirror, --at and --turn do not apply to a storyboard: edit the storyboard, or convert its result."
        )
    opened = open_source(source, ImportHints(units, up, fps, fix_rig, asf, body_model), clock)
    if opened.markers is not None:
        with clock("solve", "solving the markers"):
            opened = opened.with_solved_markers()
    with clock("edit", "editing the motion"):
        world = options.world_of(opened, clip, onto, scene)
        if not is_storyboard(source):
            edited = {n: _edited(m, cut, mirror, rate, place_at, turn) for n, m in world.characters.items()}
            world = replace(world, characters=edited)
    with clock("write", "writing " + ", ".join(p.name for p in paths)):
        same = not edits and onto is None and rate is None and fps is None and clip is None
        layers: dict[str, Any] = {"base": opened.edited.base, "edits": opened.edited.edits} if same else {}
        save(paths, world, rate if is_storyboard(source) else None, shapes=shapes, **layers)
    if as_json:
        notes = list(dict.fromkeys(opened.notes))
        print_json({"written": [str(p) for p in paths], "notes": notes, "seconds": clock.seconds})
    else:
        print_notes(opened.notes)
        print_written(paths)


def _edited(
    motion: Motion,
    cut_to: tuple[float, float] | None,
    mirrored: bool,
    rate: float | None,
    at: tuple[float, float],
    turn: float,
) -> Motion:
    from elbowroom.motion.clip import Clip
    from elbowroom.motion.edit import cut, mirror, place, resample

    assert isinstance(motion, Clip)
    if cut_to is not None:
        motion = cut(motion, *cut_to)
    if mirrored:
        motion = mirror(motion)
    if rate is not None:
        motion = resample(motion, rate)
    if at != (0.0, 0.0) or turn:
        motion = place(motion, at, math.radians(turn))
    return motion
