"""When hands of people on the move set out, how they come to the ends of their joints, and what counts as calm."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from test_timed import street

from elbowroom.character.limits import clamp_pose, pose_excess
from elbowroom.geometry.rotations import about, multiply
from elbowroom.geometry.transforms import transform
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director
from elbowroom.plan.hands import hand_of
from elbowroom.plan.moving.passage import Tracking
from elbowroom.plan.moving.timing import Moments, moments
from elbowroom.plan.settings import Settings
from elbowroom.plan.smoothness import HandSmoothness, angular_accelerations
from elbowroom.plan.tasks import Grab

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


def test_a_dash_and_a_jolt_are_rough_and_the_walk_itself_is_not() -> None:
    _, actor = walker()
    rows = np.arange(60, 130)
    calm = HandSmoothness.over(actor, "right_arm", rows, after=True)
    own = actor.base.rotations[rows][:, list(calm.arm)]
    assert calm.rough(own) <= 1.0 == calm.enough
    for seconds, rough in ((0.8, False), (0.12, True)):
        share = np.clip((np.arange(len(rows)) / 60.0 - 0.1) / seconds, 0.0, 1.0)
        swing = np.sin(np.pi * share) ** 2
        raised = own.copy()
        raised[:, 0] = multiply(about([1.0, 0.0, 0.0], -0.8 * swing), own[:, 0])
        assert (calm.rough(raised) > 1.0) is rough
        assert calm.roughs(raised[None])[0] <= calm.rough(raised)


@pytest.mark.parametrize("limb", ["right_arm", "left_arm"])
def test_what_was_rough_before_is_no_reason_to_search_on(limb: str) -> None:
    d, _ = walker()
    actor = Actor(d.world, "ann")
    arm = list(actor.body.chain(limb).joints)
    jolted = np.array(actor.base.rotations[55:60][:, arm])
    jolted[2:, 0] = multiply(about([1.0, 0.0, 0.0], 0.6), jolted[2:, 0])
    actor.edit(55, arm, jolted)
    assert HandSmoothness.over(actor, limb, np.arange(61, 130), after=True).enough > 1.5
