"""An object goes from one hand to the other, and what is left in a drawer goes with the drawer."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.geometry.solids import box, cylinder
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.plan.checks.hands import released
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import Plan, PlanningFailure
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Grab, Regrasp, Task
from elbowroom.plan.verbs import leave
from elbowroom.plan.verbs.fixtures import moved_along
from elbowroom.plan.verbs.grab import grab
from elbowroom.plan.verbs.grips import is_pole, pole_grasps
from elbowroom.world.paths import Still
from elbowroom.world.things import Fixture, Joint
from elbowroom.world.world import World


@cache
def room() -> World:
    """A woman before a table with a bottle on it, and a cup."""
    ann = er.idle(er.preset("woman"), seconds=2.0, fps=60.0)
    world = World(floor=0.0).with_character("ann", ann)
    world = world.with_static("table", box((0.9, 0.3, 0.03), (0.0, -0.5, 0.885)))
    world = world.with_object("bottle", cylinder(0.035, 0.28), Still(transform([-0.25, -0.42, 1.0402])), mass=0.5)
    return world.with_object("cup", cylinder(0.035, 0.1), Still(transform([0.25, -0.42, 0.9502])), mass=0.2)


@cache
def passed() -> Plan:
    return plan_tasks(room(), [Grab(who="ann", object="bottle", hand="right"), Regrasp(who="ann", object="bottle")])


def test_the_other_hand_takes_it_before_the_first_lets_go() -> None:
    plan = passed()
    assert plan.found, plan.advice
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    first, second = plan.world.holds
    assert (first.hand, second.hand) == ("right", "left")
    assert first.during[1] - second.during[0] == pytest.approx(0.12, abs=1 / 60), "both hold it for a moment"
    assert second.during[1] >= plan.world.span[1]


def test_hands_stay_where_they_hold_it() -> None:
    world = passed().world
    for hold in world.holds:
        times = np.arange(hold.during[0], min(hold.during[1], world.span[1]), 1 / 240)
        T = [inverse(world.frame("bottle", t)) @ world.hand("ann", hold.hand, t) for t in times]
        assert max(np.linalg.norm(t[:3, 3] - T[0][:3, 3]) for t in T) < 1e-3
        turns = [np.arccos(np.clip(0.5 * (np.trace(T[0][:3, :3].T @ t[:3, :3]) - 1.0), -1.0, 1.0)) for t in T]
        assert max(turns) < np.radians(0.5)
    end = world.span[1]
    bottle = world.frame("bottle", end)[:3, 3]
    far = {hand: np.linalg.norm(world.hand("ann", hand, end)[:3, 3] - bottle) for hand in ("left", "right")}
    assert far["left"] < 0.2 < far["right"], "the first hand is back at her side"


HELD = {
    "not held": ((), Regrasp(who="ann", object="bottle"), "nobody holds it, ann must grab it first"),
    "in that hand": (
        (("bottle", "left"),),
        Regrasp(who="ann", object="bottle", hand="left"),
        "the left hand of ann holds it already",
    ),
    "other hand busy": (
        (("bottle", "left"), ("cup", "right")),
        Regrasp(who="ann", object="bottle"),
        "the right hand of ann holds 'cup'",
    ),
}


@pytest.mark.parametrize(("holds", "task", "said"), HELD.values(), ids=HELD.keys())
def test_why_hands_cannot_change(holds: tuple[tuple[str, str], ...], task: Task, said: str) -> None:
    world = room()
    for thing, hand in holds:
        place = transform([0.0, 0.0, -0.1])
        world = world.with_hold(thing, "ann", hand, (0.0, 1e6), place)
    plan = plan_tasks(world, [task], Settings(probes=0, tier="ik"))
    assert (plan.status, plan.why) == ("hand-not-free", f"regrasp bottle: {said}")


def test_what_is_left_in_a_drawer_goes_with_it() -> None:
    joint = Joint("slides", np.array([0.0, -1.0, 0.0]), (0.0, 0.4))
    world = room().with_fixture("drawer", Fixture.at(box((0.4, 0.4, 0.1)), joint, transform([0.0, -0.5, 0.6]), 0.3))
    world = world.with_hold("bottle", "ann", "right", (0.0, 1e6), transform([0.0, 0.0, -0.1]))
    left = released(world, "bottle", 0.5, on=["drawer"])
    shut = moved_along(left, "drawer", np.array([1.0, 2.0]), np.array([0.3, 0.1]))
    before, middle, after = (shut.frame("bottle", t)[:3, 3] for t in (0.9, 1.5, 3.0))
    np.testing.assert_allclose(before, world.frame("bottle", 0.5)[:3, 3], atol=1e-12)
    np.testing.assert_allclose(middle - before, [0.0, 0.1, 0.0], atol=1e-9)
    np.testing.assert_allclose(after - before, [0.0, 0.2, 0.0], atol=1e-9)
    beside = released(world, "bottle", 0.5, on=["drawer", "table"])
    still = moved_along(beside, "drawer", np.array([1.0, 2.0]), np.array([0.3, 0.1]))
    np.testing.assert_allclose(still.frame("bottle", 3.0)[:3, 3], before, atol=1e-12)


def test_hands_are_one_above_the_other_on_a_pole() -> None:
    pole, T = cylinder(0.02, 0.9), transform([0.1, -0.42, 1.1])
    assert is_pole(pole)
    assert not is_pole(cylinder(0.02, 0.3)) and not is_pole(box((0.3, 0.2, 0.02))) and not is_pole(box((0.12, 0.12, 1)))
    world = room().with_object("pole", pole, Still(T))
    pairs = pole_grasps(world, Director(world, Settings(), 60.0, 0).actor("ann"), "pole", [T])
    assert pairs and all((a.hand, b.hand) == ("left", "right") for a, b in pairs)
    heights = np.array([[g.T_thing_hand[2, 3] for g in pair] for pair in pairs])
    assert np.abs(heights[:, 0] - heights[:, 1]).min() > 0.2, "two fists at one place have no room"
    assert len(np.unique(heights.round(2))) > 5, "all along the pole"


def test_fingers_do_not_sweep_through_what_they_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    d = Director(room(), Settings(), 60.0, 0)
    grab(d, Grab(who="ann", object="bottle", hand="right"))
    actor = d.actor("ann")
    d.world = released(d.world, "bottle", actor.now)
    tries: list[str] = []

    def depart(d: Director, actor: Actor, hand: str, goals: object, what: str) -> None:
        tries.append(what)
        if len(tries) == 1:
            raise PlanningFailure("no-path", "open fingers find no way off")

    monkeypatch.setattr(leave, "depart", depart)
    with pytest.raises(PlanningFailure, match="open fingers"):
        leave.let_go(d, actor, "right", "bottle", d.take.grips["bottle"].open, [-actor.body.front], "leave bottle")
    assert len(tries) == 1, "stretched fingers would go through the bottle"
