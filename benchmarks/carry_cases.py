"""Doorways, roadmaps and recovery of `carry`: what two people with a plank get through, and how the path is found.

    python benchmarks/carry_cases.py doorways [--plot doorways.png]
    python benchmarks/carry_cases.py roadmaps
    python benchmarks/carry_cases.py corridors
    python benchmarks/carry_cases.py house [--plot DIR]

doorways: a plank of 2 m through doorways from 0.7 to 1.4 m, level and tilted; the plank is lifted once. roadmaps: the
visibility roadmap against a plain probabilistic roadmap of equal coverage, and a second query of the one that is kept.
corridors: of two ways the shorter is too low for heads, which the search of paths does not see. house: a sofa through
the house of the data folder (ELBOWROOM_DATA), with a strip of pictures. Processor seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import elbowroom as er
import newcomers
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.edit import place
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Carry
from elbowroom.plan.teams import carry
from elbowroom.plan.teams import paths as team_paths
from elbowroom.search.roadmap import Learning, Roadmap
from elbowroom.spaces.team import TeamSpace
from elbowroom.world.paths import Still
from elbowroom.world.world import World

_WIDTHS_M = (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4)
_HEIGHT_M = 0.6455
_WALL_Y_M, _GOAL = -3.2, (1.8, -5.6, _HEIGHT_M)
_ROOMS_X_M, _ROOMS_Y_M = (-2.5, 4.5), (-7.6, 1.8)
# States on which coverage is measured, and neighbours of a plain roadmap.
_COVERED, _NEIGHBOURS = 300, 8


class _Done(Exception):
    """All was measured."""


def doorway(width: float) -> dict[str, Any]:
    """Two walls with a doorway about x = 0.3, between two rooms that have no other way out."""
    sides = {"left": (_ROOMS_X_M[0], 0.3 - 0.5 * width), "right": (0.3 + 0.5 * width, _ROOMS_X_M[1])}
    walls = {k: box((b - a, 0.12, 1.5), (0.5 * (a + b), _WALL_Y_M, 0.75)) for k, (a, b) in sides.items()}
    (x0, x1), (y0, y1) = _ROOMS_X_M, _ROOMS_Y_M
    for name, y in (("back", y0), ("front", y1)):
        walls[name] = box((x1 - x0, 0.12, 1.5), (0.5 * (x0 + x1), y, 0.75))
    for name, x in (("west", x0), ("east", x1)):
        walls[name] = box((0.12, y1 - y0, 1.5), (x, 0.5 * (y0 + y1), 0.75))
    return walls


def scene(width: float) -> World:
    """Two people at the ends of a plank of 2 m on a stand, before a wall with a doorway."""
    world = World(floor=0.0)
    for name, (x, y) in (("stand", (0.0, -0.6)), ("other", _GOAL[:2])):
        world = world.with_static(name, box((0.3, 0.3, 0.62), (x, y, 0.31)))
    for name, mesh in doorway(width).items():
        world = world.with_static(name, mesh)
    for who, preset, y, turn in (("ann", "woman", 0.73, 0.0), ("bob", "man", -1.97, np.pi)):
        clip = er.idle(er.preset(preset), seconds=0.5, fps=30.0)
        world = world.with_character(who, place(clip, (0.0, y), turn))
    plank = Still(transform([0.0, -0.6, _HEIGHT_M]))
    return world.with_object("plank", box((0.36, 2.0, 0.05)), plank, mass=8.0)


def with_lifted(world: World, task: Carry, do: Callable[..., None]) -> None:
    """Lift the object, and do something in place of walking with it."""
    on_foot = carry.on_foot

    def instead(d: Any, task: Any, lifted: Any, goal: Any, what: str) -> None:
        do(d, task, lifted, goal, what, on_foot)
        raise _Done

    carry.on_foot = instead
    try:
        plan = plan_tasks(world, [task], Settings(probes=0), fps=30.0)
        print(plan.status, plan.why)
    except _Done:
        pass
    finally:
        carry.on_foot = on_foot


def task(level: bool = True) -> Carry:
    """The task of both to carry the plank to the other room."""
    return Carry(who="ann", helpers=("bob",), object="plank", to=_GOAL, level=level)


def doorways(widths: Sequence[float], plot: str | None) -> None:
    """Success and processor time against the width of a doorway."""
    rows: list[tuple[bool, float, bool, float]] = []

    def sweep(d: Any, task: Any, lifted: Any, goal: Any, what: str, on_foot: Any) -> None:
        before, static = d.take, d.world.static
        for level in (True, False):
            for width in widths:
                d.take = before
                d.world = d.world.with_(static={**static, **doorway(width)})
                begun, why = time.process_time(), ""
                try:
                    on_foot(d, replace(task, level=level), lifted, goal, what)
                except PlanningFailure as failed:
                    why = failed.why
                seconds = time.process_time() - begun
                rows.append((level, width, not why, seconds))
                print(
                    f"| {'level' if level else 'tilted'} | {width:.1f} | {why or 'found'} | {seconds:.1f} |", flush=True
                )

    print("| plank | doorway, m | result | s |\n|---|---|---|---|")
    with_lifted(scene(1.1), task(), sweep)
    if plot:
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(5, 3))
        for level, name in ((True, "level"), (False, "may tilt")):
            some = [row for row in rows if row[0] == level]
            axes.plot([row[1] for row in some], [row[3] for row in some], "-", label=name)
            axes.plot([row[1] for row in some if row[2]], [row[3] for row in some if row[2]], "o", color="tab:green")
            axes.plot([row[1] for row in some if not row[2]], [row[3] for row in some if not row[2]], "x", color="r")
        axes.set(xlabel="doorway, m", ylabel="processor time, s", title="found (dots) and not (crosses)")
        axes.legend()
        figure.tight_layout()
        figure.savefig(plot, dpi=110)


def covered(space: TeamSpace, states: list[Any], samples: Any) -> float:
    """Share of samples that see one of their nearest states of a roadmap."""
    rows, seen = np.array(states), 0
    for sample in samples:
        near = np.argsort(space.distances(rows, sample))[:_NEIGHBOURS]
        seen += any(space.joins(rows[k], sample) for k in near)
    return seen / len(samples)


def plain(space: TeamSpace, rng: np.random.Generator, samples: Any, until: float) -> tuple[Roadmap, float, float]:
    """Plain probabilistic roadmap, each sample joined to its nearest, until its coverage is that of another; with its
    coverage and the seconds that it took, without those of measuring."""
    made, share, seconds = Roadmap(space), 0.0, 0.0
    while share < until and len(made.states) < 3000:
        begun = time.process_time()
        for state in space.samples(rng, 64):
            rows = np.array(made.states).reshape(-1, space.width)
            near = np.argsort(space.distances(rows, state))[:_NEIGHBOURS].tolist() if len(rows) else []
            made._keep(state, True, [k for k in near if space.joins(made.states[k], state)])
        seconds += time.process_time() - begun
        share = covered(space, made.states, samples)
    return made, share, seconds


def roadmaps() -> None:
    """Size, time and coverage of both kinds of roadmap, and a second query."""

    def compare(d: Any, task: Any, lifted: Any, goal: Any, what: str, on_foot: Any) -> None:
        find = team_paths.TeamPaths.find

        def asked(ways: team_paths.TeamPaths, start: Any, ends: Any, what: str) -> Any:
            space = ways.space
            samples = space.samples(np.random.default_rng(99), 4 * _COVERED)[:_COVERED]
            for seed in range(3):
                begun = time.process_time()
                seen = Roadmap(space)
                seen.learn(np.random.default_rng(seed), Learning(samples=1500, idle=400))
                first = time.process_time() - begun
                share = covered(space, seen.states, samples)
                other, its, second = plain(space, np.random.default_rng(seed), samples, share)
                for name, made, cover, seconds in (("visibility", seen, share, first), ("plain", other, its, second)):
                    print(f"| {seed} | {name} | {len(made.states)} | {len(made.edges)} | {100 * cover:.0f} % | "
                          f"{seconds:.2f} | {'yes' if made.find(start, ends[:1], lambda *_: True)[0] else 'no'} |",
                          flush=True)  # fmt: skip
            begun = time.process_time()
            again = team_paths.TeamPaths(space, ways.seed)
            found = again._found(start, ends[-1:])
            query = time.process_time() - begun
            begun = time.process_time()
            find(again, start, ends[-1:], what)
            print(f"second query of the stored roadmap: {1000 * query:.0f} ms, {'a' if found else 'no'} path; "
                  f"{1000 * (time.process_time() - begun):.0f} ms with shortening and rounding")  # fmt: skip
            raise _Done

        team_paths.TeamPaths.find = asked  # type: ignore[method-assign]
        try:
            on_foot(d, task, lifted, goal, what)
        finally:
            team_paths.TeamPaths.find = find  # type: ignore[method-assign]

    print("| seed | roadmap | nodes | edges | covered | s | joins start and goal |\n" + "|" + "---|" * 7)
    with_lifted(scene(1.1), task(), compare)


def corridors() -> None:
    """Two ways past a wall; above the shorter one hangs a ceiling at 1.45 m, over 2.4 m."""
    world = World(floor=0.0)
    for name, (x, y) in (("stand", (0.5, 0.0)), ("other", (0.5, -6.0))):
        world = world.with_static(name, box((0.3, 0.3, 0.62), (x, y, 0.31)))
    for name, (a, b) in (("left", (-4.0, -0.6)), ("middle", (0.9, 1.6)), ("right", (3.0, 5.0))):
        world = world.with_static(name, box((b - a, 2.4, 1.5), (0.5 * (a + b), -3.0, 0.75)))
    world = world.with_static("ceiling", box((1.5, 2.4, 0.05), (0.15, -3.0, 1.475)))
    clip = er.idle(er.preset("man"), seconds=0.5, fps=30.0)
    world = world.with_character("bob", place(clip, (0.0, 0.0), 0.5 * np.pi))
    world = world.with_object("crate", box((0.3, 0.3, 0.2)), Still(transform([0.5, 0.0, 0.7205])), mass=4.0)
    begun = time.process_time()
    plan = plan_tasks(world, [Carry(who="bob", object="crate", to=(0.5, -6.0, 0.7205))], Settings(probes=0), fps=30.0)
    print(f"{plan.status} {plan.why} in {time.process_time() - begun:.1f} s of processor time; {plan.world.notes[-1:]}")
    if plan.found:
        times = np.arange(*plan.world.span, 0.1)
        at = np.array([plan.world.frame("crate", t)[:2, 3] for t in times])
        x = float(np.interp(3.0, -at[:, 1], at[:, 0]))
        proven = plan.certificate is not None and plan.certificate.free
        print(
            f"it passes the wall at x = {x:.2f} m: {'the longer' if x > 1.6 else 'the shorter'} way; proven: {proven}"
        )


def house(pictures: str | None) -> None:
    """A sofa from one room of a scanned house to another."""
    path = Path(__file__).resolve().parent / "carry" / "sofa-through-the-house.yaml"
    missing = [str(file) for file in newcomers.needed(path) if not file.is_file()]
    if missing:
        raise SystemExit(f"left out, without {', '.join(missing)} (set ELBOWROOM_DATA)")
    print(newcomers.one(path, None if pictures is None else Path(pictures)))


def main() -> None:
    """Run one of the cases."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("case", choices=["doorways", "roadmaps", "corridors", "house"])
    ask.add_argument("--widths", type=float, nargs="*", default=list(_WIDTHS_M))
    ask.add_argument("--plot")
    asked = ask.parse_args()
    cases: dict[str, Callable[[], None]] = {
        "doorways": lambda: doorways(asked.widths, asked.plot),
        "roadmaps": roadmaps,
        "corridors": corridors,
        "house": lambda: house(asked.plot),
    }
    cases[asked.case]()


if __name__ == "__main__":
    main()
