"""The four scenes of paper E, stage by stage as in its tables, at the single and the double frame rate.

    python benchmarks/carry_paper.py [NAME ...] --runs 10 [--first 0] [--rates 30 60] [--json FILE]
    python benchmarks/carry_paper.py --sum FILE [FILE ...]

The object is lifted once; then the path, the trajectory, the walk, the arms and the residual collisions are made again
in each run, with another seed, from a roadmap that was learned before. Processor seconds, means over the runs. The
learning of roadmaps (at the first frame rate), ends (walking up, lifting, setting down) and certificates are listed
apart: the paper has none of the last two. Each run is certified from the first step until the object is set down.
OMPL's PRM and RRT-Connect look for a path of the same reduced system with the same test of states, from nothing, in the
first runs (`pip install ompl`). FILE gets a line for each run as it ends. Several processes can share scenes or seeds:
`--sum` prints the table of all their files; of a run that was made twice the last one counts.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from importlib.util import find_spec
from typing import Any

import numpy as np

from elbowroom.gallery.scenes import scenario
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.teams import carry, tuning, under_way
from elbowroom.plan.teams import paths as team_paths
from elbowroom.spaces.team import ASIDE_M, BEHIND_M, PITCH, TILT_RAD, TURNED_RAD, YAW, TeamSpace
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import parse_storyboard
from elbowroom.world.certificate import certify

# Seconds of the paper at the single frame count: path, trajectory, locomotion, manipulation, residual collisions, all.
PAPER = {
    "pizza": (0.5, 2.0, 0.8, 0.3, 0.2, 3.8),
    "factory-slab": (6.5, 2.1, 0.8, 0.4, 5.7, 15.5),
    "columns": (0.01, 2.8, 0.6, 0.6, 3.1, 7.1),
    "piano": (3.3, 0.6, 0.2, 0.1, 0.0, 4.2),
}
# Totals at the double frame count, and frames at both.
DOUBLE = {"pizza": 6.8, "factory-slab": 24.8, "columns": 14.1, "piano": 5.4}
FRAMES = {"pizza": (308, 609), "factory-slab": (268, 530), "columns": (204, 405), "piano": (78, 151)}
STAGES = ("path", "trajectory", "locomotion", "manipulation", "residual")
# Seconds after which OMPL gives up.
_RIVAL_S = 10.0
# Share of the extent of the space that OMPL looks at along an edge; ours looks every 4 cm.
_RESOLUTION_M = 0.04


class _Done(Exception):
    """All runs were made."""


class Clock:
    """Processor seconds by stage; a stage within another counts for the inner one alone."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.open: list[str] = []
        self.since = time.process_time()

    def turn(self) -> None:
        """Add the time since the last turn to the stage at hand."""
        now = time.process_time()
        self.seconds[self.open[-1] if self.open else "other"] += now - self.since
        self.since = now

    def watch(self, owner: Any, name: str, stage: str) -> None:
        """Count the calls of a function to a stage."""
        function: Callable[..., Any] = getattr(owner, name)

        @wraps(function)
        def timed(*a: Any, **k: Any) -> Any:
            self.turn()
            self.open.append(stage)
            try:
                return function(*a, **k)
            finally:
                self.turn()
                self.open.pop()

        setattr(owner, name, timed)


def watched() -> Clock:
    """Clock on the stages of a carry."""
    clock = Clock()
    for owner, name, stage in (
        (carry, "walk_up", "ends"), (carry, "_lift", "ends"), (carry, "_set_down", "ends"),
        (carry, "team_space", "space"), (team_paths.TeamPaths, "__post_init__", "roadmap"),
        (team_paths.TeamPaths, "find", "path"), (team_paths.Roadmap, "learn", "roadmap"),
        (carry, "trajectory", "trajectory"), (under_way, "_delay", "trajectory"),
        (under_way, "walks", "locomotion"), (under_way, "held_frames", "manipulation"),
        (under_way, "add_frames", "manipulation"), (under_way, "_roll", "manipulation"),
        (under_way, "_follow", "manipulation"), (under_way, "hits", "residual"), (tuning.Tuning, "tune", "residual"),
    ):  # fmt: skip
        clock.watch(owner, name, stage)
    return clock


