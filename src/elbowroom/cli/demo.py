"""`elbowroom demo`: a scene of the gallery, made and written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from elbowroom.cli import options
from elbowroom.cli.console import Clock, out, print_json


def demo(
    name: Annotated[str, typer.Argument(help="Scene of the gallery.")] = "stroll",
    output: Annotated[
        list[Path] | None, typer.Option("-o", "--output", help="File to write instead; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same motion.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Show a person walking a curved path past furniture; writes NAME.glb and NAME.html (plays offline)."""
    from elbowroom.files.save import check_outputs, save
    from elbowroom.gallery.scenes import scene
    from elbowroom.motion.clip import Clip

    paths = check_outputs(output or [Path(f"{name}.glb"), Path(f"{name}.html")])
    clock = Clock(quiet=as_json)
    with clock("plan", "making the motion"):
        world = scene(name, seed)
    with clock("write", "writing " + ", ".join(p.name for p in paths)):
        save(paths, world)
    clip = next(m for m in world.characters.values() if isinstance(m, Clip))
    frames, fps = len(clip), clip.fps
    if as_json:
        print_json(
            {
                "status": "found",
                "seed": seed,
                "frames": frames,
                "fps": fps,
                "triangles": world.triangles,
                "seconds": clock.seconds | {"total": round(sum(clock.seconds.values()), 3)},
                "written": [str(p) for p in paths],
            }
        )
        return
    table = Table(title=name, title_justify="left", show_header=False)
    table.add_row("motion", f"{frames} frames at {fps:g} fps, {clip.duration:.1f} s")
    table.add_row("scene", f"{len(world.static)} pieces, {world.triangles:,} triangles")
    table.add_row("time", ", ".join(f"{stage} {s:.2f} s" for stage, s in clock.seconds.items()))
    for path in paths:
        table.add_row("written", str(path))
    out.print(table)
    out.print("Open the .html in a browser, or import the .glb into Blender.", highlight=False)
