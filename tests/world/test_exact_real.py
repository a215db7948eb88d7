"""Exact collision in real scenes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import trimesh

from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.character.skeleton import Skeleton
from elbowroom.files.meshes import read_meshes
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import IDENTITY, Array
from elbowroom.geometry.shapes import Shape
from elbowroom.motion.clip import Clip
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import Snapshot, World

SCENES = ("small_house", "bookstore")


@cache
def meshes_of(path: Path) -> dict[str, Mesh]:
    return dict(read_meshes(path).meshes)


def ball_world(meshes: dict[str, Mesh]) -> World:
    skeleton = Skeleton(("root",), np.array([-1]), np.zeros((1, 3)))
    shape = Shape("ball", 0, "sphere", np.array([0.05, 0.0, 0.0]))
    character = Character(name="it", skeleton=skeleton, shapes=(shape,))
    clip = Clip(character, 30.0, np.zeros((1, 3)), np.tile(IDENTITY, (1, 1, 1)))
    return World(static=meshes, floor=None).with_character("it", clip)


def at(world: World, point: Array) -> Snapshot:
    joints = world.at(0.0).joints["it"].copy()
    joints[0, :3, 3] = point
    return Snapshot(0.0, {"it": joints}, {})


@pytest.mark.parametrize("name", SCENES)
def test_balls_in_a_scene_as_by_brute_force(data: Path, name: str) -> None:
    meshes = meshes_of(data / "scenes" / f"{name}.glb")
    world = ball_world(meshes)
    exact = ExactWorld(world)
    triangles = np.concatenate([m.vertices[m.faces] for m in meshes.values()])
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    random = np.random.default_rng(11)
    hits = 0
    for _ in range(25):
        near_something = triangles[random.integers(len(triangles))].mean(axis=0) + random.normal(0.0, 0.08, 3)
        point = np.clip(near_something, low, high)
        close = np.all(np.abs(triangles - point).min(axis=1) < 0.5, axis=1) | (
            np.ptp(triangles, axis=1).max(axis=1) > 0.5
        )
        nearest = trimesh.triangles.closest_point(triangles[close], np.tile(point, (close.sum(), 1)))
        brute = float(np.linalg.norm(nearest - point, axis=1).min()) - 0.05
        found = exact.place_snapshot(at(world, point)).clearance()
        assert found is not None
        if brute < 0.0:
            hits += 1
            assert found.hit
            assert not exact.free()
        elif not found.hit:  # a hit without a surface near is the inside of a solid
            assert found.value == pytest.approx(brute, abs=1e-6)
    assert 5 <= hits <= 24


def test_inside_of_real_solids_is_a_hit(data: Path) -> None:
    meshes = meshes_of(data / "scenes" / "small_house.glb")
    solid = next(trimesh.Trimesh(m.vertices, m.faces) for n, m in meshes.items() if n.startswith("FitnessEquipment"))
    thick = max(solid.split(), key=lambda part: part.volume)
    inner = thick.vertices.mean(axis=0)
    inside = bool(thick.contains([inner])[0])
    world = ball_world(meshes)
    assert inside
    assert not ExactWorld(world).place_snapshot(at(world, inner)).free()


def test_a_person_in_the_house(data: Path) -> None:
    meshes = meshes_of(data / "scenes" / "small_house.glb")
    ann = human()
    skeleton = ann.skeleton
    clip = Clip(ann, 30.0, skeleton.offsets[:1] + [0.0, 0.0, 0.005], skeleton.rest[None])
    world = World(static=meshes).with_character("ann", clip)
    exact = ExactWorld(world)
    joints = world.at(0.0).joints["ann"]
    outcomes = set()
    for x in np.arange(-7.0, 7.0, 1.0):
        moved = joints.copy()
        moved[:, 0, 3] += x
        exact.place_snapshot(Snapshot(0.0, {"ann": moved}, {}))
        assert exact.free() == (exact.collisions() == [])
        clearance = exact.clearance()
        assert clearance is not None
        assert clearance.hit != exact.free()
        assert all("floor" not in h.pair and "FloorB_01_001" not in h.pair for h in exact.touches())
        outcomes.add(exact.free())
    assert outcomes == {True, False}
    assert not any("FloorB" in name for pair in exact.pairs for name in pair)
