"""Repair at scale: recorded clips in real scenes, placed at random where a limb runs into something.

Every placement that counts is listed before any repair. Each clip is repaired and certified; what fails is told with
its reason, and that nothing outside of the repaired intervals was changed is checked bit by bit.

    python benchmarks/repair.py [--places 3] [--clips 0] [--scenes small_house bookstore warehouse] [--full] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))

from elbowroom.files.asf_amc import read_amc  # noqa: E402
from elbowroom.files.bvh import read_bvh  # noqa: E402
from elbowroom.files.scene import read_scene  # noqa: E402
from elbowroom.motion.clip import Clip  # noqa: E402
from elbowroom.motion.edit import cut, without_lead  # noqa: E402
from elbowroom.motion.quality import peak_jerk, quality  # noqa: E402
from elbowroom.tasks.repair import repair  # noqa: E402
from elbowroom.world.world import World  # noqa: E402
from repair_placements import WHO, Placement, placements  # noqa: E402

DATA = Path(os.environ.get("ELBOWROOM_DATA") or ROOT.parent / "shared" / "data")
# Walking, running, carrying, reaching.
BVH = [
    "02_01",
    "07_01",
    "07_12",
    "09_12",
    "104_35",
    "113_22",
    "113_26",
    "115_01",
    "132_17",
    "132_45",
    "136_09",
    "143_11",
    "16_17",
    "38_03",
    "62_20",
    "69_20",
    "69_24",
    "69_28",
    "69_31",
    "69_70",
    "69_73",
    "70_01",
    "80_07",
    "81_06",
]
AMC = [
    "02/02_01",
    "02/02_02",
    "02/02_03",
    "07/07_01",
    "07/07_04",
    "07/07_05",
    "09/09_06",
    "16/16_11",
    "16/16_13",
    "16/16_17",
    "16/16_19",
    "16/16_22",
    "16/16_35",
    "16/16_55",
    "69/69_01",
    "127/127_04",
]


def read(name: str) -> Clip:
    """A clip by its name."""
    if "/" in name:
        return read_amc(DATA / "mocap" / "cmu_asf_amc" / f"{name}.amc")
    return read_bvh(DATA / "mocap" / "cmu_bvh" / f"{name}.bvh")


def tried(scene: World, clip: Clip, at: Placement, seed: int = 0) -> dict[str, Any]:
    """Repair one placement."""
    world = at.world(scene, clip)
    start = time.perf_counter()
    plan = repair(world, WHO, seed=seed)
    took = time.perf_counter() - start
    old, new = world.characters[WHO], plan.world.characters[WHO]
    assert isinstance(old, Clip) and isinstance(new, Clip)
    changed = np.any(old.rotations != new.rotations, axis=(1, 2)) | np.any(old.root != new.root, axis=1)
    inside = np.zeros(len(old), dtype=bool)
    for one in plan.plans:
        inside |= (old.times >= one.during[0] - 1e-9) & (old.times <= one.during[1] + 1e-9)
    before, after = quality(old), quality(new)
    spans = [(max(p.during[0] - 0.3, old.span[0]), min(p.during[1] + 0.3, old.span[1])) for p in plan.plans]
    # jerk about each repaired interval against what is allowed there: twice the clip's own, or 1,500 rad/s³
    jerk = [peak_jerk(cut(new, *span)) / max(2.0 * peak_jerk(cut(old, *span)), 1500.0) for span in spans]
    return {
        "status": plan.status,
        "why": plan.why,
        "seconds": round(took, 3),
        "per_second": round(took / max(without_lead(clip).duration, 1e-9), 3),
        "stages": dict(plan.seconds),
        "plans": [(p.limb, p.tier, p.during) for p in plan.plans],
        "jerk": (before.peak_jerk, after.peak_jerk),
        "jerk_of_allowed": round(max(jerk, default=0.0), 3),
        "untouched": not bool((changed & ~inside).any()),
        "slide": (before.foot_slide_m, after.foot_slide_m),
        "limits": (before.limit_violations, after.limit_violations),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=3)
    parser.add_argument("--clips", nargs="*", default=[*BVH, *AMC])
    parser.add_argument("--scenes", nargs="*", default=["small_house", "bookstore", "warehouse"])
    parser.add_argument("--seconds", type=float, default=0.0, help="cut clips to their first seconds")
    parser.add_argument("--draws", type=int, default=1500)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in args.scenes:
        scene = read_scene(DATA / "scenes" / f"{name}.glb")
        for number, motion in enumerate(args.clips):
            clip = read(motion)
            if args.seconds and without_lead(clip).duration > args.seconds:
                clip = cut(without_lead(clip), without_lead(clip).span[0], without_lead(clip).span[0] + args.seconds)
            start = time.perf_counter()
            found = placements(scene, clip, 20 if args.full else args.places, 1000 + number, args.draws)
            print(
                f"{name} {motion}: {len(found)} places, {time.perf_counter() - start:.1f} s",
                file=sys.stderr,
                flush=True,
            )
            for at in found:
                row = {"scene": name, "clip": motion, "at": at.at, "turn": at.turn} | tried(scene, clip, at)
                rows.append(row)
                print(
                    "  ",
                    json.dumps({k: v for k, v in row.items() if k not in ("scene", "clip")}),
                    file=sys.stderr,
                    flush=True,
                )
    done = [r for r in rows if r["status"] == "found"]
    summary = {
        "places": len(rows),
        "repaired": len(done),
        "share": round(len(done) / max(len(rows), 1), 3),
        "untouched_outside": all(r["untouched"] for r in rows),
        "worst_jerk_of_allowed": max((r["jerk_of_allowed"] for r in rows), default=None),
        "median_seconds": float(np.median([r["seconds"] for r in rows])) if rows else None,
        "median_per_second_of_motion": float(np.median([r["per_second"] for r in rows])) if rows else None,
    }
    if args.json:
        print(json.dumps({"rows": rows, "summary": summary}))
    else:
        for r in rows:
            if r["status"] != "found":
                print(f"{r['scene']} {r['clip']} at {r['at']}: {r['status']}: {r['why']}")
        print(summary)


if __name__ == "__main__":
    main()
