"""Searches for an arm: bodies, walls with holes, moving things; every path looked at anew, closely and exactly."""

from __future__ import annotations

import numpy as np
import pytest
from limb_scenes import HANGING, MARGIN, PERSON, arm, assert_free, posture, through, wall

from elbowroom.character.limits import sample_pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import sphere
from elbowroom.kernels.compiled import njit_nogil
from elbowroom.kernels.rng import rng
from elbowroom.kernels.space import TALLY, sample
from elbowroom.search.birrt import Budget, SearchPath, plan
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSearchSpace, plan_limb
from elbowroom.spaces.styles import STYLES, Style
from elbowroom.world.fast import UNCERTAIN, LimbCheck
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World


@pytest.fixture(scope="module")
def free_space() -> LimbSearchSpace:
    return LimbSearchSpace.over(arm(World(floor=0.0).with_character("ann", PERSON)))


@pytest.fixture(scope="module")
def walled() -> LimbSearchSpace:
    world = World(static={"wall": wall(-0.25, 1.25, 0.3, 0.3)}, floor=0.0).with_character("ann", PERSON)
    return LimbSearchSpace.over(arm(world))


def test_states_carry_rotations_terms_and_marks(free_space: LimbSearchSpace) -> None:
    space = free_space
    q = sample_pose(space.limits, np.random.default_rng(0), 20)
    for k in range(20):
        row = space.state(q[k])
        assert np.allclose(np.abs(np.sum(space.rotations(row) * q[k], axis=1)), 1.0)
        for j, limit in enumerate(space.limits):
            assert np.allclose(space.coordinates(row)[j], limit.coordinates(q[k, j]))
        pose = np.tile([1.0, 0, 0, 0], (len(PERSON.skeleton), 1))
        pose[list(space.check.joints)] = q[k]
        T = PERSON.skeleton.forward(PERSON.skeleton.T_rest[0, :3, 3], pose)
        assert np.allclose(space.marks(row)[:2], T[list(space.check.joints[1:]), :3, 3], atol=1e-6)


def test_straight_where_nothing_is_in_the_way(free_space: LimbSearchSpace) -> None:
    space = free_space
    a, b = space.state(HANGING), space.state(posture([[10, 60, 0], [40, 0, 0], [0, 0, 0]]))
    path = plan(space, a, b)
    assert path.found and len(path.states) == 2
    assert_free(space, path)


def test_hinges_stay_hinges(free_space: LimbSearchSpace) -> None:
    space = free_space
    a = space.state(posture([[40, 40, 0], [10, 0, -60], [10, 5, 0]]))
    b = space.state(posture([[40, 40, 30], [140, 0, 60], [-40, -10, 0]]))
    rows = space.dense(SearchPath(np.stack([a, b]), "found"), 0.02)
    for j in (1, 2):
        assert space.limits[j].excess(space.rotations(rows)[:, j]).max() < 1e-9
    flexion = space.coordinates(rows)[:, 1, 0]
    assert (np.diff(flexion) > 0.0).all() and np.ptp(np.diff(flexion)) < 1e-9


@pytest.mark.parametrize(("wide", "high"), [(0.3, 0.3), (0.5, 0.17)])
def test_through_a_hole_and_a_slot(wide: float, high: float) -> None:
    world = World(static={"wall": wall(-0.25, 1.25, wide, high)}, floor=0.0).with_character("ann", PERSON)
    space = LimbSearchSpace.over(arm(world))
    a, b = space.state(HANGING), space.state(through(space))
    for seed in range(3):
        path = plan(space, a, b, seed)
        assert path.found and len(path.states) > 2
        assert_free(space, path)
        short = smooth(space, path, seed)
        assert np.array_equal(short.states[[0, -1]], path.states[[0, -1]])
        assert_free(space, short)


def test_looking_closely_finds_a_hit(walled: LimbSearchSpace) -> None:
    a, b = walled.state(HANGING), walled.state(through(walled))
    with pytest.raises(AssertionError):
        assert_free(walled, SearchPath(np.stack([a, b]), "found"))


