"""Certificates of real clips in real scenes against brute force."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.files.bvh import read_bvh
from elbowroom.files.open import read_scene
from elbowroom.locomotion.walk import walk
from elbowroom.motion.edit import cut, place, without_lead
from elbowroom.world.certificate import certify
from elbowroom.world.pairs import Pair
from elbowroom.world.world import World
from tools.brute_force import brute_force, disagreements, in_the_thick_of

# Clips that run into things: scene, clip, seconds, and a seed for the place.
RUNS = [
    ("small_house_collision", "07_01", (0.5, 1.5), 1),
    ("bookstore_collision", "16_17", (0.2, 1.0), 2),
    ("warehouse_collision", "02_01", (0.3, 1.1), 3),
]


def run(data: Path, scene: str, clip: str, during: tuple[float, float], seed: int) -> World:
    world = read_scene(data / "scenes" / f"{scene}.glb")
    moved = cut(without_lead(read_bvh(data / "mocap" / "cmu_bvh" / f"{clip}.bvh", fix_rig=True)), *during)
    placed = in_the_thick_of(world, moved, np.random.default_rng(seed))
    low, high = placed.root.min(axis=0) - 2.5, placed.root.max(axis=0) + 2.5
    near = {n: m for n, m in world.static.items() if np.all((m.bounds[0] < high) & (m.bounds[1] > low))}
    return world.with_(static=near).with_character("ann", placed)


def with_the_scene(pair: Pair) -> bool:
    return pair.b != "floor" and not pair.b.startswith("ann.")


@pytest.mark.parametrize("told", RUNS, ids=[r[0] for r in RUNS])
def test_collisions_agree_with_brute_force(data: Path, told: tuple) -> None:
    world = run(data, *told)
    found = certify(world)
    slow = brute_force(world, 1000.0, with_the_scene)
    assert slow, "the clip should run into something"
    assert disagreements(found, slow) == []


def test_disagreements_would_be_seen(data: Path) -> None:
    world = run(data, *RUNS[0])
    found = certify(world)
    slow = brute_force(world, 1000.0, with_the_scene)
    assert disagreements(found, slow) == []
    late = [replace(c, during=(c.during[0] + 0.02, c.during[1] + 0.02)) for c in found.collisions]
    assert disagreements(replace(found, collisions=tuple(late)), slow)
    assert disagreements(replace(found, collisions=found.collisions[1:]), slow)


def test_a_walk_with_room_on_all_sides_is_certified(data: Path) -> None:
    world = read_scene(data / "scenes" / "small_house_collision.glb")
    clip = cut(walk(human(), 0.8, 0.0, 6.0, 60.0), 1.0, 3.0)
    found = certify(world.with_character("ann", place(clip, (3.094, 2.605), 0.690, lift=world.floor or 0.0)))
    assert found.free and found.continuous
    assert found.clearance_m is not None and found.at_least_m is not None
    assert 0.0 < found.at_least_m <= found.clearance_m < 0.1
    soles = [a for a in found.allowed if a.pair.b == "floor"]
    assert soles and all(a.limb.endswith("_leg") and a.depth_m <= 0.01 for a in soles)
    assert np.all(np.diff([a.during[0] for a in found.allowed]) >= 0.0)
