"""How the time of a check grows with the triangles of a scene, and what preparing it takes.

A scene of a house's collision meshes is refined at constant extent: every triangle is cut into four and the new corners
are shifted by a millimetre, again and again. Postures are those of the safety benchmark.

    python benchmarks/growth.py --data FOLDER [--most 3000000] [--picture docs/pictures/growth.png] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from pathlib import Path

import matplotlib
import numpy as np
import trimesh

from elbowroom.files.meshes import read_meshes
from elbowroom.geometry import kept as on_disk
from elbowroom.geometry.mesh import Mesh
from elbowroom.world.fast import LimbCheck
from elbowroom.world.world import World
from validity_scenes import postures, visited

matplotlib.use("Agg")

# Metres by which new corners are shifted, so that finer scenes have more detail to tell apart.
ROUGH = 0.001
SMALLEST = 3_000


def refined(mesh: Mesh, seed: int) -> Mesh:
    """Every triangle cut into four, the new corners shifted a little."""
    vertices, faces = trimesh.remesh.subdivide(mesh.vertices, mesh.faces)
    vertices = vertices + np.random.default_rng(seed).uniform(-ROUGH, ROUGH, vertices.shape)
    return Mesh(vertices, faces.astype(np.int32))


def measure(data: Path, most: int, count: int = 20_000, repeats: int = 5) -> list[dict[str, float]]:
    """For each size: triangles, µs for a check, seconds to prepare and to load, megabytes used so far."""
    meshes = dict(read_meshes(data / "scenes" / "small_house_collision.glb").meshes)
    meshes = {n: Mesh(m.vertices, m.faces) for n, m in sorted(meshes.items(), key=lambda x: -len(x[1].faces))}
    while sum(len(m.faces) for m in meshes.values()) > 1.2 * SMALLEST:
        meshes.pop(next(iter(meshes)))
    scene = visited("growth", World(static=meshes), 40, 2)
    person = scene.world.characters["ann"]
    q, t = postures(scene, count)
    order = np.argsort(t)
    q, t = q[order], t[order]
    rows: list[dict[str, float]] = []
    LimbCheck(scene.world, "ann").batch(q[:10], t[:10])
    while True:
        size = sum(len(m.faces) for m in meshes.values())
        world = World(static=meshes).with_character("ann", person)
        made, on_disk._load = on_disk._load, lambda path: None  # as if nothing were kept
        begin = time.perf_counter()
        check = LimbCheck(world, "ann")
        prepared = time.perf_counter() - begin
        on_disk._load = made
        best = np.inf
        for _ in range(repeats):
            start = time.process_time()
            codes = check.batch(q, t)
            best = min(best, time.process_time() - start)
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        row = {"triangles": size, "us": 1e6 * best / count, "prepared_s": prepared, "megabytes": used}
        row["in_collision_or_doubt"] = float((codes != 0).mean())
        rows.append(row)
        print({k: round(v, 3) for k, v in row.items()}, flush=True)
        if size * 4 > 1.3 * most:
            return rows
        meshes = {n: refined(m, k) for k, (n, m) in enumerate(meshes.items())}


def plot(rows: list[dict[str, float]], path: Path) -> None:
    """Time of a check over triangles."""
    import matplotlib.pyplot as plt

    size, us = [r["triangles"] for r in rows], [r["us"] for r in rows]
    figure, axes = plt.subplots(figsize=(6.4, 3.6), dpi=150)
    axes.semilogx(size, us, "o-", color="#1f77b4")
    axes.axhspan(us[0], 2 * us[0], color="#1f77b4", alpha=0.1, label="up to twice the smallest scene's")
    axes.set_ylim(0.0, 2.4 * us[0])
    axes.set_xlabel("triangles of the scene")
    axes.set_ylabel("µs for each posture")
    axes.set_title("A check of an arm's posture against scenes of growing detail")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    """Print a line for each size, and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=os.environ.get("ELBOWROOM_DATA"), required=False)
    parser.add_argument("--most", type=int, default=3_000_000)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.data, options.most)
    if options.picture is not None:
        plot(rows, options.picture)
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
