"""Doors on the way: opened by hand while walking, from either side, or gone round."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.hand_shapes import finger_joints, finger_rotations, power
from elbowroom.character.human import preset
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import angle_between
from elbowroom.geometry.solids import box, merge
from elbowroom.geometry.transforms import apply, transform
from elbowroom.plan.checks.ground import standing_at
from elbowroom.plan.checks.hands import joints_of
from elbowroom.plan.checks.places import jammed_by
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Go, Grab, Open
from elbowroom.plan.verbs.fixtures import free_turns, hand_on
from elbowroom.plan.verbs.grasp_choice import reachable_grasps
from elbowroom.plan.verbs.leave import take
from elbowroom.plan.walking.doors import _door_before, _stances, comes_straight_off, walk_with
from elbowroom.plan.walking.walked import Spot
from elbowroom.props.cabinets import bar_handle
from elbowroom.world.things import Fixture, Joint
from elbowroom.world.world import World

WIDE = 0.82
HANDLE = np.array([WIDE - 0.07, -0.075, 1.0])


def room(long: float = 3.0) -> World:
    """A wall of some metres to either side of a door that opens towards -Y, and is closed."""
    leaf = box((WIDE, 0.04, 2.0)).moved(transform([WIDE / 2, 0.02, 1.0]))
    bar = bar_handle(0.3, 0.075, 0.011, upright=True).moved(transform([WIDE - 0.07, 0.0, 1.0]))
    joint = Joint("turns", np.array([0.0, 0.0, -1.0]), (0.0, np.radians(110.0)), np.array([0.0, -0.007, 0.0]))
    door = Fixture.at(merge([leaf, bar]), joint, transform([0.0, 0.0, 0.005]), frames={"handle": transform(HANDLE)})
    walls: dict[str, Mesh] = {}
    for name, x in (("left", -0.02 - long / 2), ("right", WIDE + 0.02 + long / 2)):
        walls[name] = box((long, 0.12, 2.4)).moved(transform([x, 0.08, 1.2]))
    return World(static=walls, objects={"door": door}, floor=0.0)


def director(at: tuple[float, float], long: float = 3.0, settings: Settings | None = None) -> Director:
    """Ann, who stands somewhere in the room."""
    world = standing_at(room(long), "ann", preset("woman"), at, np.pi, 30.0)
    return Director(world, settings or Settings(), 30.0, 0)


def test_somebody_goes_through_a_door_that_is_opened() -> None:
    world = standing_at(room(20.0), "ann", preset("woman"), (0.6, -1.3), np.pi, 30.0)
    plan = plan_tasks(world, [Go(who="ann", to=(0.4, 1.5))], Settings(probes=0), fps=30.0)
    assert plan.found, plan.why
    door = plan.world.objects["door"]
    assert isinstance(door, Fixture)
    end = plan.world.span[1]
    assert float(door.state(end)) > np.radians(40.0)
    at = plan.world.motion("ann").sample([end])[0][0]
    assert np.linalg.norm(at[:2] - [0.4, 1.5]) < 0.1
    # the handle is in her hand while it moves, and she walks then
    times = np.linspace(0.0, end, 600)
    states = np.array([float(door.state(t)) for t in times])
    moving = times[1:][np.diff(states) > 1e-4]
    handles = np.array([apply(np.asarray(door.path(t)), HANDLE[None])[0] for t in moving])
    body = plan.world.body("ann")
    joints = body.transforms(*plan.world.motion("ann").sample(moving))
    hands = [joints[:, body.roles[f"{side}_middle1"], :3, 3] for side in ("left", "right")]
    far = min(float(np.linalg.norm(hand[:, :2] - handles[:, :2], axis=1).max()) for hand in hands)
    assert far < 0.08
    walked = joints[:, body.roles["pelvis"], :2, 3]
    assert np.linalg.norm(walked[-1] - walked[0]) > 0.2


def test_a_short_way_round_is_gone_instead() -> None:
    d = director((0.6, -1.3), long=1.0)
    assert _door_before(d, d.actor("ann"), Spot(np.array([0.4, 1.5]), None), "any", ()) is None


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_an_opened_door_is_not_opened_again(side: float) -> None:
    d = director((0.4, side * 1.5), long=20.0)
    spot = Spot(np.array([0.4, -side * 1.5]), None)
    task = _door_before(d, d.actor("ann"), spot, "any", ())
    assert task is not None and task.fixture == "door" and task.to is not None and task.to > np.radians(40.0)
    assert _door_before(d, d.actor("ann"), spot, "any", {"door"}) is None


def test_stances_keep_out_of_the_way_of_the_door_and_near_its_handle() -> None:
    d = director((0.6, -1.3))
    goal = np.radians(80.0)
    found = list(_stances(d, d.actor("ann"), Open(who="ann", fixture="door", to=goal)))
    assert found
    for states, places, faces in found:
        assert np.isclose(states[-1], goal) and len(places) == len(faces) == len(states)
        for state, place in zip(states, places, strict=True):
            turn = np.array([np.cos(state), -np.sin(state)])
            along = float(np.clip(place @ turn, 0.0, WIDE))
            assert np.linalg.norm(place - along * turn) > 0.15
            handle = HANDLE[0] * turn + HANDLE[1] * np.array([turn[1] * -1.0, turn[0]])
            assert np.linalg.norm(place - handle) < 0.75


def test_a_hand_that_rotates_about_a_bar_stays_where_its_open_fingers_come_off_except_on_wide_doors() -> None:
    d = director((0.75, -0.6))
    actor = d.actor("ann")
    asked = Grab(who="ann", hand="right", object="door")
    taking = next(iter(reachable_grasps(d, actor, "door", asked, "open door")))
    take(d, actor, taking, "door", "open door", None)
    place = hand_on(d, actor, "right", "door")
    low, high = free_turns(d, actor, taking, "door", place, straight_off=True)
    lowest, highest = free_turns(d, actor, taking, "door", place, straight_off=False)
    assert lowest <= low <= 0.0 <= high <= highest
    assert (low, high) != (lowest, highest), "open fingers meet the leaf before closed ones do"

    joint = room().objects["door"].joint
    assert not comes_straight_off(joint, taking.grasp.T_thing_hand)
    near = np.array(taking.grasp.T_thing_hand)
    near[0, 3] = 0.45  # the door of a cabinet
    assert comes_straight_off(joint, near)
    assert comes_straight_off(Joint("slides", joint.axis, (0.0, 0.3)), taking.grasp.T_thing_hand)


def test_a_hand_that_holds_something_keeps_its_grip_while_the_other_one_moves_a_door() -> None:
    d = director((0.55, -0.55), settings=Settings(tier="ik"))
    actor = d.actor("ann")
    fingers = list(finger_joints(actor.body, "right"))
    q = np.array(actor.q)
    q[-1, fingers] = finger_rotations(actor.body, "right", power(0.03))
    actor.change(q=q)
    actor.keep(joints_of(actor, "right"))
    raised = list(actor.body.chain("right_arm").joints)[:1]
    q[-1, raised] = actor.body.skeleton.rest[raised]  # it gave way to something, and may return
    actor.change(q=q)

    taking = next(iter(reachable_grasps(d, actor, "door", Grab(who="ann", hand="left", object="door"), "open door")))
    take(d, actor, taking, "door", "open door", None)
    begun = actor.k
    places = np.array([[0.55, -0.55], [0.5, -0.65]])
    walk_with(d, actor, taking, "door", np.radians([0.0, 15.0]), places, np.full(2, np.pi), "open door")
    turned = angle_between(actor.q[begun:, fingers], actor.q[0, fingers])
    assert turned.max() < 1e-6, "fingers stay around what they hold"
    assert angle_between(actor.q[1:], actor.q[:-1]).max() < 0.3, "without a jump"
    assert np.allclose(actor.q[-1, raised], actor.kept[raised[0]], atol=1e-6)


def test_a_door_is_jammed_by_what_it_moves_into_but_not_by_what_it_begins_in() -> None:
    post, ends = box((0.1, 0.1, 1.0)), (0.0, np.radians(110.0))
    world = room().with_static("post", post.moved(transform([0.3, -0.4, 0.5])))
    joint = world.objects["door"].joint
    assert jammed_by(world, "door", joint, ends, world.static, 0.0) == "post"
    assert jammed_by(world, "door", joint, ends, ["left", "right"], 0.0) is None, "others do not count"
    assert jammed_by(world, "door", joint, (0.0, np.radians(20.0)), world.static, 0.0) is None, "it ends before it"
    inside = room().with_static("post", post.moved(transform([0.05, 0.0, 0.5])))
    assert jammed_by(inside, "door", joint, ends, inside.static, 0.0) is None
    thin = room().with_static("post", box((0.02, 0.02, 1.0)).moved(transform([0.5, -0.35, 0.5])))
    assert jammed_by(thin, "door", joint, ends, thin.static, 0.0) == "post"
