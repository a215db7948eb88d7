"""What is dropped falls as things fall, onto what is below."""

from __future__ import annotations

import numpy as np
import pytest
from test_manipulate import room

from elbowroom.geometry.solids import box, merge, sphere
from elbowroom.geometry.transforms import transform
from elbowroom.plan.checks.falling import GRAVITY, falling, landing
from elbowroom.plan.checks.hands import released
from elbowroom.plan.checks.places import surface_at, target_of
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.settings import USUAL
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Drop, Grab
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Keyed, Still
from elbowroom.world.world import World


def test_a_can_is_dropped_on_the_table_at_its_time() -> None:
    tasks = [Grab(who="ann", object="can"), Drop(who="ann", object="can", over=(0.1, -0.5, 0.9), height=0.1, at=4.0)]
    plan = plan_tasks(room(), tasks)
    assert plan.found, plan.advice
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    (hold,) = plan.world.holds
    assert 4.0 < hold.during[1] < 4.2 and hold.fall is not None
    lasts = hold.fall.times[-1] - hold.during[1]
    assert lasts == pytest.approx(np.sqrt(2 * 0.1 / GRAVITY), abs=0.002)
    before, after = (plan.world.frame("can", t) for t in (hold.during[1], plan.world.span[1]))
    assert after[2, 3] == pytest.approx(0.96, abs=0.001) and np.allclose(after[:2, 3], [0.1, -0.5], atol=1e-3)
    assert before[2, 3] - after[2, 3] == pytest.approx(0.1, abs=0.001)
    assert np.allclose(before[:3, :3], after[:3, :3]), "flat as it fell"


def test_without_a_place_it_falls_from_where_the_hand_is() -> None:
    plan = plan_tasks(room(), [Grab(who="ann", object="can"), Drop(who="ann", object="can")])
    assert plan.found, plan.advice
    assert plan.world.frame("can", plan.world.span[1])[2, 3] == pytest.approx(0.9605, abs=0.001)


def test_it_falls_onto_the_mesh_itself_and_not_onto_its_box() -> None:
    world = World(floor=0.0).with_static("ball", sphere(0.5), (0.0, 0.0, 0.5))
    world = world.with_object("brick", box((0.1, 0.1, 0.1)), Still(np.eye(4)))
    top = landing(world, "brick", 0.0, transform([0.0, 0.0, 2.0]))
    assert top is not None and top.on == ("ball",) and top.depth == pytest.approx(0.95, abs=0.002)
    # beside the middle the corner nearest to it meets the ball lower
    aside = landing(world, "brick", 0.0, transform([0.35, 0.0, 2.0]))
    assert aside is not None and aside.depth == pytest.approx(2.0 - 0.05 - 0.5 - np.sqrt(0.25 - 0.3**2), abs=0.005)
    past = landing(world, "brick", 0.0, transform([0.56, 0.0, 2.0]))
    assert past is not None and past.on == ("floor",) and past.depth == pytest.approx(1.95, abs=0.001)
    assert landing(world.with_(floor=None), "brick", 0.0, transform([2.0, 0.0, 2.0])) is None


def test_falls_are_those_of_free_bodies() -> None:
    fall = falling(2.0, 1.0, 60.0)
    times = np.linspace(2.0, fall.times[-1], 50)
    assert np.allclose(fall.sample(times)[:, 2], -0.5 * GRAVITY * (times - 2.0) ** 2, atol=0.5 * GRAVITY / 60**2 / 4)
    assert fall.offsets[-1, 2] == pytest.approx(-1.0)


def test_nobody_drops_what_they_do_not_hold() -> None:
    plan = plan_tasks(room(), [Drop(who="ann", object="can")])
    assert plan.status == "hand-not-free" and "nobody holds it" in plan.why


