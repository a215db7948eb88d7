"""A plan that fails says why, and names a change only if it was tried and works."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

import elbowroom as er
from elbowroom.geometry.solids import box, merge
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place
from elbowroom.plan import manipulate
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.reasons import start_failure, target_failure
from elbowroom.plan.state.result import ADVICE
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Grab, Move, Put, Reach, Touch
from elbowroom.plan.walking import approach
from elbowroom.world.paths import Keyed, Still
from elbowroom.world.world import World


@cache
def standing() -> Clip:
    return er.idle(er.preset("woman"), seconds=2.0, fps=60.0)


def world(clip: Clip | None = None) -> World:
    return World(floor=0.0).with_character("ann", clip or standing())


def test_who_stands_below_the_floor_is_told_by_how_much_and_lifted() -> None:
    plan = plan_tasks(world(place(standing(), lift=-0.19)), [Reach(who="ann", to=(-0.2, -0.5, 1.1))])
    assert plan.status == "start-in-collision" and "ann stands 19 cm below the floor" in plan.why
    assert plan.remedy.startswith("lifting ann by 0.19 m") and plan.remedy in plan.advice
    asked = [Reach(who="ann", to=(-0.2, -0.5, 1.1))]
    unasked = plan_tasks(world(place(standing(), lift=-0.19)), asked, Settings(probes=0))
    assert unasked.verified == "" and unasked.advice.endswith(f"{ADVICE['start-in-collision']}.")


def test_who_stands_in_something_is_told_in_what_and_moved() -> None:
    post = world().with_static("post", box((0.1, 0.1, 2.0), (0.0, 0.12, 1.0)))
    plan = plan_tasks(post, [Reach(who="ann", to=(-0.3, -0.5, 1.1))])
    assert plan.status == "start-in-collision" and "already inside post at the start by" in plan.why
    assert plan.remedy.startswith("moving ann by (") and "(verified)" in plan.remedy


def test_a_goal_out_of_reach_says_how_far_and_how_near_would_do() -> None:
    plan = plan_tasks(world(), [Reach(who="ann", to=(-0.2, -1.6, 1.1), feet="stay")])
    assert plan.status == "target-out-of-reach" and "m out of reach" in plan.why
    assert plan.remedy.startswith("moving ann 0.") and "towards the target works (verified)" in plan.remedy


def test_a_target_above_all_reach_is_refused_without_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approach, "walk_through", None)
    plan = plan_tasks(world(), [Reach(who="ann", to=(-0.2, -1.6, 2.9))], Settings(probes=0))
    assert plan.status == "target-out-of-reach" and "m out of reach, wherever ann stands" in plan.why
    assert "lower the target" in plan.advice
    assert plan_tasks(world(), [Reach(who="ann", to=(-0.2, -0.3, 1.9))], Settings(probes=0)).found


def test_the_other_hand_is_named_where_it_does() -> None:
    wall = world().with_static("wall", box((0.02, 2.0, 2.0), (-0.32, -0.6, 1.0)))
    task = Reach(who="ann", hand="right", to=(0.75, -0.1, 1.0), feet="stay")
    assert plan_tasks(wall, [task]).found  # with the whole body
    plan = plan_tasks(wall, [task], Settings(tier="plan"))
    assert not plan.found
    assert plan.remedy == "the left hand works (verified)", (plan.status, plan.why, plan.remedy)


def test_what_is_in_the_way_is_named_where_that_does_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = world().with_static("block", box((0.3, 0.3, 0.3), (-0.2, -0.5, 1.1)))
    plan = plan_tasks(blocked, [Reach(who="ann", to=(-0.2, -0.5, 1.1))])
    assert plan.status == "target-in-collision" and plan.why == "reach: the target is 15 cm inside block"
    assert plan.remedy == "removing block works (verified)"
    full = blocked.with_object("cube", box((0.06, 0.06, 0.06)), Still(transform([0.3, -0.5, 1.1])))
    monkeypatch.setattr(manipulate, "_planned", None)
    put = plan_tasks(full, [Put(who="ann", object="cube", to=(-0.2, -0.5, 1.1))], Settings(probes=0))
    assert put.status == "target-in-collision" and put.why.endswith("inside block")
    assert target_failure(full, [Put(who="ann", object="cube", to=(-0.2, -0.5, 1.281))]) is None  # on top of it
    assert target_failure(full, [Reach(who="ann", to=(-0.2, -0.62, 1.1))]) is None  # in a hand about its edge


def test_an_object_wedged_between_boards_is_refused_before_anything_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    def shelf(clear: float) -> World:
        boards = [box((1.0, 0.3, 0.02), (0.0, -0.6, z)) for z in (0.99, 1.01 + clear)]
        cube = box((0.06, 0.06, 0.06)), Still(transform([0.0, -0.6, 1.0304]))
        return world().with_static("shelf", merge(boards)).with_object("cube", *cube)

    grab = Grab(who="ann", object="cube")
    assert target_failure(shelf(0.3), [grab]) is None
    assert target_failure(shelf(0.0603), [grab]) is None, "it touches the upper board by less than a contact may"
    monkeypatch.setattr(manipulate, "_planned", None)
    plan = plan_tasks(shelf(0.05), [grab], Settings(probes=0))
    assert plan.status == "target-in-collision"
    assert plan.why == "grab cube: it starts inside shelf: raise it by 7 cm"
    lifted = shelf(0.05).with_object("cube", box((0.06, 0.06, 0.06)), Still(transform([0.0, -0.6, 1.1004])))
    assert target_failure(lifted, [grab]) is None
    third = shelf(0.05).with_static("above", box((1.0, 0.3, 0.02), (0.0, -0.6, 1.12)))
    failed = target_failure(third, [grab])
    assert failed is not None
    assert failed.why == "grab cube: it starts 10 mm inside shelf; move it out"


def test_a_point_a_few_centimetres_inside_of_something_is_touched_before_it() -> None:
    blocked = world().with_static("block", box((0.3, 0.3, 0.3), (-0.2, -0.6, 1.1)))
    assert target_failure(blocked, [Touch(who="ann", target=(-0.2, -0.54, 1.1))]) is not None
    plan = plan_tasks(blocked, [Touch(who="ann", target=(-0.2, -0.48, 1.1))], Settings(probes=0))
    assert plan.found and "touch: the target is 30 mm inside block; its surface is touched." in plan.world.notes


def test_whole_bodies_are_not_asked_where_a_wall_is_in_between() -> None:
    task = Reach(who="ann", to=(-0.2, -0.5, 1.1), feet="stay")
    wall, hole = box((3.0, 0.02, 3.0), (0.0, -0.3, 1.5)), box((2.0, 0.02, 3.0), (1.0, -0.3, 1.5))
    assert Director(world().with_static("wall", wall), Settings(), 60.0, 0).walled_off(task)
    assert not Director(world().with_static("wall", hole), Settings(), 60.0, 0).walled_off(task)
    stepping = replace(task, feet="auto")
    assert not Director(world().with_static("wall", wall), Settings(), 60.0, 0).walled_off(stepping)


def test_another_seed_is_never_advised_untried() -> None:
    assert not any("seed" in text for text in ADVICE.values())
    with pytest.raises(er.errors.BadValue, match="probes"):
        Settings(probes=-1)


def test_objects_on_paths_that_overlap_at_the_start_are_refused_at_once() -> None:
    belt = world().with_static("belt", box((4.0, 0.5, 0.1), (0.0, -0.75, 0.75)))
    for name, x in (("parcel", -1.0), ("tin", -0.9)):
        along = Keyed.along([0.0, 8.0], [[x, -0.6, 0.9], [x + 2.0, -0.6, 0.9]])
        belt = belt.with_object(name, box((0.2, 0.2, 0.19)), along, mass=0.3)
    plan = plan_tasks(belt, [Grab(who="ann", object="tin")])
    assert plan.status == "start-in-collision" and plan.why.startswith("parcel and tin overlap at the start")
    apart = Keyed.along([0.0, 8.0], [[-1.4, -0.6, 0.9], [0.6, -0.6, 0.9]])
    belt = belt.with_object("parcel", box((0.2, 0.2, 0.19)), apart, mass=0.3)
    assert start_failure(belt, ["ann"]) is None


def test_both_hands_wait_until_a_belt_has_stopped() -> None:
    along = Keyed.along([0.0, 3.0], [[-1.0, -0.6, 0.9], [0.0, -0.6, 0.9]])
    for path, begin in ((along, 3.0), (Still(along(3.0)), 0.0)):
        d = Director(world().with_object("parcel", box((0.2, 0.2, 0.19)), path), Settings(), 60.0, 0)
        manipulate._wait_for(d, Move(who="ann", object="parcel", to=(0.2, -0.6, 0.9)), [], [])
        assert begin <= d.actor("ann").now < begin + 0.05
