"""`elbowroom report`: measure the quality of a motion, on one page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from elbowroom.cli import options
from elbowroom.cli.console import StageTimer, out, print_json, print_notes, print_written
from elbowroom.cli.options import is_storyboard, named
from elbowroom.cli.results import print_why
from elbowroom.errors import BadFile, BadValue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from elbowroom.files.open import ImportHints
    from elbowroom.motion.clip import Motion
    from elbowroom.report import Report
    from elbowroom.world.certificate import Certificate
    from elbowroom.world.edit import Edit
    from elbowroom.world.world import World

_COLORS = {"good": "green", "look": "yellow", "bad": "red", "none": "dim"}
_WORDS = {"good": "good", "look": "look", "bad": "bad", "none": "–"}
# Statuses with a motion to report on.
_REPORTED = ("found", "partial", "not-certified", "base-in-collision")


def report(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="Clip or result (BVH, AMC, FBX, GLB, NPZ, NPY); storyboards and gallery names are planned first.",
        ),
    ],
    scene: Annotated[
        Path | None, typer.Argument(metavar="SCENE", help="Scene of a clip: GLB, FBX, OBJ, STL or PLY.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="HTML page to write; opens offline.")] = None,
    original: Annotated[
        Path | None, typer.Option(metavar="CLIP", help="Source clip of the motion, to report what changed.")
    ] = None,
    mass: Annotated[
        list[str] | None, typer.Option(metavar="NAME=KG", help="Mass of a carried object; may be repeated.")
    ] = None,
    pictures: Annotated[int, typer.Option(min=0, max=24, help="Maximum number of pictures of the worst moments.")] = 6,
    curves: Annotated[bool, typer.Option("--curves", help="Include all curves over time in --json.")] = False,
    at: options.At = None,
    turn: options.TurnOption = 0.0,
    floor: options.FloorOption = "auto",
    onto: options.Onto = None,
    name: options.ClipName = None,
    fix_self: options.FixSelf = False,
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
    """Measure a motion: clearance, joint limits, balance, feet, speed, jerk, hands, effort, changes.

    -o writes one page that opens offline: a verdict, pictures of the worst
    moments, and for each measure a light, a sentence and plots. --json
    prints the same as numbers; docs/report.md lists their names and units.

    A storyboard with tasks is planned first, with --seed, and compared with
    its initial motion. Results of run and repair (GLB, NPZ) are reported
    as they are; --original names the clip that they were made from.

    Exit code 0: reported, no collisions; 1: reported, but there are
    collisions or no motion was found; 2: bad input.

    Example: elbowroom report walk.bvh hall.glb --at 1,2 -o walk.html
    Example: elbowroom report kitchen.yaml -o kitchen.html --mass jar=0.8
    Example: elbowroom report out.npz --original walk.bvh --json
    """
    from elbowroom.files.open import ImportHints
    from elbowroom.report import report as measured
    from elbowroom.report import write_report
    from elbowroom.report.page import check_page

    if output is None and not as_json:
        raise BadValue("a report needs an output: give -o NAME.html or --json.")
    if output is not None:
        check_page(output)
    weights = _weights(mass or [])
    source = named(source)
    clock = StageTimer(quiet=as_json)
    hints = ImportHints(units, up, fps, fix_rig, asf, body_model)
    before: World | Mapping[str, Motion] | None = None
    certificate: Certificate | None = None
    meant = False
    edits: tuple[Edit, ...] = ()
    if is_storyboard(source):
        options.no_scene_beside_storyboard(scene)
        world, before, certificate, meant, edits = _planned(source, seed, clock, as_json)
    else:
        with clock("load", f"reading {source.name}"):
            around = options.Surroundings(scene, scene_units, scene_up, floor, at, turn)
            world = _with_note(options.clip_in_scene(source, hints, around, onto, name), source)
    if original is not None:
        with clock("load", f"reading {original.name}"):
            before = _original(original, hints, world)
    with clock("measure", f"measuring {source.name}"):
        found = measured(
            world,
            before,
            certificate=certificate,
            masses=weights,
            own_contacts=not fix_self,
            change_meant=meant,
            title=source.stem,
            edits=edits,
        )
    if output is not None:
        with clock("write", f"drawing {output.name}") as say:
            write_report(
                output,
                found,
                pictures=pictures,
                progress=lambda done, all_: say(f"drawing {output.name}, picture {done + 1} of {all_}"),
            )
    if as_json:
        written = [] if output is None else [str(output)]
        print_json({"status": "reported"} | found.facts(curves) | {"seconds": clock.seconds, "written": written})
    else:
        _print(found)
        print_written([output])
    if found.collides:
        raise typer.Exit(1)


def _with_note(world: World, source: Path) -> World:
    """World with a note if the file animates objects without storing who holds them."""
    if source.suffix.lower() not in (".glb", ".gltf") or not world.objects or world.holds or world.contacts:
        return world
    note = f"{source.name} does not store grips or allowed contacts; these count as collisions."
    return world.with_(notes=(*world.notes, note))


def _planned(
    path: Path, seed: int, clock: StageTimer, as_json: bool
) -> tuple[World, World | None, Certificate | None, bool, tuple[Edit, ...]]:
    """Planned world of a storyboard, its initial world, its certificate, whether it has tasks besides repairs, and its
    edits."""
    from elbowroom.report.measure import LAYOUT
    from elbowroom.storyboard.plan import plan_storyboard
    from elbowroom.storyboard.storyboard import read_storyboard

    with clock("load", f"reading {path.name}"):
        board = read_storyboard(path)
    with clock("plan", f"planning {path.name}" if board.tasks else f"proving {path.name}"):
        plan = plan_storyboard(board, seed=seed)
    if plan.status not in _REPORTED:
        if as_json:
            why = {"status": plan.status, "why": plan.why, "advice": plan.advice}
            print_json({"layout": LAYOUT, "title": path.stem, "light": "none"} | why | {"seconds": clock.seconds})
        else:
            print_why(plan)
        raise typer.Exit(1)
    more = any(not task.repairs for task in board.tasks)
    if not plan.found and board.tasks:
        note = f"planning ended as '{plan.status}': {plan.why.rstrip('.')}."
        plan = plan.with_(world=plan.world.with_(notes=(*plan.world.notes, note)))
    return plan.world, board.world if board.tasks else None, plan.certificate, more, plan.edits


def _original(path: Path, hints: ImportHints, world: World) -> Mapping[str, Motion]:
    """Motions of a file by character name; a single motion belongs to a single character of any name."""
    from elbowroom.files.open import CLIP_FORMATS, open_file

    opened = open_file(path, hints).with_solved_markers()
    if not opened.clips:
        raise BadFile(path, "holds no clip", would_do=CLIP_FORMATS)
    motions = opened.world().characters
    if len(motions) == 1 and len(world.characters) == 1:
        return dict(zip(world.characters, motions.values(), strict=True))
    shared = {name: motion for name, motion in motions.items() if name in world.characters}
    if not shared:
        raise BadFile(
            path, f"has none of the characters {', '.join(world.characters)}", would_do=f"it has {', '.join(motions)}"
        )
    return shared


def _weights(given: list[str]) -> dict[str, float]:
    """Kilograms by name from 'NAME=KG'."""
    found = {}
    for text in given:
        name, _, value = text.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = math.nan
        if not name or not math.isfinite(found[name]):
            raise BadValue(f"a mass must be NAME=KG, such as book=1.2, not '{text}'.")
    return found


def _print(found: Report) -> None:
    """The verdict and one line for each measure."""
    from elbowroom.report.how import TITLES

    short, sentence = found.verdict
    out.print(f"{short}: {sentence}", style=_COLORS[found.light], highlight=False, soft_wrap=True, markup=False)
    several = len(found.people) > 1
    table = Table(show_header=False, box=None, pad_edge=False)
    for who, key, m in found.measures:
        title = f"{who}: {TITLES[key].lower()}" if several and who else TITLES[key]
        light = f"[{_COLORS[m.light]}]{_WORDS[m.light]}[/]"
        table.add_row(escape(title), light, escape(m.says))
    out.print(table)
    print_notes(found.notes)
