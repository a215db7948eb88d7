"""Analytic limb IK on random reachable targets: how exact and how fast, limb by limb, for people and rigs.

A target is where the end joint is in a random posture of the limb within its ranges, under a parent anywhere in the
world and any way up; the orbit angle is drawn besides. Errors are measured by forward kinematics of the limb with the
rotations that were found. Recorded rigs have elbows that leave their hinge's plane a little; what they keep of it is
told to the solver. Times are of one core, in processor seconds: `solves` with limits checked, `searches` for an orbit
angle within the ranges from 20 degrees, with the tests that each took and the share of those found that a search by
single degrees finds.

    python benchmarks/limb_ik.py [--targets 1000000] [--characters person,clown] [--data folder] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.human import human, preset
from elbowroom.character.skeleton import Skeleton
from elbowroom.files.asf_amc import read_amc
from elbowroom.files.glb_read import read_glb
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.posing.limb_ik import Keep, LimbIK
from elbowroom.posing.orbit import search_orbits

CHARACTERS = ("person", "clown", "gorilla", "child", "cmu", "rocketbox")
LIMBS = ("left_arm", "right_arm", "left_leg", "right_leg")
CHUNK = 50_000
FINE = np.radians(np.arange(-15.0, 130.5, 1.0))


def character(name: str, data: Path) -> Character:
    """A built-in person, or a rig from the folder of real files."""
    if name == "cmu":
        return read_amc(data / "mocap/cmu_asf_amc/02/02_01.amc").character
    if name == "rocketbox":
        return next(iter(read_glb(data / "characters/rocketbox_male_adult_01.glb").characters.values()))
    return human(skin=False) if name == "person" else preset(name, skin=False)


def bare(c: Character, ik: LimbIK) -> tuple[Skeleton, list[int]]:
    """The limb as a skeleton of its own, rooted in its parent, and where its three joints are in it."""
    path = [ik.joints[2]]
    while path[-1] != ik.joints[0]:
        path.append(int(c.parents[path[-1]]))
    path = [ik.parent, *reversed(path)]
    s = c.skeleton
    limb = Skeleton(tuple(s.names[j] for j in path), np.arange(-1, len(path) - 1), s.offsets[path], s.rest[path])
    return limb, [path.index(j) for j in ik.joints]


def seconds_of(run: Callable[[], object]) -> float:
    """Processor seconds of one run."""
    start = time.process_time()
    run()
    return time.process_time() - start


def measure(c: Character, name: str, limb: str, targets: int) -> dict[str, float | str]:
    """Errors and speed on random targets."""
    ik = LimbIK(c, limb)
    skeleton, joints = bare(c, ik)
    limits = [limit for j in ik.joints if (limit := c.limits[j]) is not None]
    rng = np.random.default_rng(0)
    worst = {"position_m": 0.0, "orientation_rad": 0.0, "unreached": 0.0}
    solving, done = [], 0
    while done < targets:
        n = min(CHUNK, targets - done)
        done += n
        rotations = np.tile(skeleton.rest, (n, 1, 1))
        rotations[:, 0] = normalize(rng.normal(size=(n, 4)))
        for k, limit in zip(joints, limits, strict=True):
            rotations[:, k] = limit.sample(rng, n)
        root = rng.normal(size=(n, 3))
        T = skeleton.forward(root, rotations)
        parent, end = np.ascontiguousarray(T[:, 0]), np.ascontiguousarray(T[:, joints[2]])
        off_axis = limits[1].coordinates(rotations[:, joints[1]])[:, 1]
        orbit, keep = rng.uniform(-np.pi, np.pi, n), Keep(off_axis)
        found = ik.solve(parent, end, orbit, keep)
        solving.append(seconds_of(lambda a=(parent, end, orbit, keep): ik.solve(*a)) / n)  # type: ignore[misc]
        rotations[:, joints] = found.rotations
        there = skeleton.forward(root, rotations)[:, joints[2]]
        apart = np.linalg.norm(there[:, :3, 3] - end[:, :3, 3], axis=-1)
        # two rotations that differ by a small angle differ by its size times the root of two
        turned = np.linalg.norm((there - end)[:, :3, :3], axis=(1, 2)) / np.sqrt(2.0)
        worst["position_m"] = max(worst["position_m"], float(apart.max()))
        worst["orientation_rad"] = max(worst["orientation_rad"], float(turned.max()))
        worst["unreached"] += float((~found.reached).sum())
    return {
        "character": name,
        "limb": limb,
        "targets": done,
        **worst,
        "solves_per_second": 1.0 / float(np.median(solving)),
        **searching(ik, parent, end),
    }


def searching(ik: LimbIK, parent: Array, end: Array) -> dict[str, float]:
    """Speed and yield of the orbit search on some of the targets."""
    found = search_orbits(ik, parent, end)
    seconds = seconds_of(lambda: search_orbits(ik, parent, end))
    some = min(2000, len(end))
    exists = ik.solve(parent[:some, None], end[:some, None], FINE).within_limits.any(axis=1)
    return {
        "searches_per_second": len(end) / seconds,
        "tests": float(found.tests.mean()),
        "found_of_possible": float((found.found[:some] & exists).sum() / exists.sum()),
    }


def main() -> None:
    """Print the table, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--targets", type=int, default=1_000_000)
    parser.add_argument("--characters", default=",".join(CHARACTERS))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("ELBOWROOM_DATA", "../shared/data")))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    columns = {"targets": 9, "m": 9, "rad": 9, "unmet": 7, "solves/s": 11, "searches/s": 12, "tests": 7, "found": 7}
    heading = " " * 21 + "".join(f"{text:>{width}}" for text, width in columns.items())
    if not options.json:
        print(heading)
    for name in options.characters.split(","):
        c = character(name, options.data)
        for limb in LIMBS:
            row = measure(c, name, limb, options.targets)
            rows.append(row)
            if not options.json:
                print(
                    "{character:<11}{limb:<10}{targets:9d}{position_m:9.1e}{orientation_rad:9.1e}{unreached:7.0f}"
                    "{solves_per_second:11,.0f}{searches_per_second:12,.0f}{tests:7.2f}{found_of_possible:7.3f}".format(
                        **row
                    ),
                    flush=True,
                )
    if options.json:
        print(json.dumps({"limbs": rows}))


if __name__ == "__main__":
    main()