class Runs:
    """Runs of one scene on one lifted object, in place of `carry.on_foot`."""

    def __init__(self, clock: Clock, name: str, fps: float, asked: argparse.Namespace) -> None:
        self.clock, self.name, self.fps, self.asked = clock, name, fps, asked
        self.on_foot = carry.on_foot
        self.rows: list[dict[str, Any]] = []
        self.triangles = 0

    def __call__(self, d: Any, task: Any, lifted: Any, goal: Any, what: str) -> None:
        before, settings = d.take, d.settings
        self.triangles = sum(len(mesh.faces) for mesh in d.world.static.values())
        seeds = range(self.asked.first, self.asked.first + self.asked.runs)
        for seed in self.asked.seeds or seeds:
            row: dict[str, Any] = {"name": self.name, "fps": self.fps, "seed": seed, "triangles": self.triangles}
            try:
                self._run(row, (d, task, lifted, goal, what), before, replace(settings, seed=seed))
            except Exception as error:
                row["status"] = f"crash: {error!r}"
            self.rows.append(row)
            print(
                f"{self.name} at {self.fps:g}, seed {seed}: {row['status']}, {row.get('all', np.nan):.2f} s",
                file=sys.stderr,
            )
            if self.asked.json:
                with open(self.asked.json, "a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        raise _Done

    def _run(self, row: dict[str, Any], asked: tuple[Any, ...], before: Any, settings: Any) -> None:
        """One run: its status and seconds by stage are added to a row."""
        d, _, lifted, _, _ = asked
        d.take = before
        d.settings = settings
        self._learn_ahead(row, asked)
        d.take = before
        self.clock.seconds.clear()
        begin, fps = lifted.carriers[0].actor.now, lifted.carriers[0].actor.base.fps
        try:
            self.on_foot(*asked)
        except PlanningFailure as failed:
            row["status"] = f"{failed.status}: {failed.why}"
        self.clock.turn()
        row |= {k: round(v, 4) for k, v in self.clock.seconds.items()}
        row["all"] = sum(row.get(stage, 0.0) for stage in STAGES)
        if "status" in row:
            return
        told = re.search(r"([0-9.]+) s of walking", d.world.notes[-1])
        again = re.search(r"([0-9]+) earlier paths failed", d.world.notes[-1])
        row |= {"frames": round(float(told[1]) * fps) if told else 0, "failed": int(again[1]) if again else 0}
        since = time.process_time()
        found = certify(d.world, during=(begin, lifted.carriers[0].actor.now), clearance=False, contacts="never")
        row["certificate"] = time.process_time() - since
        row["status"] = "certified" if found.free else f"not certified: {[c.pair for c in found.collisions]}"

    def _learn_ahead(self, row: dict[str, Any], asked: tuple[Any, ...]) -> None:
        """Learn the roadmap of a seed, with its seconds, and let rivals try the same problem in the first runs."""
        find, remembered = team_paths.TeamPaths.find, team_paths.remembered
        first = self.fps == self.asked.rates[0]

        def learn(kind: str, about: tuple[Any, ...], make: Callable[[], Any]) -> Any:
            if not first:
                return remembered(kind, about, make)
            since = time.process_time()
            arrays = make()
            row["learned"] = time.process_time() - since
            return remembered(kind, about, lambda: arrays)

        def ask(paths: team_paths.TeamPaths, start: Any, ends: Any, what: str) -> Any:
            if first and self.asked.rivals > len(self.rows) and find_spec("ompl"):
                row["rivals"] = {kind: ompl(paths.space, start, ends[0], kind) for kind in ("PRM", "RRTConnect")}
            raise PlanningFailure("no-path", what)

        team_paths.TeamPaths.find, team_paths.remembered = ask, learn  # type: ignore[method-assign]
        try:
            self.on_foot(*asked)
        except PlanningFailure:
            pass
        finally:
            team_paths.TeamPaths.find, team_paths.remembered = find, remembered  # type: ignore[method-assign]


def ompl(space: TeamSpace, start: Any, goal: Any, kind: str) -> dict[str, Any]:
    """Path of the reduced system by a planner of OMPL: whether one was found, processor seconds and tests of states."""
    from ompl import base as ob
    from ompl import geometric as og
    from ompl import util

    util.noOutputHandler()
    used = [k for k in range(space.width) if space.tilts or k not in (PITCH, PITCH + 1)]
    at = space.floor.open
    low, high = np.full(space.width, -np.pi), np.full(space.width, np.pi)
    low[:2], high[:2] = at.min(axis=0), at.max(axis=0)
    low[2], high[2] = space.heights[0], space.heights[2]
    low[PITCH : PITCH + 2], high[PITCH : PITCH + 2] = -TILT_RAD, TILT_RAD
    for own in range(6, space.width, 3):
        low[own : own + 3] = BEHIND_M[0], -ASIDE_M, -TURNED_RAD
        high[own : own + 3] = BEHIND_M[1], ASIDE_M, TURNED_RAD
    box = ob.RealVectorBounds(len(used))
    for number, k in enumerate(used):
        box.setLow(number, float(low[k]))
        box.setHigh(number, float(high[k]))
    states = ob.RealVectorStateSpace(len(used))
    states.setBounds(box)
    tests, row = [0], np.zeros((1, space.width))

    def valid(state: Any) -> bool:
        tests[0] += 1
        row[0, used] = [state[k] for k in range(len(used))]
        return bool(space.valid(row)[0])

    setup = og.SimpleSetup(states)
    setup.setStateValidityChecker(valid)
    setup.getSpaceInformation().setStateValidityCheckingResolution(_RESOLUTION_M / states.getMaximumExtent())
    ends = []
    for state in (start, goal):
        end = setup.getSpaceInformation().allocState()
        turned = np.array(state)
        turned[YAW] = (turned[YAW] + np.pi) % (2.0 * np.pi) - np.pi
        for number, k in enumerate(used):
            end[number] = float(turned[k])
        ends.append(end)
    setup.setStartAndGoalStates(*ends)
    setup.setPlanner(getattr(og, kind)(setup.getSpaceInformation()))
    begun = time.process_time()
    solved = setup.solve(_RIVAL_S)
    exact = bool(solved) and setup.haveExactSolutionPath()
    return {"found": exact, "seconds": time.process_time() - begun, "tests": tests[0]}


def measured(name: str, fps: float, clock: Clock, asked: argparse.Namespace) -> Runs:
    """All runs of a scene at a frame rate."""
    path = scenario(name).path
    board = parse_storyboard(re.sub(r"(?m)^fps: .*$", f"fps: {fps:g}", path.read_text("utf-8")), path)
    each = Runs(clock, name, fps, asked)
    carry.on_foot = each  # type: ignore[assignment]
    try:
        plan = plan_storyboard(board, seed=0)
        print(f"  {name} at {fps:g}: not lifted: {plan.status} {plan.why}", flush=True)
    except _Done:
        pass
    finally:
        carry.on_foot = each.on_foot
    return each


def table_row(name: str, fps: float, rows: list[dict[str, Any]]) -> str:
    """Row of the table: means over all runs that ended with a path."""
    good = [row for row in rows if row["status"] == "certified"]

    def mean(key: str) -> float:
        return float(np.mean([row.get(key, 0.0) for row in good])) if good else np.nan

    single = fps == 30.0
    paper, frames = PAPER[name][-1] if single else DOUBLE[name], FRAMES[name][not single]
    stages = " | ".join(f"{mean(stage):.2f}" for stage in STAGES)
    totals = [row["all"] for row in good]
    spread = f"{np.mean(totals):.2f} ({np.median(totals):.2f}, {np.max(totals):.2f})" if totals else "none"
    label = f"`{name}`" if single else f"`{name}`, {fps:g} fps"
    learned = f"{mean('learned'):.2f}" if any("learned" in row for row in good) else ""
    return (f"| {label} | {rows[0]['triangles'] / 1000:.0f}K | {len(good)} of {len(rows)} | {mean('frames'):.0f} "
            f"({frames}) | {stages} | {spread} | {paper} | {paper / 5.0:.2f} | {learned} | "
            f"{mean('space'):.2f} | {mean('ends'):.2f} | {mean('certificate'):.2f} |")  # fmt: skip


def rivals_row(name: str, rows: list[dict[str, Any]]) -> str:
    """OMPL on the same problems, in one line."""
    said = []
    for kind in ("PRM", "RRTConnect"):
        theirs = [row["rivals"][kind] for row in rows if "rivals" in row]
        if theirs:
            seconds, tests = (float(np.mean([row[key] for row in theirs])) for key in ("seconds", "tests"))
            found = sum(row["found"] for row in theirs)
            said.append(f"{kind} {found} of {len(theirs)}, {seconds:.3f} s, {tests:.0f} tests")
    return f"  OMPL on `{name}`: {'; '.join(said)}" if said else ""


def show(name: str, fps: float, rows: list[dict[str, Any]]) -> None:
    """Print the row of a scene at a frame rate, its failures, and its rivals."""
    failures = [f"  seed {row['seed']}: {row['status']}" for row in rows if row["status"] != "certified"]
    for text in (table_row(name, fps, rows) if rows else "", *failures, rivals_row(name, rows)):
        print(text, flush=True) if text else None


def stored(paths: list[str]) -> dict[tuple[str, float], list[dict[str, Any]]]:
    """Runs of some files by scene and frame rate, in the order of their seeds."""
    runs: dict[tuple[str, float, int], dict[str, Any]] = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for row in map(json.loads, filter(str.strip, file)):
                runs[row["name"], row["fps"], row["seed"]] = row
    out: dict[tuple[str, float], list[dict[str, Any]]] = defaultdict(list)
    for name, fps, seed in sorted(runs):
        out[name, fps].append(runs[name, fps, seed])
    return out


def main() -> None:
    """Print a table of all scenes."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("names", nargs="*", default=list(PAPER))
    ask.add_argument("--runs", type=int, default=10)
    ask.add_argument("--first", type=int, default=0, help="seed of the first run")
    ask.add_argument("--seeds", type=int, nargs="*", help="seeds of the runs, in place of the first ones")
    ask.add_argument("--rates", type=float, nargs="*", default=[30.0, 60.0])
    ask.add_argument("--rivals", type=int, default=10, help="runs in which OMPL takes part")
    ask.add_argument("--json")
    ask.add_argument(
        "--sum", nargs="+", metavar="FILE", help="print the table of files that --json wrote, plan nothing"
    )
    asked = ask.parse_args()
    print("| scene | triangles | certified | frames (paper) | path | trajectory | locomotion | manipulation "
          "| residual | all (median, worst) | paper | a fifth | roadmap | space | ends | certificate |")  # fmt: skip
    print("|" + "---|" * 16, flush=True)
    if asked.sum:
        for (name, fps), rows in stored(asked.sum).items():
            show(name, fps, rows)
        return
    clock = watched()
    for name in asked.names:
        for rate in asked.rates:
            show(name, rate, measured(name, rate, clock, asked).rows)


if __name__ == "__main__":
    main()
