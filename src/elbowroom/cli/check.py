"""`elbowroom check`: list the collisions of a motion, or certify that there are none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from elbowroom.cli import options
from elbowroom.cli.console import StageTimer, out, print_json, print_notes, print_written
from elbowroom.cli.options import is_storyboard, named
from elbowroom.cli.results import exit_code, plan_facts, print_free, print_plans, print_why
from elbowroom.errors import BadFile

if TYPE_CHECKING:
    from elbowroom.plan.state.result import Plan
    from elbowroom.world.certificate import Certificate
    from elbowroom.world.world import World

# Rows of the table on a terminal; --json has them all.
_ROWS = 40


def check(
    clip: Annotated[
        Path,
        typer.Argument(
            metavar="CLIP", help="Clip (BVH, AMC, FBX, GLB, NPZ, NPY); or a storyboard or gallery name, without SCENE."
        ),
    ],
    scene: Annotated[Path | None, typer.Argument(metavar="SCENE", help="GLB, FBX, OBJ, STL or PLY.")] = None,
    at: options.At = None,
    turn: options.TurnOption = 0.0,
    floor: options.FloorOption = "auto",
    onto: options.Onto = None,
    name: options.ClipName = None,
    fix_self: options.FixSelf = False,
    allow: options.Allow = None,
    accept_unproven: options.AcceptUnproven = False,
    picture: Annotated[Path | None, typer.Option(help="Draw a timeline of all collisions to this PNG.")] = None,
    units: options.UnitsOption = None,
    up: options.Up = None,
    fps: options.Fps = None,
    scene_units: options.SceneUnits = None,
    scene_up: options.SceneUp = None,
    asf: options.Asf = None,
    body_model: options.BodyModelFile = None,
    fix_rig: options.FixRig = False,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """List where a clip collides with a scene or with itself, in continuous time, or certify it collision-free.

    A storyboard with tasks is planned first, with --seed; the result is not written.
    Exit code 0: proven collision-free; 1: collisions; 2: bad input; 3: no collision found, but some contact is too
    close to be proven.
    Example: elbowroom check walk.bvh hall.glb --at 1,2 --turn 90
    """
    from elbowroom.files.open import ImportHints

    clip = named(clip)
    if picture is not None:
        _check_picture(picture)
    clock = StageTimer(quiet=as_json)
    if is_storyboard(clip):
        options.no_scene_beside_storyboard(scene)
        plan = _storyboard(clip, seed, not fix_self, allow, clock)
    else:
        with clock("load", f"reading {clip.name}"):
            hints = ImportHints(units, up, fps, fix_rig, asf, body_model)
            around = options.Surroundings(scene, scene_units, scene_up, floor, at, turn)
            world = options.with_allowances(options.clip_in_scene(clip, hints, around, onto, name), allow)
        plan = _as_it_stands(world, None, not fix_self, clock)
    if picture is not None and plan.certificate is not None:
        _draw(picture, plan.certificate, plan.world)
    facts = plan_facts(plan, seed if plan.edits else None, clock.seconds)
    if as_json:
        print_json(facts)
    else:
        _print(plan, facts)
        print_written([] if picture is None or plan.certificate is None else [picture])
    raise typer.Exit(exit_code(plan, accept_unproven))


def _storyboard(path: Path, seed: int, own_contacts: bool, allow: list[str] | None, clock: StageTimer) -> Plan:
    """Plan a storyboard; one without tasks is only certified."""
    from elbowroom.storyboard.plan import plan_storyboard
    from elbowroom.storyboard.storyboard import read_storyboard

    with clock("load", f"reading {path.name}"):
        board = read_storyboard(path)
        board = replace(board, world=options.with_allowances(board.world, allow))
    if not board.tasks:
        return _as_it_stands(board.world, board.fps, own_contacts, clock)
    with clock("plan", f"planning {path.name}"):
        return plan_storyboard(board, seed=seed)


def _as_it_stands(world: World, rate: float | None, own_contacts: bool, clock: StageTimer) -> Plan:
    """Certify a world without planning anything."""
    from elbowroom.plan.state.result import Plan
    from elbowroom.world.certificate import certify

    with clock("certify", "proving"):
        found = certify(world, rate, own_contacts=own_contacts)
    return Plan(
        "found" if found.free else "base-in-collision" if found.collisions else "not-certified",
        world,
        certificate=found,
    )


def _check_picture(path: Path) -> None:
    from elbowroom.files.atomic import check_writable

    if path.suffix.lower() != ".png":
        raise BadFile(path, "is not a supported picture format", would_do="give a name that ends in .png")
    check_writable(path)


def _draw(path: Path, certificate: Certificate, world: World) -> None:
    from elbowroom.files.atomic import writing
    from elbowroom.pictures.timeline import timeline

    with writing(path) as (stand_in,):
        timeline(stand_in, certificate, world)


def _print(plan: Plan, facts: dict[str, Any]) -> None:
    print_notes(facts["notes"])
    if plan.edits:
        print_plans(plan, f"planned with seed {facts['seed']}")
    world, certificate = plan.world, plan.certificate
    if certificate is None:
        print_why(plan)
        return
    what = f"{certificate.frames} frames, {world.triangles:,} triangles, {facts['seconds']['total']:.2f} s"
    if certificate.collisions:
        rows = certificate.collisions
        table = Table(title=f"{len(rows)} collisions ({what})", title_justify="left")
        for column in ("from", "to", "limb", "part", "hits", "depth"):
            table.add_column(column, justify="right" if column in ("from", "to", "depth") else "left")
        for c in rows[:_ROWS]:
            depth = "?" if c.depth_m is None else f"{1000 * c.depth_m:.1f} mm"
            table.add_row(f"{c.during[0]:.3f} s", f"{c.during[1]:.3f} s", c.limb, c.pair.a, c.pair.b, depth)
        out.print(table)
        if len(rows) > _ROWS:
            out.print(f"… and {len(rows) - _ROWS} more; use --json for the full list.", highlight=False)
    for u in certificate.unproven[:_ROWS]:
        text = f"not proven: {u.pair.a} and {u.pair.b} at {u.during[0]:.3f}–{u.during[1]:.3f} s are too close to decide"
        out.print(text, highlight=False, soft_wrap=True, markup=False)
    if certificate.free:
        print_free(certificate, f"{what}")
    _print_allowed(certificate)


def _print_allowed(certificate: Certificate) -> None:
    """Print the allowed contacts, one line for each reason."""
    by_why: dict[str, list[float]] = {}
    for touch in certificate.allowed:
        by_why.setdefault(touch.why, []).append(touch.depth_m)
    for why, depths in by_why.items():
        text = f"allowed ({why}): {len(depths)} contacts, deepest {1000 * max(depths):.1f} mm"
        out.print(text, highlight=False, soft_wrap=True, markup=False)
