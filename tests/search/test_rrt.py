"""Trees with payloads on a toy problem: a box behind a wall, held by an arm of two links that has two branches."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.kernels.space import CHECKS
from elbowroom.search.birrt import Budget
from elbowroom.search.rrt import CarriedPath, plan, smooth, walked
from elbowroom.search.shortcut import SmoothingLimits
from elbowroom.spaces.object import ObjectSpace, cube_side, place_of, state_of

# Links of the arm, rooted at the origin, and the largest turn of a joint in one step.
_UPPER_M, _FORE_M = 0.8, 0.7
_MOST_TURN_RAD = 0.35
_STEP_M = 0.05


def joints_at(xy: Array, near: Array) -> Array | None:
    """Both joints (2,) of the arm with its hand at xy, on the branch that is nearest to other joints."""
    c = (float(xy @ xy) - _UPPER_M**2 - _FORE_M**2) / (2.0 * _UPPER_M * _FORE_M)
    if abs(c) > 1.0:
        return None
    found = []
    for elbow in (math.acos(c), -math.acos(c)):
        shoulder = math.atan2(xy[1], xy[0]) - math.atan2(
            _FORE_M * math.sin(elbow), _UPPER_M + _FORE_M * math.cos(elbow)
        )
        found.append(np.array([shoulder, elbow]))
    return min(found, key=lambda q: float(np.abs(turn(q, near)).sum()))


def turn(a: Array, b: Array) -> Array:
    return (a - b + np.pi) % (2.0 * np.pi) - np.pi


@dataclass
class Arm:
    """Follows the box with turns that are not too large; keeps what it was asked."""

    warm: list[tuple[Array, Array]] = field(default_factory=list)

    def follow(self, start: Array, joints: Array, end: Array, tally: np.ndarray) -> Array | None:
        tally[CHECKS] += 1
        self.warm.append((start[:2].copy(), joints.copy()))
        got = joints_at(end[:2], joints)
        return None if got is None or np.abs(turn(got, joints)).max() > _MOST_TURN_RAD else got


def space_of(arm: Arm) -> ObjectSpace[Array]:
    return ObjectSpace(np.zeros(3), 3.0, arm.follow, turning="fixed", step_m=_STEP_M)


def at(x: float, y: float) -> Array:
    return np.array([x, y, 0.0, 1.0, 0.0, 0.0, 0.0])


START, GOAL = at(0.9, -0.5), at(0.9, 0.5)


def start_joints() -> Array:
    q = joints_at(START[:2], np.array([0.0, 1.0]))
    assert q is not None
    return q


class Gap:
    """A wall along y = 0 from the inside out, with a gap: the box has to go round by it."""

    def __init__(self, gap: tuple[float, float]) -> None:
        self.gap = gap
        self.arm = Arm()

    def follow(self, start: Array, joints: Array, end: Array, tally: np.ndarray) -> Array | None:
        if start[1] * end[1] <= 0.0 and start[1] != end[1]:
            x = start[0] - start[1] * (end[0] - start[0]) / (end[1] - start[1])
            if not self.gap[0] < x < self.gap[1]:
                tally[CHECKS] += 1
                return None
        return self.arm.follow(start, joints, end, tally)

    def space(self) -> ObjectSpace[Array]:
        return ObjectSpace(np.zeros(3), 3.0, self.follow, turning="fixed", step_m=_STEP_M)


def assert_carried(path: CarriedPath[Array]) -> None:
    """Every payload has the hand at its state, one step and a small turn from the one before."""
    for k, (state, q) in enumerate(zip(path.states, path.payloads, strict=True)):
        hand = _UPPER_M * np.array([math.cos(q[0]), math.sin(q[0])])
        hand = hand + _FORE_M * np.array([math.cos(q.sum()), math.sin(q.sum())])
        assert np.allclose(hand, state[:2], atol=1e-9)
        if k:
            assert np.abs(turn(q, path.payloads[k - 1])).max() <= _MOST_TURN_RAD
            assert np.linalg.norm(state - path.states[k - 1]) <= _STEP_M + 1e-12


@pytest.mark.parametrize("two", [False, True])
def test_round_a_wall_with_the_payload_carried(two: bool) -> None:
    gap = Gap((0.2, 0.45))
    other = joints_at(GOAL[:2], np.array([0.0, -1.0])) if two else None  # the goal's tree is on the other branch
    path = plan(gap.space(), (START, start_joints()), GOAL, seed=3, goal_payload=other)
    assert path.found and np.array_equal(path.states[0], START) and np.array_equal(path.states[-1], GOAL)
    assert_carried(path)
    crossing = np.flatnonzero(np.diff(np.sign(path.states[:, 1])))
    assert ((path.states[crossing, 0] > 0.1) & (path.states[crossing, 0] < 0.55)).all()
    shorter = smooth(gap.space(), path, seed=1)
    assert_carried(shorter)
    assert len(shorter.states) < len(path.states) and np.array_equal(shorter.states[-1], GOAL)


def test_a_node_is_where_its_children_start_from() -> None:
    gap = Gap((0.2, 0.45))
    path = plan(gap.space(), (START, start_joints()), GOAL, seed=3)
    tree = path.trees[0]
    rows = {tuple(state[:2]) for state in tree.states}
    for xy, joints in gap.arm.warm:
        assert tuple(xy) in rows
        hand = _UPPER_M * np.array([math.cos(joints[0]), math.sin(joints[0])])
        assert np.allclose(hand + _FORE_M * np.array([math.cos(joints.sum()), math.sin(joints.sum())]), xy, atol=1e-9)
    children = np.bincount(tree.parents[1:], minlength=len(tree.states))
    assert (children == 0).sum() > 5  # partial branches are kept


def test_the_same_seed_gives_the_same_path_and_another_another() -> None:
    def states(seed: int) -> Array:
        return plan(Gap((0.2, 0.45)).space(), (START, start_joints()), GOAL, seed=seed).states

    assert np.array_equal(states(3), states(3))
    assert not np.array_equal(states(3), states(4))


def test_limits_end_a_search_without_a_path() -> None:
    for budget in (Budget(checks=300, nodes=3000), Budget(checks=20_000, nodes=60)):
        gap = Gap((0.0, 0.0))
        path = plan(gap.space(), (START, start_joints()), GOAL, budget=budget)
        assert path.status == "budget-spent" and not len(path.states) and not path.payloads
        assert path.stats.checks <= budget.checks and path.stats.nodes <= budget.nodes
        assert path.stats.checks >= 300 or path.stats.nodes == 60


@pytest.mark.parametrize("two", [False, True])
def test_a_search_that_cannot_leave_its_ends_is_given_up_soon(two: bool) -> None:
    def closed(start: Array, joints: Array, end: Array, tally: np.ndarray) -> None:
        tally[CHECKS] += 1

    space = ObjectSpace(np.zeros(3), 3.0, closed, turning="fixed", step_m=_STEP_M)
    path = plan(space, (START, start_joints()), GOAL, 1, goal_payload=start_joints() if two else None)
    assert not path.found and path.stats.checks < 60


def test_straight_where_nothing_is_in_the_way() -> None:
    path = plan(space_of(Arm()), (START, start_joints()), GOAL)
    assert path.found and path.stats.samples == 0 and len(path.states) == 21


def test_places_and_their_metric() -> None:
    space = ObjectSpace(np.zeros(3), cube_side(0.8), Arm().follow, step_m=0.1, turn_m=0.5)
    rng = np.random.default_rng(0)
    drawn = np.array([space.sample(rng) for _ in range(400)])
    assert np.abs(drawn[:, :3]).max() <= 0.5 and np.abs(drawn[:, :3]).max() > 0.45
    a = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    b = np.concatenate([[0.3, 0.0, 0.0], rot.about((0, 0, 1), 0.8)])
    assert space.distances(a[None], b)[0] == pytest.approx(0.5)
    step = space.steer(a, b)
    assert space.distances(a[None], step)[0] == pytest.approx(0.1)  # a step is as long as it says
    assert np.allclose(state_of(place_of(b)), b)
    level = ObjectSpace(np.zeros(3), 1.0, Arm().follow, turning="level", upright=rot.about((1, 0, 0), 0.5))
    ups = rot.rotate(np.array([level.sample(rng)[3:] for _ in range(20)]), np.array([0.0, 0.0, 1.0]))
    assert np.allclose(ups[:, 2], math.cos(0.5))


def test_half_of_the_samples_are_about_the_line() -> None:
    ends = np.array([0.9, 0.0, 0.0]), np.array([0.9, 0.8, 0.0])
    space = ObjectSpace(np.zeros(3), 4.0, Arm().follow, ends=ends)
    rng = np.random.default_rng(0)
    drawn = np.array([space.sample(rng)[:3] for _ in range(400)])
    assert 0.35 < (np.hypot(drawn[:, 0] - 0.9, drawn[:, 2]) < 1.0).mean() < 0.75


def test_smoothing_walks_no_farther_than_to_payloads_that_it_knows() -> None:
    corners = [at(0.9, -0.5), at(1.1, -0.3), at(0.9, -0.1), GOAL]

    def steps(space: ObjectSpace[Array]) -> tuple[int, CarriedPath[Array]]:
        path = walked(space, (START, start_joints()), corners)
        shorter = smooth(space, path, seed=1, effort=SmoothingLimits(rounds=4))
        assert_carried(shorter)
        return shorter.stats.checks, shorter

    anew, known = (steps(replace(space_of(Arm()), same=same)) for same in (None, lambda a, b: np.allclose(a, b)))
    assert known[0] < anew[0] and np.array_equal(known[1].states, anew[1].states)


def test_bad_states_are_refused() -> None:
    with pytest.raises(BadValue, match="goal: a state of this space has 7 numbers"):
        plan(space_of(Arm()), (START, start_joints()), np.zeros(3))
    with pytest.raises(BadValue, match="positive side"):
        ObjectSpace(np.zeros(3), 0.0, Arm().follow)


def test_stations_are_walked_straight_or_not_at_all() -> None:
    arm = Arm()
    space = space_of(arm)
    start = (START, start_joints())
    path = walked(space, start, [at(0.8, 0.0), GOAL])
    assert path.found and np.array_equal(path.states[-1], GOAL)
    assert_carried(path)
    assert not walked(space, start, [at(5.0, 0.0)]).found  # out of the arm's reach
