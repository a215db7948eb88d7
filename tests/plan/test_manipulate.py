"""Tasks of hands, from bad input to things put where they belong."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.hands import grip_frame
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.solids import box, cylinder
from elbowroom.geometry.transforms import transform
from elbowroom.motion.quality import worst_quality
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.prove import prove
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Close, Grab, Open, Press, Put, Reach, Rest, Touch
from elbowroom.world.paths import Still
from elbowroom.world.things import Fixture, Joint
from elbowroom.world.world import World
from tools.made_of_edits import assert_made_of_edits


@cache
def room() -> World:
    """A woman before a table with a can and a box on it, and a shelf above."""
    ann = er.idle(er.preset("woman"), seconds=5.0, fps=60.0)
    world = World(floor=0.0).with_character("ann", ann)
    world = world.with_static("table", box((1.2, 0.5, 0.03), (0.0, -0.6, 0.885)))
    world = world.with_static("shelf", box((1.2, 0.25, 0.02), (0.0, -0.7, 1.34)))
    world = world.with_object("can", cylinder(0.033, 0.12), Still(transform([-0.15, -0.52, 0.9602])), mass=0.3)
    return world.with_object("pack", box((0.06, 0.09, 0.14)), Still(transform([-0.36, -0.52, 0.9702])), mass=0.4)


def plan_shelved() -> Plan:
    """The can is put on the shelf."""
    return plan_tasks(room(), [Grab(who="ann", object="can"), Put(who="ann", object="can", to=(-0.1, -0.68, 1.4102))])


shelved = cache(plan_shelved)


def test_a_can_is_taken_and_put_on_the_shelf() -> None:
    plan = shelved()
    assert plan.found, plan.advice
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    end = plan.world.span[1]
    assert np.allclose(plan.world.frame("can", end)[:3, 3], [-0.1, -0.68, 1.4102], atol=1e-3)
    assert np.allclose(plan.world.frame("can", end)[:3, :3], np.eye(3), atol=1e-3)
    quality = worst_quality(plan.world.characters.values())
    assert quality.foot_slide_m < 0.005
    assert_made_of_edits(plan)
    weaker = prove(plan.muted("put can"))
    assert weaker.status == "not-certified" and not weaker.found and weaker.why


def test_the_hand_is_on_the_can_while_it_holds_it() -> None:
    plan = shelved()
    (hold,) = plan.world.holds
    assert hold.during[1] - hold.during[0] > 1.0
    for t in np.linspace(*hold.during, 20):
        hand, can = plan.world.hand("ann", hold.hand, t), plan.world.frame("can", t)
        assert np.allclose(hand @ hold.T_hand_object, can, atol=1e-3)
        assert np.linalg.norm(hand[:3, 3] - can[:3, 3]) < 0.16


def test_the_same_seed_gives_the_same_motion() -> None:
    a, b = (plan.require().world.motion("ann") for plan in (shelved(), plan_shelved()))
    assert np.array_equal(a.rotations, b.rotations) and np.array_equal(a.root, b.root)


def test_a_task_at_a_time_is_there_at_that_time() -> None:
    plan = plan_tasks(room(), [Grab(who="ann", object="can", at=3.5)])
    assert plan.found, plan.advice
    approach = [p for p in plan.edits if p.reason == "grab can"][-1]
    assert approach.during[1] == pytest.approx(3.5, abs=1 / 60)
    assert plan.edits[0].during[0] > 1.0, "she waits, then goes at her usual speed"
    early = plan_tasks(room(), [Grab(who="ann", object="can", at=0.2)])
    assert early.status == "too-little-time" and "too early" in early.why


def test_tiers_by_choice() -> None:
    reach = [Reach(who="ann", hand="right", to=(-0.2, -0.55, 1.15))]
    assert {p.tier for p in plan_tasks(room(), reach, Settings(tier="ik")).edits} == {"ik"}
    planned = plan_tasks(room(), reach, Settings(tier="plan"))
    assert planned.found and {p.tier for p in planned.edits} == {"plan"}


def test_a_hand_reaches_a_point_with_the_middle_of_its_grip() -> None:
    from elbowroom.character.hands import grip_frame

    point = np.array([-0.2, -0.55, 1.15])
    plan = plan_tasks(room(), [Reach(who="ann", hand="right", to=tuple(point), at=1.5)])
    assert plan.found, plan.advice
    grip = plan.world.hand("ann", "right", 1.5) @ grip_frame(plan.world.body("ann"), "right")
    assert np.linalg.norm(grip[:3, 3] - point) < 1e-3


def drawer() -> World:
    """A chest with a drawer that has a bar for a handle."""
    ann = er.idle(er.preset("woman"), seconds=5.0, fps=60.0)
    bar = cylinder(0.006, 0.14)
    turned = bar.moved(transform([0.0, 0.0, 0.0], [np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0]))
    posts = [box((0.008, 0.045, 0.008), (x, -0.0225, 0.0)) for x in (-0.06, 0.06)]
    front = box((0.5, 0.02, 0.16), (0.0, -0.055, 0.0))
    from elbowroom.geometry.solids import merge

    handle = np.eye(4)
    handle[:3, :3] = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    part = Fixture.at(
        merge([turned, *posts, front]),
        Joint("slides", np.array([0.0, 1.0, 0.0]), (0.0, 0.3)),
        transform([-0.1, -0.55, 0.95]),
        frames={"handle": handle},
    )
    return World(floor=0.0).with_character("ann", ann).with_fixture("drawer", part)


def test_a_drawer_is_opened_and_closed() -> None:
    plan = plan_tasks(drawer(), [Open(who="ann", fixture="drawer", to=0.2), Close(who="ann", fixture="drawer")])
    assert plan.found, plan.advice
    fixture = plan.world.objects["drawer"]
    assert isinstance(fixture, Fixture)
    states = [fixture.state(t) for t in np.linspace(*plan.world.span, 400)]
    assert max(states) == pytest.approx(0.2, abs=1e-6) and states[-1] == pytest.approx(0.0, abs=1e-6)


def test_what_cannot_be_done_is_told() -> None:
    far = plan_tasks(room(), [Reach(who="ann", to=(0.0, -3.0, 1.0), feet="stay")])
    assert far.status == "target-out-of-reach" and " m out of reach" in far.why
    inside = plan_tasks(room(), [Reach(who="ann", to=(0.3, -0.6, 0.885), feet="stay")])
    assert inside.status == "target-in-collision" and "table" in inside.why
    with pytest.raises(BadValue, match="finite"):
        plan_tasks(room(), [Reach(who="ann", to=(np.nan, 0.0, 1.0))])
    with pytest.raises(UnknownName, match="can"):
        plan_tasks(room(), [Grab(who="ann", object="cam")])
    holding = plan_tasks(
        room(), [Grab(who="ann", object="can", hand="right"), Grab(who="ann", object="pack", hand="right")]
    )
    assert holding.status == "hand-not-free" and "'can'" in holding.why
    with pytest.raises(Exception, match="no motion was found"):
        far.require()


def test_behind_a_wall_there_is_no_path_and_that_is_found_out_without_a_budget() -> None:
    world = room().with_static("wall", box((3.0, 0.02, 3.0), (0.0, -0.3, 1.5)))
    plan = plan_tasks(world, [Grab(who="ann", object="can", feet="stay")])
    assert plan.status in ("no-path", "target-in-collision") and "wall" in plan.why


def test_the_clock_ends_a_plan_and_changes_none() -> None:
    plan = plan_tasks(room(), [Grab(who="ann", object="can")], budget=1e-6)
    assert plan.status == "budget-spent" and "spent" in plan.why and not plan.edits


def test_what_a_hand_holds_already_is_not_grabbed_again() -> None:
    beside = grip_frame(room().body("ann"), "right") @ transform([-0.08, 0.0, 0.0])  # on the back of the hand
    held = room().with_hold("can", "ann", "right", T_hand_object=beside)
    for hand in (None, "right"):
        plan = plan_tasks(held, [Grab(who="ann", object="can", hand=hand)])
        assert plan.status in ("found", "not-certified") and not plan.edits
        assert any("ann holds it in the right hand already; nothing to do" in note for note in plan.world.notes)
    with pytest.raises(BadValue, match=r"holds it in the right hand already; to change hands use regrasp"):
        plan_tasks(held, [Grab(who="ann", object="can", hand="left")])
    both = held.with_character("bob", er.place(er.idle(er.preset("man"), seconds=5.0, fps=60.0), (0.0, -1.3), np.pi))
    taken = plan_tasks(both, [Grab(who="bob", object="can")])
    assert taken.status == "hand-not-free" and "ann holds it in the right hand already" in taken.why
    assert "hand it over or put it down first" in taken.why


def test_a_rig_without_the_limb() -> None:
    body = er.preset("woman")
    without = body.with_(chains={n: c for n, c in body.chains.items() if n != "left_arm"})
    world = room().with_character("ann", er.idle(body, seconds=1.0).with_(character=without))
    with pytest.raises(UnknownName, match="left_arm"):
        plan_tasks(world, [Grab(who="ann", object="can", hand="left")])


def test_touch_and_rest() -> None:
    plan = plan_tasks(room(), [Touch(who="ann", target="table", hand="right"), Rest(who="ann")])
    assert plan.found, plan.advice


def test_press() -> None:
    ann = er.idle(er.preset("woman"), seconds=4.0, fps=60.0)
    button = Fixture.at(
        box((0.03, 0.02, 0.03), (0.0, -0.01, 0.0)),
        Joint("slides", np.array([0.0, -1.0, 0.0]), (0.0, 0.005)),
        transform([-0.2, -0.5, 1.2]),
        frames={"handle": _facing()},
    )
    plan = plan_tasks(
        World(floor=0.0).with_character("ann", ann).with_fixture("button", button), [Press(who="ann", fixture="button")]
    )
    assert plan.found, plan.advice
    pressed = plan.world.objects["button"]
    assert isinstance(pressed, Fixture)
    states = [pressed.state(t) for t in np.linspace(*plan.world.span, 600)]
    assert max(states) == pytest.approx(0.005, abs=1e-4) and states[-1] == pytest.approx(0.0, abs=1e-9)


def _facing() -> np.ndarray:
    """x towards the person, who stands at +Y of it."""
    T = np.eye(4)
    T[:3, :3] = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    return T
