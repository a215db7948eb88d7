"""The world places everything from time alone: paths, fixtures, holds, frames."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.character.human import human
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import box, sphere
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Keyed, KeyedState, Riding, Still, places
from elbowroom.world.things import Fixture, Joint, Thing
from elbowroom.world.world import World

PERSON = human(height=1.7, skin=False)
TIMES = np.linspace(-0.5, 3.5, 41)


@pytest.fixture(scope="module")
def walker() -> Clip:
    return walk(PERSON, speed=1.2, seconds=3.0, fps=30.0)


@pytest.fixture(scope="module")
def two(walker: Clip) -> World:
    """Two people side by side, and a ball before them."""
    ball = Still(transform([0.1, -0.4, 1.0], rot.about([0, 0, 1], 0.3)))
    world = World().with_character("ann", walker).with_character("bob", place(walker, (1.0, 0.0)))
    return world.with_object("ball", sphere(0.1), ball, mass=0.5, frames={"top": transform([0, 0, 0.1])})


def test_keyed_path_goes_through_its_keys_and_is_held_at_the_ends():
    quarter = rot.about([0, 0, 1], np.pi / 2)
    path = Keyed([1.0, 2.0, 4.0], [[0, 0, 0], [1, 0, 0], [1, 2, 0]], [rot.IDENTITY, quarter, quarter])
    assert np.allclose(path(0.0), np.eye(4)) and np.allclose(path(9.0), transform([1, 2, 0], quarter))
    half = path(1.5)
    assert np.allclose(half, transform([0.5, 0, 0], rot.about([0, 0, 1], np.pi / 4)))
    assert np.allclose(path(3.0)[:3, 3], [1, 1, 0])
    assert np.allclose(path.sample(TIMES), [path(t) for t in TIMES])


def test_any_function_is_a_path():
    def circle(t: float) -> np.ndarray:
        return transform([np.cos(t), np.sin(t), 0.0])

    world = World().with_object("moon", sphere(0.1), circle)
    assert np.allclose(world.at(0.7).things["moon"], circle(0.7))
    assert np.allclose(places(circle, TIMES), [circle(t) for t in TIMES])


@pytest.mark.parametrize(
    ("times", "values", "said"),
    [([0, 0], [1, 2], "increase"), ([0, np.nan], [1, 2], "finite"), ([0], [1, 2], "as many"), ([], [], "at least one")],
)
def test_keys_that_make_no_sense_are_refused(times, values, said):
    with pytest.raises(BadValue, match=said):
        KeyedState(times, values)
    with pytest.raises(BadValue, match=said):
        Keyed(times, np.zeros((len(values), 3)), np.tile(rot.IDENTITY, (len(values), 1)))


def test_drawer_slides_and_its_content_rides_along():
    joint = Joint("slides", np.array([0.0, -2.0, 0.0]), (0.0, 0.4))
    turn = rot.about([0, 0, 1], np.pi / 2)
    drawer = Fixture.at(
        box([0.4, 0.4, 0.1]),
        joint,
        transform([1.0, 0.0, 0.5], turn),
        KeyedState([0.0, 2.0], [0.0, 0.8]),
        {"handle": transform([0.0, -0.2, 0.0])},
    )
    world = World().with_fixture("drawer", drawer)
    world = world.with_object("cup", sphere(0.05), Riding(drawer.path, transform([0.0, 0.1, 0.1])))
    # -y of the turned drawer is +x of the world; the range ends at 0.4
    assert np.allclose(world.frame("drawer.handle", 0.5)[:3, 3], [1.2 + 0.2, 0.0, 0.5])
    assert np.allclose(world.frame("drawer", 2.0)[:3, 3], [1.4, 0.0, 0.5])
    assert np.allclose(world.frame("cup", 2.0)[:3, 3], [1.3, 0.0, 0.6])
    assert np.allclose(world.record(TIMES).things["cup"], [world.frame("cup", t) for t in TIMES])
    assert world.span == (0.0, 2.0)


@given(st.floats(-1.5, 1.5), st.lists(st.floats(-1, 1), min_size=6, max_size=6))
@settings(max_examples=30, deadline=None)
def test_a_hinge_keeps_its_axis_where_it_is(state, numbers):
    axis, origin = np.array(numbers[:3]), np.array(numbers[3:])
    if np.linalg.norm(axis) < 0.1:
        axis = np.array([0.0, 0.0, 1.0])
    door = Fixture.at(box([1, 1, 1]), Joint("turns", axis, (-1.0, 1.0), origin), np.eye(4), lambda t: state)
    T = door.path(0.0)
    for along in (-1.0, 0.0, 2.0):
        point = np.append(origin + along * axis, 1.0)
        assert np.allclose(T @ point, point, atol=1e-9)
    assert float(rot.angle(rot.from_matrix(T[:3, :3]))) == pytest.approx(min(abs(state), 1.0), abs=1e-6)


def test_a_held_object_stays_in_the_hand_and_where_it_was_left(two: World):
    world = two.with_hold("ball", by="ann", hand="right", during=(1.0, 2.0))
    before = two.frame("ball", 0.0)
    assert np.allclose(world.frame("ball", 0.9), before) and np.allclose(world.frame("ball", 1.0), before)
    grips = [inverse(world.hand("ann", "right", t)) @ world.frame("ball", t) for t in (1.0, 1.3, 1.7, 1.9999)]
    assert np.allclose(grips, grips[0]) and not np.allclose(world.frame("ball", 1.5), before)
    left = world.hand("ann", "right", 2.0) @ grips[0]
    assert np.allclose(world.frame("ball", 2.0), left) and np.allclose(world.frame("ball", 30.0), left)


def test_objects_are_handed_over_without_a_leap(two: World):
    world = two.with_hold("ball", by="ann", hand="right", during=(0.5, 1.5))
    world = world.with_hold("ball", by="bob", hand="left", during=(1.5, 2.5))
    world = world.with_hold("ball", by="ann", hand="left", during=(2.7, 3.0))
    for t in (0.5, 1.5, 2.5, 2.7, 3.0):
        assert np.allclose(world.frame("ball", t - 1e-7), world.frame("ball", t), atol=1e-5)
    carried = inverse(world.hand("bob", "left", 1.6)) @ world.frame("ball", 1.6)
    assert np.allclose(inverse(world.hand("bob", "left", 2.4)) @ world.frame("ball", 2.4), carried)


def test_a_given_grip_is_kept(two: World):
    T = transform([0.0, 0.1, 0.0], rot.about([1, 0, 0], 0.5))
    world = two.with_hold("ball", by="ann", hand="left", T_hand_object=T)
    assert world.holds[0].during == (0.0, 3.0)
    assert np.allclose(world.frame("ball", 1.1), world.hand("ann", "left", 1.1) @ T)
    top = world.frame("ball.top", 1.1)
    assert np.allclose(top, world.frame("ball", 1.1) @ transform([0, 0, 0.1]))


def test_a_hat_sits_on_the_head(two: World):
    world = two.with_hold("ball", by="bob", hand="head", T_hand_object=transform([0, 0, 0.3]))
    assert np.allclose(world.frame("ball", 2.0), world.frame("bob.head", 2.0) @ transform([0, 0, 0.3]))


def test_record_is_what_at_says(two: World):
    world = two.with_hold("ball", by="ann", hand="right", during=(1.0, 2.0))
    record = world.record(TIMES)
    assert len(record) == len(TIMES)
    for k in range(0, len(TIMES), 5):
        now = world.at(TIMES[k])
        assert record[k].time == pytest.approx(now.time)
        for name in ("ann", "bob"):
            assert np.allclose(record[k].joints[name], now.joints[name])
        assert np.allclose(record[k].things["ball"], now.things["ball"])
        assert np.allclose(now.things["ball"], world.frame("ball", TIMES[k]))
    assert np.allclose(record.things["ball"], places(world.things["ball"].path, TIMES))


def test_a_static_mesh_that_is_taken_becomes_an_object(walker: Clip):
    world = World().with_static("umbrella", box([0.1, 0.1, 0.8]), at=(0.3, -0.4, 1.0)).with_character("ann", walker)
    held = world.with_hold("umbrella", by="ann", hand="right")
    assert not held.static and list(held.objects) == ["umbrella"]
    assert np.allclose(held.frame("umbrella", 0.0), transform([0.3, -0.4, 1.0]))
    assert np.allclose(held.objects["umbrella"].mesh.bounds, [[-0.05, -0.05, -0.4], [0.05, 0.05, 0.4]])
    assert world.static and not world.holds  # nothing was changed in place


def test_static_meshes_are_scaled_then_turned_then_moved():
    quarter = rot.about([0, 0, 1], np.pi / 2)
    world = World().with_static("slab", box([2, 1, 1], at=[1, 0, 0]), at=(0, 0, 3), rotation=quarter, scale=2.0)
    assert np.allclose(world.static["slab"].bounds, [[-1, 0, 2], [1, 4, 4]])


def test_a_body_takes_over_another_ones_clip(walker: Clip):
    child = human(height=1.2, skin=False)
    world = World().with_character("kid", child, walker)
    assert world.body("kid") is child and world.span == walker.span
    assert World().with_character("ann", PERSON, walker).motion("ann") is walker
    assert World().with_character("ann", PERSON).span == (0.0, 0.0)
    with pytest.raises(BadValue, match="two motions"):
        World().with_character("ann", walker, walker)


def test_what_does_not_fit_is_refused(two: World):
    once = two.with_hold("ball", by="ann", hand="right", during=(0.0, 1.0))
    joint = Joint("slides", np.array([1.0, 0, 0]), (0.0, 1.0))
    refused = [
        (lambda: once.with_hold("ball", by="ann", hand="right", during=(0.9, 2.0)), BadValue, "already holds 'ball'"),
        (lambda: two.with_hold("bell", by="ann", hand="left"), UnknownName, "did you mean 'ball'"),
        (lambda: two.with_hold("ball", by="anna", hand="left"), UnknownName, "did you mean 'ann'"),
        (lambda: two.with_hold("ball", by="ann", hand="third"), UnknownName, "left, right"),
        (lambda: two.with_hold("ball", by="ann", hand="left", during=(1.0, 1.0)), BadValue, "earlier to later"),
        (lambda: two.with_static("ball", box([1, 1, 1])), BadValue, "name of an object"),
        (lambda: two.with_object("ann", box([1, 1, 1]), Still(np.eye(4))), BadValue, "name of a character"),
        (lambda: two.with_static("floor", box([1, 1, 1])), BadValue, "reserved for the floor"),
        (lambda: Thing(mesh=box([1, 1, 1]), path=Still(np.eye(4)), mass=-1.0), BadValue, "0 kg or more"),
        (lambda: Thing(mesh=box([1, 1, 1]), path=Still(np.eye(4)), freedom="some"), BadValue, "freedom"),
        (lambda: two.frame("ball.bottom", 0.0), UnknownName, "top"),
        (lambda: two.frame("ann.tail", 0.0), UnknownName, "unknown body part"),
        (lambda: two.check_part("ann.left_wing"), UnknownName, "left_hand"),
        (lambda: two.check_part("wall"), UnknownName, "floor"),
        (lambda: Contact("ann", "floor", (1.0, 0.0)), BadValue, "ends before"),
        (lambda: Joint("slides", np.zeros(3), (0.0, 1.0)), BadValue, "axis"),
        (lambda: Joint("slides", np.ones(3), (1.0, 0.0)), BadValue, "range"),
    ]
    for act, kind, said in refused:
        with pytest.raises(kind, match=said):
            act()
    fixture = two.with_fixture("drawer", Fixture.at(box([1, 1, 1]), joint, np.eye(4)))
    with pytest.raises(BadValue, match="is a fixture"):
        fixture.with_hold("drawer", by="ann", hand="left")


def test_contacts_speak_of_parts_and_of_whole_bodies():
    contact = Contact("ann.left_foot", "floor", (0.0, 1.0), "support")
    assert contact.covers("floor", "ann.left_foot") and not contact.covers("ann.right_foot", "floor")
    assert Contact("ann", "chair", (0.0, 1.0), "seat").covers("ann.pelvis", "chair")
    assert not Contact("ann", "chair", (0.0, 1.0)).covers("anna.pelvis", "chair")
