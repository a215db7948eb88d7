"""Pieces against boxes and fields, compared with brute force; sure answers are right and doubts are thin."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.geometry.cover import ball_tree, mesh_cover, packed_trees
from elbowroom.geometry.fields import distance_field
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import box, merge, sphere
from elbowroom.kernels import meeting
from elbowroom.kernels.compiled import njit_nogil
from elbowroom.kernels.fields import FREE, HIT, UNCERTAIN, room
from elbowroom.kernels.limb_world import Buffers


def buffers() -> Buffers:
    return Buffers(
        np.zeros((1, 3, 4)), np.zeros((1, 3)), np.zeros((2, 3, 4)), np.zeros((2, 3)), np.zeros(512, np.int64),
        np.zeros(256), room(), np.zeros((1, 2), np.int64),
    )  # fmt: skip


@njit_nogil()
def in_field(a, b, radius, fields, more, slack, desk):
    return meeting.capsule_in_field(a[0], a[1], a[2], b[0], b[1], b[2], radius, fields, 0, more, slack, desk)


@njit_nogil()
def at_box(a, b, radius, half, more, slack, desk):
    return meeting.capsule_at_box(a[0], a[1], a[2], b[0], b[1], b[2], radius, half, 0, more, slack, desk)


@njit_nogil()
def cover_in(balls, root, place, fields, more, slack, desk):
    return meeting.cover_in_field(balls, root, place, fields, 0, more, slack, 100, desk)[0]


def along(a: np.ndarray, b: np.ndarray, count: int = 400) -> np.ndarray:
    return a + np.linspace(0.0, 1.0, count)[:, None] * (b - a)


def to_box(points: np.ndarray, half: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.maximum(np.abs(points) - half, 0.0), axis=-1)


def segments(rng: np.random.Generator, count: int) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Short and long ones, some along an axis, some without length."""
    out = []
    for k in range(count):
        a = rng.uniform(-0.5, 0.5, 3)
        step = rng.normal(0.0, 0.3, 3) * (0.0 if k % 10 == 0 else 1.0)
        if k % 7 == 0:
            step[:2] = 0.0
        out.append((a, a + step, float(rng.uniform(0.01, 0.12))))
    return out


@pytest.mark.parametrize("half", [(0.3, 0.2, 0.1), (0.0, 0.0, 0.25), (0.0, 0.0, 0.0)])
def test_capsules_at_boxes(half: tuple[float, float, float]) -> None:
    desk, h = buffers(), np.array([half])
    said = np.zeros(3, dtype=int)
    for a, b, radius in segments(np.random.default_rng(0), 1500):
        true = to_box(along(a, b), h[0]).min()
        code = at_box(a, b, radius, h, 0.0, 0.0, desk)
        said[code] += 1
        step = 0.5 * np.linalg.norm(b - a) / 399 + 1e-9
        assert code != FREE or true > radius - 1e-9
        assert code != HIT or true - step < radius
        assert code != UNCERTAIN or abs(true - radius) < meeting.CLOSE + step
        # clearance that is asked for, and places that may be off
        assert at_box(a, b, radius, h, 0.02, 0.01, desk) != FREE or true > radius + 0.02 - 1e-9
        assert at_box(a, b, radius, h, 0.02, 0.01, desk) != HIT or true - step < max(radius - 0.01, 0.0)
    assert said[FREE] > 30 and said[HIT] > 5


def torn() -> Mesh:
    """A slab, a ball and half of a box: closed and open surfaces."""
    open_box = box((0.4, 0.4, 0.4), (0.5, 0.0, 0.3))
    return merge([box((1.2, 0.9, 0.04)), sphere(0.15, (-0.4, 0.2, 0.3)), Mesh(open_box.vertices, open_box.faces[:7])])


def brute(mesh: Mesh, points: np.ndarray) -> np.ndarray:
    """Distance of points to the mesh; 0 inside of its solids, which are convex."""
    import trimesh

    _, d, _ = trimesh.proximity.closest_point(trimesh.Trimesh(mesh.vertices, mesh.faces), points)
    slab = np.all(np.abs(points) < [0.6, 0.45, 0.02], axis=1)
    ball = np.linalg.norm(points - [-0.4, 0.2, 0.3], axis=1) < 0.145
    return np.where(slab | ball, 0.0, d)


def test_capsules_in_fields() -> None:
    mesh = torn()
    fields, desk = distance_field(mesh).arrays, buffers()
    said = np.zeros(3, dtype=int)
    for a, b, radius in segments(np.random.default_rng(1), 250):
        true = brute(mesh, along(a, b, 120)).min()
        step = 0.5 * np.linalg.norm(b - a) / 119 + 1e-6
        code = in_field(a, b, radius, fields, 0.0, 0.0, desk)
        said[code] += 1
        assert code != FREE or true > radius - 1e-7
        assert code != HIT or true - step < radius
        assert code != UNCERTAIN or abs(true - radius) < meeting.CLOSE + step
    assert said[FREE] > 50 and said[HIT] > 50


def test_the_round_ends_of_capsules_count() -> None:
    # the disc at the end of the axis is clear, what bulges beyond it is not
    fields = distance_field(box((0.02, 1.0, 1.0))).arrays
    a, b = np.array([0.5, 0.0, 0.0]), np.array([0.05, 0.0, 0.0])
    assert in_field(a, b, 0.06, fields, 0.0, 0.0, buffers()) == HIT
    assert in_field(a, b, 0.039, fields, 0.0, 0.0, buffers()) == FREE
    assert in_field(a, b, 0.06, distance_field(box((0.02, 0.01, 0.01))).arrays, 0.0, 0.0, buffers()) == HIT


def test_covers_in_fields() -> None:
    mesh, held = torn(), box((0.2, 0.12, 0.05))
    fields, desk = distance_field(mesh).arrays, buffers()
    balls, roots, _ = packed_trees([ball_tree(mesh_cover(held))])
    rng = np.random.default_rng(2)
    grid = np.stack(
        np.meshgrid(*(np.linspace(-h, h, n) for h, n in ((0.1, 9), (0.06, 6), (0.025, 4)))), axis=-1
    ).reshape(-1, 3)
    said = np.zeros(3, dtype=int)
    for _ in range(150):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        place = np.column_stack([turn, rng.uniform(-0.5, 0.5, 3)])
        true = brute(mesh, grid @ turn.T + place[:, 3]).min()
        code = cover_in(balls, roots[0], place, fields, 0.0, 0.0, desk)
        said[code] += 1
        assert code != FREE or true > 0.0
        assert code != HIT or true < 0.03  # as near as the grid can tell
        assert code != UNCERTAIN or true < 0.04
    assert said[FREE] > 20 and said[HIT] > 20
