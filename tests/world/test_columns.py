"""Columns of a scene: what is taken at which height, and how far it is to there."""

import numpy as np
import pytest

from elbowroom.errors import BadValue
from elbowroom.geometry.solids import box
from elbowroom.world.columns import CELL_M, columns_of
from elbowroom.world.paths import Still
from elbowroom.world.world import World


def test_a_table_leaves_room_below_and_above_it() -> None:
    world = World().with_static("top", box((1.0, 0.6, 0.04), (0.0, 0.0, 0.73)))
    columns = columns_of(world, 0.0, [np.zeros(2)])
    j, i = columns.cell(np.array([0.0, 0.0]))
    assert columns.room(0.0, 0.6)[j, i] > 0.2
    assert columns.room(0.9, 1.6)[j, i] > 0.2
    assert columns.room(0.6, 0.9)[j, i] == 0.0
    j, i = columns.cell(np.array([0.0, 0.8]))
    assert abs(columns.room(0.6, 0.9)[j, i] - 0.5) < 2.0 * CELL_M


def test_a_slope_takes_only_the_heights_that_it_passes() -> None:
    vertices = np.array([[0.0, -1.0, 0.0], [2.0, -1.0, 1.0], [2.0, 1.0, 1.0], [0.0, 1.0, 0.0]])
    slope = box((0.1, 0.1, 0.1)).__class__(vertices, np.array([[0, 1, 2], [0, 2, 3]], np.int32))
    columns = columns_of(World().with_static("slope", slope), 0.0, [np.zeros(2)])
    for x in (0.5, 1.0, 1.5):
        j, i = columns.cell(np.array([x, 0.0]))
        taken = [b for b in range(64) if int(columns.taken[j, i]) >> b & 1]
        assert min(taken) * 0.04 <= 0.5 * x + CELL_M and max(taken) * 0.04 >= 0.5 * x - CELL_M
        assert len(taken) <= 3


def test_objects_are_where_they_are_then_and_what_is_left_out_is_free() -> None:
    world = World().with_object("crate", box((0.4, 0.4, 0.4)), Still(np.array(
        [[1.0, 0, 0, 2.0], [0, 1, 0, 1.0], [0, 0, 1, 0.2], [0, 0, 0, 1]])))  # fmt: skip
    there = columns_of(world, 0.0, [np.zeros(2)])
    j, i = there.cell(np.array([2.0, 1.2]))
    assert there.room(0.0, 0.5)[j, i] <= CELL_M
    gone = columns_of(world, 0.0, [np.zeros(2), np.array([2.0, 1.0])], without=["crate"])
    assert np.isinf(gone.room(0.0, 2.0)).all()
    assert gone.with_disc(np.array([2.0, 1.0]), 0.3).room(0.0, 2.0)[gone.cell(np.array([2.0, 1.0]))] == 0.0


@pytest.mark.parametrize("at", [0.6, -0.6, 6.75, -6.75, -6.750000000000001])
def test_a_wall_on_the_border_of_two_cells_is_seen(at: float) -> None:
    vertices = np.array([[-1.0, at, 0.0], [1.0, at, 0.0], [1.0, at, 2.0], [-1.0, at, 2.0]])
    for across in (vertices, vertices[:, [1, 0, 2]]):
        wall = box((0.1, 0.1, 0.1)).__class__(across, np.array([[0, 1, 2], [0, 2, 3]], np.int32))
        columns = columns_of(World().with_static("wall", wall), 0.0, [np.zeros(2)])
        cells = [columns.cell(p) for p in np.linspace(across[0, :2], across[1, :2], 41)[1:-1]]
        assert all(columns.room(0.1, 1.9)[cell] <= 1.5 * CELL_M for cell in cells)


def test_stairs_are_ground_and_edges_and_tall_steps_are_not_crossed() -> None:
    steps = {f"step {k}": box((1.2, 0.3, 0.18 * k), (0.0, -0.3 * k, 0.09 * k)) for k in range(1, 5)}
    world = World(
        static={**steps, "post": box((0.05, 0.05, 2.0), (0.3, -0.9, 1.0)), "box": box((1, 1, 0.4), (3, 0, 0.2))}
    )
    columns = columns_of(world, 0.0, [np.array([0.0, 1.0])], climbing=0.0)
    assert columns.ground is not None
    for k in range(1, 5):
        j, i = columns.cell(np.array([0.0, -0.3 * k]))
        assert abs(columns.ground[j, i] - 0.18 * k) < 0.041
        assert columns.taken[j, i] == 0
    assert columns.taken[columns.cell(np.array([0.3, -0.9]))] != 0  # the post stands on a tread
    assert columns.room(0.1, 1.0)[columns.cell(np.array([0.6, -1.2]))] == 0.0  # the side of the top step
    assert columns.ground[columns.cell(np.array([3.0, 0.0]))] == 0.0  # too tall to step on


def test_a_long_hall_is_on_the_map_as_a_whole_and_what_is_not_is_refused() -> None:
    ends = [np.zeros(2), np.array([0.0, -200.0])]
    hall = World().with_static("wall", box((0.1, 204.0, 2.5), (2.0, -100.0, 1.25)))
    columns = columns_of(hall.with_static("far", box((0.5, 0.5, 1.0), (300.0, 0.0, 0.5))), 0.0, ends)
    assert columns.taken.size * CELL_M**2 < 6500.0
    for y in (-1.0, -100.0, -199.0):
        j, i = columns.cell(np.array([2.0, y]))
        assert np.allclose(columns.point(np.array([j, i])), [2.0, y], atol=CELL_M)
        assert columns.room(0.5, 1.5)[j, i] == 0.0
    with pytest.raises(BadValue, match="go to a place between"):
        columns_of(hall, 0.0, [np.zeros(2), np.array([200.0, 200.0])])
