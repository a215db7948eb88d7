"""Closed shells of any mesh are solids; whatever is not is told."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.mesh_cleanup import cleaned, cleaned_solids
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solidity import demoted_parts, solid_faces
from elbowroom.geometry.solids import box, merge, sphere
from elbowroom.kernels.insides import contained
from elbowroom.kernels.triangles import tree_of

MIDDLE = np.array([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5], [2.5, 0.5, 0.5]])


def inside(mesh: Mesh, points: Array) -> list[bool]:
    """Which points are inside of the solids of a mesh as it comes from a file."""
    clean, solid = cleaned_solids(mesh)
    np.testing.assert_array_equal(solid, solid_faces(clean))
    if not solid.any():
        return [False] * len(points)
    return contained(tree_of(clean.vertices[clean.faces[solid]]), np.asarray(points, dtype=float)).tolist()


def squares(corners: list[list[tuple[float, ...]]], diagonal: int = 0) -> Mesh:
    """Squares of four corners each as a mesh whose vertices nobody has merged."""
    turned = [c[diagonal:] + c[:diagonal] for c in corners]
    vertices = np.array(turned, dtype=float).reshape(-1, 3)
    faces = [[4 * k + i for i in three] for k in range(len(corners)) for three in ((0, 1, 2), (0, 2, 3))]
    return Mesh(vertices, np.array(faces))


def square(cell: tuple[int, ...], axis: int, end: int) -> list[tuple[float, ...]]:
    """Side of a unit cube at whole coordinates, looking out of it."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    steps = [(0, 0), (1, 0), (1, 1), (0, 1)] if end else [(0, 0), (0, 1), (1, 1), (1, 0)]
    out = []
    for a, b in steps:
        corner = list(map(float, cell))
        corner[axis] += end
        corner[u] += a
        corner[v] += b
        out.append(tuple(corner))
    return out


def cubes(cells: set[tuple[int, ...]], walls: set[tuple[tuple[int, ...], int]]) -> list[list[tuple[float, ...]]]:
    """Sides of unit cubes, without those between two of them but for some walls, given by cell and axis."""
    sides = []
    for cell, axis, end in itertools.product(sorted(cells), range(3), (0, 1)):
        beyond = tuple(c + (2 * end - 1) * (k == axis) for k, c in enumerate(cell))
        if beyond not in cells or (end and (cell, axis) in walls):
            sides.append(square(cell, axis, end))
    return sides


def flipped(mesh: Mesh, seed: int) -> Mesh:
    """The mesh with its triangles in any order, about half of them turned over."""
    rng = np.random.default_rng(seed)
    faces = rng.permutation(mesh.faces)
    turn = rng.random(len(faces)) < 0.5
    faces[turn] = faces[turn][:, ::-1]
    return Mesh(mesh.vertices, faces)


PAIR = {(0, 0, 0), (1, 0, 0)}


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_block_with_an_inner_wall_is_solid(seed: int | None) -> None:
    block = squares(cubes(PAIR, {((0, 0, 0), 0)}))
    assert inside(block if seed is None else flipped(block, seed), MIDDLE) == [True, True, False]
    clean, solid = cleaned_solids(block)
    assert solid.sum() == 20 and len(clean.faces) == 22, "the wall bounds nothing"
    (told,) = demoted_parts(clean, solid, "block")
    assert (told.parts, told.faces) == (1, 2) and "dividing" in told.why


def test_boards_that_touch_along_edges_are_solid_each() -> None:
    boards = [((0.02, 0.4, 0.24), (0.21, 0, 0)), ((0.02, 0.4, 0.24), (-0.21, 0, 0)), ((0.44, 0.4, 0.02), (0, 0, 0.13)),
              ((0.44, 0.4, 0.02), (0, 0, -0.13)), ((0.44, 0.02, 0.24), (0, 0.21, 0))]  # fmt: skip
    cabinet = merge([box(size, at) for size, at in boards])
    assert inside(cabinet, [at for _, at in boards]) == [True] * 5
    assert inside(cabinet, [(0, 0, 0)]) == [False]
    clean, solid = cleaned_solids(cabinet)
    assert solid.all() and demoted_parts(clean, solid, "cabinet") == ()


