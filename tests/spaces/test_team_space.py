"""States of a team: carriers about their object, reach, room, and local paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import distance_transform_edt

from elbowroom.geometry.cover import mesh_cover
from elbowroom.geometry.fields import distance_field
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import facing, heading_of
from elbowroom.spaces.team import OWN, PITCH, ROLL, WHEEL_TURN_M, YAW, Bearer, FloorCells, TeamSpace, Z
from elbowroom.spaces.team_scene import grouped, narrow_places, passage_width, without_low

CELL = 0.05
ORIGIN = np.array([-4.0, -4.0])
SHOULDERS = np.array([[0.17, 0.0, 1.4], [-0.17, 0.0, 1.4]])


def bearer(x: float, y: float, heading: float, hands: list[list[float]], room: np.ndarray) -> Bearer:
    reach = np.tile([0.15, 0.7], (len(hands), 1))
    return Bearer(np.array([x, y, heading]), np.array(hands), SHOULDERS, reach, 0.25, room, room, 0.3, 0.2)


def team(people: int, wall: bool = False) -> TeamSpace:
    """One or two people with a board 1.2 m long, in the open or beside a wall at y = -1.5."""
    room = np.full((160, 160), np.inf)
    mesh = box((6.0, 0.1, 2.0), (0.0, -1.5, 1.0))
    if wall:
        y = ORIGIN[1] + CELL * (np.arange(160) + 0.5)
        room = np.repeat(np.maximum(np.abs(y + 1.5) - 0.05, 0.0)[:, None], 160, axis=1)
    ends = [bearer(0.0, 0.9, 0.0, [[0.2, 0.5, 0.0], [-0.2, 0.5, 0.0]], room)]
    ends += [bearer(0.0, -0.9, np.pi, [[-0.2, -0.5, 0.0], [0.2, -0.5, 0.0]], room)] * (people == 2)
    open_ = np.stack(np.meshgrid(*[np.arange(-3.5, 3.5, 0.1)] * 2), axis=-1).reshape(-1, 2)
    return TeamSpace(tuple(ends), FloorCells(ORIGIN, CELL, open_, np.zeros((0, 3))),
                     grouped(mesh_cover(box((0.4, 1.2, 0.05)))[:, :4]), np.array([0.0, 0.0, 0.2, 0.6]),
                     distance_field(mesh).arrays if wall else None, np.eye(3), (0.8, 0.95, 1.2), 0.5)  # fmt: skip


def test_states_of_one_carrier_and_of_two():
    assert [team(n).width for n in (1, 2)] == [9, 12]
    assert team(2).valid(team(2).state(np.array([0.3, 0.2, 0.95]), 1.1)[None])[0]


@pytest.mark.parametrize(
    ("column", "value"),
    [(Z, 1.3), (Z, 0.7), (OWN, -0.3), (OWN, 0.6), (OWN + 2, 1.6)],
    ids=["too high", "too low", "in the board", "out of reach", "turned away"],
)
def test_what_nobody_can_hold_is_not_valid(column: int, value: float):
    state = team(2).state(np.array([0.0, 0.0, 0.95]), 0.0)
    state[column] = value
    assert not team(2).valid(state[None])[0]


def test_neither_people_nor_the_object_enter_a_wall():
    space = team(1, wall=True)
    near = [space.state(np.array([0.0, y, 0.95]), 0.0) for y in (0.0, -0.78, -0.88, -1.6)]
    assert space.valid(np.array(near)).tolist() == [True, True, False, False]
    # who carries it from the other side stands in the wall sooner than the board
    both = team(2, wall=True).state(np.array([0.0, -0.4, 0.95]), 0.0)
    assert not team(2, wall=True).valid(both[None])[0]
    assert team(2, wall=True).valid(both[None] + np.eye(12)[1] * 0.4)[0]


def test_samples_are_valid_and_level_where_they_have_to_be():
    rng = np.random.default_rng(0)
    for space in (team(2, wall=True), replace(team(2, wall=True), tilts=False)):
        found = space.samples(rng, 400)
        assert len(found) > 20 and space.valid(found).all()
        assert bool(np.any(found[:, PITCH : ROLL + 1])) == space.tilts


def test_the_object_is_put_before_its_carrier():
    space = team(1)
    states = space.samples(np.random.default_rng(1), 60)
    at, heading = space.carriers(states)
    other = np.array(states)
    other[:, :2], other[:, YAW] = 0.0, 0.0
    space.put_before(other, at[:, 0], heading[:, 0])
    np.testing.assert_allclose(space.places(other), space.places(states), atol=1e-12)


def test_one_carrier_walks_ahead_and_a_team_follows_its_object():
    alone, a = team(1), team(1).state(np.array([0.0, -1.0, 0.95]), 0.0)
    b = alone.state(np.array([1.5, -2.5, 0.95]), 0.8)
    rows = alone.between(a, b, np.linspace(0.0, 1.0, 200))
    np.testing.assert_allclose(rows[[0, -1], :3], [a[:3], b[:3]], atol=1e-9)
    at, heading = alone.carriers(rows)
    steps = np.diff(at[:, 0], axis=0)
    off = np.sin(heading_of(steps) - 0.5 * (heading[1:, 0] + heading[:-1, 0]))
    assert np.abs(off).max() < 0.02 and np.sum(steps * facing(heading[1:, 0]), axis=1).min() > 0.0
    two = team(2)
    straight = two.between(two.state(a[:3], 0.0), two.state(b[:3], 0.8), np.array([0.5]))
    np.testing.assert_allclose(straight[0, :2], 0.5 * (a[:2] + b[:2]))


def test_going_ahead_is_cheaper_than_sideways_or_backwards():
    space = team(1)
    here = space.state(np.array([0.0, 0.0, 0.95]), 0.0)
    ahead, aside, back = (space.way_cost(np.linspace(here, here + step, 5)) for step in
                          (-np.eye(9)[1], np.eye(9)[0], np.eye(9)[1]))  # fmt: skip
    assert ahead < 1.01 < aside < back


def test_a_way_is_pulled_straight_and_never_winds():
    space = team(2)
    rows = np.linspace(space.state(np.array([0.0, 0.0, 0.95]), 0.0), space.state(np.array([2.0, 0.0, 0.95]), 0.0), 60)
    rows[:, 1] += 0.5 * np.sin(np.linspace(0.0, np.pi, 60))
    rows[:, YAW] = np.linspace(0.0, 2.0 * np.pi, 60)
    pulled = space.pulled(rows, np.random.default_rng(0), 400)
    assert space.way_cost(pulled) < 0.5 * space.way_cost(rows) and abs(pulled[-1, YAW]) < 1e-9
    assert space.valid(pulled).all()


def test_narrow_places_lie_in_the_gap_along_it():
    taken = np.zeros((80, 80), bool)
    taken[38:43] = True
    taken[38:43, 30:50] = False  # a gap of 1 m in a wall along x
    found = narrow_places(taken, np.zeros(2), CELL, 1.2, 0)
    inside = (found[:, 0] > 1.5) & (found[:, 0] < 2.5)
    assert len(found) > 5 and inside.all()
    assert np.abs(np.cos(found[:, 2])).max() < 0.5  # the passage leads along y


@pytest.mark.parametrize("gap", [0.3, 0.6, 1.0])
def test_the_width_of_a_passage_is_that_of_its_narrowest_place(gap):
    taken = np.zeros((80, 80), bool)
    taken[40, :] = True
    taken[40, 40 : 40 + round(gap / CELL)] = False
    room = distance_transform_edt(~taken) * CELL
    ends = np.array([[2.0, 0.5]]), np.array([[2.0, 3.5]])
    assert abs(passage_width(room, np.zeros(2), CELL, ends, 0.2) - gap) <= 2.0 * CELL
    taken[40, :] = True
    shut = distance_transform_edt(~taken) * CELL
    assert passage_width(shut, np.zeros(2), CELL, ends, 0.2) == 0.0


def test_states_near_one_that_failed_are_not_valid():
    space = team(2)
    state = space.state(np.array([0.0, 0.0, 0.9]), 0.0)
    beside = state + np.eye(space.width)[0] * 0.25
    assert space.valid(np.array([state, beside])).all()
    closed = replace(space, closed=np.append(state, 0.2)[None])
    assert closed.valid(np.array([state, beside])).tolist() == [False, True]
    assert not closed.joins(beside, state - np.eye(space.width)[0] * 0.25)


def test_who_found_no_way_under_something_keeps_from_under_all_of_it_but_not_from_under_what_is_higher():
    room, ceiling = np.full((20, 40), 9.0), np.full((20, 40), np.inf)
    ceiling[:, 5:12], ceiling[:, 12:15], ceiling[:, 30:35] = 1.4, 1.6, 1.4
    about = np.zeros((20, 40), bool)
    about[9:11, 3:7] = True
    closed = without_low(room, ceiling, about, 0.05)
    assert (closed[:, 5:12] == 0.0).all() and (closed[:, 12] > 0.0).all() and (closed[:, 30:35] > 0.8).all()
    np.testing.assert_allclose(closed[:, 3], 0.1)
    assert without_low(room, ceiling, np.zeros_like(about), 0.05) is room


def test_turns_of_wheels_cost_and_are_straightened():
    walks = team(2)
    wheels = replace(walks, bearers=(walks.bearers[0], replace(walks.bearers[1], gait="rolls")))
    slides = replace(walks, bearers=(walks.bearers[0], replace(walks.bearers[1], gait="slides")))
    rows = np.array([walks.state(np.array([x, 0.0, 0.95]), 0.0) for x in np.linspace(0.0, 1.5, 31)])
    wavy = np.array(rows)
    wavy[:, 1] += 0.05 * np.sin(np.linspace(0.0, 6.0 * np.pi, 31))
    # on a straight line a base need not turn, forwards or backwards
    assert wheels.way_cost(rows) == pytest.approx(slides.way_cost(rows))
    turned = 2.0 * np.arctan(0.05 * 6.0 * np.pi / 1.5) * 6.0
    assert wheels.way_cost(wavy) - slides.way_cost(wavy) == pytest.approx(WHEEL_TURN_M * turned, rel=0.15)
    pulled = wheels.pulled(wavy, np.random.default_rng(0), 200)
    assert wheels.way_cost(pulled) < 0.5 * wheels.way_cost(wavy)
