"""Things fetched in a scene: how many of random ones are found and proven, how near the hand is, how long it takes.

    python benchmarks/fetch.py SCENE.glb --tasks 30 --body woman --seed 0

A thing stands on a random level surface of the scene that somebody can stand beside, and is put on another one.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from elbowroom.character.human import preset
from elbowroom.files.open import read_scene
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import merge
from elbowroom.geometry.transforms import transform
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.places import resting
from elbowroom.plan.settings import Settings
from elbowroom.plan.tasks import Fetch
from elbowroom.plan.walking.ground import standing_at
from elbowroom.plan.walking.ways import Ways
from elbowroom.props.makers import made
from elbowroom.world.columns import columns_of
from elbowroom.world.paths import Still
from elbowroom.world.things import Thing
from elbowroom.world.world import World

FPS = 30.0
THINGS = ("mug", "jar", "tin", "bottle", "carton", "ball")
# Heights of surfaces, metres; distances from the edge that is stood beside; and things above that are too near.
LOW_M, HIGH_M, BESIDE_M, ABOVE_M = 0.35, 1.35, 0.5, 0.35


def surfaces(scene: World, ways: Ways, rng: np.random.Generator, most: int) -> list[tuple[str, np.ndarray]]:
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
    above = any(resting(world, "thing", 0.0, transform([0.0, 0.0, z]) @ T) for z in np.linspace(0.02, ABOVE_M, 5))
    return None if above or len(resting(world, "thing", 0.0)) != 1 else world


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scene", type=Path)
    parser.add_argument("--tasks", type=int, default=30)
    parser.add_argument("--body", default="woman")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    scene, body, rng = read_scene(args.scene), preset(args.body), np.random.default_rng(args.seed)
    ways = Ways(columns_of(scene, 0.0, [np.zeros(2)]), body)
    spots = surfaces(scene, ways, rng, 40 * args.tasks)
    stands = ways.columns.point(np.argwhere(ways.spare[0] > 0.05))
    meshes = {name: merge(list(made(name).values())) for name in THINGS}
    rows: list[dict] = []
    while len(rows) < args.tasks:
        start = stands[rng.integers(len(stands))]
        (_, a), (onto, b) = (spots[k] for k in rng.integers(len(spots), size=2))
        kind = THINGS[len(rows) % len(THINGS)]
        world = with_thing(scene, meshes[kind], a)
        if world is None or with_thing(scene, meshes[kind], b) is None or np.linalg.norm(a - b) < 1.0:
            continue
        if any(ways.find(start, stands[np.argmin(np.linalg.norm(stands - p[:2], axis=1))]) is None for p in (a, b)):
            continue
        world = standing_at(world, "ann", body, (float(start[0]), float(start[1])), 0.0, FPS)
        begun = time.process_time()
        goal = (float(b[0]), float(b[1]), float(b[2]))
        plan = plan_tasks(world, [Fetch(who="ann", object="thing", onto=onto, to=goal)], Settings(probes=0), fps=FPS)
        seconds = time.process_time() - begun
        off = np.nan
        if plan.found:
            end = np.asarray(plan.world.frame("thing", plan.world.span[1]))[:3, 3]
            off = float(np.linalg.norm(end[:2] - b[:2]))
        rows.append({"thing": kind, "found": plan.found, "status": plan.status, "why": plan.why, "seconds": seconds,
                     "off_mm": 1e3 * off, "from": a.round(2).tolist(), "to": b.round(2).tolist(),
                     "start": start.round(2).tolist()})  # fmt: skip
        print(json.dumps(rows[-1]), flush=True)
    good = [row for row in rows if row["found"]]
    print(f"{args.scene.name}: {len(good)} of {len(rows)} found and proven")
    print(f"processor time: median {np.median([row['seconds'] for row in good]):.1f} s")
    print(f"thing off its place: at most {max(row['off_mm'] for row in good):.2f} mm")


if __name__ == "__main__":
    main()
