"""`elbowroom run`: plan the tasks of a storyboard, prove the result and write it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elbowroom.cli import options
from elbowroom.cli.console import StageTimer, compile_first, out, print_json, print_written
from elbowroom.cli.options import named
from elbowroom.cli.results import NOT_PROVEN, exit_code, plan_facts, print_plan, print_seconds, stages
from elbowroom.errors import BadValue
from elbowroom.stopping import checked_budget

if TYPE_CHECKING:
    from elbowroom.plan.state.result import Plan
    from elbowroom.plan.variants import Variant, Variants


def run(
    storyboard: Annotated[
        Path,
        typer.Argument(metavar="STORYBOARD", help="Storyboard in YAML (docs/storyboard.md), or a gallery name."),
    ],
    output: options.Outputs,
    seed: options.Seed = 0,
    variants: Annotated[
        int | None, typer.Option(metavar="N", help="Number of different motions: OUT-1 … OUT-N.")
    ] = None,
    tier: options.TierName = "auto",
    budget: options.BudgetSeconds = None,
    style: options.StyleName = None,
    strength: options.Strength = None,
    mute: options.Mute = None,
    allow: options.Allow = None,
    accept_unproven: options.AcceptUnproven = False,
    as_json: options.Json = False,
) -> None:
    """Plan the tasks of a storyboard and prove the motion collision-free; writes all outputs or none.

    Exit code 0: written and proven collision-free; 1: no motion found, or it collides; 2: bad input; 3: no collision
    found, but not proven. Example: elbowroom run kitchen.yaml -o kitchen.glb -o kitchen.html --seed 7
    """
    from elbowroom.files.save import check_outputs, check_world
    from elbowroom.storyboard.storyboard import read_storyboard

    how: dict[str, Any] = {"seed": seed, "tier": options.tier_named(tier), "budget": checked_budget(budget)}
    how["style"] = options.style_named(style)
    changes = options.edit_changes(strength, mute, variants)
    paths = check_outputs(output)
    if variants is not None:
        check_outputs([p for k in range(checked_count(variants)) for p in numbered(paths, k)])
    if not paths:
        raise BadValue("no output file: give -o NAME.glb.")
    storyboard = named(storyboard)
    clock = StageTimer(quiet=as_json)
    compile_first(as_json)
    with clock("load", f"reading {storyboard.name}"):
        board = read_storyboard(storyboard)
        board = replace(board, world=options.with_allowances(board.world, allow))
        check_world(paths, board.world)
    compile_first(as_json, everything=not all(task.repairs for task in board.tasks))
    if variants is not None:
        raise typer.Exit(_several(board, storyboard, paths, variants, clock, as_json, **how))
    from elbowroom.plan.prove import changed_edits
    from elbowroom.storyboard.plan import plan_storyboard

    with clock("plan", f"planning {storyboard.name}"):
        plan = changed_edits(plan_storyboard(board, **how), changes, board.fps)
    made = {"seed": seed, "inputs": [storyboard]}
    written = write_plan(paths, plan, board.fps, clock, asked=bool(board.tasks), made=made)
    if as_json:
        print_json(plan_facts(plan, seed, clock.seconds) | {"written": [str(p) for p in written]})
    else:
        print_plan(plan, f"{storyboard.name}, seed {seed}")
        print_seconds(stages(clock.seconds, plan.seconds))
        print_written(written)
    raise typer.Exit(exit_code(plan, accept_unproven))


def write_plan(
    paths: list[Path], plan: Plan, fps: float, clock: StageTimer, *, asked: bool, made: Mapping[str, Any]
) -> list[Path]:
    """Write a plan's world if its tasks, `asked`, are done in full or in part; else nothing.

    `made` has the seed and the inputs, for the proof in the file.
    """
    from elbowroom.files.save import save

    if asked and plan.status not in ("found", "partial") and exit_code(plan) != NOT_PROVEN:
        return []
    with clock("write", "writing " + ", ".join(p.name for p in paths)):
        return save(paths, plan.world, fps, certificate=plan.certificate, **made, **plan.layers)


def numbered(paths: list[Path], k: int) -> list[Path]:
    """Outputs of variant number k, counted from 0: OUT-1, OUT-2, …"""
    return [p.with_name(f"{p.stem}-{k + 1}{p.suffix}") for p in paths]


def checked_count(count: int) -> int:
    """Return the number of variants; raises `BadValue` if it is out of range."""
    from elbowroom.plan.variants import MOST_VARIANTS

    if not 1 <= count <= MOST_VARIANTS:
        raise BadValue(f"the number of variants must be between 1 and {MOST_VARIANTS}, not {count}.")
    return count


def _several(
    board: Any, path: Path, paths: list[Path], count: int, clock: StageTimer, as_json: bool, **how: Any
) -> int:
    """Plan and write several variants; returns the exit code."""
    from elbowroom.storyboard.plan import plan_variants

    with clock("plan", "planning") as say:
        progress = lambda seed, found: say(f"planning with seed {seed}; {found} of {count} variants found")  # noqa: E731
        found = plan_variants(board, count, progress=progress, **how)
    return write_variants(found, count, paths, board.fps, [path], clock, as_json)


def write_variants(
    found: Variants,
    count: int,
    paths: list[Path],
    fps: float | None,
    inputs: list[Path],
    clock: StageTimer,
    as_json: bool,
) -> int:
    """Write the variants found and print a summary; returns the exit code."""
    files = [numbered(paths, k) for k in range(len(found.kept))]
    if found.kept:
        with clock("write", f"writing {len(found.kept)} motions"):
            _save_all(list(zip(files, found.kept, strict=True)), fps, inputs)
    best = (*found.kept, *found.failed)[0]
    if as_json:
        entries = [_entry(v, f) for v, f in zip(found.kept, files, strict=True)]
        rest = {"failed": [_entry(v) for v in found.failed], "alike": [_entry(v) for v in found.alike]}
        written = [str(p) for group in files for p in group]
        print_json(plan_facts(best.plan, best.seed, clock.seconds) | {"written": written, "variants": entries} | rest)
    elif not found.kept:
        print_plan(best.plan, f"seed {best.seed}")
    else:
        for variant, group in zip(found.kept, files, strict=True):
            print_plan(variant.plan, f"{group[0].stem}, seed {variant.seed}{_differs(variant.differs)}")
        _tell_missing(found, count)
        proving = sum(v.plan.seconds.get("certify", 0.0) for v in (*found.kept, *found.failed, *found.alike))
        print_seconds(stages(clock.seconds, {"certify": proving}))
        print_written(p for group in files for p in group)
    return 0 if found.kept else 1


def _save_all(groups: list[tuple[list[Path], Variant]], fps: float | None, inputs: list[Path]) -> None:
    """Write several motions, all of their files or none."""
    from elbowroom.files.atomic import writing
    from elbowroom.files.save import save

    with writing(*(p for paths, _ in groups for p in paths)) as stand_ins:
        left = iter(stand_ins)
        for paths, variant in groups:
            plan, files = variant.plan, [next(left) for _ in paths]
            made = {"seed": variant.seed, "inputs": inputs, **plan.layers}
            save(files, plan.world, fps, certificate=plan.certificate, **made)


def _entry(variant: Any, files: list[Path] | None = None) -> dict[str, Any]:
    """Entry of a variant in the JSON contract's list."""
    plan = variant.plan
    proven = plan.certificate
    return {
        "seed": variant.seed,
        "status": plan.status,
        "why": plan.why,
        "differs_m": None if variant.differs is None else round(variant.differs, 4),
        "plans": [p.facts() for p in plan.edits],
        "clearance_m": None if proven is None else proven.clearance_m,
        "written": [str(p) for p in files or []],
    }


def _differs(metres: float | None) -> str:
    return "" if metres is None else f", {100 * metres:.0f} cm from the others"


def _tell_missing(found: Variants, count: int) -> None:
    if len(found.kept) == count:
        return
    from elbowroom.plan.variants import ALIKE_M

    reasons = []
    if found.alike:
        reasons.append(f"{len(found.alike)} differed by less than {100 * ALIKE_M:.0f} cm")
    if found.failed:
        reasons.append(f"{len(found.failed)} failed ({found.failed[0].plan.status})")
    rest = " and ".join(reasons) or "none was tried"
    out.print(
        f"only {len(found.kept)} of {count} variants found; of the other seeds {rest}.",
        style="yellow",
        highlight=False,
        soft_wrap=True,
    )
