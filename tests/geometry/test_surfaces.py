"""Tessellated shapes enclose what they should, and normals are smooth or sharp where they should be."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.geometry.mesh import Mesh, SmoothNormals, creased, split_at_creases, srgb, srgb8, welded
from elbowroom.geometry.shapes import Shape, capsule, capsule_mesh, faceted, octahedron, shape_mesh
from elbowroom.geometry.solids import box, cylinder
from elbowroom.world.viewpoint import axes_towards, nearest_eye

SHAPES = [
    capsule("a", 0, [0.1, 0.0, 0.2], [0.4, -0.2, 0.3], 0.07),
    Shape("b", 0, "sphere", np.array([0.2, 0.0, 0.0])),
    Shape("c", 0, "box", np.array([0.1, 0.2, 0.3])),
    Shape("d", 0, "mesh", np.zeros(3), mesh=box([0.1, 0.1, 0.4])),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.kind)
def test_shape_meshes_are_closed_and_lie_on_their_shapes(shape):
    mesh = shape_mesh(shape, segments=32)
    solid = trimesh.Trimesh(mesh.vertices, mesh.faces, process=True)
    assert solid.is_watertight and solid.volume > 0.0
    if shape.kind != "mesh":
        assert np.abs(shape.signed_distance(mesh.vertices)).max() < 1e-9
        assert shape.signed_distance(solid.triangles_center).min() > -0.03 * shape.size[0]


def test_bones_reach_from_joint_to_joint():
    mesh = octahedron([0.1, 0.2, 0.3], [0.1, 0.9, 0.3], 0.1)
    solid = trimesh.Trimesh(mesh.vertices, mesh.faces, process=True)
    assert solid.is_watertight and solid.volume > 0.0
    assert np.allclose(mesh.bounds[:, 1], [0.2, 0.9])


def test_smooth_normals_of_a_ball_point_outwards_in_every_pose():
    ball = capsule_mesh(0.5, 0.0, segments=48)
    normals = SmoothNormals(ball.faces, welded(ball.vertices))
    for scale in (1.0, 3.0):  # beside the poles triangles are of uneven size, which tilts the mean by about 1°
        assert np.abs(normals(scale * ball.vertices) - ball.vertices / 0.5).max() < 0.03


def test_normals_are_joined_across_seams_but_not_across_groups():
    ball = faceted(capsule_mesh(0.5, 0.0, segments=24))
    seamless = SmoothNormals(ball.faces, welded(ball.vertices))(ball.vertices)
    assert np.abs(seamless - ball.vertices / 0.5).max() < 0.05
    apart = SmoothNormals(ball.faces, np.arange(len(ball.vertices)))(ball.vertices)
    assert np.abs(apart - ball.vertices / 0.5).max() > 0.1
    groups = np.array([0, 0, 1], dtype=np.int32)
    assert len(set(welded(np.zeros((3, 3)), groups))) == 2


def test_creases_keep_boxes_sharp_and_cylinders_round():
    cube = box([1.0, 1.0, 1.0])
    assert np.allclose(np.abs(creased(cube.vertices, cube.faces)).max(axis=-1), 1.0)
    drum = cylinder(0.5, 1.0)
    normals = creased(drum.vertices, drum.faces).reshape(-1, 3)
    corners = drum.vertices[drum.faces].reshape(-1, 3)
    side = np.abs(normals[:, 2]) < 0.5
    radial = corners[side] * [2.0, 2.0, 0.0]
    assert np.einsum("ij,ij->i", normals[side], radial).min() > 0.99
    assert np.allclose(np.abs(normals[~side][:, 2]), 1.0)


def test_splitting_at_creases_keeps_the_triangles_and_gives_the_same_normals():
    for mesh in (box([1.0, 2.0, 3.0]), cylinder(0.3, 1.0), capsule_mesh(0.2, 0.4)):
        split, normals = split_at_creases(mesh)
        assert np.allclose(split.vertices[split.faces], mesh.vertices[mesh.faces], atol=1e-6)
        assert np.allclose(normals[split.faces], creased(mesh.vertices, mesh.faces), atol=2e-3)
        averaged = SmoothNormals(split.faces, np.arange(len(split.vertices)))(split.vertices)
        assert np.allclose(averaged, normals, atol=2e-3)
    assert len(split_at_creases(box([1, 1, 1]))[0].vertices) == 24
    nothing = Mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32))
    assert len(split_at_creases(nothing)[0].faces) == 0


def test_srgb_has_its_published_values():
    assert srgb([0.0, 0.0031308, 0.214041, 1.0, 2.0]) == pytest.approx([0.0, 0.04045, 0.5, 1.0, 1.0], abs=1e-4)
    assert srgb8([[0.2, 0.0, 1.0]]).tolist() == [[124, 0, 255]]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), azimuth=st.floats(-4, 4), elevation=st.floats(-1.5, 1.5))
def test_the_nearest_eye_sees_all_points_and_could_not_be_nearer(seed, azimuth, elevation):
    points = np.random.default_rng(seed).normal(size=(30, 3))
    axes = axes_towards(np.array([0.0, -1.0, 0.0]), azimuth, elevation)
    assert np.allclose(axes @ axes.T, np.eye(3), atol=1e-9) and np.linalg.det(axes) > 0.0
    slopes = np.array([0.5, 0.3])

    def seen(eye: np.ndarray) -> bool:
        local = (points - eye) @ axes.T
        return bool(np.all(np.abs(local[:, :2]) <= -local[:, 2:] * slopes + 1e-9))

    eye = nearest_eye(points, axes, slopes)
    assert seen(eye)
    steps = np.random.default_rng(seed + 1).uniform(-0.05, 0.05, size=(20, 2))
    assert not any(seen(eye - 0.02 * axes[2] + s @ axes[:2]) for s in steps)


def test_both_sides_of_a_sheet_keep_their_normals() -> None:
    """A sheet whose back has vertices of its own, as hair has, shades as one whose back is not there."""
    sheet = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0.2], [0, 1, 0.2]])
    faces = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
    front = SmoothNormals(faces, np.arange(4))(sheet)
    both = np.concatenate([sheet, sheet])
    two_sided = np.concatenate([faces, faces[:, ::-1] + 4])
    normals = SmoothNormals(two_sided, welded(both))(both)
    assert np.allclose(normals[:4], front)
    assert np.allclose(normals[4:], -front)
    shared = SmoothNormals(np.concatenate([faces, faces[:, ::-1]]), np.arange(4))(sheet)
    assert np.allclose(shared, front)
