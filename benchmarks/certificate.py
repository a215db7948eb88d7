"""Certificates: how long a proof takes, and whether its collisions agree with brute force at 1,000 looks a second.

First a free walk of ten seconds through a house is certified, with the field of the house from the cache. Then clips of
motion capture are walked through scenes; every collision of a limb with the scene is compared, interval by interval,
with the exact test at 1,000 times a second. Contacts of a clip with itself and the floor are its own business.

    python benchmarks/certificate.py [--clips 6] [--seconds 4] [--rate 1000] [--json]
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
sys.path.insert(0, str(ROOT / "tests"))

from elbowroom.character.human import human  # noqa: E402
from elbowroom.files.bvh import read_bvh  # noqa: E402
from elbowroom.files.open import read_scene  # noqa: E402
from elbowroom.locomotion.walk import walk  # noqa: E402
from elbowroom.motion.edit import cut, place, without_lead  # noqa: E402
from elbowroom.world.certificate import certify  # noqa: E402
from tools.brute_force import brute_force, disagreements, in_the_thick_of  # noqa: E402

DATA = Path(os.environ.get("ELBOWROOM_DATA") or ROOT.parent / "shared" / "data")
SCENES = ("small_house", "bookstore", "warehouse")
# A way through the house that is free: where it starts, metres, and which way, radians.
FREE_WAY = ((3.094, 2.605), 0.690)


def free_walk(repeats: int = 3) -> dict[str, Any]:
    """Seconds for the certificate of a free walk; the scene is read anew each time, so that nothing is remembered."""
    clip = place(walk(human(), 0.8, 0.0, 10.0, 60.0), *FREE_WAY)
    path = DATA / "scenes" / "small_house.glb"
    certify(read_scene(path).with_character("ann", clip))  # compiles, and keeps the field
    seconds = []
    for _ in range(repeats):
        world = read_scene(path).with_character("ann", clip)
        start = time.perf_counter()
        found = certify(world)
        seconds.append(time.perf_counter() - start)
    return {
        "triangles": world.triangles,
        "parts": len(clip.character.shapes),
        "frames": len(clip),
        "free": found.free,
        "continuous": found.continuous,
        "clearance_m": found.clearance_m,
        "pair": found.pair,
        "seconds": float(np.median(seconds)),
    }


def real_walks(clips: int, seconds: float, rate: float) -> list[dict[str, Any]]:
    """Clips through scenes: collisions of certificate and of brute force, and what they say differently."""
    paths = sorted((DATA / "mocap" / "cmu_bvh").glob("*.bvh"))
    rng = np.random.default_rng(1)
    chosen = [paths[i] for i in sorted(rng.choice(len(paths), min(clips, len(paths)), replace=False))]
    rows = []
    for scene in SCENES:
        empty = read_scene(DATA / "scenes" / f"{scene}.glb")
        for path in chosen:
            clip = without_lead(read_bvh(path, fix_rig=True))
            clip = cut(clip, clip.span[0], min(clip.span[1], clip.span[0] + seconds), keep_time=True)
            world = empty.with_character("ann", in_the_thick_of(empty, clip, rng))
            start = time.perf_counter()
            found = certify(world)
            took = time.perf_counter() - start
            start = time.perf_counter()
            slow = brute_force(world, rate, lambda pair: not pair.b.startswith("ann.") and pair.b != "floor")
            rows.append(
                {
                    "scene": scene,
                    "clip": path.stem,
                    "seconds": clip.duration,
                    "collisions": len(found.collisions),
                    "brute_force": sum(map(len, slow.values())),
                    "pairs": len(slow),
                    "unproven": len(found.unproven),
                    "disagreements": disagreements(found, slow, rate),
                    "certify_s": took,
                    "brute_s": time.perf_counter() - start,
                }
            )
    return rows


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--clips", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    free = free_walk()
    rows = real_walks(told.clips, told.seconds, told.rate)
    if told.json:
        print(json.dumps({"free_walk": free, "real_walks": rows}, indent=2))
        return
    print(
        f"free walk: {free['frames']} frames, {free['parts']} parts, {free['triangles']:,} triangles: "
        f"{'free' if free['free'] else 'NOT FREE'}, clearance {1000 * (free['clearance_m'] or 0):.1f} mm "
        f"{free['pair']}, {free['seconds']:.2f} s"
    )
    print(
        f"{'scene':12} {'clip':8} {'s':>5} {'certificate':>11} {'brute force':>11} "
        f"{'differ':>6} {'ours s':>7} {'theirs s':>8}"
    )
    for r in rows:
        print(
            f"{r['scene']:12} {r['clip']:8} {r['seconds']:5.1f} {r['collisions']:11} {r['brute_force']:11} "
            f"{len(r['disagreements']):6} {r['certify_s']:7.2f} {r['brute_s']:8.2f}"
        )
        for line in r["disagreements"]:
            print("    " + line)


if __name__ == "__main__":
    main()
