"""Meshes that are cut open by a plane."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.geometry.mesh import Mesh, cut_open
from elbowroom.geometry.solids import box


def area(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


@pytest.mark.parametrize("limit", [-0.4, 0.1, 0.55])
def test_what_is_before_the_plane_is_gone_and_the_rest_is_as_it_was(limit: float) -> None:
    cube = box([2.0, 1.0, 1.0])
    left = cut_open(cube, np.array([1.0, 0.0, 0.0]), limit)
    used = left.vertices[left.faces]
    assert used[..., 0].max() == pytest.approx(limit) and used[..., 0].min() == pytest.approx(-1.0)
    assert area(left) == pytest.approx(1.0 + 4.0 * (limit + 1.0))  # one end, and four sides of that length
    normals = np.cross(used[:, 1] - used[:, 0], used[:, 2] - used[:, 0])
    assert np.all(np.einsum("fi,fi->f", normals, used.mean(axis=1) - [0.5 * (limit - 1.0), 0.0, 0.0]) > 0.0)  # outwards


def test_all_or_nothing_and_low_things_and_colours() -> None:
    cube = box([1.0, 1.0, 1.0])
    assert cut_open(cube, np.array([0.0, 1.0, 0.0]), 2.0) is cube
    assert not len(cut_open(cube, np.array([0.0, 1.0, 0.0]), -2.0).faces)
    floor = Mesh(np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0]]), np.array([[0, 1, 2]]), colors=np.eye(3))
    assert cut_open(floor, np.array([1.0, 0.0, 0.0]), 1.0, foot=0.1) is floor
    cut = cut_open(floor, np.array([1.0, 0.0, 0.0]), 1.0)
    assert area(cut) == pytest.approx(8.0 - 4.5) and cut.colors is not None
    there = np.flatnonzero(np.isclose(cut.vertices, [1.0, 0.0, 0.0]).all(axis=1))
    assert len(there) and np.allclose(cut.colors[there], [0.75, 0.25, 0.0])
