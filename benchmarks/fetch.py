"""Things fetched in a scene: how many of random ones are found and proven, how near the hand is, how long it takes.

    python benchmarks/fetch.py SCENE.glb --tasks 30 [--only 3 7] [--body woman] [--seed 0] [--budget 300]

A thing stands on a random level surface of the scene that somebody can stand beside, and is put on another one.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.character.human import preset
from elbowroom.files.open import read_scene
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import merge
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.ground import standing_at
from elbowroom.plan.checks.places import clear_of_support, resting
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Fetch
from elbowroom.plan.walking.paths import WalkPaths
from elbowroom.props.makers import made
from elbowroom.world.columns import columns_of
from elbowroom.world.paths import Still
from elbowroom.world.things import Thing
from elbowroom.world.world import World

FPS = 30.0
# A foot that is slower stands.
STANDS_M_S = 0.05
THINGS = ("mug", "jar", "tin", "bottle", "carton", "ball")
# Heights of surfaces, metres; distances from the edge that is stood beside; and things above that are too near.
LOW_M, HIGH_M, BESIDE_M, ABOVE_M = 0.35, 1.35, 0.5, 0.35
# Points on surfaces among which tasks choose.
SPOTS = 1200


def surfaces(scene: World, ways: WalkPaths, rng: np.random.Generator, most: int) -> list[tuple[str, np.ndarray]]:
    """Points (3,) on level surfaces that somebody can stand beside, with the names of their meshes."""
    names, corners = [], []
    for name, mesh in scene.static.items():
        triangles = mesh.vertices[mesh.faces]
        normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        size = np.linalg.norm(normal, axis=1)
        level = (normal[:, 2] > 0.99 * size) & (size > 1e-4)
        level &= (triangles[:, :, 2].mean(axis=1) > LOW_M) & (triangles[:, :, 2].mean(axis=1) < HIGH_M)
        names += [name] * int(level.sum())
        corners.append(triangles[level])
    triangles = np.concatenate(corners)
    area = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    places = ways.columns.point(np.argwhere(ways.spare[0] > 0.05))
    found: list[tuple[str, np.ndarray]] = []
    for k in rng.choice(len(triangles), size=200 * most, p=area / area.sum()):
        u = np.sort(rng.uniform(size=2))
        point = np.array([u[0], u[1] - u[0], 1.0 - u[1]]) @ triangles[k]
        if np.linalg.norm(places - point[:2], axis=1).min() < BESIDE_M:
            found.append((names[k], point))
        if len(found) >= most:
            break
    return found


def with_thing(scene: World, mesh: Mesh, point: np.ndarray) -> World | None:
    """A scene with a thing on a point (3,), free of all else; None where it is not."""
    T = transform(point + [0.0, 0.0, 0.0005 - mesh.bounds[0, 2]])
    world = scene.with_(objects={**scene.objects, "thing": Thing(mesh=mesh, path=Still(T), mass=0.4, freedom="level")})
    T = clear_of_support(world, "thing", 0.0, T)  # beds and cushions are not level
    world = world.with_(objects={**world.objects, "thing": replace(world.objects["thing"], path=Still(T))})
    above = any(resting(world, "thing", 0.0, transform([0.0, 0.0, z]) @ T) for z in np.linspace(0.02, ABOVE_M, 5))
    return None if above or len(resting(world, "thing", 0.0)) != 1 else world


def taken(plan: Plan) -> dict[str, float]:
    """Jump of the thing as it is taken, metres, and seconds by which the arm sets out before the feet stand."""
    hold = next(h for h in plan.world.holds if h.object == "thing")
    t, e = hold.during[0], 1e-4
    before, after = (np.asarray(plan.world.frame("thing", t + s))[:3, 3] for s in (-e, e))
    clip = plan.world.motion("ann")
    assert isinstance(clip, Clip)
    feet = [clip.character.role(f"{side}_foot") for side in ("left", "right")]
    times = clip.times[clip.times <= t]
    at = clip.world()[: len(times)][:, feet][..., :3, 3]
    moving = np.linalg.norm(np.diff(at, axis=0), axis=-1).max(axis=1) * clip.fps > STANDS_M_S
    arm = min(edit.during[0] for edit in plan.edits if edit.limb == f"{hold.hand}_arm" and edit.reason == "grab thing")
    stood = float(times[np.flatnonzero(moving)[-1] + 1]) if moving.any() else 0.0
    return {"hand_mm": 1e3 * float(np.linalg.norm(after - before)), "overlap_s": stood - arm}


def one(
    scene: World, ways: WalkPaths, spots: list[tuple[str, np.ndarray]], k: int, args: argparse.Namespace
) -> dict[str, Any]:
    """A random task that makes sense, and what becomes of it."""
    rng, kind = np.random.default_rng([args.seed, k]), THINGS[k % len(THINGS)]
    mesh = merge(list(made(kind).values()))
    stands = ways.columns.point(np.argwhere(ways.spare[0] > 0.05))
    while True:
        start = stands[rng.integers(len(stands))]
        (_, a), (onto, b) = (spots[k] for k in rng.integers(len(spots), size=2))
        beside = [stands[np.argmin(np.linalg.norm(stands - p[:2], axis=1))] for p in (a, b)]
        if np.linalg.norm(a - b) < 1.0 or any(ways.find(start, p) is None for p in beside):
            continue
        world = with_thing(scene, mesh, a)
        if world is not None and with_thing(scene, mesh, b) is not None:
            break
    world = standing_at(world, "ann", ways.character, (float(start[0]), float(start[1])), 0.0, FPS)
    goal = (float(b[0]), float(b[1]), float(b[2]))
    row = {"task": k, "thing": kind, "onto": onto, "from": a.round(2).tolist(), "to": b.round(2).tolist(),
           "start": start.round(2).tolist(), "found": False}  # fmt: skip
    begun = time.process_time()
    try:
        tasks = [Fetch(who="ann", object="thing", onto=onto, to=goal)]
        plan = plan_tasks(world, tasks, Settings(probes=0), fps=FPS, budget=args.budget)
        row |= {"found": plan.found, "status": plan.status, "why": plan.why}
        if plan.found:
            end = np.asarray(plan.world.frame("thing", plan.world.span[1]))[:3, 3]
            row |= {"off_mm": 1e3 * float(np.linalg.norm(end[:2] - b[:2]))} | taken(plan)
    except Exception as crash:  # counts as not found, and the others are still measured
        row |= {"status": "crash", "why": repr(crash)}
    return row | {"seconds": time.process_time() - begun}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scene", type=Path)
    parser.add_argument("--tasks", type=int, default=30)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of tasks")
    parser.add_argument("--body", default="woman")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=300.0, help="seconds by the clock for a task")
    args = parser.parse_args()
    scene, body = read_scene(args.scene), preset(args.body)
    ways = WalkPaths(columns_of(scene, 0.0, [np.zeros(2)]), body)
    spots = surfaces(scene, ways, np.random.default_rng(args.seed), SPOTS)
    rows: list[dict[str, Any]] = []
    for k in range(args.tasks) if args.only is None else args.only:
        rows.append(one(scene, ways, spots, k, args))
        print(json.dumps(rows[-1]), flush=True)
    good = [row for row in rows if row["found"]]
    seconds, early = [row["seconds"] for row in rows], np.array([row["overlap_s"] for row in good])
    print("| body | found and proven | s a task, median / largest | hand off the object as taken | "
          "arm sets out before the feet stand | object off its place |")  # fmt: skip
    print("|---|---|---|---|---|---|")
    line = f"| {args.body} | {len(good)} of {len(rows)} | {np.median(seconds):.1f} / {max(seconds):.1f} |"
    if good:
        line += f" {max(row['hand_mm'] for row in good):.3f} mm | {np.sum(early > 0.0)} of {len(good)}, "
        line += f"{np.median(early):.2f} s (median) | {max(row['off_mm'] for row in good):.2f} mm |"
    print(line)


if __name__ == "__main__":
    main()
