"""People carry an object on foot: lifted, walked in step with hands on it, set down, and proven."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import angle, from_matrix
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.motion.edit import place
from elbowroom.plan.director import Director
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.result import Plan
from elbowroom.plan.settings import Settings
from elbowroom.plan.tasks import Carry, Move
from elbowroom.plan.teams.carry import TeamCarrier
from elbowroom.world.paths import Still
from elbowroom.world.world import World

ONCE = Settings(probes=0)
GOAL = (1.3, 0.0, 0.6455)


def scene(people: int = 2) -> World:
    """A board on a stand between two people, or before one of them."""
    ann, bob = (er.idle(er.preset(name), seconds=0.5, fps=30.0) for name in ("woman", "man"))
    far = 0.93 if people == 2 else 0.48
    world = World(floor=0.0).with_character("ann", place(ann, (0.0, far), 0.0))
    if people == 2:
        world = world.with_character("bob", place(bob, (0.0, -0.97), np.pi))
    world = world.with_static("stand", box((0.2, 0.2, 0.62), (0.0, 0.0, 0.31)))
    size = (0.36, 1.2 if people == 2 else 0.3, 0.05)
    return world.with_object("board", box(size), Still(transform([0.0, 0.0, 0.6455])), mass=4.0)


@cache
def carried() -> Plan:
    task = Carry(who="ann", helpers=("bob",), object="board", to=GOAL, turn=0.0, speed=0.5, accel=0.4)
    return plan_tasks(scene().with_static("other", box((0.2, 0.2, 0.62), (1.3, 0.0, 0.31))), [task], ONCE)


def walking(world: World) -> tuple[float, float]:
    """Seconds between which the board is under way."""
    times = np.arange(*world.span, 1.0 / 30.0)
    at = np.array([world.frame("board", t)[:2, 3] for t in times])
    moving = np.flatnonzero(np.linalg.norm(np.diff(at, axis=0), axis=1) > 1e-5)
    return float(times[moving[0]]), float(times[moving[-1] + 1])


def test_two_people_carry_a_board_to_its_goal():
    plan = carried().require()
    assert plan.certificate is not None and plan.certificate.free
    np.testing.assert_allclose(plan.world.frame("board", plan.world.span[1])[:3, 3], GOAL, atol=1e-3)
    for who in ("ann", "bob"):
        assert np.linalg.norm(np.diff(plan.world.motion(who).sample(plan.world.span)[0][:, :2], axis=0)) > 1.0


def test_hands_stay_on_the_board_and_it_stays_level_between_frames():
    world = carried().require().world
    times = np.arange(*walking(world), 1.0 / 120.0)
    board = np.array([world.frame("board", t) for t in times])
    assert np.degrees(np.arccos(np.clip(board[:, 2, 2], -1.0, 1.0))).max() < 0.5
    for who in ("ann", "bob"):
        motion = world.motion(who)
        T = motion.body.transforms(*motion.sample(times))
        for hand in ("left", "right"):
            joint, T_hand = motion.body.hand(hand)
            grip = inverse(board) @ T[:, joint] @ T_hand
            assert np.linalg.norm(grip[:, :3, 3] - grip[0, :3, 3], axis=1).max() < 1e-3
            assert np.degrees(angle(from_matrix(grip[0, :3, :3].T @ grip[:, :3, :3]))).max() < 0.5


def test_nobody_is_faster_than_asked_for():
    world = carried().require().world
    times = np.arange(*walking(world), 1.0 / 30.0)
    at = np.array([world.frame("board", t)[:2, 3] for t in times])
    fast = np.linalg.norm(np.gradient(at, times, axis=0), axis=1)
    assert 0.2 < fast.max() < 0.5 * 1.02
    assert np.abs(np.gradient(fast, times))[2:-2].max() < 0.4 * 1.1


def test_feet_do_not_slide():
    world = carried().require().world
    times = np.arange(*walking(world), 1.0 / 240.0)
    for who in ("ann", "bob"):
        motion = world.motion(who)
        T = motion.body.transforms(*motion.sample(times))
        for side in ("left", "right"):
            toes = T[:, motion.body.role(f"{side}_toes"), :3, 3]
            low = toes[:, 2] < toes[:, 2].min() + 0.002
            slid = np.linalg.norm(np.diff(toes[:, :2], axis=0), axis=1)[low[1:] & low[:-1]]
            # a foot that walks on would go 2 mm in such a step
            assert low.mean() > 0.3 and np.quantile(slid, 0.9) < 1e-4


def test_one_person_carries_a_box_from_stand_to_stand():
    world = scene(people=1).with_static("other", box((0.2, 0.2, 0.62), (1.0, -0.9, 0.31)))
    plan = plan_tasks(world, [Carry(who="ann", object="board", to=(1.0, -0.9, 0.6455))], ONCE).require()
    assert plan.certificate is not None and plan.certificate.free
    np.testing.assert_allclose(plan.world.frame("board", plan.world.span[1])[:3, 3], (1.0, -0.9, 0.6455), atol=1e-3)


@pytest.mark.parametrize("who", ["woman", "man"])
def test_fingers_bend_under_the_edge_of_a_table_and_forearms_stay_off_the_trunk(who):
    body = er.preset(who)
    stands = place(er.idle(body, seconds=0.5, fps=30.0), (0.0, 0.45 + 0.22 * body.height), 0.0)
    world = World(floor=0.0).with_character("ann", stands).with_static("stand", box((0.5, 0.3, 0.62), (0.0, 0.0, 0.31)))
    world = world.with_object("table", box((1.8, 0.9, 0.05)), Still(transform([0.0, 0.0, 0.6455])), mass=20.0)
    d = Director(world, ONCE, 30.0, 0)
    up = Move(who="ann", object="table", to=(0.0, 0.0, 0.5 * body.height))
    option = next(TeamCarrier(d, d.actor("ann"), up, "carry table", 4).options(["left", "right"]))
    assert {grasp.name for grasp in option.grips.grasps.values()} == {"edge bent45"}
    assert option.guided[0] is not None  # as recorded people stand, which they could not with palms flat under it


def test_a_goal_without_room_is_told():
    world = scene(people=1).with_static("block", box((1.0, 1.0, 2.0), (2.0, 0.0, 1.0)))
    plan = plan_tasks(world, [Carry(who="ann", object="board", to=(2.0, 0.0, 1.0))], ONCE)
    assert plan.status == "target-in-collision" and "no room for all of them and the object" in plan.why


def test_what_cannot_be_meant_is_told():
    with pytest.raises(BadValue, match="'speed' of carry is 9"):
        Carry(who="ann", object="board", to=GOAL, speed=9.0)
    with pytest.raises(BadValue, match="name each character once"):
        plan_tasks(scene(), [Carry(who="ann", helpers=("ann",), object="board", to=GOAL)], ONCE)
