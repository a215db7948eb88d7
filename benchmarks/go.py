"""Walks between random places of a scene: how many are found and proven, how long that takes, how long the ways are.

    python benchmarks/go.py SCENE.glb|STORYBOARD.yaml --pairs 50 --body woman --seed 0 [--rival]

`benchmarks/workshop.yaml` and the gallery's `office-tour.yaml` are scenes made from props.
Places are those with room to stand that a way leads between. The shortest way is that of a disc as wide as the trunk.
`--rival` walks the straight line and lets `repair` bring it out of what it meets.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from elbowroom.character.human import preset
from elbowroom.character.skeleton import Pose
from elbowroom.files.open import read_scene
from elbowroom.locomotion.departure import walk_from
from elbowroom.locomotion.walk import WalkOptions
from elbowroom.motion.clip import Clip
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.settings import Settings
from elbowroom.plan.tasks import Go
from elbowroom.plan.walking.ground import standing_at
from elbowroom.plan.walking.paths import WalkPaths
from elbowroom.storyboard.storyboard import read_storyboard
from elbowroom.world.columns import columns_of
from elbowroom.world.world import World

FPS = 30.0
# Metres from the edge of a scene, and beside the trunk, that places have.
EDGE_M, ROOM_M = 0.3, 0.05
# Metres that places of a pair are apart at least.
APART_M = 1.0


def places_of(world: World, ways: WalkPaths) -> np.ndarray:
    """Places (N, 2) within a scene with room to stand."""
    low, high = (np.array([m.bounds[k, :2] for m in world.static.values()]) for k in (0, 1))
    points = ways.columns.point(np.argwhere(ways.spare[0] > ROOM_M))
    inside = (points > low.min(axis=0) + EDGE_M) & (points < high.max(axis=0) - EDGE_M)
    return points[inside.all(axis=1)]


def straight(world: World, goal: np.ndarray) -> bool:
    """Return whether a straight walk, repaired, is free."""
    clip = world.motion("ann")
    assert isinstance(clip, Clip)
    start = Pose.of(clip.root[-1], clip.rotations[-1])
    walk = walk_from(clip.character, start, [clip.root[-1, :2], goal], options=WalkOptions(fps=FPS))
    return repair(world.with_character("ann", walk), "ann", budget=60.0).found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scene", type=Path)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--body", default="woman")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rival", action="store_true")
    args = parser.parse_args()
    made = args.scene.suffix == ".yaml"
    scene = World(static=read_storyboard(args.scene).world.static) if made else read_scene(args.scene)
    body, rng = preset(args.body), np.random.default_rng(args.seed)
    ways = WalkPaths(columns_of(scene, 0.0, [np.zeros(2)]), body)
    upright = WalkPaths(ways.columns, body, "walk")
    places, rows = places_of(scene, ways), []
    while len(rows) < args.pairs:
        a, b = places[rng.integers(len(places), size=2)]
        begun = time.process_time()
        way, disc = ways.find(a, b), upright.shortest(a, b)
        searched = time.process_time() - begun
        if way is None or disc is None or np.linalg.norm(a - b) < APART_M:
            continue
        world = standing_at(scene, "ann", body, (float(a[0]), float(a[1])), float(rng.uniform(-np.pi, np.pi)), FPS)
        begun = time.process_time()
        plan = plan_tasks(world, [Go(who="ann", to=(float(b[0]), float(b[1])))], Settings(probes=0), fps=FPS)
        rows.append(
            {
                "found": plan.found, "status": plan.status, "why": plan.why, "metres": way.length,
                "against_disc": way.length / disc, "seconds": time.process_time() - begun, "way_s": searched,
                "modes": sorted({mode.name for mode in way.modes}), "edits": len(plan.edits),
                "rival": straight(world, b) if args.rival else None,
            }
        )  # fmt: skip
        print(json.dumps(rows[-1] | {"from": a.round(2).tolist(), "to": b.round(2).tolist()}), flush=True)
    good = [row for row in rows if row["found"]]
    print(f"{args.scene.name}: {len(good)} of {len(rows)} found and proven")
    if args.rival:
        print(f"straight walk and repair: {sum(bool(row['rival']) for row in rows)} of {len(rows)}")
    for key, unit in (("seconds", "s a walk"), ("way_s", "s for both ways"), ("against_disc", "x the disc's way")):
        values = [row[key] for row in (good if key == "seconds" else rows)]
        print(f"{unit}: median {np.median(values):.3g}, largest {np.max(values):.3g}")
    print(f"s for 10 m: {np.median([10.0 * row['seconds'] / row['metres'] for row in good]):.2f}")


if __name__ == "__main__":
    main()
