"""Small, flat and heavy things in one hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import elbowroom as er
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import about
from elbowroom.geometry.solids import box, cylinder, merge, sphere, tube
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.course import facing, towards
from elbowroom.plan.checks.places import supported, supported_until
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Grab
from elbowroom.plan.verbs.grasp_choice import reachable_grasps
from elbowroom.plan.verbs.tilt import slide_to_edge
from elbowroom.plan.walking.stances import staggered, standing_on
from elbowroom.posing.grasps import closed_on
from elbowroom.props.kitchen import plate
from elbowroom.props.ornaments import globe
from elbowroom.props.wardrobe import hat
from elbowroom.world.certificate import certify
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Keyed, Still
from elbowroom.world.world import World

TOP_M, EDGE_M = 0.74, -0.25
LYING = transform(np.zeros(3), about([0.0, 1.0, 0.0], 0.5 * np.pi))
GRAB = Grab(who="ann", object="thing", hand="right")


def room(mesh: Mesh, mass: float | None = None) -> World:
    """A woman before a table with something on it; the table's edge is towards her."""
    world = World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0, fps=60.0))
    world = world.with_static("table", box([1.4, 0.7, 0.03], [0.0, EDGE_M - 0.35, TOP_M - 0.015]))
    T = transform([-0.1, -0.42, TOP_M + 0.0003 - float(mesh.bounds[0, 2])])
    return world.with_object("thing", mesh, Still(T), mass=mass)


def test_a_pen_is_taken_by_thumb_and_fingers() -> None:
    plan = plan_tasks(room(cylinder(0.005, 0.14).moved(LYING), 0.01), [GRAB])
    assert plan.found, plan.advice
    assert plan.certificate is not None and plan.certificate.free


def test_a_plate_is_slid_over_the_edge() -> None:
    world = room(plate())
    d = Director(world, Settings(), 60.0, 0)
    slide_to_edge(d, d.actor("ann"), Grab(who="ann", object="thing"))
    T = d.world.frame("thing", d.actor("ann").now)
    T_before = world.frame("thing", 0.0)
    out = float((d.world.objects["thing"].mesh.moved(T).vertices[:, 1]).max()) - EDGE_M
    assert 0.05 < out < 0.1 and T[1, 3] < EDGE_M  # it stands out, and does not fall
    assert abs(T[2, 3] - T_before[2, 3]) < 0.001 and np.allclose(T[:3, :3], T_before[:3, :3], atol=0.01)
    assert not any(hold.during[1] > d.actor("ann").now for hold in d.world.holds)


def test_a_hat_is_slid_by_its_crown_but_no_box_as_high() -> None:
    world = room(hat())
    d = Director(world, Settings(), 60.0, 0)
    slide_to_edge(d, d.actor("ann"), Grab(who="ann", object="thing"))
    assert d.world.frame("thing", d.actor("ann").now)[1, 3] > world.frame("thing", 0.0)[1, 3] + 0.05
    high = Director(room(box((0.3, 0.3, 0.125), (0.0, 0.0, 0.0625))), Settings(), 60.0, 0)
    with pytest.raises(PlanningFailure, match="there is no edge nearby, or it is not flat"):
        slide_to_edge(high, high.actor("ann"), Grab(who="ann", object="thing"))


def test_the_floor_has_no_edge_to_slide_over() -> None:
    world = room(plate())
    flat = world.with_(objects={}, static={}).with_object("thing", plate(), Still(transform([-0.1, -0.42, 0.0003])))
    d = Director(flat, Settings(), 60.0, 0)
    with pytest.raises(PlanningFailure, match="no edge"):
        slide_to_edge(d, d.actor("ann"), Grab(who="ann", object="thing"))


def test_a_wide_tin_is_taken_with_the_thumb_across_from_the_fingers() -> None:
    d = Director(room(cylinder(0.044, 0.11)), Settings(), 60.0, 0)
    actor = d.actor("ann")
    mesh = d.world.objects["thing"].mesh
    for taking in islice(reachable_grasps(d, actor, "thing", GRAB, "grab thing"), 3):
        assert closed_on(actor.body, mesh, taking.grasp).holds
    # hands that hold nothing are other ones, and come only where they are asked for
    for taking in islice(reachable_grasps(d, actor, "thing", GRAB, "grab thing", manner="loose"), 1):
        assert not closed_on(actor.body, mesh, taking.grasp).holds


def test_a_heavy_bar_is_refused() -> None:
    plan = plan_tasks(room(cylinder(0.015, 0.5).moved(LYING), 40.0), [GRAB], settings=Settings(probes=0))
    assert plan.status == "too-heavy" and "40 kg" in plan.why


def test_a_ring_with_nothing_in_its_middle_is_no_bad_value() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 33)[:-1]
    ring = tube(np.stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.0 * angle], axis=1), 0.008, ring=True)
    d = Director(room(ring), Settings(), 60.0, 0)
    try:
        slide_to_edge(d, d.actor("ann"), Grab(who="ann", object="thing"))
    except PlanningFailure as failed:
        assert "slide thing" in failed.why
    else:
        assert d.world.frame("thing", d.actor("ann").now)[1, 3] > -0.42


def test_who_reaches_down_draws_back_the_foot_beside_the_arm() -> None:
    ball = room(sphere(0.045)).with_(static={})
    ball = ball.with_(objects={}).with_object("thing", sphere(0.045), Still(transform([0.0, -0.44, 0.0453])))
    d = Director(ball, Settings(), 60.0, 0)
    d.settings = replace(d.settings, reach=replace(d.settings.reach, soft=True))
    actor = d.actor("ann")
    tall, target = actor.body.height, np.array([0.0, -0.44])
    heading = towards(np.zeros(2), target)
    place = target - 0.27 * tall * facing(heading - np.radians(40.0))
    spot = staggered(actor, place, heading, "right")
    ahead = {side: float((at - place) @ facing(heading)) for side, (at, _) in spot.feet.items()}
    assert ahead["left"] - ahead["right"] > 0.1 * tall
    stands = standing_on(actor, spot.feet)
    assert stands is not None
    d.actors["ann"] = stands
    assert next(reachable_grasps(d, stands, "thing", GRAB, "grab")).hand == "right"


