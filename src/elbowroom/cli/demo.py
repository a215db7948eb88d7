"""`elbowroom demo`: a scene of the gallery, made, proven free and written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from elbowroom.cli import options
from elbowroom.cli.console import Clock, out, print_json


def demo(
    name: Annotated[str, typer.Argument(help="Scene of the gallery: stroll or doorway.")] = "stroll",
    output: Annotated[
        list[Path] | None, typer.Option("-o", "--output", help="File to write instead; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same motion.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Make a scene of the gallery and prove it free; writes NAME.glb and NAME.html (plays offline).

    Exit code 0: written, and proven free of collision; 1: written, but not proven.
    """
    from elbowroom.files.save import check_outputs, save
    from elbowroom.gallery.scenes import SCENES, scene
    from elbowroom.motion.quality import worst_quality
    from elbowroom.world.certificate import certify

    paths = check_outputs(output or [Path(f"{name}.glb"), Path(f"{name}.html")])
    clock = Clock(quiet=as_json)
    with clock("plan", "making the motion"):
        world = scene(name, seed)
    with clock("certify", "proving that it is free of collision"):
        certificate = certify(world)
    with clock("write", "writing " + ", ".join(p.name for p in paths)):
        save(paths, world)
    if as_json:
        print_json(
            {
                "status": "found" if certificate.free else "not-certified",
                "seed": seed,
                "frames": certificate.frames,
                "fps": certificate.fps,
                "triangles": world.triangles,
                "seconds": clock.seconds | {"total": round(sum(clock.seconds.values()), 3)},
                "plans": [],
                **certificate.facts(),
                "quality": worst_quality(world.characters.values()).facts(),
                "written": [str(p) for p in paths],
            }
        )
    else:
        first, last = world.span
        table = Table(title=f"{name}: {SCENES[name].shows}", title_justify="left", show_header=False)
        table.add_row("motion", f"{certificate.frames} frames at {certificate.fps:g} fps, {last - first:.1f} s")
        table.add_row("scene", f"{len(world.static)} pieces, {world.triangles:,} triangles")
        if certificate.free and certificate.pair is not None and certificate.clearance_m is not None:
            a, b = certificate.pair
            near = f"{100 * certificate.clearance_m:.1f} cm at {certificate.at_s:.2f} s ({a}, {b})"
            table.add_row("proven free", f"also between frames; smallest clearance {near}")
        else:
            table.add_row("not proven free", f"{len(certificate.collisions)} collisions")
        table.add_row("time", ", ".join(f"{stage} {s:.2f} s" for stage, s in clock.seconds.items()))
        for path in paths:
            table.add_row("written", str(path))
        out.print(table)
        out.print("Open the .html in a browser, or import the .glb into Blender.", highlight=False)
    if not certificate.free:
        raise typer.Exit(1)
