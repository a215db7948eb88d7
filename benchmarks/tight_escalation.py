"""Random tasks that smaller means give up on, and how many of them the whole body solves.

    python benchmarks/tight_escalation.py [--count 60] [--seed 0] [--away 3] [--only 17 ...]
    python benchmarks/tight_escalation.py --built 40 [--first 100]
    python benchmarks/tight_escalation.py --repairs 15 [--first 100]

Tasks are those of `random_tasks.py`; with `--away` they are walked up to first, as `fetch` does. Escalation is a second
plan after everything else has failed: a task that is found without it is planned once, so its motion is the same.
With `--built`, tasks are reaches in the scenes of `tight.py`, from one posture to the place of the hand in the other.
With `--repairs`, clips go straight from one posture of the scenes of `tight.py` to the other, through what is between;
the whole body is the last rung of their ladder, so one whose edits have that tier was given up before.
"""

from __future__ import annotations

import argparse
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

import elbowroom as er
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import continuous
from elbowroom.motion.clip import Clip
from elbowroom.plan import manipulate
from elbowroom.plan.repair.repair import repair
from elbowroom.posing.stance import between
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world.world import World
from random_tasks_make import task
from tight import scene


def one(index: int, seed: int, away: float) -> dict[str, Any] | None:
    """A random task, see `noted`."""
    board = task(index, seed, away)
    return None if board is None else noted(board.about, lambda: plan_storyboard(board, seed=0))


def built(number: int) -> dict[str, Any] | None:
    """A reach from one posture of a scene of `tight.py` to the place of the hand in the other, which is free."""
    gap = (None, 0.16, 0.2)[number % 3]
    made = scene(number, gap)
    if made is None:
        return None
    given, motion = made.problem, made.world.motion("ann")
    assert isinstance(motion, Clip)
    still = [np.repeat(rows[None], len(motion), axis=0) for rows in (given.start.root, given.start.rotations)]
    world = made.world.with_character("ann", motion.with_(root=still[0], rotations=still[1]))
    joint, T_joint_hand = given.body.hand("right")
    place = (given.body.skeleton.at(given.goal)[joint] @ T_joint_hand)[:3, 3]
    task = er.Reach(who="ann", hand="right", to=tuple(place.tolist()), feet="stay")
    where = "under the board" if given.goal.root[2] < given.start.root[2] else "above the board"
    lid = "" if gap is None else f", a lid {100 * gap:.0f} cm above it"
    return noted(f"reach a point {where}{lid}", lambda: er.plan_tasks(world, [task], budget=300.0))


def noted(about: str, planned: Callable[[], er.Plan]) -> dict[str, Any]:
    """One task: status and reason of the smaller means, whether the whole body was tried, and the final status."""
    before: list[tuple[str, str, bool]] = []
    usual = manipulate._escalates

    def note(director: Any, plan: Any, failed: Any) -> bool:
        tried = usual(director, plan, failed)
        if not plan.found:
            before.append((plan.status, plan.why, tried))
        return tried

    begun = time.process_time()
    manipulate._escalates = note  # type: ignore[assignment]
    try:
        plan = planned()
    finally:
        manipulate._escalates = usual
    status, why, tried = before[0] if before else (plan.status, plan.why, False)
    parts = sum(edit.tier == "whole-body" for edit in plan.edits)
    return {"about": about, "smaller": status, "why": why, "tried": tried, "status": plan.status,
            "found": plan.found, "parts": parts, "cpu_s": time.process_time() - begun}  # fmt: skip


def through(number: int, gap: float | None) -> World | None:
    """A clip that stands, goes straight to its other posture in two seconds, and stands; None without a scene."""
    made = scene(number, gap)
    if made is None:
        return None
    given, motion = made.problem, made.world.motion("ann")
    assert isinstance(motion, Clip)
    rate = round(motion.fps)
    share = np.concatenate([np.zeros(rate), smootherstep(np.linspace(0.0, 1.0, 2 * rate)), np.ones(rate)])
    root, q = between(given.body, given.start, given.goal, share)
    for end, pose in enumerate((given.start, given.goal)):
        root[share == end], q[share == end] = pose.root, pose.rotations
    return made.world.with_character("ann", motion.with_(root=root, rotations=continuous(q)))


def repairs(numbers: range) -> None:
    """Print every clip, by which tier it is repaired, and a summary."""
    rows: list[tuple[bool, bool]] = []
    print("| clip | repair | tiers | processor s |\n|---|---|---|---|", flush=True)
    for number in numbers:
        for gap in (None, 0.16, 0.2):
            name = f"scene {number}" + ("" if gap is None else f", lid {100 * gap:.0f} cm above the board")
            try:
                world = through(number, gap)
                if world is None:
                    continue
                begun = time.process_time()
                plan = repair(world, "ann")
            except Exception:  # one broken clip must not end the list
                traceback.print_exc()
                continue
            tiers = [edit.tier for edit in plan.edits]
            rows.append((plan.found, "whole-body" in tiers))
            spent = time.process_time() - begun
            print(f"| {name} | {plan.status} {plan.why} | {', '.join(tiers)} | {spent:.1f} |", flush=True)
    smaller, whole = sum(f and not w for f, w in rows), sum(f and w for f, w in rows)
    print(f"{len(rows)} clips: {smaller} repaired by smaller means, {whole} by the whole body, "
          f"{len(rows) - smaller - whole} not")  # fmt: skip


def main() -> None:
    """Print every task that smaller means gave up on, and a summary."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--count", type=int, default=60)
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--away", type=float, default=0.0, help="metres away from which tasks are begun, at most")
    ask.add_argument("--only", nargs="*", type=int, default=None, help="numbers of tasks")
    ask.add_argument("--built", type=int, default=0, help="reaches in tight rooms, so many")
    ask.add_argument("--repairs", type=int, default=0, help="scenes whose clips are repaired, instead of tasks")
    ask.add_argument("--first", type=int, default=100, help="number of the first scene")
    given = ask.parse_args()
    if given.repairs:
        return repairs(range(given.first, given.first + given.repairs))
    rows, broken = [], 0
    print("| task | smaller means | whole body | processor s |\n|---|---|---|---|", flush=True)
    numbers = range(given.first, given.first + given.built) if given.built else range(given.count)
    for index in given.only if given.only is not None else numbers:
        try:
            row = built(index) if given.built else one(index, given.seed, given.away)
        except Exception:  # one broken task must not end the list
            traceback.print_exc()
            broken += 1
            continue
        if row is None:
            continue
        rows.append(row)
        if row["smaller"] == "found":
            print(f"| {index}: {row['about']} | found | not needed | {row['cpu_s']:.1f} |", flush=True)
        else:
            after = f"{row['status']}, {row['parts']} motions" if row["tried"] else "not tried"
            print(
                f"| {index}: {row['about']} | {row['smaller']}: {row['why']} | {after} | {row['cpu_s']:.1f} |",
                flush=True,
            )
    failed = [r for r in rows if r["smaller"] != "found"]
    tried = [r for r in failed if r["tried"]]
    print(f"{len(rows)} tasks, {len(rows) - len(failed)} found by smaller means; of {len(failed)} given up on "
          f"{len(tried)} escalate, and {sum(r['found'] and r['parts'] > 0 for r in tried)} are solved; "
          f"{broken} broken")  # fmt: skip


if __name__ == "__main__":
    main()
