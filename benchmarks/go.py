"""Walks between random places of a scene: how many are found and proven, how long that takes, how long the ways are.

    python benchmarks/go.py SCENE.glb|STORYBOARD.yaml … --pairs 50 [--only 3 7] [--body woman] [--seed 0] [--rival]

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
from elbowroom.plan.checks.ground import standing_at
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Go
from elbowroom.plan.walking.paths import WalkPaths
from elbowroom.storyboard.storyboard import read_storyboard
from elbowroom.world.columns import columns_of
from elbowroom.world.world import World

FPS = 30.0
# Metres from the edge of a scene, and beside the trunk, that places have.
EDGE_M, ROOM_M = 0.3, 0.05
# Metres that places of a pair are apart at least.
APART_M = 1.0
# Seconds by the clock after which the rival is given up.
RIVAL_S = 60.0
# Factor on the disc's shortest path from which a path counts as longer.
LONGER = 1.1


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
    return repair(world.with_character("ann", walk), "ann", budget=RIVAL_S).found


def one(scene: World, places: np.ndarray, ways: WalkPaths, upright: WalkPaths, rng: np.random.Generator, rival: bool):
    """A random pair that is connected: how it is walked."""
    while True:
        a, b = places[rng.integers(len(places), size=2)]
        begun = time.process_time()
        way = ways.find(a, b)
        searched = time.process_time() - begun
        disc = upright.shortest(a, b)
        if way is not None and disc is not None and np.linalg.norm(a - b) >= APART_M:
            break
    body = ways.character
    world = standing_at(scene, "ann", body, (float(a[0]), float(a[1])), float(rng.uniform(-np.pi, np.pi)), FPS)
    row = {"from": a.round(2).tolist(), "to": b.round(2).tolist(), "metres": way.length, "way_s": searched,
           "against_disc": way.length / disc, "modes": sorted({mode.name for mode in way.modes})}  # fmt: skip
    begun = time.process_time()
    try:
        plan = plan_tasks(world, [Go(who="ann", to=(float(b[0]), float(b[1])))], Settings(probes=0), fps=FPS)
        row |= {"found": plan.found, "status": plan.status, "why": plan.why, "edits": len(plan.edits)}
    except Exception as crash:  # counts as not found, and the others are still measured
        row |= {"found": False, "status": "crash", "why": repr(crash), "edits": 0}
    row["seconds"] = time.process_time() - begun
    if rival:
        begun = time.process_time()
        try:
            row["rival"] = straight(world, b)
        except Exception as crash:
            row |= {"rival": False, "rival_why": repr(crash)}
        row["rival_s"] = time.process_time() - begun
    return row


def measured(scene_file: Path, args: argparse.Namespace) -> str:
    """Walk all pairs of a scene; a line of a table."""
    made = scene_file.suffix == ".yaml"
    scene = World(static=read_storyboard(scene_file).world.static) if made else read_scene(scene_file)
    body = preset(args.body)
    ways = WalkPaths(columns_of(scene, 0.0, [np.zeros(2)]), body)
    upright, places, rows = WalkPaths(ways.columns, body, "walk"), places_of(scene, ways), []
    for k in range(args.pairs) if args.only is None else args.only:
        rows.append(one(scene, places, ways, upright, np.random.default_rng([args.seed, k]), args.rival))
        print(json.dumps({"scene": scene_file.stem, "pair": k} | rows[-1]), flush=True)
    good = [row for row in rows if row["found"]]

    def both(key: str, form: str) -> str:
        values = [row[key] for row in rows]
        return f"{np.median(values):{form}} / {np.max(values):{form}}"

    longer = sum(row["against_disc"] > LONGER for row in rows)
    line = f"| {scene_file.stem} | {len(good)} of {len(rows)} | {both('seconds', '.1f')} | "
    line += f"{np.median([10.0 * row['seconds'] / row['metres'] for row in good] or [np.nan]):.1f} | "
    line += f"{both('way_s', '.3f')} | {both('against_disc', '.2f')} | {longer} |"
    if args.rival:
        line += f" {sum(row['rival'] for row in rows)} of {len(rows)} | {both('rival_s', '.1f')} |"
    return line


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scenes", type=Path, nargs="+")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of pairs")
    parser.add_argument("--body", default="woman")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rival", action="store_true")
    args = parser.parse_args()
    head = ["scene", "found and proven", "s a walk, median / largest", "s for 10 m", "s for the path, median / largest",
            "path against a disc's shortest, median / largest", "longer by a tenth"]  # fmt: skip
    head += ["straight walk and repair", "s of it, median / largest"] if args.rival else []
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for scene in args.scenes:
        lines.append(measured(scene, args))
        print(lines[-1], flush=True)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
