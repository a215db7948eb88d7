"""The free arm gets out of the way of things while the other hand works."""

from __future__ import annotations

from functools import cache

import numpy as np

import elbowroom as er
from elbowroom.character.hands import grip_frame
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box, sphere
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.freeing import clear_free_arm, free_arm
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Reach
from elbowroom.plan.verbs.touch import reach_to
from elbowroom.world.world import World

GOAL = (-0.1, -0.8, 0.5)
# where the fingertips of her left hand pass by half way to that goal
BALL = np.array([0.325, -0.132, 0.557])


@cache
def bare() -> World:
    """A woman who stands in the open."""
    return World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=2.0, fps=60.0))


@cache
def reaching() -> Plan:
    """She bends far down to a point with her right hand."""
    return plan_tasks(bare(), [Reach(who="ann", hand="right", to=GOAL)]).require()


def test_the_free_hand_goes_round_what_is_on_its_way() -> None:
    """It is free of the ball where she begins and where she ends, and would pass through it in between."""
    world = bare().with_static("ball", sphere(0.02).moved(_at(BALL)))
    clip = reaching().world.motion("ann")
    tips = clip.world()[:, clip.character.role("left_middle3"), :3, 3]
    assert np.linalg.norm(tips - BALL, axis=1).min() < 0.01
    plan = plan_tasks(world, [Reach(who="ann", hand="right", to=GOAL)])
    assert plan.found, plan.why
    assert any(p.limb == "left_arm" and "ball" in p.reason for p in plan.edits), [p.reason for p in plan.edits]
    t = next(p for p in plan.edits if p.limb == "right_arm").during[1]
    grip = plan.world.hand("ann", "right", t) @ grip_frame(plan.world.body("ann"), "right")
    assert np.linalg.norm(grip[:3, 3] - GOAL) < 1e-3, "the hand at work stays where it has to be"


def test_a_free_hand_that_would_hang_into_a_table_is_raised() -> None:
    clip = reaching().world.motion("ann")
    assert isinstance(clip, Clip)
    k = round(reaching().edits[0].during[1] * clip.fps)
    pose = Pose.of(clip.root[k], clip.rotations[k])
    body = bare().body("ann")
    palm = body.skeleton.at(pose)[body.hand("left")[0], :3, 3]
    table = box((0.3, 0.3, 0.04)).moved(_at(palm))
    postures = Postures(bare().with_static("table", table), "ann", 0.0)
    assert not postures.valid(pose)
    cleared = clear_free_arm(postures, body, pose, "left_arm", 0.005)
    assert cleared is not None and postures.valid(cleared)
    arm = set(body.subtree(body.chain("left_arm").joints[0]))
    rest = [j for j in range(len(body.parents)) if j not in arm]
    assert np.array_equal(cleared.rotations[rest], pose.rotations[rest]), "only the free arm is moved"
    shoulder, elbow = body.skeleton.at(cleared)[list(body.chain("left_arm").joints[:2]), :3, 3]
    assert elbow[2] < shoulder[2], "people do not raise the elbow above the shoulder for that"


def test_an_arm_that_a_task_has_left_somewhere_is_not_free() -> None:
    d = Director(bare(), Settings(), 60.0, 0)
    actor = d.actor("ann")
    assert free_arm(d.world, actor, "right", actor.k) == "left_arm"
    reach_to(d, Reach(who="ann", hand="left", to=(0.35, -0.35, 1.2)))
    assert free_arm(d.world, actor, "right", actor.k) is None
    assert [pin.part for pin in d.pins] == ["left"] and d.pins[0].during[0] == actor.now


def _at(point: Array) -> Array:
    T = np.eye(4)
    T[:3, 3] = point
    return T
