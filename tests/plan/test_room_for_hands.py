"""Room for hands where somebody stands: to turn with an object, to open the fingers beside it, to lower the arm."""

from dataclasses import replace

import numpy as np

import elbowroom as er
from elbowroom.character.hand_shapes import FLAT, finger_joints, finger_rotations
from elbowroom.character.hands import grip_frame
from elbowroom.geometry.solids import box, cylinder, merge
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.departure import stance_of
from elbowroom.plan.checks.hands import hand_of
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.verbs.carry import grip_of
from elbowroom.plan.verbs.put import _opening, hangs_free
from elbowroom.plan.walking.setting_down import on_open_floor
from elbowroom.plan.walking.walked import stepped_back
from elbowroom.world.paths import Still
from elbowroom.world.things import FOREVER
from elbowroom.world.world import World

FPS = 30.0


def holding(world: World) -> Director:
    """A woman at the origin, who faces -y, with a stick in her right hand."""
    world = world.with_(floor=0.0).with_character("ann", er.idle(er.preset("woman"), 0.3, FPS))
    world = world.with_object("stick", cylinder(0.015, 0.2), Still(np.eye(4)))
    grip = grip_frame(world.body("ann"), "right") @ transform([0.02, 0.0, 0.0])
    world = world.with_hold("stick", "ann", "right", (-FOREVER, FOREVER), grip)
    return Director(world, Settings(probes=0), FPS, 0)


def test_who_has_no_room_to_turn_steps_back_where_there_is_room() -> None:
    d = holding(World())
    actor = d.actor("ann")
    place, heading = stance_of(actor.body, actor.pose)
    assert stepped_back(d, actor)
    there, facing = stance_of(actor.body, actor.pose)
    assert 0.2 < (there - place)[1] / actor.body.height < 0.3 and abs(facing - heading) < 0.1
    wall = holding(World().with_static("wall", box((3.0, 0.1, 2.0), (0.0, 0.25, 1.0))))
    actor = wall.actor("ann")
    assert not stepped_back(wall, actor)
    np.testing.assert_array_equal(stance_of(actor.body, actor.pose)[0], place)


def test_an_arm_has_to_hang_free_where_an_object_is_put() -> None:
    d = holding(World())
    put = er.Put(who="ann", object="stick", to=(0.0, -0.6, 0.8))
    assert hangs_free(d, put, d.actor("ann"))
    hand = hand_of(d.actor("ann"), "right", d.actor("ann").pose)[:3, 3]
    beside = holding(World().with_static("cupboard", box((0.1, 0.1, 0.3), hand)))
    assert not hangs_free(beside, put, beside.actor("ann"))
    at = tuple(float(x) for x in hand)
    assert not hangs_free(d, replace(put, to=at), d.actor("ann"))  # the object itself may be in the way, at its goal


def test_fingers_have_to_open_where_an_object_is_put() -> None:
    d = holding(World())
    actor = d.actor("ann")
    joints, tips = list(finger_joints(actor.body, "right")), []
    closed = actor.body.skeleton.at(actor.pose)[joints, :3, 3]
    for shape in (grip_of(d, actor, "right", "stick").open, finger_rotations(actor.body, "right", FLAT)):
        rotations = np.array(actor.pose.rotations)
        rotations[joints] = shape
        opened = actor.body.transforms(actor.pose.root[None], rotations[None])[0, joints, :3, 3]
        tips.append(opened[int(np.argmax(np.linalg.norm(opened - closed, axis=1)))])
    pane = merge([box((0.01, 0.01, 0.01), tip) for tip in tips])
    for world, free in ((d, True), (holding(World().with_static("pane", pane)), False)):
        postures = Postures(world.world, "ann", 0.0)
        assert postures.valid(actor.pose, of="right_arm")
        pair = _opening(world, world.actor("ann"), "right", "stick", actor.pose, postures)
        assert pair is None if free else pair is not None and "pane" in pair


def test_what_is_taken_from_a_table_is_put_onto_the_floor_beside_it_not_under_it() -> None:
    world = World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), 0.3, FPS))
    world = world.with_static("table", box((1.2, 0.6, 0.04), (0.0, -0.6, 0.72)))
    put = er.Put(who="ann", object="cube", onto="floor")
    lies = world.with_object("cube", box((0.06, 0.06, 0.06)), Still(transform([0.2, -0.5, 0.77])))
    noted, there = on_open_floor(lies, put)
    assert isinstance(there, er.Put) and there.to is not None and "something is above" in noted.notes[-1]
    x, y, _ = there.to
    assert y > 0.0 or abs(x) > 0.9  # 30 cm off the table
    assert np.linalg.norm([x, y]) > 0.4 and np.linalg.norm([x - 0.2, y + 0.5]) < 1.5
    beside = world.with_object("cube", box((0.06, 0.06, 0.06)), Still(transform([0.4, 0.5, 0.03])))
    assert on_open_floor(beside, put)[1] is put
    said = replace(put, to=(0.2, -0.5, 0.0))
    assert on_open_floor(lies, said)[1] is said
