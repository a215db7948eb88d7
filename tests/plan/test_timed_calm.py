"""When hands of people on the move set out, how they come to the ends of their joints, and round what they meet."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from test_manipulate import room
from test_timed import street

from elbowroom.character.limits import clamp_pose, pose_excess
from elbowroom.finish.settle import between_free
from elbowroom.geometry.rotations import about, angle_between
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.plan.checks.accept import angular_accelerations
from elbowroom.plan.checks.hands import hand_of
from elbowroom.plan.repair.arm_paths import ArmPaths
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Grab
from elbowroom.plan.verbs.encounters import Moments, frames_for, moments
from elbowroom.plan.verbs.passage import Tracking, freed
from elbowroom.world.fast import LimbCheck

K = 120


@cache
def walker() -> tuple[Director, Actor]:
    d = Director(street(), Settings(), 60.0, 0)
    return d, d.actor("ann")


def when(away: float, early: float = 0.0, begin: float | None = None) -> Moments:
    """Moments of a hand whose target in frame K is some metres before its place there."""
    d, actor = walker()
    T = hand_of(actor, "right", actor.neutral(K)) + transform([0.0, -away, 0.0]) - np.eye(4)
    return moments(d, actor, "right", Grab(who="ann", object="can", begin=begin), K, T, 6, early)


def test_the_farther_the_way_the_earlier_a_hand_sets_out_and_the_later_it_is_back() -> None:
    near, far = when(0.2), when(0.6)
    assert far.leaves < near.leaves - 15 and far.back > near.back + 15
    assert near.there == far.there == K and near.done == far.done == K + 6
    d, actor = walker()
    assert K - near.leaves >= actor.frames(d.seconds_for(0.2)), "an arm that swings is farther off than it will be"


def test_a_hand_that_is_there_early_sets_out_as_much_earlier() -> None:
    assert when(0.3).leaves - when(0.3, early=0.3).leaves >= 15
    assert when(0.3, early=0.3, begin=0.5).leaves == 30, "a time that is told counts"


def test_a_wrist_comes_softly_to_the_end_of_its_range() -> None:
    _, actor = walker()
    body, rows = actor.body, np.arange(60, 120)
    T = body.transforms(actor.base.root[rows], actor.base.rotations[rows])
    pose = actor.neutral(60)
    tracking = Tracking(body, "right_arm", T, pose)
    hands = T[:, body.hand("right")[0]].copy()
    turn = transform(np.zeros(3), about([0.0, 1.0, 0.0], np.linspace(0.0, -2.4, len(rows))))
    hands[:, :3, :3] = hands[:, :3, :3] @ turn[:, :3, :3]
    q = tracking.postures(hands, rows == 60, tracking.orbit)
    assert q is not None
    bare = tracking.ik.solve(tracking.parents, hands, tracking.orbit).rotations
    limits = [body.limits[j] for j in tracking.ik.joints]
    assert pose_excess(limits, bare)[:, 1:].max(axis=0).min() > 0.1, "elbow and wrist would leave their ranges"
    assert pose_excess(limits, q).max() < 1e-6
    assert (angular_accelerations(q, 60.0)[1:] < 0.6 * angular_accelerations(clamp_pose(limits, bare), 60.0)[1:]).all()


def test_a_course_that_meets_something_is_led_round_it_and_stays_at_its_target() -> None:
    d, _ = walker()
    rows, arm = np.arange(60, 181), list(d.actor("ann").body.chain("right_arm").joints)
    at = hand_of(d.actor("ann"), "right", d.actor("ann").neutral(K))[:3, 3]
    met = Director(d.world.with_static("post", box((0.04, 0.04, 0.04), at - [0.04, 0.0, 0.0])), Settings(), 60.0, 0)
    actor = met.actor("ann")
    own = actor.base.rotations[rows][:, arm]
    times = actor.base.start + rows / 60.0
    check = LimbCheck(met.world, "ann", "right_arm", (float(times[0]), float(times[-1])))
    assert not between_free(check, own, times)
    way = freed(met, actor, "right_arm", rows, rows < 80, "reach", {})
    assert between_free(check, way.rotations, times) and way.tier in ("avoid", "plan")
    assert np.array_equal(way.rotations[rows < 80], own[rows < 80]) and np.array_equal(way.rotations[-1], own[-1])
    with pytest.raises(PlanningFailure, match=r"reach: .*post.* at the target"):
        freed(met, actor, "right_arm", rows, np.abs(rows - K) < 20, "reach", {})


def test_the_elbow_of_a_hand_at_work_gives_way_and_the_hand_stays() -> None:
    d, actor = walker()
    body, rows = actor.body, np.arange(60, 121)
    q, arm = actor.base.rotations[rows], list(body.chain("right_arm").joints)
    T, times = body.transforms(actor.base.root[rows], q), actor.base.start + rows / 60.0
    # beside the elbow, which passes it half way
    post = T[30, arm[1], :3, 3] + [-0.045, 0.0, 0.0]
    world = d.world.with_static("post", box((0.02, 0.02, 0.02), post))
    check = LimbCheck(world, "ann", "right_arm", (float(times[0]), float(times[-1])))
    assert not between_free(check, q[:, arm], times)
    paths = ArmPaths(body, "right_arm", actor.neutral(60), times, T, check, Settings())
    around = paths.around(q[:, arm])
    assert around is not None and paths.free(around)
    moved = np.array(q)
    moved[:, arm] = around
    hands = body.transforms(actor.base.root[rows], moved)[:, arm[2]]
    assert np.abs(hands - T[:, arm[2]]).max() < 1e-6
    assert angle_between(around[0], q[0, arm]).max() < 1e-6, "from where it is"
    assert angle_between(around[1:], around[:-1]).max() < 0.12, "at an even pace"


def test_who_stands_is_asked_for_the_hands_that_are_there_in_time() -> None:
    d = Director(room(), Settings(), 60.0, 0)
    actor = d.actor("ann")
    point = hand_of(actor, "right", actor.pose)[:3, 3] + [-0.2, -0.1, 0.0]
    soon, late = (frames_for(d, actor, Grab(who="ann", object="can", at=t), point, "grab can") for t in (0.5, 2.0))
    assert soon == [("right", 30)] and late == [("right", 120), ("left", 120)]
    first, then = frames_for(d, actor, Grab(who="ann", object="can"), point, "grab can")
    assert first[0] == "right" and then[0] == "left" and actor.k < first[1] < then[1]
    with pytest.raises(PlanningFailure, match=r"grab can: 0\.2 s is .* too early"):
        frames_for(d, actor, Grab(who="ann", object="can", at=0.2), point, "grab can")
