"""A person and a robot carry a board: the base rolls without slipping, the fork stays under the board."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.robot import RobotJoints, mobile_arm
from elbowroom.errors import BadValue
from elbowroom.files.urdf import read_urdf
from elbowroom.geometry.rotations import UP, about, angle, from_matrix
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import apply, facing, inverse, rolling, slips, transform
from elbowroom.motion.edit import place
from elbowroom.motion.robot_clip import RobotClip
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Carry
from elbowroom.posing.robot_ik import RobotArmIK, arm_of
from elbowroom.world.paths import Still
from elbowroom.world.world import World

ONCE = Settings(probes=0)
GOAL = (1.2, -0.6, 0.6455)


def scene(far: float = -1.3) -> World:
    ann = er.idle(er.preset("woman"), seconds=0.5, fps=30.0)
    robot = mobile_arm("r")
    world = World(floor=0.0).with_character("ann", place(ann, (0.0, 0.93), 0.0))
    base = RobotClip.of(robot, [robot.pose(at=(0.0, far, 0.0), quaternion=about(UP, 0.5 * np.pi))])
    world = world.with_character("r", base)
    for name, (x, y) in (("stand", (0.0, 0.0)), ("other", (1.2, -0.6))):
        world = world.with_static(name, box((0.2, 0.2, 0.62), (x, y, 0.31)))
    return world.with_object("board", box((0.36, 1.2, 0.05)), Still(transform([0.0, 0.0, 0.6455])), mass=4.0)


@cache
def carried() -> Plan:
    return plan_tasks(scene(), [Carry(who="ann", helpers=("r",), object="board", to=GOAL, turn=0.0)], ONCE)


def test_they_carry_it_to_its_goal_and_the_robot_lets_go():
    plan = carried().require()
    assert plan.certificate is not None and plan.certificate.free
    np.testing.assert_allclose(plan.world.frame("board", plan.world.span[1])[:3, 3], GOAL, atol=1e-3)
    assert not any(hold.during[1] == np.inf for hold in plan.world.holds)


def test_two_people_and_a_robot_put_it_down_and_let_go():
    world = scene().with_character("bob", place(er.idle(er.preset("man"), seconds=0.5, fps=30.0), (0.0, -0.97), np.pi))
    robot = mobile_arm("r", drive="omnidirectional")
    base = RobotClip.of(robot, [robot.pose(at=(0.9, 0.0, 0.0), quaternion=about(UP, np.pi))])
    world = world.with_character("r", base).with_static("other", box((0.2, 0.2, 0.62), (0.0, 2.0, 0.31)))
    task = Carry(who="ann", helpers=("bob", "r"), object="board", to=(0.0, 2.0, 0.6455), turn=0.0)
    plan = plan_tasks(world, [task], ONCE).require()
    assert plan.certificate is not None and plan.certificate.free
    ends = {hold.by: hold.during[1] for hold in plan.world.holds}
    assert sorted(ends) == ["ann", "bob", "r"] and max(ends.values()) < plan.world.span[1]
    np.testing.assert_allclose(plan.world.frame("board", plan.world.span[1])[:3, 3], (0.0, 2.0, 0.6455), atol=1e-3)
    # the robot lets go last, moves its fork off the board, and folds its arm
    motion = plan.world.motion("r")
    joint, T_grip = motion.body.hand("grip")
    grips = motion.body.transforms(*motion.sample([ends["r"], plan.world.span[1]]))[:, joint] @ T_grip
    assert ends["r"] >= max(ends.values()) and np.linalg.norm(np.diff(grips[:, :3, 3], axis=0)) > 0.1


def test_the_fork_stays_where_it_took_the_board_between_frames():
    world = carried().require().world
    hold = next(hold for hold in world.holds if hold.by == "r")
    times = np.arange(*hold.during, 1.0 / 120.0)
    motion = world.motion("r")
    joint, T_grip = motion.body.hand("grip")
    board = np.array([world.frame("board", t) for t in times])
    grip = inverse(board) @ motion.body.transforms(*motion.sample(times))[:, joint] @ T_grip
    assert np.ptp(board[:, 0, 3]) > 1.0
    assert np.linalg.norm(grip[:, :3, 3] - grip[0, :3, 3], axis=1).max() < 1e-3
    assert np.degrees(angle(from_matrix(grip[0, :3, :3].T @ grip[:, :3, :3]))).max() < 0.5


def test_its_base_does_not_slip_sideways():
    root, q = carried().require().world.motion("r").sample(np.arange(0.0, 60.0, 1.0 / 120.0))
    heading = np.unwrap(2.0 * np.arctan2(q[:, 3], q[:, 0]) + 0.5 * np.pi)
    rolled = np.linalg.norm(np.diff(root[:, :2], axis=0), axis=1)
    assert rolled.sum() > 1.0
    assert slips(root[:, :2], heading).sum() < 0.005 * rolled.sum()
    # the same way with the heading it had at the start would slip by half a metre
    assert slips(root[:, :2], np.full(len(root), heading[0])).sum() > 0.5


def test_a_base_rolls_backwards_rather_than_turning_round():
    way = np.stack([np.zeros(20), np.linspace(0.0, 1.0, 20)], axis=-1)
    np.testing.assert_allclose(rolling(way, 0.0), 0.0, atol=1e-9)  # 0 faces -y
    np.testing.assert_allclose(rolling(np.zeros((5, 2)), 0.3), 0.3)
    arc = np.stack([np.sin(np.linspace(0.0, 2.0, 90)), np.cos(np.linspace(0.0, 2.0, 90))], axis=-1)
    assert slips(arc, rolling(arc, 0.5 * np.pi))[1:-1].max() < 1e-9
    assert np.abs(facing(rolling(arc, 0.5 * np.pi)[0]) - [1.0, 0.0]).max() < 0.02


def test_all_postures_of_the_arm_bring_the_fork_to_its_target():
    ik = RobotArmIK.of(mobile_arm())
    T = transform([0.75, 0.1, 0.85])
    found = ik.solutions(T, np.random.default_rng(0), np.zeros(6))
    assert len(found) >= 8  # as many as a spherical wrist has, and turns by 360 degrees
    np.testing.assert_allclose(ik.grips(np.array(found))[0], np.tile(T, (len(found), 1, 1)), atol=1e-5)
    assert not ik.solutions(transform([1.9, 0.0, 0.85]), np.random.default_rng(0), np.zeros(6))


def test_what_a_robot_cannot_do_is_told():
    plan = plan_tasks(scene(far=-2.6), [Carry(who="ann", helpers=("r",), object="board", to=GOAL)], ONCE)
    assert plan.status == "target-out-of-reach" and "the arm of r does not reach it" in plan.why
    with pytest.raises(BadValue, match="the first of several carriers must be one"):
        plan_tasks(scene(), [Carry(who="r", helpers=("ann",), object="board", to=GOAL)], ONCE)
    robot = mobile_arm("r")
    two = RobotJoints(
        robot.joints.names[:3], robot.joints.parents[:3], robot.joints.kinds[:3], robot.joints.T_parent_joint[:3],
        robot.joints.axes[:3], robot.joints.lower[:3], robot.joints.upper[:3], robot.joints.speed[:3],
    )  # fmt: skip
    with pytest.raises(BadValue, match="has no arm of 6 or more joints"):
        arm_of(robot.with_(joints=two, chains={}))


ROBOTS = Path(__file__).parent / "robots"


@pytest.mark.parametrize(("name", "joints"), [("ur5", 6), ("seven", 7), ("lifter", 7)])
def test_arms_of_users_files_reach_with_the_tip_of_their_tool(name: str, joints: int):
    robot = read_urdf(ROBOTS / f"{name}.urdf", base="wheels")
    ik = RobotArmIK.of(robot)
    assert len(ik.run) == joints  # fingers that slide are no part of the arm
    joint, T_grip = robot.hand("grip")
    tool = [s for s in robot.shapes if s.joint in robot.subtree(joint)]
    T_joints = [inverse(robot.T_rest[joint]) @ robot.T_rest[s.joint] for s in tool]
    ends = [apply(inverse(T_grip) @ T, shape_mesh(s).vertices) for s, T in zip(tool, T_joints, strict=True)]
    tip = max(ends, key=lambda points: points[:, 0].max())
    # at the tip, and what is there is below it, and flat
    assert 0.0 < tip[:, 0].max() < 0.08
    assert tip[:, 2].max() == pytest.approx(0.0, abs=1e-6)
    assert np.ptp(tip[:, 2]) < 0.03
    found = ik.solutions(transform([0.85, 0.0, 0.6]), np.random.default_rng(0), np.zeros(joints))
    assert found
    np.testing.assert_allclose(ik.grips(np.array(found))[0][:, :3, 3], np.tile([0.85, 0.0, 0.6], (len(found), 1)),
                               atol=1e-5)  # fmt: skip


def test_a_users_robot_with_a_lift_carries_with_a_woman():
    robot = read_urdf(ROBOTS / "lifter.urdf", base="wheels")
    base = RobotClip.of(robot, [robot.pose(at=(0.0, -1.3, 0.0), quaternion=about(UP, 0.5 * np.pi))])
    plan = plan_tasks(scene().with_character("r", base),
                      [Carry(who="ann", helpers=("r",), object="board", to=GOAL, turn=0.0)], ONCE)  # fmt: skip
    world = plan.require().world
    assert plan.certificate is not None and plan.certificate.free
    np.testing.assert_allclose(world.frame("board", world.span[1])[:3, 3], GOAL, atol=1e-3)
    robot.check(world.motion("r").sample(np.arange(*world.span, 1.0 / 120.0))[1])  # joints stay within their limits


def test_people_lift_and_lower_no_faster_than_the_joints_of_a_users_arm_turn():
    robot = read_urdf(ROBOTS / "seven.urdf", base="wheels")
    base = RobotClip.of(robot, [robot.pose(at=(0.0, -1.3, 0.0), quaternion=about(UP, 0.5 * np.pi))])
    task = Carry(who="ann", helpers=("r",), object="board", to=GOAL, turn=0.0)
    world = plan_tasks(scene().with_character("r", base), [task], ONCE).require().world
    clip, run = world.motion("r"), list(RobotArmIK.of(robot).run)
    turned = np.abs(np.diff(clip.q[:, 3 + np.array(run)], axis=0)) / np.diff(clip.times)[:, None]
    assert turned.max() > 1.0
    assert (turned.max(axis=0) <= robot.joints.speed[run]).all()


def test_a_robot_without_an_arm_is_refused():
    with pytest.raises(BadValue, match="cart has no arm of 6 or more joints"):
        arm_of(read_urdf(ROBOTS / "cart.urdf", base="wheels"))
