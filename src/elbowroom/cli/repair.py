"""`elbowroom repair`: any clip in any scene, brought out of what it runs into."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elbowroom.cli import options, placing
from elbowroom.cli.console import Clock, out, print_json, print_written
from elbowroom.cli.results import plan_facts, print_plan, print_seconds, stages
from elbowroom.errors import BadValue


def repair(
    clip: Annotated[Path, typer.Argument(metavar="CLIP", help="Clip: BVH, AMC, GLB or NPZ.")],
    scene: Annotated[Path, typer.Argument(metavar="SCENE", help="GLB, OBJ, STL or PLY.")],
    output: Annotated[list[Path], typer.Option("-o", "--output", help="File to write; may be repeated.")],
    at: placing.At = None,
    turn: placing.Turn = 0.0,
    floor: placing.Floor = "auto",
    onto: options.Onto = None,
    name: options.ClipName = None,
    fix_self: placing.FixSelf = False,
    max_shift: Annotated[
        float, typer.Option(metavar="METRES", help="How far the whole clip may be moved where limbs cannot do it.")
    ] = 0.0,
    max_delay: Annotated[
        float, typer.Option(metavar="SECONDS", help="How much later it may begin where limbs cannot do it.")
    ] = 0.0,
    style: options.StyleName = None,
    seed: options.Seed = 0,
    units: options.Units = None,
    up: options.Up = None,
    fps: options.Fps = None,
    scene_units: placing.SceneUnits = None,
    scene_up: placing.SceneUp = None,
    asf: options.Asf = None,
    fix_rig: options.FixRig = False,
    as_json: options.Json = False,
) -> None:
    """Plan limbs anew where a clip runs into a scene, and leave the rest of it as it is.

    OUT is of any kind that can be written; a BVH comes back with its joints, channels and rate. Exit code 0: written,
    and proven free of collision; 1: not free, the best repair is written and marked; 2: bad input.
    Example: elbowroom repair walk.bvh hall.glb --at 1,2 --turn 90 -o out.bvh -o out.html
    """
    from elbowroom.files.open import Told
    from elbowroom.files.save import check_outputs, save
    from elbowroom.tasks.repair import repair as bring_out

    if not (0.0 <= max_shift < 100.0 and 0.0 <= max_delay < 1000.0):
        raise BadValue("a shift is 0 or more metres, a delay 0 or more seconds.")
    wish = options.style_named(style)
    paths = check_outputs(output)
    clock = Clock(quiet=as_json)
    with clock("load", f"reading {clip.name} and {scene.name}"):
        around = placing.Around(scene, scene_units, scene_up, floor, at, turn)
        world = placing.clip_in_scene(clip, Told(units, up, fps, fix_rig, asf), around, onto, name)
    with clock("plan", "repairing"):
        plan = bring_out(world, seed=seed, style=wish, fix_self=fix_self, max_shift=max_shift, max_delay=max_delay)
    with clock("write", "writing " + ", ".join(p.name for p in paths)):
        save(paths, plan.world)
    if as_json:
        print_json(plan_facts(plan, seed, clock.seconds) | {"written": [str(p) for p in paths]})
    else:
        print_plan(plan, f"{clip.name} in {scene.name}, seed {seed}: {len(plan.collisions)} collisions")
        if plan.found and not plan.plans:
            out.print("nothing to repair: the clip is free as it is.", highlight=False)
        print_seconds(stages(clock.seconds, plan.seconds))
        print_written(paths)
    raise typer.Exit(0 if plan.found else 1)
