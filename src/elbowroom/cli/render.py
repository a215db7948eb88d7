"""`elbowroom render`: pictures and films of a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elbowroom.cli import options
from elbowroom.cli.console import StageTimer, print_json, print_notes, print_written
from elbowroom.cli.options import named, open_source
from elbowroom.errors import BadValue

if TYPE_CHECKING:
    from elbowroom.files.open import Opened

_MARKERS = "markers"


def render(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN", help="Any file that 'elbowroom info' reads; storyboards and gallery names are planned first."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help=".png (still or strip of frames) or .mp4")],
    when: Annotated[
        float | None, typer.Option("--time", help="Time of a still, in seconds; default: the middle.")
    ] = None,
    frames: Annotated[int, typer.Option(help="Number of frames; more than 1 draws a strip.")] = 1,
    look: Annotated[
        str,
        typer.Option(help="front, side, back, top, or three-quarter (chosen so that hands and faces are visible)."),
    ] = "three-quarter",
    target: Annotated[
        str | None, typer.Option(help="Close-up of a body part or object, such as ann.right_hand or book.")
    ] = None,
    span: Annotated[float | None, typer.Option(help="Extent of the picture's shorter side, in metres.")] = None,
    show: Annotated[str, typer.Option(help="skin, shapes or bones; markers of a .c3d.")] = "skin",
    shapes: options.ShapesOption = False,
    size: Annotated[
        str, typer.Option(metavar="WxH", help="Size in pixels of the picture, or of each frame.")
    ] = "960x640",
    onto: options.Onto = None,
    scene: options.Scenes = None,
    clip: options.ClipName = None,
    rate: Annotated[float, typer.Option(help="Frame rate of a film.")] = 30.0,
    units: options.UnitsOption = None,
    up: options.Up = None,
    fps: options.Fps = None,
    asf: options.Asf = None,
    body_model: options.BodyModelFile = None,
    fix_rig: options.FixRig = False,
    as_json: options.Json = False,
) -> None:
    """Draw a file to a PNG still, a strip of frames, or an MP4 film; needs no screen.

    Example: elbowroom render walk.bvh -o walk.png --frames 8 --look side --onto woman
    """
    from elbowroom.files.open import ImportHints
    from elbowroom.pictures.images import check_picture, draw

    wanted = options.pixels(size)
    source = named(source)
    check_picture(output)
    clock = StageTimer(quiet=as_json)
    opened = open_source(source, ImportHints(units, up, fps, fix_rig, asf, body_model), clock)
    if show != _MARKERS and opened.markers is not None:
        with clock("solve", "solving the markers"):
            opened = _solved(opened)
    world = options.world_of(opened, clip, onto, scene)
    with clock("draw", f"drawing {output.name}"):
        draw(
            output,
            world,
            None if opened.clips else opened.markers,
            time=when,
            frames=frames,
            look=look,
            target=target,
            span=span,
            show="shapes" if shapes else "skin" if show == _MARKERS else show,
            size=wanted,
            fps=rate,
        )
    if as_json:
        notes = list(dict.fromkeys(opened.notes))
        print_json({"written": [str(output)], "notes": notes, "seconds": clock.seconds})
    else:
        if opened.markers is not None:
            print_notes(opened.notes)
        print_written([output])


def _solved(opened: Opened) -> Opened:
    """The file with its markers on a body; with the markers alone, and a note, where they do not suffice for one."""
    try:
        return opened.with_solved_markers()
    except BadValue as error:
        return replace(opened, notes=(*opened.notes, f"Markers are shown without a body: {error}"))
