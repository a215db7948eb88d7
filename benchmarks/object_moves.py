"""Moves of a box between nine places, three high and three across, as in Y's fig. 7, and the columns of its table 1.

    python benchmarks/object_moves.py                            # nine pairs, woman
    python benchmarks/object_moves.py --all --json moves.json    # 81 pairs x 3 seeds of the woman, 9 each of the others
    python benchmarks/object_moves.py --all --pairs 3 --seeds 1  # a sample of that
    python benchmarks/object_moves.py --who child clown --pairs 9 --seeds 2
    python benchmarks/object_moves.py --table                    # cost per node: data + balance, neither, balance, data
    python benchmarks/object_moves.py --refusals                 # moves that cannot be, and how soon that is told

Each place has a board; they fit the character's height. Times are processor time, the certificate included. Rows are
written to the file of `--json` as they end, and those in it are not planned again, if they are of the same sources. At
the end a table for docs/benchmarks.md is printed, and for every pair that was refused what an independent optimisation
from many starts finds (object_moves_feasible.py).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

import elbowroom as er
from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Move
from elbowroom.plan.verbs.holding import Holding
from elbowroom.world.paths import Still
from elbowroom.world.world import World

# Nine places, shares of the character's height: across, and the tops of the three boards. Depth is that of the box's
# middle. A box of 36 x 22 x 20 cm for 1.65 m of height.
_ACROSS = (-0.24, 0.0, 0.24)
_TOPS = (0.27, 0.52, 0.77)
_DEPTH = -0.37
_BOX = (0.218, 0.133, 0.121)
_BOARD = (0.18, 0.121, 0.015)
_ROOM_M = 0.0005
# Starts of the optimisation that looks at refused pairs.
_STARTS = 16
# Those besides the woman in the acceptance.
_OTHERS = ("child", "clown", "long-legs", "gorilla")
# Character, start, goal, seed.
Case = tuple[str, int, int, int]
_COLUMNS = {"data+balance": (True, True), "neither": (False, False), "balance": (False, True), "data": (True, False)}


def arm_length(body: Character) -> float:
    """Length from shoulder to wrist, metres."""
    T = body.T_rest
    joints = [T[body.role(f"left_{part}"), :3, 3] for part in ("upper_arm", "forearm", "hand")]
    return float(sum(np.linalg.norm(b - a) for a, b in pairwise(joints)))


def places(body: Character) -> list[tuple[float, float, float]]:
    """Places of the box's middle, metres: as high as fits the character's height, as far as fits its arms."""
    rise = 0.5 * _BOX[2] * body.height + _ROOM_M
    woman = er.preset("woman")
    far = arm_length(body) * woman.height / arm_length(woman)
    return [(x * far, _DEPTH * far, z * body.height + rise) for z in _TOPS for x in _ACROSS]


def body_of(who: str) -> Character:
    """A preset, or somebody with legs of 1.5 m."""
    return (
        human(height=2.3, mass=74.0, sex="male", leg_scale=1.75, foot_scale=1.1)
        if who == "long-legs"
        else er.preset(who)
    )


def scene(who: str, start: int, goal: int) -> World:
    """A character before a board with the box on it, and another board for its goal."""
    body = body_of(who)
    h = body.height
    world = World(floor=0.0).with_character("ann", er.idle(body, seconds=1.0, fps=30.0))
    size = np.array(_BOARD) * h
    for name, k in {"start": start, "goal": goal}.items():
        if name == "start" or k != start:
            middle = np.array(places(body)[k]) - [0.0, 0.0, 0.5 * (_BOX[2] * h + size[2]) + _ROOM_M]
            world = world.with_static(f"{name} board", box(size, middle))
    crate = box(tuple(s * h for s in _BOX))
    return world.with_object("box", crate, Still(transform(np.array(places(body)[start]))), mass=3.0)


def one(who: str, start: int, goal: int, seed: int, posture: str = "auto", balance: bool = True) -> tuple[Plan, float]:
    """Plan one move: the plan, and processor seconds."""
    world = scene(who, start, goal)
    to = places(body_of(who))[goal]
    task = Move(who="ann", object="box", to=to, posture=posture, balance=balance, feet="stay")  # type: ignore[arg-type]
    begun = time.process_time()
    plan = plan_tasks(world, [task], Settings(probes=0, seed=seed))
    return plan, time.process_time() - begun


def pairs(count: int) -> list[tuple[int, int]]:
    """Pairs of a start and a goal, spread over all 81 of them."""
    every = [(a, b) for a in range(9) for b in range(9)]
    return every if count >= 81 else [(k % 9, (4 * k + 3 + k // 9) % 9) for k in range(count)]


def state() -> str:
    """Hash of the package's sources, 12 hex digits: rows of other sources are not mixed with those of these."""
    h = hashlib.sha256()
    for path in sorted(Path(er.__file__).parent.rglob("*.py")):
        h.update(path.read_bytes())
    return h.hexdigest()[:12]


