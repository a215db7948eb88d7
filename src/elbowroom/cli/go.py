"""`elbowroom go`: walk through a scene from one place to others."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from elbowroom.cli import options
from elbowroom.cli.console import StageTimer, compile_first, print_json, print_written
from elbowroom.cli.results import exit_code, plan_facts, print_plan, print_seconds, stages
from elbowroom.cli.run import write_plan
from elbowroom.errors import BadValue
from elbowroom.stopping import checked_budget

if TYPE_CHECKING:
    from elbowroom.plan.tasks import Go


def go(
    scene: Annotated[Path, typer.Argument(metavar="SCENE", help="GLB, FBX, OBJ, STL or PLY.")],
    output: options.Outputs,
    start: Annotated[str, typer.Option("--from", metavar="X,Y", help="Where the walk begins.")],
    to: Annotated[
        list[str], typer.Option(metavar="X,Y|NAME", help="Where to go, or a mesh to go to; may be repeated.")
    ],
    facing: Annotated[float | None, typer.Option(metavar="DEG", help="Heading at the end; 0 faces -Y.")] = None,
    gait: Annotated[str, typer.Option(help="any, walk, brisk, run, crouch, sidle or back.")] = "any",
    body: Annotated[str, typer.Option(help="woman, man, child, clown, gorilla, or the rig in a file.")] = "woman",
    library: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Walk like the people in a library of `elbowroom library`.")
    ] = None,
    fps: Annotated[float, typer.Option(help="Frames per second.")] = 30.0,
    floor: options.FloorOption = "auto",
    budget: options.BudgetSeconds = None,
    seed: options.Seed = 0,
    scene_units: options.SceneUnits = None,
    scene_up: options.SceneUp = None,
    as_json: options.Json = False,
) -> None:
    """Find a path through a scene, walk it like recorded people, and prove the motion collision-free.

    The walk is upright where there is room; the character crouches under low obstacles and goes sideways through
    narrow gaps. Exit code 0: written and proven; 1: no path found, with the reason; 2: bad input.
    Example: elbowroom go house.glb --from 0,0 --to 4,-2 --to sofa -o walk.glb
    """
    from elbowroom.files.clip_library import read_clip_library
    from elbowroom.files.open import read_scene
    from elbowroom.files.save import check_outputs
    from elbowroom.plan.checks.ground import standing_at
    from elbowroom.plan.checks.places import inside_of
    from elbowroom.plan.manipulate import plan_tasks
    from elbowroom.plan.state.settings import Settings
    from elbowroom.plan.walking.go import standing_points

    tasks = _tasks(to, facing, gait)
    begin = options.point(start)
    if not (math.isfinite(fps) and 5.0 <= fps <= 480.0):
        raise BadValue(f"--fps must be between 5 and 480, not {fps:g}.")
    paths, character = check_outputs(output), options.character_named(body)
    clock = StageTimer(quiet=as_json)
    compile_first(as_json)
    gaits = None if library is None else read_clip_library(library)
    with clock("load", f"reading {scene.name}"):
        height = options.floor_height(floor)
        world = read_scene(scene, units=scene_units, up=scene_up, floor=height)
        within = inside_of(world, standing_points(world, begin), 0.0)
        if within is not None:
            raise BadValue(f"--from {start} is inside '{within[0]}'; give a place with room to stand.")
        first = tasks[0].to
        aim = (0.0, 0.0) if isinstance(first, str) else (first[0] - begin[0], first[1] - begin[1])
        turn = math.atan2(aim[0], -aim[1]) if aim != (0.0, 0.0) else 0.0
        world = standing_at(world, tasks[0].who, character, begin, turn, fps)
    with clock("plan", "planning the walk"):
        plan = plan_tasks(world, tasks, Settings(seed=seed, gaits=gaits), fps=fps, budget=checked_budget(budget))
    written = write_plan(paths, plan, fps, clock, asked=True, made={"seed": seed, "inputs": [scene]})
    if as_json:
        print_json(plan_facts(plan, seed, clock.seconds) | {"written": [str(p) for p in written]})
    else:
        print_plan(plan, f"{scene.name}, seed {seed}")
        print_seconds(stages(clock.seconds, plan.seconds))
        print_written(written)
    raise typer.Exit(exit_code(plan))


def _tasks(to: list[str], facing: float | None, gait: str) -> list[Go]:
    """Walks to places in turn; the last one ends with the heading."""
    from elbowroom.locomotion.modes import Gait
    from elbowroom.plan.tasks import Go

    if gait not in get_args(Gait):
        raise BadValue(f"--gait must be one of {', '.join(get_args(Gait))}, not '{gait}'.")
    if facing is not None and not math.isfinite(facing):
        raise BadValue(f"--facing takes a finite number of degrees, not {facing}.")
    goals = [options.point(goal) if "," in goal else goal for goal in to]
    last = None if facing is None else math.radians(facing)
    return [
        Go(who="walker", to=goal, facing=last if k == len(goals) - 1 else None, gait=gait)  # type: ignore[arg-type]
        for k, goal in enumerate(goals)
    ]
