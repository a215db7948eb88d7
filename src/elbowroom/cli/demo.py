"""`elbowroom demo`: a scenario of the gallery, planned, proven free and written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from elbowroom.cli import options
from elbowroom.cli.console import StageTimer, compile_first, out, print_json, print_written
from elbowroom.cli.results import exit_code, plan_facts, print_plan, print_seconds, stages
from elbowroom.cli.run import write_plan
from elbowroom.stopping import checked_budget

# The first of these that the gallery has.
_FIRST = ("umbrella", "stroll")


def demo(
    name: Annotated[str | None, typer.Argument(help="Gallery scenario; 'elbowroom gallery' lists them.")] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", help="Output file instead of the default ones; may be repeated."),
    ] = None,
    seed: options.Seed = 0,
    tier: options.TierName = "auto",
    budget: options.BudgetSeconds = None,
    style: options.StyleName = None,
    as_json: options.Json = False,
) -> None:
    """Plan a gallery scenario and prove it collision-free; writes NAME.glb and NAME.html (plays offline).

    Exit code 0: written and proven collision-free; 1: no motion found, or it collides; 3: no collision found, but not
    proven.
    """
    from elbowroom.files.save import check_outputs, check_world
    from elbowroom.gallery.scenes import scenario, scenario_names
    from elbowroom.storyboard.plan import plan_storyboard

    how: dict[str, Any] = {"seed": seed, "tier": options.tier_named(tier), "budget": checked_budget(budget)}
    how["style"] = options.style_named(style)
    shown = scenario(name or next(n for n in _FIRST if n in scenario_names()))
    paths = check_outputs(output or [Path(f"{shown.name}.glb"), Path(f"{shown.name}.html")])
    clock = StageTimer(quiet=as_json)
    compile_first(as_json)
    with clock("load", "building the scene"):
        board = shown.board()
        check_world(paths, board.world)
    compile_first(as_json, everything=not all(task.repairs for task in board.tasks))
    with clock("plan", "planning and certifying"):
        plan = plan_storyboard(board, **how)
    written = write_plan(paths, plan, board.fps, clock, asked=bool(board.tasks), made={"seed": seed})
    if as_json:
        print_json(plan_facts(plan, seed, clock.seconds) | {"written": [str(p) for p in written]})
    else:
        out.print(f"{shown.name}: {shown.shows}", style="bold", highlight=False, soft_wrap=True, markup=False)
        print_plan(plan, f"planned with seed {seed}")
        print_seconds(stages(clock.seconds, plan.seconds))
        print_written(written)
        if written:
            out.print("Open the .html in a browser, or import the .glb into Blender.", highlight=False)
    raise typer.Exit(exit_code(plan))