def success(wanted: list[Case], kept: Path | None, most_s: float) -> list[dict[str, object]]:
    """Plan cases; a row each.

    Rows of the file `kept` are not planned again, and new ones are added to it, until `most_s` processor seconds are
    spent.
    """
    sources = state()
    rows: list[dict[str, object]] = json.loads(kept.read_text()) if kept and kept.exists() else []
    if any(row.get("sources") != sources for row in rows):
        raise SystemExit(f"{kept} has rows of other sources: give another file, or delete it")
    done = {(row["who"], row["start"], row["goal"], row["seed"]) for row in rows}
    warm: set[str] = set()
    for number, (who, start, goal, seed) in enumerate(wanted, 1):
        if (who, start, goal, seed) in done:
            continue
        if time.process_time() > most_s:
            print(f"{len(wanted)} are asked for, {len(rows)} are in {kept}: call again for the rest")
            break
        status, free, seconds, why = "crashed", False, 0.0, ""
        try:
            if who not in warm:
                one(who, 4, 4, 0)  # kernels are loaded, shapes made
                warm.add(who)
            plan, seconds = one(who, start, goal, seed)
            status, why = plan.status, plan.why
            free = plan.certificate is not None and plan.certificate.free
        except Exception as broken:  # the other cases are run all the same
            why = f"{type(broken).__name__}: {broken}"
        rows.append({"who": who, "start": start, "goal": goal, "seed": seed, "status": status, "free": free,
                     "seconds": round(seconds, 2), "why": why, "sources": sources})  # fmt: skip
        what = f"{number:3} of {len(wanted)}  {who:10} {start} -> {goal} seed {seed}"
        print(f"{what}: {status:20} {seconds:6.2f} s  {why}", flush=True)
        if kept:
            kept.write_text(json.dumps(rows, indent=1))
    return rows


def summary(rows: list[dict[str, object]]) -> None:
    """Print the table, then what an independent optimisation says of pairs without a motion."""
    print(
        f"\nsources {state()}\n\n| | found and certified | median s | most s | refused, most s |\n|---|---|---|---|---|"
    )
    for who, seed in dict.fromkeys((str(row["who"]), int(str(row["seed"]))) for row in rows):
        mine = [row for row in rows if row["who"] == who and row["seed"] == seed]
        times = [float(str(row["seconds"])) for row in mine if row["free"]]
        refused = [float(str(row["seconds"])) for row in mine if not row["free"]]
        middle, most = (f"{np.median(times):.1f}", f"{max(times):.1f}") if times else ("", "")
        last = f"{max(refused):.1f}" if refused else ""
        print(f"| {who}, seed {seed} | **{len(times)} of {len(mine)}** | {middle} | {most} | {last} |")
    every = [row for row in rows if row["free"]]
    print(f"\n{len(every)} of {len(rows)} found and certified ({100.0 * len(every) / max(len(rows), 1):.1f} %)")
    refused = {(str(r["who"]), int(str(r["start"])), int(str(r["goal"]))): r for r in rows if not r["free"]}
    if refused:
        from object_moves_feasible import feasible

        for (who, start, goal), row in refused.items():
            print(f"{who} {start} -> {goal}, {row['status']}: {row['why']}", flush=True)
            feasible(who, start, goal, _STARTS)


