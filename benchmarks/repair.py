"""Repair at scale: recorded clips in real scenes, placed at random where a limb runs into something.

First every placement that counts is listed, then each is repaired and certified. What fails is told with its reason;
that nothing outside of the repaired intervals was changed is checked bit by bit, and how good the motion is inside
them is measured.

    python benchmarks/repair.py [--places 3] [--full] [--clips 07_01 16_22] [--scenes small_house bookstore warehouse]
                                [--placements FILE] [--json FILE] [--alone] [--sample 60 --seed 7]

`--sample` draws some of the list at random and looks for those places alone, which takes a tenth of the time.
`--alone` repairs every clip on a bare floor: what of it is deeper in the floor or in itself than recorded clips may be.
`--placements` keeps the list in a file; where it is there, it is read and not drawn again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from elbowroom.files.open import read_scene
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import without_lead
from elbowroom.plan.repair.repair import repair
from elbowroom.world.world import World
from repair_clips import CLIPS, DATA, read
from repair_placements import WHO, Placement, placements
from repair_quality import change, change_summary, inside, measured

SCENES = ("small_house", "bookstore", "warehouse")
FLOOR = "bare floor"
Row = dict[str, Any]


@cache
def scene_of(name: str) -> World:
    return World(floor=0.0) if name == FLOOR else read_scene(DATA / "scenes" / f"{name}.glb")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def listed(scenes: list[str], clips: list[str], count: int, draws: int, among: set[int] | None = None) -> list[Row]:
    """Every placement that counts; the seed of a clip's draws does not depend on which others are asked for.

    With `among`, only those: scene by scene, clip by clip and place by place, whether there are so many or not.
    """
    rows: list[Row] = []
    for k, (scene, path) in enumerate(product(scenes, clips)):
        wanted = [n for n in range(count) if among is None or k * count + n in among]
        if not wanted:
            continue
        seed = 1000 * (1 + SCENES.index(scene)) + list(CLIPS).index(path)
        for n, at in enumerate(placements(scene_of(scene), read(path), wanted[-1] + 1, seed, draws)):
            if n in wanted:
                rows.append({"number": len(rows), "scene": scene, "clip": path, "at": at.at, "turn": at.turn})
                say(f"{len(rows) - 1:4} {scene:12} {path:32} at {at.at[0]:.3f}, {at.at[1]:.3f} turned {at.turn:.3f}")
    return rows


def tried(row: Row, seed: int = 0) -> Row:
    """Repair one placement."""
    clip = read(row["clip"])
    world = Placement(tuple(row["at"]), row["turn"]).world(scene_of(row["scene"]), clip)
    start, cpu = time.perf_counter(), time.process_time()
    plan = repair(world, WHO, seed=seed)
    took, cpu = time.perf_counter() - start, time.process_time() - cpu
    old, new = world.characters[WHO], plan.world.characters[WHO]
    assert isinstance(old, Clip) and isinstance(new, Clip)
    changed = np.any(old.rotations != new.rotations, axis=(1, 2)) | np.any(old.root != new.root, axis=1)
    return row | {
        "kind": CLIPS[row["clip"]],
        "status": plan.status,
        "why": plan.why,
        "seconds": round(took, 3),
        "per_second": round(took / max(without_lead(clip).duration, 1e-9), 3),
        "cpu_per_second": round(cpu / max(without_lead(clip).duration, 1e-9), 3),
        "stages": dict(plan.seconds),
        "plans": [(p.limb, p.tier, p.during) for p in plan.edits],
        "untouched": not bool((changed & ~inside(old, plan)).any()),
        "quality": measured(old, new, plan),
        "change": change(old, new, plan),
    }


def survived(row: Row) -> Row:
    """Repair one placement; an error is a status of its own, so that the others are still tried."""
    try:
        return tried(row)
    except Exception as error:
        say(traceback.format_exc())
        why = f"{type(error).__name__}: {error}"
        nothing = {"seconds": 0.0, "per_second": 0.0, "cpu_per_second": 0.0, "stages": {}, "untouched": True}
        return row | nothing | {"kind": CLIPS[row["clip"]], "status": "crashed", "why": why}


def summary(rows: list[Row]) -> Row:
    """Figures over all placements; quality over those that were repaired."""
    done = [r for r in rows if r["status"] == "found"]
    stages: Counter[str] = Counter()
    for r in rows:
        stages.update(r["stages"])
    kinds = {k: [r["status"] == "found" for r in rows if r["kind"] == k] for k in sorted({r["kind"] for r in rows})}
    return {
        "places": len(rows),
        "repaired": len(done),
        "share": round(len(done) / max(len(rows), 1), 3),
        "by_kind": {k: f"{sum(v)} of {len(v)}" for k, v in kinds.items()},
        "untouched_outside": all(r["untouched"] for r in rows),
        "median_seconds": _median([r["seconds"] for r in rows]),
        "median_per_second_of_motion": _median([r["per_second"] for r in rows]),
        "median_cpu_per_second_of_motion": _median([r["cpu_per_second"] for r in rows]),
        "stages_s": {k: round(v, 1) for k, v in stages.items()},
        "change_median_p90": change_summary([r["change"] for r in done]),
        "worst_quality": {k: max(r["quality"][k] for r in done) for k in done[0]["quality"]} if done else None,
    }


def _median(values: list[float]) -> float | None:
    return round(float(np.median(values)), 3) if values else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="20 places for each clip and scene")
    parser.add_argument("--draws", type=int, default=1500, help="places drawn at most, for each clip and scene")
    parser.add_argument("--clips", nargs="*", default=[""], help="clips whose path has one of these in it")
    parser.add_argument("--scenes", nargs="*", default=SCENES, choices=SCENES)
    parser.add_argument("--numbers", nargs="*", type=int, help="of the list, repair only these")
    parser.add_argument("--placements", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--alone", action="store_true", help="on a bare floor, without a scene")
    parser.add_argument("--sample", type=int, metavar="N", help="of the list, draw this many at random")
    parser.add_argument("--seed", type=int, default=7, help="of that draw")
    args = parser.parse_args()
    clips = [path for path in CLIPS if any(part in path for part in args.clips)]
    if args.alone:
        rows = [{"number": n, "scene": FLOOR, "clip": c, "at": (0.0, 0.0), "turn": 0.0} for n, c in enumerate(clips)]
    elif args.placements and args.placements.exists():
        rows = json.loads(args.placements.read_text())
        rows = [r for r in rows if r["clip"] in clips and r["scene"] in args.scenes]
    else:
        count = 20 if args.full else args.places
        every = len(args.scenes) * len(clips) * count
        drawn = None
        if args.sample:
            drawn = set(np.random.default_rng(args.seed).permutation(every)[: args.sample].tolist())
        rows = listed(args.scenes, clips, count, args.draws, drawn)
        if args.placements:
            args.placements.write_text(json.dumps(rows))
    say(f"{len(rows)} placements count; they are repaired now")
    done = []
    for row in rows:
        if args.numbers is None or row["number"] in args.numbers:
            done.append(survived(row))
            say(json.dumps(done[-1]))
            if args.json:
                args.json.write_text(json.dumps({"rows": done, "summary": summary(done)}))
    for r in done:
        if r["status"] != "found":
            print(f"{r['number']:4} {r['scene']} {r['clip']}: {r['status']}: {r['why']}")
    print(json.dumps(summary(done), indent=1))


if __name__ == "__main__":
    main()
