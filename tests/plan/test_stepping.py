"""Feet touch and press things, the weight over the other one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import about
from elbowroom.geometry.solids import box, sphere
from elbowroom.geometry.transforms import transform
from elbowroom.motion.quality import worst_quality
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import Plan
from elbowroom.plan.tasks import Press, Reach, Touch
from elbowroom.posing.balance import balance_margin
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Still
from elbowroom.world.things import Fixture, Joint
from elbowroom.world.world import World


@cache
def yard() -> World:
    """A woman before a ball, a post and a pedal."""
    world = World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=5.0, fps=60.0))
    world = world.with_object("ball", sphere(0.11), Still(transform([-0.2, -0.48, 0.1105])))
    world = world.with_static("post", box((0.08, 0.08, 0.5), (-0.02, -0.4, 0.25)))
    joint = Joint("slides", np.array([0.0, 0.0, -1.0]), (0.0, 0.03))
    handle = transform([0.0, 0.0, 0.01], about([0.0, 1.0, 0.0], -np.pi / 2))
    pedal = Fixture.at(box((0.1, 0.2, 0.02)), joint, transform([0.16, -0.36, 0.06]), frames={"handle": handle})
    return world.with_fixture("pedal", pedal)


@cache
def touched() -> Plan:
    return plan_tasks(yard(), [Touch(who="ann", target="ball", foot="right", at=2.5)])


def check_standing(plan: Plan, foot: str) -> None:
    """One foot never moves, and the body never falls over."""
    clip = plan.world.motion("ann")
    at = np.array([plan.world.frame(f"ann.{foot}_foot", t) for t in np.linspace(*plan.world.span, 60)])
    assert np.abs(at - at[0]).max() < 2e-3
    poses = [Pose.of(root, q) for root, q in zip(clip.root[::5], clip.rotations[::5], strict=True)]
    assert min(balance_margin(clip.body, pose) for pose in poses) > 0.02
    quality = worst_quality([clip])
    assert quality.foot_slide_m < 0.01 and quality.limit_violations == 0


def test_a_foot_touches_a_ball_at_its_time() -> None:
    plan = touched()
    assert plan.found, plan.advice
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    assert {p.limb for p in plan.edits} == {"right_leg"}
    exact = ExactWorld(plan.world)
    names = dict.fromkeys(p.name for p in exact.parts if p.name.startswith(("ann.right_foot", "ann.right_toe")))

    def gap(t: float) -> float:
        exact.place(t)
        return min(exact.distance((name, "ball")).value or 0.0 for name in names)

    assert abs(gap(2.5)) < 0.001, "it touches"
    assert gap(1.0) > 0.1 and gap(plan.world.span[1]) > 0.1
    check_standing(plan, "left")


def test_the_other_foot_bears_the_weight_while_one_is_up() -> None:
    world = touched().world
    clip = world.motion("ann")
    height = [world.frame("ann.right_toes", t)[2, 3] for t in np.linspace(*world.span, 200)]
    assert max(height) > 0.08
    k = int(2.5 * clip.fps)
    com = center_of_mass(clip.body, clip.body.transforms(clip.root[k : k + 1], clip.rotations[k : k + 1]))[0]
    assert np.linalg.norm(com[:2] - world.frame("ann.left_foot", 2.5)[:2, 3]) < 0.12


def test_a_pedal_goes_down_under_the_foot_and_comes_back() -> None:
    plan = plan_tasks(yard(), [Press(who="ann", fixture="pedal", foot="left", at=3.0)])
    assert plan.found, plan.advice
    pedal = plan.world.objects["pedal"]
    assert isinstance(pedal, Fixture)
    states = [pedal.state(t) for t in (2.9, 3.35, 3.8)]
    assert np.allclose(states, [0.0, 0.03, 0.0], atol=1e-3)
    check_standing(plan, "right")


def test_a_foot_reaches_a_point_and_what_is_too_far_is_told() -> None:
    plan = plan_tasks(yard(), [Reach(who="ann", to=(-0.25, -0.35, 0.25), foot="right", at=2.4)])
    assert plan.found, plan.advice
    assert np.linalg.norm(plan.world.frame("ann.right_toes", 2.4)[:3, 3] - [-0.25, -0.35, 0.25]) < 0.12
    far = plan_tasks(yard(), [Reach(who="ann", to=(-0.2, -2.0, 0.3), foot="right")])
    assert far.status == "target-out-of-reach" and "in balance" in far.why


def test_who_walks_needs_both_feet() -> None:
    world = World(floor=0.0).with_character("bob", er.walk(er.preset("man"), seconds=2.0))
    plan = plan_tasks(world, [Reach(who="bob", to=(0.0, -1.0, 0.3), foot="left")])
    assert plan.status == "out-of-balance" and "is walking" in plan.why


@pytest.mark.parametrize("at", [0.2, 0.5])
def test_too_little_time_is_told(at: float) -> None:
    plan = plan_tasks(yard(), [Touch(who="ann", target="ball", foot="right", at=at)])
    assert plan.status == "too-little-time" and "too early" in plan.why
