"""`elbowroom repair`: remove the collisions of any clip with any scene."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elbowroom.cli import options
from elbowroom.cli.console import StageTimer, compile_first, out, print_json, print_written
from elbowroom.cli.results import exit_code, plan_facts, print_plan, print_seconds, stages
from elbowroom.cli.run import checked_count, numbered, write_variants
from elbowroom.errors import BadValue
from elbowroom.stopping import checked_budget

if TYPE_CHECKING:
    from elbowroom.motion.feet import FeetReport
    from elbowroom.world.world import World


def repair(
    clip: Annotated[Path, typer.Argument(metavar="CLIP", help="Clip: BVH, AMC, FBX, GLB, NPZ or NPY.")],
    output: options.Outputs,
    scene: Annotated[
        Path | None, typer.Argument(metavar="[SCENE]", help="GLB, FBX, OBJ, STL or PLY; not needed with --feet.")
    ] = None,
    feet: Annotated[
        bool,
        typer.Option("--feet", help="First clean up feet: no sliding, no floating, nothing below the floor."),
    ] = False,
    at: options.At = None,
    turn: options.TurnOption = 0.0,
    floor: options.FloorOption = "auto",
    onto: options.Onto = None,
    name: options.ClipName = None,
    fix_self: options.FixSelf = False,
    strength: options.Strength = None,
    mute: options.Mute = None,
    allow: options.Allow = None,
    accept_unproven: options.AcceptUnproven = False,
    max_aside: Annotated[
        float,
        typer.Option(metavar="METRES", help="Maximum sidestep or detour of the body where moving limbs is not enough."),
    ] = 0.6,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIMB[=FROM-TO]",
            help="Limb to leave unchanged, or when: right_arm, left_arm=1.2-2.5. May be repeated.",
        ),
    ] = None,
    max_shift: Annotated[
        float, typer.Option(metavar="METRES", help="Maximum translation of the whole clip if nothing else works.")
    ] = 0.0,
    max_delay: Annotated[
        float, typer.Option(metavar="SECONDS", help="Maximum delay of the clip's start if nothing else works.")
    ] = 0.0,
    variants: Annotated[
        int | None, typer.Option(metavar="N", help="Number of visibly different repairs: OUT-1 … OUT-N.")
    ] = None,
    budget: options.BudgetSeconds = None,
    style: options.StyleName = None,
    seed: options.Seed = 0,
    units: options.UnitsOption = None,
    up: options.Up = None,
    fps: options.Fps = None,
    scene_units: options.SceneUnits = None,
    scene_up: options.SceneUp = None,
    asf: options.Asf = None,
    body_model: options.BodyModelFile = None,
    fix_rig: options.FixRig = False,
    as_json: options.Json = False,
) -> None:
    """Re-plan limbs where a clip collides with a scene, and keep the rest of the clip unchanged.

    With --feet, feet are cleaned up first, and SCENE may be left out: feet in stance do not slide and are on the floor;
    the change to the pose is reported.
    OUT may have any output format. A BVH keeps its joints, channels and frame rate, a GLB its nodes, skin and frame
    rate; an AMC is written as BVH, GLB or NPZ. The planner first moves limbs, then limbs with shoulder and spine,
    footfalls, and the whole body by a sidestep or detour (--max-aside); then, if allowed, it translates the whole clip
    (--max-shift) or delays its start (--max-delay). Exit code 0: written and proven collision-free; 1: collisions
    remain or the --budget is spent, the best repair so far is written; 2: bad input; 3: no collision found, but not
    proven.
    Example: elbowroom repair walk.bvh hall.glb --at 1,2 --turn 90 -o out.bvh -o out.html
    """
    from elbowroom.files.open import ImportHints
    from elbowroom.files.save import check_outputs, save
    from elbowroom.plan.checks.allowed import Pin
    from elbowroom.plan.prove import changed_edits
    from elbowroom.plan.repair.repair import repair as bring_out

    if not (0.0 <= max_aside <= 1.0 and 0.0 <= max_shift < 100.0 and 0.0 <= max_delay < 1000.0):
        raise BadValue("--max-aside must be 0 to 1 m, --max-shift 0 m or more, --max-delay 0 s or more.")
    if scene is None and not feet:
        raise BadValue("give a SCENE, or --feet to clean up the feet without one.")
    how: dict[str, Any] = {"seed": seed, "style": options.style_named(style), "fix_self": fix_self}
    how |= {"budget": checked_budget(budget), "max_aside": max_aside, "max_shift": max_shift, "max_delay": max_delay}
    pins = [options.limb_kept(text) for text in keep or ()]
    changes = options.edit_changes(strength, mute, variants)
    paths = check_outputs(output)
    if variants is not None:
        check_outputs([p for k in range(checked_count(variants)) for p in numbered(paths, k)])
    clock = StageTimer(quiet=as_json)
    inputs = [clip] if scene is None else [clip, scene]
    if scene is not None:
        compile_first(as_json)
    with clock("load", "reading " + " and ".join(p.name for p in inputs)):
        around = options.Surroundings(scene, scene_units, scene_up, floor, at, turn)
        world = options.clip_in_scene(clip, ImportHints(units, up, fps, fix_rig, asf, body_model), around, onto, name)
        world = options.with_allowances(world, allow)
    reports: dict[str, Any] = {}
    if feet:
        with clock("feet", "cleaning up feet"):
            world, reports = _clean_feet(world)
        if not as_json:
            for name_, report in reports.items():
                out.print(f"{name_}: {report.text}", highlight=False)
    facts = {"feet": {key: report.facts() for key, report in reports.items()}} if feet else {}
    if scene is None:
        with clock("write", "writing " + ", ".join(p.name for p in paths)):
            save(paths, world, seed=seed, inputs=inputs)
        if as_json:
            print_json(facts | {"written": [str(p) for p in paths], "seconds": clock.seconds})
        else:
            print_written(paths)
        return
    how["keep"] = [Pin(who, limb, during) for who in world.characters for limb, during in pins]
    if variants is not None:
        raise typer.Exit(_several(world, variants, paths, inputs, clock, as_json, how))
    with clock("plan", "repairing") as say:
        plan = changed_edits(
            bring_out(world, progress=say, advise=True, **how), changes, None, own_contacts=not fix_self
        )
    with clock("write", "writing " + ", ".join(p.name for p in paths)):
        save(paths, plan.world, certificate=plan.certificate, seed=seed, inputs=inputs, **plan.layers)
    if as_json:
        print_json(plan_facts(plan, seed, clock.seconds) | facts | {"written": [str(p) for p in paths]})
    else:
        print_plan(plan, f"{clip.name} in {scene.name}, seed {seed}: {len(plan.collisions)} collisions")
        if plan.found and not plan.edits:
            out.print("nothing to repair: the clip is already collision-free.", highlight=False)
        print_seconds(stages(clock.seconds, plan.seconds))
        print_written(paths)
    raise typer.Exit(exit_code(plan, accept_unproven))


def _clean_feet(world: World) -> tuple[World, dict[str, FeetReport]]:
    """World with the feet of all clips cleaned up, and a report on each."""
    from elbowroom.motion.clip import Clip
    from elbowroom.motion.feet import clean_feet

    floor = world.floor
    if floor is None:
        raise BadValue("--feet needs a floor: give its height with --floor.")
    reports = {}
    for name, motion in world.characters.items():
        if isinstance(motion, Clip):
            cleaned, reports[name] = clean_feet(motion, floor)
            world = world.with_character(name, cleaned)
    return world, reports


def _several(
    world: World,
    count: int,
    paths: list[Path],
    inputs: list[Path],
    clock: StageTimer,
    as_json: bool,
    how: dict[str, Any],
) -> int:
    """Plan and write several repairs; returns the exit code."""
    from elbowroom.plan.variants import repair_variants

    with clock("plan", "repairing") as say:
        progress = lambda seed, found: say(f"repairing with seed {seed}; {found} of {count} variants found")  # noqa: E731
        found = repair_variants(world, count, progress=progress, **how)
    return write_variants(found, count, paths, None, inputs, clock, as_json)