def boxed(mesh: Mesh) -> World:
    """The thing in an open box of 32 cm on the table, its walls 10 cm high."""
    sides = [([0.32, 0.008, 0.1], [0.0, y, 0.058]) for y in (-0.16, 0.16)]
    sides += [([0.008, 0.32, 0.1], [x, 0.0, 0.058]) for x in (-0.16, 0.16)]
    crate = merge([box(size, at) for size, at in [([0.32, 0.32, 0.008], [0.0, 0.0, 0.004]), *sides]])
    T = transform([-0.05, -0.45, TOP_M + 0.0083 - float(mesh.bounds[0, 2])], about([0.0, 0.0, 1.0], 0.4))
    world = room(mesh).with_static("crate", crate.moved(transform([-0.05, -0.45, TOP_M])))
    return world.with_(objects={}).with_object("thing", mesh, Still(T))


def test_a_card_in_a_box_is_tilted_up_at_its_edge() -> None:
    card = box([0.054, 0.086, 0.001])
    world = boxed(card)
    plan = plan_tasks(world, [GRAB], settings=Settings(probes=0))
    assert plan.found and plan.certificate is not None and plan.certificate.free, plan.why
    taken = plan.world.holds[-1].during[0]
    times = np.linspace(0.0, taken, 200)
    T = np.stack([plan.world.frame("thing", t) for t in times])
    lowest = (card.vertices @ T[:, 2, :3].T).min(axis=0) + T[:, 2, 3]
    assert np.abs(lowest - (TOP_M + 0.0083)).max() < 0.0005  # it never leaves its support before the hand has it
    tilt = np.degrees(np.arccos(np.clip(T[:, 2, 2], -1.0, 1.0)))
    assert tilt[0] < 0.01 and tilt[-1] > 29.0 and np.diff(tilt).min() > -0.01


def test_nothing_is_slid_through_the_wall_of_a_box() -> None:
    d = Director(boxed(box([0.054, 0.086, 0.001])), Settings(), 60.0, 0)
    with pytest.raises(PlanningFailure, match="no edge"):
        slide_to_edge(d, d.actor("ann"), GRAB)


def drawer_with_block(aside: float) -> World:
    """A block that rests in a drawer until 0.3 s, is lifted by 2 cm until 0.4 s, and goes aside below the rim."""
    walls = [box([0.2, 0.2, 0.008], [0.0, 0.0, -0.004])]
    for s in (-0.104, 0.104):
        walls += [box([0.008, 0.2, 0.1], [s, 0.0, 0.05]), box([0.2, 0.008, 0.1], [0.0, s, 0.05])]
    x = np.array([0.0, 0.0, 0.0, aside, aside])
    z = 0.02 - 0.0003 + np.array([0.0, 0.0, 0.02, 0.02, 0.02])
    path = Keyed.along([0.0, 0.3, 0.4, 0.7, 1.0], np.column_stack([x, 0.0 * x, z]))
    return World(floor=None).with_object("block", box([0.04] * 3), path).with_static("drawer", merge(walls))


def test_contact_with_a_drawer_ends_when_what_is_in_it_is_lifted() -> None:
    forever = tuple(supported("block", ["drawer"], (-np.inf, np.inf)))

    def until(world: World) -> World:
        return supported_until(world.with_(contacts=forever), "block", ["drawer"], 0.4)

    grazes, passes = drawer_with_block(0.081), drawer_with_block(0.16)
    assert certify(grazes.with_(contacts=forever)).free, "1 mm in a wall would count as resting"
    assert not certify(until(grazes)).free
    assert certify(until(drawer_with_block(0.079))).free, "it rests until it is lifted"
    # no hand carries it through the wall, whatever it rested on
    assert not certify(passes.with_(contacts=forever)).free
    (met,) = {c.pair for c in certify(until(passes)).collisions}
    assert met == ("block", "drawer")


def test_only_contacts_with_a_support_that_began_before_are_ended() -> None:
    kept = (
        Contact("block", "drawer", (0.6, 2.0), "support"),  # it is put back
        Contact("block", "drawer", (0.0, 2.0), "touch"),
        Contact("block", "table", (0.0, 2.0), "support"),
        Contact("other", "drawer", (0.0, 2.0), "support"),
    )
    world = World(contacts=(*kept, Contact("block", "drawer", (0.0, 2.0), "support")))
    *same, ended = supported_until(world, "block", ["drawer"], 0.5).contacts
    assert tuple(same) == kept and ended.during == (0.0, 0.5)


def test_a_globe_is_taken_by_its_meridian() -> None:
    plan = plan_tasks(room(globe(), 0.4), [GRAB])
    assert plan.found, plan.advice
    assert plan.certificate is not None and plan.certificate.free
    hold = plan.world.holds[-1]
    grip = plan.world.frame("thing", hold.during[0])
    tips = [j for j, name in enumerate(plan.world.body("ann").joint_names) if "right_thumb" in str(name)]
    at = plan.world.at(hold.during[0] + 0.01).joints["ann"][tips[-1]][:3, 3] - grip[:3, 3]
    assert np.linalg.norm(at - [0.0, 0.0, 0.155]) > 0.085, "outside of the ball"
    assert not any("laid on it" in note for note in plan.world.notes)
