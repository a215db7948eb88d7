"""Meshes cleaned for collision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.mesh_cleanup import cleaned, components, has_area
from elbowroom.geometry.solidity import solid_faces
from elbowroom.geometry.solids import box, merge, sphere


def volume(mesh: Mesh) -> float:
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_a_ball_survives_any_mess(seed: int, split: bool, copies: bool) -> None:
    random = np.random.default_rng(seed)
    ball = sphere(0.5)
    vertices, faces = ball.vertices, ball.faces.copy()
    flip = random.random(len(faces)) < 0.5
    faces[flip] = faces[flip][:, ::-1]
    if copies:
        again = random.integers(0, len(faces), 50)
        faces = np.concatenate([faces, np.roll(faces[again], 1, axis=1), faces[again][:, ::-1]])
    faces = random.permutation(faces)
    faces = np.concatenate([faces, np.repeat(random.integers(0, len(vertices), (5, 1)), 3, axis=1)])
    if split:
        vertices, faces = vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)
    clean = cleaned(Mesh(vertices, faces))
    assert len(clean.faces) == len(ball.faces)
    assert solid_faces(clean).all()
    assert abs(volume(clean)) == pytest.approx(volume(ball))


def test_boxes_that_share_a_wall_are_one_solid() -> None:
    pair = cleaned(merge([box([1.0, 1.0, 1.0]), box([1.0, 1.0, 1.0], at=(1.0, 0.0, 0.0))]))
    solid = solid_faces(pair)
    assert len(pair.faces) == 24 and solid.sum() == 20, "the wall bounds nothing"
    assert volume(Mesh(pair.vertices, pair.faces[solid])) == pytest.approx(2.0)
    assert components(pair.faces).max() == 0
    apart = merge([box([1.0, 1.0, 1.0]), box([1.0, 1.0, 1.0], at=(2.0, 0.0, 0.0))])
    assert set(components(apart.faces)) == {0, 1}


def test_sheets_keep_what_they_have() -> None:
    two_sided = Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), [[0, 1, 2], [0, 2, 1], [1, 2, 0]])
    assert len(cleaned(two_sided).faces) == 1
    strip = np.array([[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4], [4, 5, 1], [5, 0, 1]])  # turned over once
    points = np.random.default_rng(1).random((6, 3))
    assert len(cleaned(Mesh(points, strip)).faces) == 6


def test_slivers_are_told() -> None:
    mesh = Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]]), [[0, 1, 2], [0, 1, 3]])
    np.testing.assert_array_equal(has_area(mesh.vertices, mesh.faces), [False, True])
    np.testing.assert_array_equal(has_area(1e-5 * mesh.vertices, mesh.faces), [False, True])


def test_bad_vertices_name_the_mesh() -> None:
    with pytest.raises(BadValue, match="'vase' has 1 vertices"):
        cleaned(Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, np.nan, 0]]), [[0, 1, 2]]), "vase")
    with pytest.raises(BadValue, match="do not exist"):
        cleaned(Mesh(np.zeros((3, 3)), [[0, 1, 3]]))
    assert len(cleaned(Mesh(np.zeros((0, 3)), np.zeros((0, 3), np.int32))).faces) == 0
    assert len(cleaned(Mesh(np.zeros((3, 3)), [[0, 1, 2]])).faces) == 0