def test_same_seed_same_path(walled: LimbSearchSpace) -> None:
    a, b = walled.state(HANGING), walled.state(through(walled))
    one, two, other = (plan(walled, a, b, s) for s in (1, 1, 2))
    assert np.array_equal(one.states, two.states) and one.stats == two.stats
    assert not np.array_equal(one.states, other.states)
    assert np.array_equal(smooth(walled, one, 3).states, smooth(walled, two, 3).states)


def test_budget_and_ends_are_told(walled: LimbSearchSpace) -> None:
    a, b = walled.state(HANGING), walled.state(through(walled))
    spent = plan(walled, a, b, budget=Budget(checks=20))
    assert spent.status == "budget-spent" and len(spent.states) == 0
    ahead = walled.state(posture([[0, 90, 0], [0, 0, 0], [0, 0, 0]]))
    assert walled.check.hits(walled.rotations(ahead))
    assert plan(walled, ahead, b).status == "start-in-collision"
    assert plan(walled, a, ahead).status == "goal-in-collision"


@pytest.fixture(scope="module")
def timed() -> LimbSearchSpace:
    """A ball that swings to and fro before the person, and moves through where the arm would go."""
    times = np.linspace(0.0, 2.0, 41)
    at = np.column_stack([-0.2 + 0.35 * np.cos(2 * np.pi * times), np.full(41, -0.4), np.full(41, 1.15)])
    ball = Keyed(times, at, np.tile([1.0, 0, 0, 0], (41, 1)))
    world = World(floor=0.0).with_character("ann", PERSON).with_object("ball", sphere(0.12), ball)
    check = LimbCheck(world, "ann", "right_arm", during=(0.0, 2.0), margin=MARGIN)
    return LimbSearchSpace.over(check, timed=True, speed=5.0)


def test_time_runs_forward_and_joints_keep_their_speed(timed: LimbSearchSpace) -> None:
    high = posture([[0, 85, 0], [20, 0, 0], [0, 0, 0]])
    bent = 0
    for seed in range(4):
        t0, t1 = (0.0, 2.0) if seed % 2 else (0.0, 1.0)
        path = plan(timed, timed.state(HANGING, t0), timed.state(high, t1), seed)
        assert path.found
        bent += len(path.states) > 2
        for p in (path, smooth(timed, path, seed)):
            assert (np.diff(p.states[:, 0]) > 0.0).all()
            assert p.states[0, 0] == t0 and p.states[-1, 0] == t1
            assert_free(timed, p)
            rows = timed.dense(p, 0.01)
            q, t = timed.rotations(rows), rows[:, 0]
            angle = 2.0 * np.arccos(np.clip(np.abs(np.sum(q[1:] * q[:-1], axis=2)), 0.0, 1.0))
            assert (angle / np.diff(t)[:, None]).max() <= 5.0 * 1.01
    assert bent  # the ball was in the way at least once


def test_no_time_to_get_there(timed: LimbSearchSpace) -> None:
    a = timed.state(HANGING, 0.0)
    b = timed.state(posture([[0, 85, 0], [20, 0, 0], [0, 0, 0]]), 0.1)
    assert plan(timed, a, b, budget=Budget(checks=2000)).status == "budget-spent"
    with pytest.raises(BadValue, match="must be later"):
        plan(timed, b, a)


@njit_nogil(cache=False)
def asked(space, rng, effort, out, tally):
    return sample(space, rng, effort, out, tally)


def drawn(space: LimbSearchSpace, effort: float, count: int = 400) -> Array:
    """Terms (count, n, 3) of valid samples."""
    row, thrown, tally = np.zeros(space.width), rng(7), np.zeros(TALLY, np.int64)
    here, out = space._here(), []
    while len(out) < count:
        if asked(here, thrown, effort, row, tally):
            assert space.check.free(space.rotations(row), exact=False)
            out.append(space.coordinates(row).copy())
    return np.array(out)


