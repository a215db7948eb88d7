"""Scene files as worlds: what stands, what moves, how high the ground is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import real_files
from elbowroom.character.human import human
from elbowroom.errors import BadFile, BadValue
from elbowroom.files.glb_write import write_glb
from elbowroom.files.open import read_scene
from elbowroom.geometry.solids import box, sphere
from elbowroom.locomotion.walk import walk
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World


def room(floor: float) -> World:
    """A ground, a post and an umbrella that leans on nothing."""
    world = World().with_static("ground", box([6, 6, 0.1], at=[0, 0, floor - 0.05]))
    world = world.with_static("post", box([0.1, 0.1, 1.0], at=[1, 0, floor + 0.5]))
    return world.with_static("umbrella", box([0.05, 0.05, 0.8], at=[0.3, -0.2, floor + 1.0]))


def test_a_sentence_of_calls_makes_a_world(tmp_path: Path):
    write_glb(tmp_path / "posts.glb", room(0.0))
    ann = human(skin=False)
    clip = walk(ann, seconds=1.0, fps=30.0)
    world = read_scene(tmp_path / "posts.glb")
    world = world.with_character("ann", ann, clip).with_hold("umbrella", by="ann", hand="right")
    assert set(world.static) == {"ground", "post"} and list(world.objects) == ["umbrella"]
    moved = world.frame("umbrella", 1.0)[:3, 3] - world.frame("umbrella", 0.0)[:3, 3]
    assert moved[1] < -0.8


@pytest.mark.parametrize("height", [0.0, 0.4])
def test_the_floor_is_found_or_told(tmp_path: Path, height: float):
    write_glb(tmp_path / "room.glb", room(height))
    found = read_scene(tmp_path / "room.glb")
    assert found.floor == pytest.approx(height, abs=1e-5) and any("Floor assumed" in n for n in found.notes)
    told = read_scene(tmp_path / "room.glb", floor=-1.0)
    assert told.floor == -1.0 and not any("Floor" in n for n in told.notes)
    assert read_scene(tmp_path / "room.glb", floor=None).floor is None
    for wrong in (float("nan"), "low"):
        with pytest.raises(BadValue, match="'auto'"):
            read_scene(tmp_path / "room.glb", floor=wrong)


def test_what_a_file_animates_moves(tmp_path: Path):
    ann = human(skin=False)
    path = Keyed.along([0.0, 1.0], [[0, 1, 1], [1, 1, 1]])
    world = room(0.0).with_object("ball", sphere(0.1), path).with_character("ann", walk(ann, seconds=1.0, fps=30.0))
    write_glb(tmp_path / "all.glb", world, fps=30)
    back = read_scene(tmp_path / "all.glb")
    assert set(back.static) == set(world.static) and list(back.objects) == ["ball"] and list(back.characters) == ["ann"]
    for t in (0.0, 0.51, 1.0):
        assert np.allclose(back.frame("ball", t), world.frame("ball", t), atol=1e-5)
        assert np.allclose(back.frame("ann.head", t), world.frame("ann.head", t), atol=1e-3)


def test_units_and_up_are_told(tmp_path: Path):
    corners = box([100, 200, 50])
    lines = [f"v {x} {y} {z}" for x, y, z in corners.vertices] + [f"f {a} {b} {c}" for a, b, c in corners.faces + 1]
    (tmp_path / "slab.obj").write_text("\n".join(lines))
    world = read_scene(tmp_path / "slab.obj", units=0.01, up="Y")
    assert np.allclose(np.ptp(world.static["slab"].bounds, axis=0), [1.0, 0.5, 2.0])
    guessed = read_scene(tmp_path / "slab.obj")
    assert any("Units assumed" in n for n in guessed.notes)
    with pytest.raises(BadFile, match="suffix"):
        read_scene(tmp_path / "slab.txt")


@pytest.mark.parametrize("path", real_files("scenes/*.glb")[:4], ids=lambda p: p.stem)
def test_real_scenes(path: Path):
    world = read_scene(path)
    assert world.triangles > 100 and world.floor is not None and np.isfinite(world.floor)
    low = min(mesh.bounds[0, 2] for mesh in world.static.values())
    assert low - 0.05 <= world.floor <= low + 2.0