def test_a_mesh_of_the_scene_is_a_target_where_it_is() -> None:
    world = room().with_static("bin", box((0.4, 0.4, 0.2), (2.0, -1.0, 0.1)))
    found = target_of(world, Drop(who="ann", object="can", over="bin"), 0.0)
    assert found is not None
    np.testing.assert_allclose(found[1], [2.0, -1.0, 0.2], atol=1e-6)


def test_contacts_to_the_end_of_a_motion_last_as_long_as_its_tasks() -> None:
    world = room()
    end = world.span[1]
    world = world.with_contact(Contact("can", "table", (0.0, end), "support")).with_contact(
        Contact("can", "table", (0.0, 0.5 * end), "support")
    )
    kept = [c.during[1] for c in Director(world, USUAL, 60.0, 0).world.contacts][-2:]
    assert kept[0] > 1000.0 and kept[1] == 0.5 * end


def test_what_lies_exactly_on_something_may_touch_it() -> None:
    world = room().with_static("pallet", box((1.0, 1.0, 0.15), (3.0, 0.0, 0.075)))
    world = world.with_object("crate", box((0.4, 0.3, 0.3)), Still(transform([3.0, 0.0, 0.3])))
    alone = Postures(world, "ann", 0.0, led="crate")
    pose = Director(world, USUAL, 60.0, 0).actor("ann").pose
    there = {"crate": transform([3.0, 0.0, 0.3])}
    assert alone.carried_blame(pose, {}, there) is not None
    rests = world.with_contact(Contact("crate", "pallet", (-np.inf, np.inf), "support", 0.002))
    assert Postures(rests, "ann", 0.0, led="crate").carried_blame(pose, {}, there) is None
    deeper = {"crate": transform([3.0, 0.0, 0.29])}
    assert Postures(rests, "ann", 0.0, led="crate").carried_blame(pose, {}, deeper) is not None


def test_what_is_put_onto_cushions_goes_beside_the_gap_between_them() -> None:
    seat = box((1.6, 0.8, 0.3), (0.0, 0.0, 0.15))
    cushions = [box((0.75, 0.7, 0.15), (x, 0.0, 0.375)) for x in (-0.415, 0.415)]
    world = World().with_static("sofa", merge([seat, *cushions])).with_static("table", seat)
    at = surface_at(world, "sofa", 0.0, None, np.zeros(3))
    assert at[2] == pytest.approx(0.45) and 0.1 <= np.linalg.norm(at[:2]) <= 0.16
    np.testing.assert_allclose(surface_at(world, "table", 0.0, None, np.zeros(3)), [0.0, 0.0, 0.3], atol=1e-9)


def test_an_object_left_on_what_moves_later_moves_with_it() -> None:
    path = Keyed.along([9.0, 11.0], [[0.0, 0.0, 1.0], [2.0, 0.0, 1.0]])
    world = room().with_object("tray", box((0.3, 0.3, 0.02)), path)
    begin, end = world.span
    assert end < 9.0
    held = world.with_hold("can", "ann", "right", (begin, 1e6))
    left = released(held, "can", begin + 0.5, on=["tray"])
    moved = left.frame("can", 11.0)[:3, 3] - left.frame("can", 8.0)[:3, 3]
    np.testing.assert_allclose(moved, [2.0, 0.0, 0.0], atol=1e-6)


def test_what_an_arm_holds_belongs_to_the_arm() -> None:
    world = room()
    pose = Director(world, USUAL, 60.0, 0).actor("ann").pose
    at = world.hand("ann", "right", world.span[0])[:3, 3] + [-0.4, 0.0, 0.0]
    world = world.with_object("stick", box((0.02, 0.02, 0.02)), Still(transform(at)))
    world = world.with_hold("stick", "ann", "right", world.span)
    wall = world.with_static("pole", box((0.04, 0.04, 0.04), tuple(at)))
    assert Postures(world, "ann", world.span[0]).blame(pose, of="right_arm") is None
    met = Postures(wall, "ann", world.span[0])
    assert met.blame(pose, of="left_arm") is None and "stick" in (met.blame(pose, of="right_arm") or ())