def refusals(who: str) -> None:
    """Print status, processor seconds and reason of moves that cannot be."""
    h = body_of(who).height
    start, goal = (np.array(places(body_of(who))[k]) for k in (3, 5))
    size = np.array(_BOX) * h
    ahead, up = np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    wall = (0.0, -0.6 * h, 0.0)
    cage = [
        box((0.02, 2.0 * size[1], 2.0 * size[2]), goal + [side * 0.8 * size[0], 0.0, 0.3 * size[2]]) for side in (-1, 1)
    ]
    cage += [
        box((1.8 * size[0], 0.02, 2.0 * size[2]), goal - 1.1 * size[1] * ahead + 0.3 * size[2] * up),
        box((1.8 * size[0], 2.0 * size[1], 0.02), goal + 1.4 * size[2] * up),
    ]
    cases = {
        "goal out of reach": (goal + 0.6 * h * ahead, []),
        "goal in a wall": (goal, [box((0.5 * h, 0.02, h), goal)]),
        "a wall between, up to the ceiling": (goal, [box((0.02, 0.9 * h, 3.0 * h), wall)]),
        "a wall between, as high as the body": (goal, [box((0.02, 0.9 * h, 2.2 * h), wall)]),
        "goal open at the back alone": (goal, cage),
        "too heavy": (goal, []),
    }
    one(who, 4, 4, 0)
    for name, (to, meshes) in cases.items():
        world = scene(who, 3, 5)
        for k, mesh in enumerate(meshes):
            world = world.with_static(f"wall {k}", mesh)
        if name == "too heavy":
            world = world.with_object("box", box(size), Still(transform(start)), mass=90.0)
        begun = time.process_time()
        plan = plan_tasks(world, [Move(who="ann", object="box", to=tuple(to), feet="stay")], Settings(probes=0))
        print(f"{name:36} {plan.status:20} {time.process_time() - begun:5.2f} s  {plan.why}", flush=True)


def table(who: str, count: int) -> None:
    """Print the columns of Y's table 1: milliseconds a node, nodes and seconds of a plan."""
    solve = Holding.at
    for name, (data, balance) in _COLUMNS.items():
        spent: list[float] = []

        def timed(self: Holding, *args: object, **kwargs: object) -> object:
            begun = time.process_time()
            try:
                return solve(self, *args, **kwargs)  # type: ignore[arg-type]
            finally:
                spent.append(time.process_time() - begun)  # noqa: B023

        Holding.at = timed  # type: ignore[method-assign, assignment]
        totals, nodes, found = [], [], 0
        for start, goal in pairs(count):
            before = len(spent)
            plan, seconds = one(who, start, goal, 0, "auto" if data else "none", balance)
            found += plan.status == "found"
            totals.append(seconds)
            nodes.append(len(spent) - before)
        ms = 1000.0 * np.array(spent)
        print(f"{name:13} {np.median(ms):6.2f} ms a node ({np.mean(ms):.2f} mean), {np.median(nodes):4.0f} nodes, "
              f"{np.median(totals):5.2f} s a plan, {found} of {len(totals)} found")  # fmt: skip
    Holding.at = solve  # type: ignore[method-assign]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="the woman by 81 pairs and 3 seeds, the others by 9 pairs")
    parser.add_argument("--who", nargs="+", default=["woman"])
    parser.add_argument("--pairs", type=int, help="pairs of each character; 9, or with --all 81 and 9")
    parser.add_argument("--seeds", type=int, help="seeds; 1, or with --all 3 of the woman")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--refusals", action="store_true")
    parser.add_argument("--json", type=Path, help="file of rows; those in it are not planned again")
    parser.add_argument("--seconds", type=float, default=np.inf, help="processor seconds after which it stops")
    asked = parser.parse_args()
    if asked.refusals:
        refusals(asked.who[0])
        return
    if asked.table:
        table(asked.who[0], asked.pairs or 9)
        return
    many = dict.fromkeys(asked.who, (asked.pairs or 9, asked.seeds or 1))
    if asked.all:
        many = {"woman": (asked.pairs or 81, asked.seeds or 3)}
        many |= {who: (min(asked.pairs or 9, 9), 1) for who in _OTHERS}
    wanted = [(who, *pair, seed) for who, (n, seeds) in many.items() for seed in range(seeds) for pair in pairs(n)]
    summary(success(wanted, asked.json, asked.seconds))


if __name__ == "__main__":
    main()
