"""The floor of a scene: how high it is, and what is left out because the floor stands for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.files.meshes import read_meshes
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.mesh_cleanup import cleaned, cleaned_solids
from elbowroom.geometry.solids import box, merge
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.walk import walk
from elbowroom.world.evidence import left_out
from elbowroom.world.exact import ExactWorld
from elbowroom.world.scene_floor import foot_places, on_floor, scene_floor, without
from elbowroom.world.world import World


def sheet(z: float, half: float = 3.0) -> Mesh:
    corners = np.array([[-half, -half, z], [half, -half, z], [half, half, z], [-half, half, z]])
    return Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))


def room(z: float) -> Mesh:
    """A floor with two walls that share its vertices."""
    low = sheet(z).vertices
    vertices = np.concatenate([low, low + [0.0, 0.0, 2.5]])
    return Mesh(vertices, np.array([[0, 1, 2], [0, 2, 3], [0, 1, 5], [0, 5, 4], [1, 2, 6], [1, 6, 5]]))


@pytest.mark.parametrize("z", [-1.3, 0.0, 0.4])
def test_floor_of_made_scenes(z: float) -> None:
    table = merge([box([2.0, 1.0, 0.05], at=(0, 0, z + 0.75)), box([0.1, 0.1, 0.72], at=(0, 0, z + 0.36))])
    slab = box([6.0, 6.0, 0.3], at=(0, 0, z - 0.15))
    upside_down = Mesh(sheet(z).vertices, sheet(z).faces[:, ::-1])
    for scene in ({"floor": sheet(z)}, {"room": room(z)}, {"slab": slab}, {"floor": upside_down}):
        found = scene_floor(scene | {"table": table})
        assert found.found and found.height == pytest.approx(z) and f"{z:.3f} m" in found.note
    assert scene_floor({"floor": upside_down}).height == pytest.approx(z)


@pytest.mark.parametrize("z", [0.0, 0.4, 1.5])
def test_without_a_floor_it_is_at_zero(z: float) -> None:
    table = merge([box([2.0, 1.0, 0.05], at=(0, 0, z + 0.75)), box([0.1, 0.1, 0.72], at=(0, 0, z + 0.36))])
    large = table.moved(np.diag([3.0, 5.0, 1.0, 1.0]))
    for scene in ({"table": table}, {"table": large}, {"shelf": box([2.0, 0.4, 0.03], at=(0, 0, z + 0.1))}):
        found = scene_floor(scene)
        assert not found.found and found.height == 0.0 and "assumed at 0" in found.note, scene
    assert scene_floor({}).note == ""


def test_a_lone_slab_overhead_is_a_roof_unless_it_carries_things() -> None:
    roof = box([6.0, 6.0, 0.2], at=(0, 0, 2.5))
    assert scene_floor({"roof": roof}).height == 0.0 and "roof" in scene_floor({"roof": roof}).note
    upstairs = {"floor": roof, "wall": box([6.0, 0.1, 2.5], at=(0, 3, 3.85))}
    assert scene_floor(upstairs).height == pytest.approx(2.6)
    on_a_map = roof.moved(transform([4e5, 5.5e6, 300.0]))
    assert scene_floor({"ground": on_a_map}).height == pytest.approx(302.6), "no roof is 300 m above its floor"


def test_a_floor_lies_under_the_feet() -> None:
    stage = {"stage": box([4.0, 4.0, 0.19], at=(0.0, -4.0, 0.095))}
    past = np.stack([np.zeros(50), np.linspace(0.0, -5.0, 50)], axis=1)
    on_it = np.stack([np.zeros(50), np.linspace(-2.5, -5.5, 50)], axis=1)
    assert scene_floor(stage, on_it).height == pytest.approx(0.19)
    found = scene_floor(stage, past)
    assert found.height == 0.0 and not found.found and "feet" in found.note
    both = stage | {"ground": sheet(0.0, 10.0)}
    assert scene_floor(both, past).height == scene_floor(both, on_it).height == 0.0
    assert scene_floor(both, past).found


def test_feet_are_where_a_walk_goes() -> None:
    feet = foot_places([walk(human(skin=False), seconds=2.0, fps=30.0)])
    assert feet.shape[1] == 2 and feet[:, 1].min() < -1.5 and np.abs(feet[:, 0]).max() < 0.3


def above_floor(mesh: Mesh, floor: float) -> Mesh:
    """What is left of a cleaned mesh without its floor."""
    mesh, solid = cleaned_solids(mesh)
    return without(mesh, on_floor(mesh, solid, floor))


def test_what_is_the_floor_goes() -> None:
    assert len(above_floor(sheet(0.0015), 0.0).faces) == 0
    assert len(above_floor(sheet(0.0025), 0.0).faces) == 2
    assert len(above_floor(box([4.0, 4.0, 0.3], at=(0, 0, -0.149)), 0.0).faces) == 0
    assert len(above_floor(box([0.4, 0.4, 0.3], at=(0, 0, -0.2)), 0.0).faces) == 0, "what is in the half-space"
    assert len(above_floor(room(0.0), 0.0).faces) == 4
    standing = box([1.0, 1.0, 1.0], at=(0, 0, 0.5))
    assert len(above_floor(standing, 0.0).faces) == 12, "a solid keeps its underside"
    both = cleaned(merge([standing, sheet(0.0)]))
    np.testing.assert_array_equal(
        np.unique(above_floor(both, 0.0).vertices, axis=0), np.unique(standing.vertices, axis=0)
    )


@pytest.mark.parametrize("height", [0.0015, 0.005, 0.019])
@pytest.mark.parametrize("shut", [True, False])
def test_low_things_on_the_floor_stay_whole(height: float, shut: bool) -> None:
    sill = box([0.9, 0.1, height], at=(0, 0, 0.5 * height))
    if not shut:  # without its underside
        sill = Mesh(sill.vertices, sill.faces[(sill.vertices[sill.faces, 2] > 0.5 * height).any(axis=1)])
    assert len(above_floor(sill, 0.0).faces) == len(sill.faces)
    world = World(static={"sill": sill, "ground": sheet(0.0)}).with_character("ann", human(skin=False))
    hits = {hit.pair.b for hit in ExactWorld(world).touches(0.0)}
    assert "sill" in hits and "ground" not in hits


def test_what_was_dropped_is_told() -> None:
    slab = box([3.0, 2.0, 0.5], at=(0, 0, -0.2485))
    world = World(static={"ground": sheet(0.0), "slab": slab, "post": box([0.1, 0.1, 1.0], at=(0, 0, 0.5))})
    account = left_out(world.with_(floor=0.0))
    ground, sunk = account.dropped
    assert (ground.name, ground.faces, ground.above_floor_m) == ("ground", 2, 0.0)
    assert ground.area_m2 == pytest.approx(36.0)
    assert (sunk.name, sunk.faces) == ("slab", 12) and sunk.above_floor_m == pytest.approx(0.0015)
    assert account.above_floor_m == pytest.approx(0.0015)
    assert left_out(world.with_(floor=None)).dropped == ()
    wire = Mesh(np.array([[0.0, 0, 1], [1, 0, 1], [2, 0, 1], [0, 1, 1]]), [[0, 1, 2], [0, 1, 3]])
    told = left_out(World(static={"wire": wire})).facts()
    assert told["flat"] == [{"name": "wire", "faces": 1}]
    assert [(d["name"], d["faces"]) for d in told["demoted"]] == [("wire", 2)]


def test_a_slope_is_no_floor() -> None:
    ramp = Mesh(np.array([[0.0, 0, 0], [0.01, 0, 0.0019], [0, 1, 0], [0.1, 1, 2.0]]), [[0, 1, 2], [1, 3, 2]])
    assert len(above_floor(ramp, 0.0).faces) == 2


FLOORS = {
    "small_house": 0.003,
    "bookstore": 0.0,
    "warehouse": 0.034,
    "willowgarage_office": 0.0,
    "polaris_ranger": 0.0,
    "parts/chaira": 0.0,
    "parts/deska": 0.0,
    "parts/kitchentable": 0.0,
}


@pytest.mark.parametrize("name", FLOORS)
def test_floors_of_real_scenes(data: Path, name: str) -> None:
    meshes = read_meshes(data / "scenes" / f"{name}.glb").meshes
    found = scene_floor(meshes)
    assert found.height == pytest.approx(FLOORS[name], abs=0.002)
    assert found.found == (name in ("small_house", "bookstore", "warehouse"))
