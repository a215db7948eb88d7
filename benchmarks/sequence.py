"""The long sequence of paper S (gallery `cheese-and-hat`), motion by motion: first solution, smoothing, proof.

The scenario is planned as a whole with some seeds. Then each of its planned motions is searched anew by itself, with
other seeds: from the posture in which the hand sets out to the last before it touches something, or from the first
after that to where it is back, in posture and time, against the whole scene, the walking body and what is carried.
So are those for which the whole plan needed no search. Times are those of the processor. Shapiro, Kallmann and
Faloutsos (2007) took about 2 s to compute and smooth each motion, with 30K triangles, on a machine of their time.

    python benchmarks/sequence.py [--seeds 3] [--searches 10] [--profile] [--json]
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import time
from typing import Any

import numpy as np

from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.rotations import angle_between
from elbowroom.motion.clip import Clip
from elbowroom.plan.state.result import Plan
from elbowroom.search.birrt import Budget
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSearchSpace, plan_limb
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world.edit import Edit
from elbowroom.world.fast import LimbCheck
from elbowroom.world.world import World
from limb_proof import prove

NAME = "cheese-and-hat"

# Clearance that searched motions keep, metres.
MARGIN = 0.005

# Joints may turn as fast as 360 degrees a second, and this much faster than those of the motion that was found.
FASTEST, FASTER = 2.0 * np.pi, 1.3

# What the whole plan spends its time on, by function: file, name, and what it is.
PARTS = (
    ("posing/reach.py", "reach", "postures of the body"),
    ("plan/checks/postures.py", "_blame", "of which: is the whole body free?"),
    ("world/fast.py", "__init__", "tables of what is around an arm"),
    ("spaces/limb_plan.py", "plan_limb", "searches"),
    ("search/birrt.py", "smooth", "smoothing"),
    ("finish/settle.py", "settle", "paths to frames"),
    ("finish/settle.py", "between_free", "arms between frames"),
    ("posing/grasps.py", "grasps_of", "grasps"),
    ("world/certificate.py", "certify", "certificates"),
)


def searched(world: World, motion: Edit, searches: int) -> list[dict[str, Any]]:
    """One planned motion, searched anew with some seeds."""
    clip = world.motion(motion.who)
    assert isinstance(clip, Clip)
    rows = np.flatnonzero((clip.times >= motion.during[0] - 1e-6) & (clip.times <= motion.during[1] + 1e-6))
    course = clip.rotations[np.ix_(rows, list(clip.character.chain(motion.limb).joints))]
    times = clip.times[rows]
    begun = time.process_time()
    check = LimbCheck(world, motion.who, motion.limb, (float(times[0]), float(times[-1])), margin=MARGIN)
    build = time.process_time() - begun
    # the last bit before a hand touches something, and the first after it, keep no margin: they are not searched
    clear = np.flatnonzero(check.free_batch(course, times, exact=False))
    speed = angle_between(course[:-1], course[1:]).max(axis=0) * clip.fps
    space = LimbSearchSpace.over(check, timed=True, speed=np.maximum(FASTEST, FASTER * speed))
    ends = [space.state(course[k], float(times[k])) for k in (clear[0], clear[-1])]
    found = []
    for seed in range(searches):
        t = [time.process_time()]
        path = plan_limb(space, *ends, seed, Budget(checks=30_000))
        t.append(time.process_time())
        short = smooth(space, path, seed)
        t.append(time.process_time())
        free = short.found and prove(space, short).free
        t.append(time.process_time())
        first, smoothed, proven = (1e3 * (x - t[0]) for x in t[1:])
        found.append(
            {"what": motion.reason, "limb": motion.limb, "during": motion.during, "status": path.status, "free": free,
             "build_ms": 1e3 * build, "first_ms": first, "smooth_ms": smoothed, "proven_ms": proven,
             "checks": path.stats.checks}
        )  # fmt: skip
    return found


def table(runs: list[dict[str, Any]]) -> str:
    """Medians by motion and of all, as a page of text has them."""
    lines = ["| motion | arm | solved | proven | first, ms | smoothed, ms | and proven, ms | tables, ms |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    names = list(dict.fromkeys(r["what"] for r in runs))
    for name in [*names, "all"]:
        mine = [r for r in runs if name in (r["what"], "all")]
        solved = [r for r in mine if r["status"] == "found"]
        cells = [name, mine[0]["limb"].split("_")[0] if name != "all" else "", f"{len(solved)}/{len(mine)}"]
        cells.append(f"{sum(r['free'] for r in solved)}/{len(mine)}")
        for key in ("first_ms", "smooth_ms", "proven_ms", "build_ms"):
            cells.append(f"{np.median([r[key] for r in solved]):.1f}" if solved else "-")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def profiled(seed: int) -> str:
    """What the whole plan spends its time on, seconds; the profiler itself slows Python down."""
    board, profile = scenario(NAME).board(), cProfile.Profile(time.process_time)
    profile.enable()
    plan_storyboard(board, seed=seed)
    profile.disable()
    stats: dict[tuple[str, int, str], Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in stats.values())
    lines = [f"whole plan with certificate: {total:.1f} s"]
    for path, name, what in PARTS:
        took = sum(v[3] for k, v in stats.items() if k[0].endswith(path) and k[2] == name)
        calls = sum(v[1] for k, v in stats.items() if k[0].endswith(path) and k[2] == name)
        lines.append(f"  {what}: {took:.2f} s in {calls} calls")
    return "\n".join(lines)


def whole(seed: int) -> tuple[Plan, float]:
    """The scenario with a seed, and its processor time."""
    board = scenario(NAME).board()
    begun = time.process_time()
    plan = plan_storyboard(board, seed=seed, budget=600.0)
    return plan, time.process_time() - begun


def main() -> None:
    """Run and print."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--seeds", type=int, default=3, help="of the whole plan")
    ask.add_argument("--searches", type=int, default=10, help="of each motion")
    ask.add_argument("--profile", action="store_true", help="what the whole plan spends its time on")
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    whole(0)  # compiled code and distance fields are there afterwards
    plans = [whole(seed) for seed in range(told.seeds)]
    found = [(plan, took) for plan, took in plans if plan.found]
    runs = [run for plan, _ in found for motion in plan.edits for run in searched(plan.world, motion, told.searches)]
    if told.json:
        print(json.dumps({"seconds": [took for _, took in plans], "runs": runs}))
        return
    seconds, motions = np.median([took for _, took in plans]), len(found[0][0].edits)
    print(f"{scenario(NAME).board().world.triangles} triangles, {motions} motions")
    print(f"whole plans: {len(found)} of {len(plans)} found and proven, median {seconds:.1f} s with certificate")
    print(table(runs))
    if told.profile:
        print(profiled(0))


if __name__ == "__main__":
    main()
