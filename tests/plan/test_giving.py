"""Things are held out, and handed over from one person to another."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import BadValue
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.rotations import about, multiply
from elbowroom.geometry.solids import box, cylinder
from elbowroom.geometry.transforms import transform
from elbowroom.motion.edit import place
from elbowroom.motion.quality import worst_quality
from elbowroom.plan.checks.hands import as_it_stood
from elbowroom.plan.footing import on_footing
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Drop, Grab, Handover, HoldOut, Put
from elbowroom.plan.verbs.handover_passing import alongside
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world.paths import Still
from elbowroom.world.world import World


@cache
def shop(apart: float = 1.15) -> World:
    """Two people face each other; the woman has a table with a bottle at her right, the man an empty one beside him."""
    ann = er.idle(er.preset("woman"), seconds=6.0, fps=60.0)
    bob = place(er.idle(er.preset("man"), seconds=6.0, fps=60.0, seed=2), (0.0, -apart), np.pi)
    world = World(floor=0.0).with_character("ann", ann).with_character("bob", bob)
    world = world.with_static("table", box((0.5, 0.5, 0.03), (-0.6, -0.2, 0.885)))
    world = world.with_static("stand", box((0.4, 0.4, 0.03), (-0.65, -apart + 0.3, 0.885)))
    return world.with_object("bottle", cylinder(0.035, 0.28), Still(transform([-0.42, -0.25, 1.0402])), mass=0.5)


@cache
def given() -> Plan:
    """The bottle is handed over at 4 s, and then put down by whom it was given to."""
    return plan_tasks(shop(), [*_given_tasks(at=4.0), Put(who="bob", object="bottle", to=(-0.6, -0.85, 1.0402))])


def test_a_bottle_is_handed_over() -> None:
    plan = given()
    assert plan.found, plan.advice
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    first, second = plan.world.holds
    assert (first.by, second.by) == ("ann", "bob") and first.during[1] - second.during[0] == pytest.approx(
        0.12, abs=1 / 60
    )


def test_it_is_taken_before_it_is_let_go_and_does_not_jump() -> None:
    world = given().world
    passed = world.holds[0].during[1]
    # both hands lie still at it for a while before and after
    for hold in world.holds:
        grips = [
            np.linalg.inv(world.hand(hold.by, hold.hand, t)) @ world.frame("bottle", t)
            for t in passed + np.array([-0.1, 0.0, 0.05])
        ]
        assert np.allclose(grips[0], grips[1], atol=1e-6) and np.allclose(grips[1], grips[2], atol=1e-6)
        assert np.linalg.norm(grips[0][:3, 3]) < 0.25
    times = np.linspace(passed - 0.05, passed + 0.05, 101)
    places = np.array([world.frame("bottle", t)[:3, 3] for t in times])
    assert np.abs(np.diff(places, axis=0)).max() < 1e-3
    end = world.span[1]
    left = np.linalg.norm(world.hand("ann", world.holds[0].hand, end)[:3, 3] - world.frame("bottle", end)[:3, 3])
    assert left > 0.3, "her hand is back at her side"
    assert abs(world.frame("bottle", passed)[2, 2]) > 0.99, "it is handed over upright"


def test_the_gallery_hands_a_bottle_over_a_counter() -> None:
    board = scenario("handover").board()
    plan = plan_storyboard(board, seed=1)
    assert plan.found, plan.advice
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    assert [hold.by for hold in plan.world.holds] == ["ann", "bob"]
    assert worst_quality(plan.world.characters.values()).foot_slide_m < 0.005


def test_the_place_is_between_the_two() -> None:
    world = given().world
    at = world.frame("bottle", world.holds[0].during[1])[:3, 3]
    assert -0.85 < at[1] < -0.3 and abs(at[0]) < 0.4 and 0.9 < at[2] < 1.5


def test_the_taker_goes_on_with_it() -> None:
    plan = given()
    assert plan.world.holds[1].during[0] == pytest.approx(4.0, abs=1 / 60), "both have it from that time on"
    assert np.allclose(plan.world.frame("bottle", plan.world.span[1])[:3, 3], [-0.6, -0.85, 1.0402], atol=2e-3)


def _given_tasks(at: float | None = None, feet: Literal["auto", "stay"] = "auto") -> list[Grab | Handover]:
    return [Grab(who="ann", object="bottle"), Handover(who="ann", object="bottle", to="bob", at=at, feet=feet)]


def test_people_who_stand_too_far_apart_say_so() -> None:
    plan = plan_tasks(shop(3.0), _given_tasks(feet="stay"), Settings(probes=0))
    assert plan.status == "target-out-of-reach"
    said = re.fullmatch(r"hand over bottle: ann and bob stand at least (0\.\d\d) m too far apart", plan.why)
    assert said and 0.4 < float(said[1]) < 1.2, "both have to come nearer, to 1.8 m or more"
    with pytest.raises(BadValue, match="another character"):
        plan_tasks(shop(), [Handover(who="ann", object="bottle", to="ann")])


def test_a_bottle_is_held_out_for_a_while_and_then_dropped() -> None:
    tasks = [
        Grab(who="ann", object="bottle"),
        HoldOut(who="ann", object="bottle", to=(-0.15, -0.45, 1.3), at=3.0, seconds=0.8),
        Drop(who="ann", object="bottle"),
    ]
    plan = plan_tasks(shop(), tasks)
    assert plan.found, plan.advice
    for t in (3.0, 3.4, 3.8):
        assert np.allclose(plan.world.frame("bottle", t)[:3, 3], [-0.15, -0.45, 1.3], atol=2e-3)
    assert plan.world.frame("bottle", plan.world.span[1])[2, 3] == pytest.approx(0.14, abs=0.002), "on the floor"


def test_sides_are_those_of_the_body() -> None:
    for toward, axis, sign in (("left", 0, 1.0), ("up", 2, 1.0)):
        plan = plan_tasks(
            shop(),
            [
                Grab(who="ann", object="bottle", hand="left"),
                HoldOut(who="ann", object="bottle", toward=toward, seconds=0.2),
            ],
        )
        assert plan.found, (toward, plan.advice)
        hold = next(p for p in plan.edits if p.reason == "hold out bottle")
        chest, hand = plan.world.frame("ann.chest", hold.during[1]), plan.world.hand("ann", "left", hold.during[1])
        assert sign * (hand - chest)[axis, 3] > 0.3, toward


def test_what_stood_stands_again_after_it_was_handed_over_tilted() -> None:
    stood = transform([1.0, 2.0, 0.8], about([0.0, 0.0, 1.0], 0.4))
    given = transform([0.0, 0.5, 1.1], multiply(about([0.0, 0.0, 1.0], 1.5), about([1.0, 0.0, 0.0], 0.6)))
    taken = as_it_stood(given, stood)
    np.testing.assert_allclose(taken[:3, 2], [0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(taken[:3, 3], given[:3, 3])
    assert taken[0, 0] == pytest.approx(np.cos(1.5), abs=0.01)


def test_a_giver_whose_walk_never_rests_gives_at_its_end() -> None:
    ann = er.walk(er.preset("woman"), speed=0.9, seconds=3.0, fps=60.0)
    end = ann.root[-1, :2]
    bob = place(er.idle(er.preset("man"), seconds=1.0, fps=60.0), tuple(end + np.array([0.1, -0.95])), np.pi)
    world = World(floor=0.0).with_character("ann", ann).with_character("bob", bob)
    d = Director(world, Settings(), 60.0, 0)
    on_footing(d, Handover(who="ann", object="cup", to="bob"), lambda: None)
    assert d.actor("ann").now == pytest.approx(ann.span[1]) and d.actor("ann").stands


@cache
def side_by_side() -> Plan:
    """A bottle is taken in passing and handed to somebody who walks beside."""
    return plan_storyboard(scenario("handover-walking").board())


def test_people_who_walk_side_by_side_hand_over_on_the_way() -> None:
    plan = side_by_side()
    assert plan.found and plan.certificate is not None and plan.certificate.free, plan.why
    first, second = plan.world.holds
    assert (first.by, second.by) == ("ann", "bob")
    assert second.during[0] == pytest.approx(5.0, abs=0.02), "both have it at the time of the task"
    assert first.during[1] - second.during[0] == pytest.approx(0.12, abs=0.02)


def test_both_go_on_during_the_handover_and_the_bottle_does_not_jump() -> None:
    plan, board = side_by_side(), scenario("handover-walking").board()
    times = np.arange(4.0, 6.5, 1 / 240)
    for who in ("ann", "bob"):
        root, base = (world.characters[who].sample(times)[0] for world in (plan.world, board.world))
        assert np.array_equal(root, base), "their walks are not changed"
    path = np.stack([plan.world.frame("bottle", t)[:3, 3] for t in times])
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() < 3.0 / 240, "metres a sample, at 3 m/s"


def test_people_who_walk_far_apart_do_not_hand_over_in_passing() -> None:
    walk = er.walk(er.preset("woman"), seconds=4.0)
    world = World(floor=0.0).with_character("ann", walk).with_character("bob", place(walk, (3.0, 0.0), 0.0))
    d = Director(world, Settings(), 60.0, 0)
    assert not alongside(d, Handover(who="ann", object="bottle", to="bob"))
    near = Director(world.with_character("bob", place(walk, (0.8, 0.0), 0.0)), Settings(), 60.0, 0)
    assert alongside(near, Handover(who="ann", object="bottle", to="bob"))