def test_a_block_drawn_from_both_sides_is_solid() -> None:
    block = squares(cubes(PAIR, {((0, 0, 0), 0)}))
    both = Mesh(block.vertices, np.concatenate([block.faces, block.faces[:, ::-1]]))
    assert inside(both, MIDDLE) == [True, True, False]
    assert solid_faces(both).sum() == 20
    outer, inner = squares(cubes(PAIR, set())), squares(cubes(PAIR, set()), 1)
    assert inside(merge([outer, Mesh(inner.vertices, inner.faces[:, ::-1])]), MIDDLE) == [True, True, False]
    sheet = squares([[(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]])
    assert not solid_faces(Mesh(sheet.vertices, np.concatenate([sheet.faces, sheet.faces[:, ::-1]]))).any()


def test_blocks_that_share_a_face_are_solid() -> None:
    twice = merge([box([1, 1, 1], at=(0.5, 0.5, 0.5)), box([1, 1, 1], at=(1.5, 0.5, 0.5))])
    assert inside(twice, MIDDLE) == [True, True, False]
    one, other = box([1, 1, 1], at=(0.5, 0.5, 0.5)), box([1, 1, 1], at=(1.5, 0.5, 0.5))
    inverted = merge([one, Mesh(other.vertices, other.faces[:, ::-1])])
    assert inside(inverted, MIDDLE) == [True, True, False]


@pytest.mark.parametrize("diagonal", [0, 1])
def test_a_side_that_is_drawn_twice_is_no_leak(diagonal: int) -> None:
    once = squares(cubes({(0, 0, 0)}, set()))
    again = squares([square((0, 0, 0), 2, 1), square((0, 0, 0), 0, 0)], diagonal)
    for seed in range(4):
        assert inside(flipped(merge([once, again]), seed), MIDDLE) == [True, False, False]


def test_a_sheet_that_hangs_on_a_block_changes_nothing() -> None:
    fin = squares([[(1, 0, 1), (1, 1, 1), (1, 1, 3), (1, 0, 3)], [(0, 0, 1), (1, 0, 1), (1, 0, 2), (0, 0, 2)]])
    mesh = merge([squares(cubes({(0, 0, 0)}, set())), fin])
    assert inside(mesh, np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 1.5]])) == [True, False]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_pile_of_cubes_is_solid_where_it_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    every = list(itertools.product(range(3), range(3), range(2)))
    cells = {cell for cell in every if rng.random() < 0.6} or {(0, 0, 0)}
    walls = {(cell, axis) for cell in cells for axis in range(3) if rng.random() < 0.4}
    mesh = squares(cubes(cells, walls), int(rng.integers(2)))
    mesh = flipped(mesh, seed) if rng.random() < 0.5 else mesh
    found = inside(mesh, np.array(every) + rng.uniform(0.2, 0.8, (len(every), 3)))
    assert [cell for cell, solid in zip(every, found, strict=True) if not solid and cell in cells] == []
    # two layers leave no empty cell without a way out
    assert [cell for cell, solid in zip(every, found, strict=True) if solid and cell not in cells] == []


def test_edges_that_meet_halfway_are_closed() -> None:
    """A box with one side in four strips, whose corners lie on edges of its neighbours."""
    sides = cubes({(0, 0, 0)}, set())
    sides.remove(square((0, 0, 0), 2, 1))
    strips = [[(0, a, 1), (1, a, 1), (1, a + 0.25, 1), (0, a + 0.25, 1)] for a in (0.0, 0.25, 0.5, 0.75)]
    mesh = squares(sides + strips)
    assert inside(mesh, MIDDLE) == [True, False, False]
    assert solid_faces(cleaned(mesh)).all()


@pytest.mark.parametrize("far", [0.0, 60.0])
def test_rounding_leaves_no_crack(far: float) -> None:
    sides = squares(cubes({(0, 0, 0)}, set()))
    noise = np.random.default_rng(3).uniform(-2e-6, 2e-6, sides.vertices.shape)
    places = (sides.vertices + noise + far).astype(np.float32).astype(float)
    assert inside(Mesh(places, sides.faces), MIDDLE + far) == [True, False, False]


def test_a_gap_is_a_gap() -> None:
    ball = sphere(0.5)
    holed = Mesh(ball.vertices, ball.faces[3:])
    clean, solid = cleaned_solids(holed)
    assert not solid.any()
    (told,) = demoted_parts(clean, solid, "ball")
    assert (told.name, told.parts, told.faces) == ("ball", 1, len(holed.faces)) and told.why.startswith("open: ")


def test_solids_turned_differently_do_not_cancel() -> None:
    one, other = box([1, 1, 1]), box([1, 1, 1], at=(0.5, 0.1, 0.1))
    both = merge([one, Mesh(other.vertices, other.faces[:, ::-1])])
    assert inside(both, np.array([[0.25, 0.0, 0.0], [-0.4, 0.0, 0.0], [0.9, 0.0, 0.0], [2.0, 0.0, 0.0]])) == [
        True,
        True,
        True,
        False,
    ]


def test_a_room_within_walls_stays_free() -> None:
    outer, inner = box([4, 4, 3]), box([3.8, 3.8, 2.8])
    partition = squares([[(0.0, -1.9, -1.4), (0.0, 1.9, -1.4), (0.0, 1.9, 1.4), (0.0, -1.9, 1.4)]])
    hollow = merge([outer, Mesh(inner.vertices, inner.faces[:, ::-1])])
    for mesh in (hollow, merge([hollow, partition])):
        assert inside(mesh, np.array([[0.5, 0, 0], [-0.5, 0, 0], [1.95, 0, 0]])) == [False, False, True]
