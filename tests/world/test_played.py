"""Worlds on the frames of a file: what is proven is what is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adversary.makers import robot
from elbowroom.character.body import Skin
from elbowroom.files.save import save
from elbowroom.files.verify import read_played
from elbowroom.geometry.solids import box, cylinder
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip, Source
from elbowroom.motion.robot_clip import RobotClip
from elbowroom.world.certificate import certify
from elbowroom.world.contacts import Caps, Contact
from elbowroom.world.paths import Keyed, KeyedState
from elbowroom.world.played import PlayedWorld, output_rate, played
from elbowroom.world.things import Fixture, Joint
from elbowroom.world.world import World
from tools.small_worlds import moving, person

ANN = person("ann", skin=False)


def still(frames: int = 31, fps: float = 30.0, start: float = 0.0, **more: object) -> Clip:
    """Somebody who stands for a while."""
    rest = ANN.skeleton
    return Clip(ANN, fps, np.tile(rest.offsets[0], (frames, 1)), np.tile(rest.rest, (frames, 1, 1)), start, **more)


def test_a_clip_that_has_the_frames_stays_as_it_is() -> None:
    clip = moving(ANN, 20, 24.0, 1)
    on = played(World().with_character("ann", clip))
    assert on.characters["ann"] is clip and on.fps == 24.0 and played(on) is on
    assert output_rate(World()) == 60.0


def test_everything_gets_the_same_frames() -> None:
    world = World().with_character("ann", moving(ANN, 31, 30.0, 1)).with_character("bob", moving(ANN, 41, 50.0, 2))
    late = still(11, 30.0, start=0.013)
    world = world.with_character("cid", late)
    world = world.with_object("ball", box([0.1] * 3), Keyed.along([0.0, 0.51, 1.0], [[0, 0, 1], [1, 0, 1], [0, 0, 1]]))
    on = played(world)
    np.testing.assert_allclose(np.diff(on.times), 1 / 30.0)
    for motion in on.characters.values():
        first = (motion.times[0] - on.times[0]) * 30.0
        assert motion.fps == 30.0 and abs(first - round(first)) < 1e-6
    np.testing.assert_allclose(on.objects["ball"].path.times, on.times)
    with pytest.raises(Exception, match="rate"):
        played(world, -1.0)


def test_artificial_frames_are_left_out() -> None:
    clip = still(31, source=Source(format="BVH", lead=1))
    on = played(World().with_character("ann", clip))
    assert len(on.times) == 30 and on.times[0] == pytest.approx(1 / 30.0)


def test_a_detour_between_frames_is_not_in_the_file() -> None:
    # out to the side and back between two frames: written at 30 frames a second the rod goes through the chest
    rod = cylinder(0.02, 0.3)
    detour = Keyed.along(
        [0.0, 0.505, 0.5166, 0.528, 1.0], [[0, -2, 1.2], [0, -2, 1.2], [3, 0, 1.2], [0, 2, 1.2], [0, 2, 1.2]]
    )
    world = World().with_character("ann", still()).with_object("rod", rod, detour)
    found = certify(world)
    assert not found.free and all("rod" in c.pair for c in found.collisions)
    assert certify(world, 600.0).free, "at 600 frames a second the detour is in the file"


def test_a_hinge_away_from_the_origin_is_played_as_a_chord() -> None:
    # the origin of the mesh is 1 m from the hinge: between frames files lead it along a straight line
    door = box([0.05, 0.05, 1.0])
    hinge = Joint("turns", np.array([0.0, 0.0, 1.0]), (0.0, 3.2), np.array([-1.0, 0.0, 0.0]))
    state = KeyedState(np.array([0.0, 1.0]), np.array([0.0, 3.1]))
    world = (
        World()
        .with_character("ann", still(3, 2.0))
        .with_fixture("door", Fixture.at(door, hinge, transform([6.0, 0.0, 1.0]), state))
    )
    on = played(world)
    middle = 0.5 * (on.times[0] + on.times[1])
    chord = np.mean([on.objects["door"].path(t)[:3, 3] for t in on.times[:2]], axis=0)
    np.testing.assert_allclose(on.record([middle]).things["door"][0, :3, 3], chord)
    assert np.linalg.norm(world.record([middle]).things["door"][0, :3, 3] - chord) > 0.2


def test_a_held_object_follows_its_own_keys_and_rides_again_when_asked() -> None:
    world = World().with_character("ann", moving(ANN, 20, 10.0, 3))
    world = world.with_object("stick", cylinder(0.02, 0.5), lambda t: transform([0.4, 0.0, 1.2]))
    world = world.with_hold("stick", "ann", "right", (0.23, 1.47))
    on = played(world)
    assert isinstance(on, PlayedWorld) and on.held_during(on.holds[0]) == pytest.approx((0.2, 1.5))
    np.testing.assert_allclose(on.record(on.times).things["stick"], world.record(on.times).things["stick"], atol=1e-9)
    again = on.riding()
    assert type(again) is World
    np.testing.assert_allclose(
        again.record(on.times).things["stick"], world.record(on.times).things["stick"], atol=1e-6
    )


def test_worlds_that_play_alike_have_one_digest_and_others_do_not() -> None:
    world = (
        World().with_character("ann", still()).with_object("ball", box([0.1] * 3), lambda t: transform([2.0, t, 1.0]))
    )
    one = played(world).digest
    assert one == played(world.with_(notes=("read from a file",))).digest
    assert one != played(world, 60.0).digest
    assert one != played(world.with_static("wall", box([1.0] * 3, at=[9.0, 0.0, 0.0]))).digest
    assert certify(world).digest == one


def test_everything_that_a_proof_depends_on_is_in_the_digest() -> None:
    """A certificate of one body, with its contacts and caps, is none of another."""
    clip, machine = still(), robot()
    q = np.tile(machine.rest.q + np.array([0.0] * 4 + [0.3] * (len(machine.rest.q) - 4)), (2, 1))
    arm = RobotClip(machine, np.array([0.0, 1.0]), np.zeros((2, 3)), q)
    world = World().with_character("ann", clip).with_character("picker", arm)
    one, body = played(world).digest, clip.character
    longer = replace(body.skeleton, offsets=1.01 * body.skeleton.offsets)
    skin = Skin(np.eye(3), np.array([[0, 1, 2]]), np.zeros((3, 1), int), np.ones((3, 1)), np.eye(4)[None])
    moved = body.shapes[0].T_joint_shape + 0.001 * np.eye(4, k=3)
    wider = replace(body.shapes[0], T_joint_shape=moved)
    bodies = {
        "bones": body.with_(skeleton=longer),
        "skin": body.with_(skin=skin),
        "another skin": body.with_(skin=replace(skin, vertices=2.0 * np.eye(3))),
        "shapes": body.with_(shapes=(wider, *body.shapes[1:])),
        "roles": body.with_(roles={**body.roles, "left_foot": 0}),
        "limits": body.with_(limits=()),
    }
    worlds = {what: world.with_character("ann", clip.with_(character=other)) for what, other in bodies.items()}
    joints = replace(arm.body.joints, axes=-arm.body.joints.axes)
    worlds["axes of a robot"] = world.with_character("picker", replace(arm, robot=replace(arm.body, joints=joints)))
    worlds["caps"] = world.with_(caps=Caps(feet=0.06))
    worlds["contacts"] = world.with_contact(Contact("ann", "floor", (0.0, 1.0)))
    worlds["floor"] = world.with_(floor=0.1)
    digests = {what: played(other).digest for what, other in worlds.items()}
    assert one not in digests.values()
    assert len(set(digests.values())) == len(digests)


def test_a_certificate_is_not_saved_with_another_body(tmp_path: Path) -> None:
    clip = still()
    certificate = certify(World().with_character("ann", clip))
    body = clip.character
    longer = body.with_(skeleton=replace(body.skeleton, offsets=1.01 * body.skeleton.offsets))
    world = World().with_character("ann", clip.with_(character=longer))
    (path,) = save([tmp_path / "a.npz"], world, certificate=certificate)
    assert read_played(path)[1].status == "unchecked"
