"""The three tiers of an arm's motion, beside Kallmann's times (2005, 3 GHz Pentium, 12,000 triangles).

Reaches into the bookshelf of `limb_search.py`, one second of motion at 60 frames a second each: the hand straight
without looking (IK), straight with the elbow out of the way (IK and collisions), and leaned aside or searched, rounded
and looked at between frames. Times are those of the processor, the check of the limb made before. Of the last, paths of
the hand are measured where neither of the first two is free: their length against the straight line, and their speed.

    python benchmarks/tiers.py [--problems 100] [--timed] [--json]

`--timed` searches limb and time, as tasks do.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.motion.quality import ReachShape
from elbowroom.plan.repair.arm_paths import ArmPaths, LimbTrajectory
from elbowroom.plan.state.settings import Settings
from elbowroom.spaces.limb import LimbSearchSpace
from elbowroom.world.fast import LimbCheck
from limb_search import MARGIN, problems, scene

PAPER = {"ik": "< 1 ms", "avoid": "1 to 30 ms", "plan": "20 ms to 2 s, smoothing 0.5 to 1.5 s"}
FRAMES = 60


def timed(do: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds of the processor, and what came of it."""
    begun = time.process_time()
    out = do()
    return 1e3 * (time.process_time() - begun), out


def spread(x: list[float]) -> dict[str, float]:
    """Median and 95th percentile, and how many."""
    return {"median_ms": float(np.median(x)), "p95_ms": float(np.percentile(x, 95)), "count": len(x)} if x else {}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--timed", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    world = scene()
    check = LimbCheck(world, "ann", "right_arm", margin=MARGIN)
    pairs, _ = problems(LimbSearchSpace.over(check), options.problems)
    body = world.body("ann")
    times = np.arange(FRAMES + 1) / FRAMES
    T = np.repeat(world.at(0.0).joints["ann"][None], FRAMES + 1, axis=0)
    assert isinstance(body, Character)
    pose = world.motion("ann")(0.0)
    if options.timed:
        check = LimbCheck(world, "ann", "right_arm", (0.0, 1.0), margin=MARGIN)
    ways = ArmPaths(body, "right_arm", pose, times, T, check, Settings(tier="plan"))
    ways.straight(*pairs[0]), ways.avoiding(*pairs[0]), ways.planned(*pairs[0], seed=0)  # compiled
    straight: list[float] = []
    avoid: list[float] = []
    plan: list[float] = []
    free = {"ik": 0, "avoid": 0, "plan": 0}

    shapes: list[ReachShape] = []
    leaned = 0

    def looked(q: Array | None) -> bool:
        return q is not None and ways.free(q)

    for n, (start, goal) in enumerate(pairs):
        ms, q = timed(lambda s=start, g=goal: ways.straight(s, g))
        straight.append(ms)
        direct = looked(q)
        free["ik"] += direct
        ms, (q, _) = timed(lambda s=start, g=goal: ways.avoiding(s, g))
        avoid.append(ms)
        direct = looked(q) or direct
        free["avoid"] += looked(q)
        ms, way = timed(lambda s=start, g=goal, k=n: ways.planned(s, g, seed=k))
        plan.append(ms)
        free["plan"] += isinstance(way, LimbTrajectory)
        if isinstance(way, LimbTrajectory) and not direct:
            shapes.append(ways.shape(way.rotations))
            leaned += way.nodes == 0
    told = {"ik": spread(straight), "avoid": spread(avoid), "plan": spread(plan)}
    hand = {
        "reaches": len(shapes),
        "leaned": leaned,
        "one_peak_at_30_to_60": sum(s.peaks == 1 and 0.3 <= s.fastest <= 0.6 for s in shapes),
        "median_fastest": float(np.median([s.fastest for s in shapes])),
        "median_length": float(np.median([s.length for s in shapes])),
        "p90_length": float(np.percentile([s.length for s in shapes], 90)),
    }
    if options.json:
        print(json.dumps({"triangles": world.triangles, "tiers": told, "free": free, "hand": hand}, indent=2))
        return
    print(f"{len(pairs)} reaches, {world.triangles:,} triangles, one second of motion each")
    for tier, figures in told.items():
        print(
            f"{tier:6} median {figures['median_ms']:7.2f} ms, p95 {figures['p95_ms']:7.2f} ms, "
            f"free {free[tier]:3} of {len(pairs)}   paper: {PAPER[tier]}"
        )
    print(f"hand where neither of the first two is free: {json.dumps(hand)}")


if __name__ == "__main__":
    main()
