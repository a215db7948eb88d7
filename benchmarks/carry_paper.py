"""The four scenes of paper E, stage by stage as in its tables, at the single and the double frame rate.

    python benchmarks/carry_paper.py [NAME ...] --runs 10 [--rival] [--json FILE]

The object is lifted once; then the path, the trajectory, the walk, the arms and the residual collisions are made anew
in each run, with another seed, from a roadmap that was learned before. Processor seconds, means over the runs. Ends
(walking up, lifting, setting down) and the certificate of the whole motion are listed apart: the paper has neither.
With --rival OMPL's PRM and RRT-Connect look for a path of the same reduced system with the same test of states, from
nothing (`pip install ompl`).
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from elbowroom.gallery.scenes import scenario
from elbowroom.plan import manipulate
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.teams import carry, tuning
from elbowroom.plan.teams import paths as team_paths
from elbowroom.spaces.team import ASIDE_M, BEHIND_M, PITCH, TILT_RAD, TURNED_RAD, YAW, TeamSpace
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import parse_storyboard

# Seconds of the paper at the single frame count: path, trajectory, locomotion, manipulation, residual collisions, all.
PAPER = {
    "pizza": (0.5, 2.0, 0.8, 0.3, 0.2, 3.8),
    "factory-slab": (6.5, 2.1, 0.8, 0.4, 5.7, 15.5),
    "columns": (0.01, 2.8, 0.6, 0.6, 3.1, 7.1),
    "piano": (3.3, 0.6, 0.2, 0.1, 0.0, 4.2),
}
STAGES = ("path", "trajectory", "locomotion", "manipulation", "residual")
# Seconds after which OMPL gives up.
_RIVAL_S = 30.0
# Share of the extent of the space that OMPL looks at along an edge; ours looks every 4 cm.
_RESOLUTION_M = 0.04


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
        (team_paths.TeamPaths, "find", "path"),
        (team_paths.Roadmap, "learn", "roadmap"), (carry, "trajectory", "trajectory"), (carry, "walks", "locomotion"),
        (carry, "steady_frames", "manipulation"), (carry, "add_frames", "manipulation"), (carry, "_roll", "manipulation"),
        (carry, "certify", "residual"), (tuning.Tuning, "tune", "residual"), (manipulate, "proven", "certificate"),
    ):  # fmt: skip
        clock.watch(owner, name, stage)
    return clock


class Runs:
    """Runs of one scene on one lifted object, in place of `carry.on_foot`."""

    def __init__(self, clock: Clock, count: int, rival: bool) -> None:
        self.clock, self.count, self.rival = clock, count, rival
        self.on_foot = carry.on_foot
        self.rows: list[dict[str, float]] = []
        self.said: list[str] = []
        self.rivals: dict[str, Any] = {}
        self.frames = 0

    def __call__(self, d: Any, task: Any, lifted: Any, goal: Any, what: str) -> None:
        saved, settings = d.save(), d.settings
        for seed in range(self.count):
            d.restore(saved)
            d.settings = replace(settings, seed=seed)
            self._learn_ahead(d, task, lifted, goal, what)
            d.restore(saved)
            self.clock.seconds.clear()
            try:
                self.on_foot(d, task, lifted, goal, what)
                self.said.append("found")
            except PlanningFailure as failed:
                self.said.append(f"{failed.status}: {failed.why}")
            self.clock.turn()
            self.rows.append(dict(self.clock.seconds))
        d.restore(saved)
        d.settings = settings
        self.clock.seconds.clear()
        self.on_foot(d, task, lifted, goal, what)
        seconds = re.search(r"([0-9.]+) s on foot", d.world.notes[-1])
        self.frames = round(float(seconds[1]) * lifted.carriers[0].actor.base.fps) if seconds else 0

    def _learn_ahead(self, d: Any, task: Any, lifted: Any, goal: Any, what: str) -> None:
        """Learn and store the roadmap of a seed, and let rivals try the same problem at the first."""
        find = team_paths.TeamPaths.find

        def asked(ways: team_paths.TeamPaths, start: Any, ends: Any, what: str) -> Any:
            if self.rival and not self.rivals:
                self.rivals = {kind: ompl(ways.space, start, ends[0], kind) for kind in ("PRM", "RRTConnect")}
            raise PlanningFailure("no-path", what)

        team_paths.TeamPaths.find = asked  # type: ignore[method-assign]
        try:
            self.on_foot(d, task, lifted, goal, what)
        except PlanningFailure:
            pass
        finally:
            team_paths.TeamPaths.find = find  # type: ignore[method-assign]


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


def measured(name: str, fps: float, clock: Clock, runs: int, rival: bool) -> dict[str, Any]:
    """All runs of a scene at a frame rate."""
    path = scenario(name).path
    board = parse_storyboard(re.sub(r"(?m)^fps: .*$", f"fps: {fps:g}", path.read_text("utf-8")), path)
    each = Runs(clock, runs, rival)
    carry.on_foot = each  # type: ignore[assignment]
    clock.seconds.clear()
    try:
        plan = plan_storyboard(board, seed=0)
    finally:
        carry.on_foot = each.on_foot
    last = dict(clock.seconds)
    mean = {stage: float(np.mean([row.get(stage, 0.0) for row in each.rows])) for stage in (*STAGES, "ends")}
    total = [sum(row.get(stage, 0.0) for stage in STAGES) for row in each.rows]
    certified = plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    return {
        "name": name, "fps": fps, "frames": each.frames,
        "status": plan.status, "certified": certified, "found": each.said.count("found"), "runs": len(each.said),
        "failures": [text for text in each.said if text != "found"], "mean": mean,
        "total": float(np.mean(total)) if total else np.nan, "worst": float(np.max(total)) if total else np.nan,
        "certificate": last.get("certificate", 0.0), "rivals": each.rivals,
        "triangles": sum(len(mesh.faces) for mesh in plan.world.static.values()),
    }  # fmt: skip


def main() -> None:
    """Print a table of all scenes, or write all figures."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("names", nargs="*", default=list(PAPER))
    ask.add_argument("--runs", type=int, default=10)
    ask.add_argument("--rates", type=float, nargs="*", default=[30.0, 60.0])
    ask.add_argument("--rival", action="store_true")
    ask.add_argument("--json")
    asked = ask.parse_args()
    clock, out = watched(), []
    print(
        "| scene | frames | found | path | trajectory | locomotion | manipulation | residual | total (worst) | paper |"
    )
    print("|" + "---|" * 10)
    for name in asked.names:
        for rate in asked.rates:
            row = measured(name, rate, clock, asked.runs, asked.rival and rate == asked.rates[0])
            out.append(row)
            stages = " | ".join(f"{row['mean'][stage]:.2f}" for stage in STAGES)
            print(f"| {name} | {row['frames']} | {row['found']} of {row['runs']} | {stages} | {row['total']:.2f} "
                  f"({row['worst']:.2f}) | {PAPER[name][-1] if name in PAPER else ''} |", flush=True)  # fmt: skip
            for text in (*row["failures"], *(f"OMPL {k}: {v}" for k, v in row["rivals"].items())):
                print(f"  {text}", flush=True)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(out, file, indent=1)


if __name__ == "__main__":
    main()
