"""A move over its whole motion at four times the frame rate: grips, feet, balance, ranges and turns of joints."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.limits import pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import about, multiply, slerp
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Move
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.world.paths import Still
from elbowroom.world.world import World
from tools.move_measures import Measures, measured

GRIP_M, GRIP_DEG, SLIDE_M = 0.001, 0.5, 0.001
# Radians out of range that the solver leaves, and radians a second that a joint turns at most: 0.35 from one frame to
# the next at 30 a second.
RANGE_RAD, TURN_RAD_S = 0.01, 10.5


@cache
def lifted() -> Plan:
    """A man lifts a crate from the floor onto a bench, feet in place."""
    world = World(floor=0.0).with_character("bob", er.idle(er.preset("man"), seconds=1.0, fps=30.0))
    world = world.with_static("bench", box((1.4, 0.4, 0.04), (0.0, -0.95, 0.7)))
    world = world.with_object("crate", box((0.38, 0.28, 0.26)), Still(transform([0.0, -0.45, 0.1305])), mass=5.0)
    task = Move(who="bob", object="crate", to=(0.0, -0.89, 0.8505), posture="squat", feet="stay")
    return plan_tasks(world, [task], Settings(probes=0)).require()


def test_a_man_lifts_a_crate_from_the_floor_and_only_soft_tissue_gives_way():
    found = lifted().certificate
    assert found is not None and found.free
    own = [a for a in found.allowed if all(name.startswith("bob.") for name in a.pair)]
    assert {a.why for a in own} <= {"soft tissue"} and max(a.depth_m for a in own) <= 0.03


def test_all_of_it_holds_at_four_times_the_frame_rate():
    seen = measured(lifted().world, "bob", "crate")
    assert seen.grip_m < GRIP_M and seen.grip_deg < GRIP_DEG
    assert seen.slide_m < SLIDE_M
    assert seen.balance_m > 0.0
    assert seen.beyond_rad < RANGE_RAD and seen.turn_rad_s < TURN_RAD_S


def _changed(change: Callable[[Clip, int, np.ndarray, np.ndarray], None]) -> Measures:
    """Measures of the lift with one frame of its carry changed in place: clip, frame, roots, rotations."""
    world = lifted().world
    motion = world.motion("bob")
    assert isinstance(motion, Clip)
    root, q = np.array(motion.root), np.array(motion.rotations)
    frame = round((np.mean(world.holds[0].during) - motion.start) * motion.fps)
    change(motion, frame, root, q)
    return measured(world.with_character("bob", motion.with_(root=root, rotations=q)), "bob", "crate")


def _end_moved(limb: str, by_m: float) -> Callable[[Clip, int, np.ndarray, np.ndarray], None]:
    def change(motion: Clip, frame: int, root: np.ndarray, q: np.ndarray) -> None:
        pose = Pose.of(root[frame], q[frame])
        ik = LimbIK(motion.character, limb, pose)
        T = motion.character.skeleton.at(pose)[ik.joints[-1]]
        solved = ik.solve(ik.T_world_parent(pose), transform([0.0, 0.0, by_m]) @ T, ik.orbit_of(pose), ik.keep_of(pose))
        assert solved.reached.all()
        q[frame] = ik.posed(pose, solved).rotations

    return change


def test_a_hand_that_is_moved_by_2_mm_is_seen():
    assert 0.001 < _changed(_end_moved("right_arm", 0.002)).grip_m < 0.003


def test_a_foot_that_is_moved_by_5_mm_is_seen():
    assert 0.004 < _changed(_end_moved("left_leg", 0.005)).slide_m < 0.006


def test_a_hand_that_turns_by_a_degree_is_seen():
    def change(motion: Clip, frame: int, root: np.ndarray, q: np.ndarray) -> None:
        hand = motion.character.role("left_hand")
        q[frame, hand] = multiply(q[frame, hand], about((0.0, 0.0, 1.0), np.radians(1.0)))

    assert _changed(change).grip_deg > GRIP_DEG


@pytest.mark.parametrize("by", [(0.0, -0.2, 0.0), (0.2, 0.0, 0.0)])
def test_weight_that_leaves_the_feet_is_seen(by: tuple[float, float, float]):
    def change(motion: Clip, frame: int, root: np.ndarray, q: np.ndarray) -> None:
        root[frame] += by

    assert _changed(change).balance_m < 0.0


def test_an_elbow_out_of_its_range_and_a_joint_that_leaps_are_seen():
    def change(motion: Clip, frame: int, root: np.ndarray, q: np.ndarray) -> None:
        elbow = motion.character.role("right_forearm")
        limit = motion.character.limits[elbow]
        assert limit is not None
        turned = limit.rotation(limit.coordinates(q[frame, elbow]) + np.concatenate([np.eye(3), -np.eye(3)]))
        q[frame, elbow] = turned[np.argmax(limit.excess(turned))]

    seen = _changed(change)
    assert seen.beyond_rad > RANGE_RAD and seen.turn_rad_s > TURN_RAD_S


def test_a_joint_that_leaves_its_range_between_two_frames_is_seen():
    """Two frames within the range of a shoulder, half a turn about the arm apart: the way between them is not."""

    def change(motion: Clip, frame: int, root: np.ndarray, q: np.ndarray) -> None:
        shoulder = motion.character.role("right_upper_arm")
        limit = motion.character.limits[shoulder]
        assert limit is not None
        around = np.radians(np.stack(np.meshgrid(*[np.arange(-170.0, 171.0, 34.0)] * 3), axis=-1).reshape(-1, 3))
        within = limit.rotation(around)
        within = within[limit.excess(within) == 0.0]
        middles = slerp(within[:, None], within[None], np.full((len(within), len(within)), 0.5))
        a, b = np.unravel_index(np.argmax(limit.excess(middles)), middles.shape[:2])
        q[frame, shoulder], q[frame + 1, shoulder] = within[a], within[b]
        assert pose_excess(motion.character.limits, q).max() < RANGE_RAD

    assert _changed(change).beyond_rad > RANGE_RAD
