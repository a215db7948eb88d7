"""Certificates of worlds in which things move: keyed paths, functions, doors, and what hands carry."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import IDENTITY, about
from elbowroom.geometry.solids import box, sphere
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.world.certificate import certify
from elbowroom.world.certificate_exact import Measured
from elbowroom.world.paths import Keyed, KeyedState, Still
from elbowroom.world.things import Fixture, Joint
from elbowroom.world.world import World
from tools.simple_bodies import flying

LOCAL = 1.0 / 240.0
STILL = World(floor=None).with_character("it", flying(np.zeros((61, 3)), 60.0))
CUBE = box([0.2, 0.2, 0.2])


def test_a_keyed_thing_meets_a_body_when_it_must() -> None:
    path = Keyed.along([0.0, 1.0], [[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    found = certify(STILL.with_object("cube", CUBE, path))
    (hit,) = found.collisions
    assert hit.pair == ("it.ball", "cube") and hit.who == ("it",)
    assert hit.during == pytest.approx((1.8 / 4.0, 2.2 / 4.0), abs=LOCAL)
    aside = certify(STILL.with_object("cube", CUBE, Keyed.along([0.0, 1.0], [[-2.0, 0.23, 0.0], [2.0, 0.23, 0.0]])))
    assert aside.free and aside.continuous and aside.clearance_m == pytest.approx(0.03, abs=2e-3)


def test_a_turning_bar_is_followed_between_its_keys() -> None:
    turns = about([0.0, 0.0, 1.0], np.array([0.0, np.radians(80.0)]))
    path = Keyed(np.array([0.0, 1.0]), np.tile([0.0, -1.0, 0.0], (2, 1)), turns)
    bar = box([2.4, 0.02, 0.02])
    spot = flying(np.tile([np.cos(0.9), np.sin(0.9) - 1.0, 0.0], (2, 1)), 1.0, radius=0.02)
    (hit,) = certify(World(floor=None).with_character("it", spot).with_object("bar", bar, path)).collisions
    assert np.mean(hit.during) == pytest.approx(0.9 / np.radians(80.0), abs=LOCAL)


def test_a_function_of_time_is_proven_as_it_is_written() -> None:
    def path(t: float) -> np.ndarray:
        return transform([1.5 * np.cos(6.0 * t), 0.0, 0.5])

    found = certify(STILL.with_object("cube", CUBE, path))
    assert found.free and found.continuous
    low = certify(STILL.with_object("cube", CUBE, lambda t: path(t) @ transform([0.0, 0.0, -0.5])))
    begin = np.arccos(0.2 / 1.5) / 6.0
    assert low.collisions[0].during[0] == pytest.approx(begin, abs=0.01)
    still = certify(STILL.with_object("cube", CUBE, lambda t: transform([1.0, 0.0, 0.0])))
    assert still.free and still.continuous, "a function that never changes is as good as a place"
    with pytest.raises(BadValue, match="cube"):
        certify(STILL.with_object("cube", CUBE, lambda t: np.full((4, 4), np.nan)))


def test_a_door_hits_who_stands_in_its_way() -> None:
    door = box([0.9, 0.04, 2.0], at=[0.45, 0.0, 0.0])
    hinge = Joint("turns", np.array([0.0, 0.0, 1.0]), (0.0, 2.0))
    state = KeyedState(np.array([0.0, 1.0]), np.array([0.0, 1.5]))
    place = transform([-0.6 * np.cos(1.0), -0.6 * np.sin(1.0), 0.0])
    found = certify(STILL.with_fixture("door", Fixture.at(door, hinge, place, state)))
    assert not found.free and found.continuous
    (hit,) = found.collisions
    reach = np.arcsin(0.12 / 0.6)
    assert hit.during == pytest.approx(((1.0 - reach) / 1.5, (1.0 + reach) / 1.5), abs=0.01)
    wide = certify(STILL.with_fixture("door", Fixture.at(door, hinge, place, lambda t: 0.5 * t)))
    assert wide.free and wide.continuous


def carrier(roots: np.ndarray, fps: float = 60.0) -> Clip:
    clip = flying(roots, fps, radius=0.05)
    return Clip(clip.character.with_(roles={"right_hand": 0}), fps, clip.root, clip.rotations)


def test_what_a_hand_carries_goes_with_it() -> None:
    roots = np.outer(np.linspace(0.0, 1.0, 61), [1.0, 0.0, 0.0])
    world = World(floor=None).with_character("it", carrier(roots))
    world = world.with_object("tray", box([0.3, 0.3, 0.02]), Still(transform([0.0, 0.6, 0.0])))
    world = world.with_static("post", box([0.02, 0.02, 1.0], at=[0.7, 0.6, 0.0]))
    held = world.with_hold("tray", "it", "right", (0.0, 0.9))
    (hit,) = certify(held).collisions
    assert hit.pair == ("tray", "post") and hit.who == ()
    assert hit.during[0] == pytest.approx(0.7 - 0.15 - 0.01, abs=LOCAL)
    assert hit.during[1] == pytest.approx(0.7 + 0.15 + 0.01, abs=LOCAL)
    early = certify(world.with_hold("tray", "it", "right", (0.0, 0.4)))
    assert early.free and early.continuous, "it was put down before the post"


def test_the_hand_that_holds_a_thing_may_touch_it() -> None:
    world = World(floor=None).with_character("it", carrier(np.zeros((61, 3))))
    world = world.with_object("stick", sphere(0.06), Still(transform([0.107, 0.0, 0.0])))  # 3 mm in the hand
    assert not certify(world).free
    held = certify(world.with_hold("stick", "it", "right"))
    assert held.free and [a.pair for a in held.allowed] == [("it.ball", "stick")]
    assert 0.0025 < held.allowed[0].depth_m < 0.0035
    deep = world.with_object("stick", sphere(0.06), Still(transform([0.103, 0.0, 0.0])))
    assert not certify(deep.with_hold("stick", "it", "right")).free, "7 mm are too deep"
    assert not certify(world.with_hold("stick", "it", "right", (0.5, 1.0))).free, "before the hold it counts"


def test_a_leap_into_a_hand_is_a_sweep_of_one_frame() -> None:
    # the file has the object here in one frame and in the hand in the next: that is how it is played
    world = World(floor=None).with_character("it", carrier(np.zeros((61, 3))))
    world = world.with_object("stick", sphere(0.06), Still(transform([0.6, 0.0, 0.0])))
    held = world.with_hold("stick", "it", "right", (0.51, 1.0), transform([0.107, 0.0, 0.0]))
    assert certify(held).free, "the hand has it from the frame before the hold begins"
    found = certify(held.with_static("wall", box([0.02, 1.0, 1.0], at=[0.3, 0.0, 0.0])))
    assert {c.pair for c in found.collisions} == {("stick", "wall")}
    assert all(c.during[0] > 0.49 and c.during[1] < 0.52 for c in found.collisions)
    early = world.with_hold("stick", "it", "right", (0.5, 1.0), transform([0.107, 0.0, 0.0]))
    assert {c.pair for c in certify(early).collisions} == {("it.ball", "stick")}, "it comes into the hand too early"


def test_what_is_inside_of_a_hollow_thing_is_free_without_the_exact_test(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = trimesh.creation.torus(0.6, 0.05, major_sections=48, minor_sections=12)
    turns = about([1.0, 0.0, 0.0], np.array([0.0, 0.2]))
    path = Keyed(np.array([0.0, 1.0]), np.array([[-0.1, 0.0, 0.0], [0.1, 0.0, 0.0]]), turns)
    world = STILL.with_object("ring", Mesh(ring.vertices, ring.faces), path)
    asked = []
    measure = Measured.measure

    def counted(self: Measured, wanted: object) -> None:
        wanted = list(wanted)
        asked.extend(wanted)
        measure(self, wanted)

    monkeypatch.setattr(Measured, "measure", counted)
    found = certify(world)
    assert found.free and found.pair == ("it.ball", "ring")
    assert found.clearance_m == pytest.approx(0.35, abs=0.01)
    assert len(asked) < 40
    hit = certify(world.with_object("ring", Mesh(0.3 * ring.vertices, ring.faces), path))
    assert not hit.free


def test_worlds_without_people_are_certified_too() -> None:
    world = World(floor=None).with_static("plate", box([0.002, 2.0, 2.0]))
    path = Keyed(np.array([0.0, 1.0]), np.array([[-1.0, 0, 0], [1.0, 0, 0]]), np.tile(IDENTITY, (2, 1)))
    (hit,) = certify(world.with_object("cube", CUBE, path)).collisions
    assert hit.during == pytest.approx((0.4495, 0.5505), abs=LOCAL) and hit.limb == ""
