"""The ground of a scene."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbowroom.files.meshes import read_meshes
from elbowroom.geometry.mending import mended
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solidity import solid_faces
from elbowroom.geometry.solids import box, merge
from elbowroom.world.ground import estimate_scene_floor, on_floor, without


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
    assert estimate_scene_floor({"floor": sheet(z), "table": table}) == pytest.approx(z)
    assert estimate_scene_floor({"room": room(z), "table": table}) == pytest.approx(z)
    slab = box([6.0, 6.0, 0.3], at=(0, 0, z - 0.15))
    assert estimate_scene_floor({"slab": slab, "table": table}) == pytest.approx(z)
    upside_down = Mesh(sheet(z).vertices, sheet(z).faces[:, ::-1])
    assert estimate_scene_floor({"floor": upside_down}) == pytest.approx(z)
    assert estimate_scene_floor({"table": table}) == pytest.approx(z)
    large = table.moved(np.diag([3.0, 5.0, 1.0, 1.0]))
    assert estimate_scene_floor({"table": large}) == pytest.approx(z), "a table top has feet beneath it"
    assert estimate_scene_floor({}) == 0.0


def above_floor(mesh: Mesh, floor: float) -> Mesh:
    """What is left of a mended mesh without its floor."""
    return without(mesh, on_floor(mesh, solid_faces(mesh), floor))


def test_what_lies_on_the_floor_goes() -> None:
    assert len(above_floor(sheet(0.015), 0.0).faces) == 0
    assert len(above_floor(sheet(0.03), 0.0).faces) == 2
    assert len(above_floor(box([4.0, 4.0, 0.3], at=(0, 0, -0.14)), 0.0).faces) == 0
    assert len(above_floor(room(0.0), 0.0).faces) == 4
    standing = box([1.0, 1.0, 1.0], at=(0, 0, 0.5))
    assert len(above_floor(standing, 0.0).faces) == 12, "a solid keeps its underside"
    both = mended(merge([standing, sheet(0.0)]))
    np.testing.assert_array_equal(
        np.unique(above_floor(both, 0.0).vertices, axis=0), np.unique(standing.vertices, axis=0)
    )


def test_a_slope_is_no_floor() -> None:
    ramp = Mesh(np.array([[0.0, 0, 0], [0.1, 0, 0.019], [0, 1, 0], [0.1, 1, 2.0]]), [[0, 1, 2], [1, 3, 2]])
    assert len(above_floor(ramp, 0.0).faces) == 2


FLOORS = {
    "small_house": 0.0,
    "bookstore": 0.0,
    "warehouse": 0.034,
    "willowgarage_office": 0.0,
    "polaris_ranger": 0.014,
    "parts/chaira": 0.0,
    "parts/deska": 0.0,
    "parts/kitchentable": 0.0,
}


@pytest.mark.parametrize("name", FLOORS)
def test_floors_of_real_scenes(data: Path, name: str) -> None:
    meshes = read_meshes(data / "scenes" / f"{name}.glb").meshes
    assert estimate_scene_floor(meshes) == pytest.approx(FLOORS[name], abs=0.003)