def test_effort_widens_what_is_drawn(free_space: LimbSearchSpace) -> None:
    first, middle, last = (drawn(free_space, e) for e in (0.0, 0.5, 1.0))
    full = np.radians(150.0)
    assert first[:, 1, 0].min() >= 0.9 * full - 1e-9
    assert middle[:, 1, 0].min() < 0.6 * full and last[:, 1, 0].min() < 0.05
    wrist = [np.abs(x[:, 2, 0]).max() for x in (first, middle, last)]
    assert wrist[0] <= 0.3 * np.radians(80.0) + 1e-9 and wrist[0] < wrist[1] < wrist[2]
    for terms in (first, last):
        for j, limit in enumerate(free_space.limits):
            assert np.allclose(limit.clamp_coordinates(terms[:, j]), terms[:, j], atol=1e-9)
    even = drawn(LimbSearchSpace.over(free_space.check, style=Style(flexion=0.0, wrist=1.0, close=False)), 0.0)
    assert even[:, 1, 0].min() < 0.05


def test_styles_choose_low_and_high_arms(free_space: LimbSearchSpace) -> None:
    low = drawn(LimbSearchSpace.over(free_space.check, style=STYLES["low-arms"]), 1.0, 200)[:, 0, 0]
    assert np.radians(50) - 1e-9 <= low.min() and low.max() <= np.radians(100) + 1e-9
    high = drawn(LimbSearchSpace.over(free_space.check, style=STYLES["high-arms"]), 1.0, 200)[:, 0, 0]
    assert high.max() < low.min()
    other = Style({"right_thigh": {"swing_x": (0.0, 1.0)}})
    assert np.ptp(drawn(LimbSearchSpace.over(free_space.check, style=other), 1.0, 200)[:, 0, 0]) > np.radians(100)
    with pytest.raises(UnknownName, match="swing_x"):
        LimbSearchSpace.over(free_space.check, style=Style({"right_forearm": {"swing_x": (0.0, 1.0)}}))
    with pytest.raises(BadValue, match="flexion"):
        LimbSearchSpace.over(free_space.check, style=Style({"right_forearm": {"flexion": (4.0, 5.0)}}))


def test_bad_settings(free_space: LimbSearchSpace) -> None:
    check = free_space.check
    for bad in ({"step": 0.0}, {"resolution": -1.0}, {"speed": 0.0}, {"limits": [None] * 3}):
        with pytest.raises(BadValue):
            LimbSearchSpace.over(check, **bad)  # type: ignore[arg-type]
    with pytest.raises(BadValue):
        Style(flexion=2.0)
    with pytest.raises(BadValue, match="the same time"):
        plan(free_space, free_space.state(HANGING, 0.0), free_space.state(HANGING, 1.0))


def test_ends_near_contact_are_left_and_entered_under_exact_eyes(walled: LimbSearchSpace) -> None:
    """A posture that the fast test doubts and the exact one finds free is planned from and to all the same."""
    check = walled.check
    q = np.ascontiguousarray(sample_pose(walled.limits, np.random.default_rng(5), 20_000))
    doubted = np.flatnonzero(check.batch(q, 0.0) == UNCERTAIN)
    near = next(q[k] for k in doubted if check.free(q[k]))
    a, b = walled.state(near), walled.state(HANGING)
    assert plan(walled, a, b).status == "start-in-collision"
    out, back = plan_limb(walled, a, b, 1), plan_limb(walled, b, a, 1)
    assert out.found and back.found
    assert np.array_equal(out.states[0], a) and np.array_equal(back.states[-1], a)
    for path in (out, back, smooth(walled, out)):
        for row in walled.dense(path, 0.005):
            assert check.free(walled.rotations(row))
    ahead = walled.state(posture([[0, 90, 0], [0, 0, 0], [0, 0, 0]]))
    assert plan_limb(walled, ahead, b).status == "start-in-collision"
