"""Every scenario of the gallery that asks for something, with many seeds: solved, proven, how well, how long.

Foot slide and jerk are those of `motion.quality`; 'off' is how far things end from where they were to be put, and
'hand' how far the nearest finger is from what the hand holds while it holds it (below zero: how deep in it).

    python benchmarks/gallery.py [--seeds 20] [--only NAME ...] [--json]
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from elbowroom.gallery.scenes import scenarios
from elbowroom.motion.quality import worst_quality
from elbowroom.plan.state.result import Plan
from elbowroom.plan.tasks import Close, Open, Put
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Still
from elbowroom.world.things import Fixture
from elbowroom.world.world import World


def off(board: Storyboard, world: World) -> float:
    """How far things and fixtures end from what was asked for last, metres or radians."""
    end, missed = world.span[1], {}
    for task in board.tasks:
        if isinstance(task, Put) and task.to is not None:
            missed[task.object] = float(np.linalg.norm(world.frame(task.object, end)[:3, 3] - task.to))
        elif isinstance(task, Open | Close):
            fixture = world.objects[task.fixture]
            assert isinstance(fixture, Fixture)
            low, high = fixture.joint.range
            usual = high if isinstance(task, Open) else low
            missed[task.fixture] = abs(float(fixture.state(end)) - (usual if task.to is None else task.to))
    return max(missed.values(), default=0.0)


def hand_gap(world: World) -> float | None:
    """Distance of the nearest part of a hand to what it holds in the middle of each hold, the largest, metres."""
    gaps = []
    for hold in world.holds:
        begin, end = max(hold.during[0], world.span[0]), min(hold.during[1], world.span[1])
        t = 0.5 * (begin + end)
        thing = world.objects[hold.object]
        laid = replace(thing, path=Still(world.frame(hold.object, t)))
        exact = ExactWorld(world.with_(holds=(), objects={hold.object: laid}, static={}, floor=None)).place(t)
        body = world.body(hold.by)
        joints = set(body.subtree(body.hand(hold.hand)[0]))
        near = []
        for shape in {s.name for s in body.shapes if s.joint in joints}:
            for k in exact.numbers(f"{hold.by}.{shape}", hold.object):
                value = exact.distance(k, 0.1).value
                near.append(0.1 if value is None else value)
        gaps.append(min(near, default=np.inf))
    return max(gaps, default=None)


def one(board: Storyboard, seed: int) -> dict[str, Any]:
    """One scenario with one seed."""
    begun = time.perf_counter()
    plan = plan_storyboard(board, seed=seed)
    seconds = time.perf_counter() - begun
    facts = {"seed": seed, "status": plan.status, "why": plan.why, "seconds": seconds, **_stages(plan)}
    return facts | measures(board, plan)


def measures(board: Storyboard, plan: Plan) -> dict[str, Any]:
    """How well a storyboard was planned; nothing where no motion was found."""
    if not plan.found:
        return {}
    found = worst_quality(plan.world.characters.values())
    assert plan.certificate is not None
    return {
        "certified": plan.certificate.free and plan.certificate.continuous,
        "clearance_m": plan.certificate.clearance_m,
        "off": off(board, plan.world),
        "hand_gap_m": hand_gap(plan.world),
        **found.facts(),
    }


def _stages(plan: Plan) -> dict[str, Any]:
    return {
        "plan_s": plan.seconds.get("plan", 0.0),
        "certify_s": plan.seconds.get("certify", 0.0),
        "search_s": sum(p.first_solution_s for p in plan.edits),
        "smooth_s": sum(p.smooth_s for p in plan.edits),
        "tiers": dict(Counter(p.tier for p in plan.edits)),
    }


def row(name: str, runs: list[dict[str, Any]]) -> str:
    """A line of the table: medians, and the worst where that is what matters."""
    done = [r for r in runs if r["status"] == "found"]
    proven = sum(bool(r["certified"]) for r in done)
    cells = [f"{len(done)}/{len(runs)}", f"{proven}/{len(runs)}"]
    if done:
        cells += [f"{np.median([r[k] for r in done]):.2f}" for k in ("plan_s", "search_s", "smooth_s", "certify_s")]
        cells.append(f"{1000 * max(r['off'] for r in done):.2f}")
        gaps = [r["hand_gap_m"] for r in done if r["hand_gap_m"] is not None]
        cells.append(f"{1000 * max(gaps, key=abs):.1f}" if gaps else "-")
        cells.append(f"{1000 * max(r['foot_slide_m'] for r in done):.1f}")
        cells.append(f"{np.median([r['peak_jerk'] for r in done]):.0f}")
        cells.append(str(max(r["limit_violations"] for r in done)))
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table, or all runs as JSON."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--seeds", type=int, default=20)
    ask.add_argument("--only", nargs="*", default=None)
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    boards = {s.name: s.board() for s in scenarios().values() if told.only is None or s.name in told.only}
    if not told.json:
        print("| scenario | solved | proven | plan s | search s | smooth s | certify s | off mm | hand mm | slide mm "
              "| jerk rad/s³ | out of range |")  # fmt: skip
        print("|" + "---|" * 12)
    everything = {}
    for name, board in boards.items():
        if not board.tasks:
            continue
        runs = everything[name] = [one(board, seed) for seed in range(told.seeds)]
        if not told.json:
            print(row(name, runs), flush=True)
            for why, count in Counter(f"{r['status']}: {r['why']}" for r in runs if r["status"] != "found").items():
                print(f"    {count} x {why}", flush=True)
    if told.json:
        print(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
