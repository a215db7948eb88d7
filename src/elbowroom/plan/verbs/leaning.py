"""A hand that bears weight during a task (P2): flat on a surface before it, and off after the body has stood up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from elbowroom.character.hand_shapes import FLAT, finger_joints, finger_rotations
from elbowroom.character.hands import grip_frame
from elbowroom.character.skeleton import Pose
from elbowroom.errors import UnknownName
from elbowroom.geometry.rotations import UP, Array, about, to_matrix
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.checks.hands import arm_to, front_of, hand_of, held_by, joints_of, shifted
from elbowroom.plan.checks.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.state.actor import Actor, HandSupport
from elbowroom.plan.state.result import PlanningFailure, blamed
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Rest, Support, Task
from elbowroom.plan.verbs.carry import carry_places, rest
from elbowroom.posing.reach import Reached
from elbowroom.world.pairs import Pair
from elbowroom.world.things import FOREVER

# Directions of the fingers that are tried, degrees from ahead, outwards; heights of the grip above the point, metres.
_YAWS_DEG = (0.0, 30.0, 60.0, -30.0, 90.0)
_HEIGHTS_M = np.arange(-0.02, 0.07, 0.003)
# Height above its place from which the hand goes straight down, metres.
_ABOVE_M = 0.06
# Seconds in which it leaves its place, and the reason of its contact.
_OFF_S = 1.0
_WHY = "a hand leans on it"
# Half-width of the area under the palm that bears, metres.
_PALM_M = 0.025


def lean_on(d: Director, task: Task) -> None:
    """Put the supporting hand of a task where it bears, that of the one before off first; raises `PlanningFailure`."""
    actor, was = d.actor(task.who), d.whole_body
    given = task.support if isinstance(task.support, Support) else None
    d.whole_body = "last"  # limbs first: what needs the whole body is planned with it all the same
    try:
        if actor.support is not None and actor.support.given != given:
            _stand_up(d, actor, actor.support)
        if given is not None and actor.support is None:
            if given.on not in (*d.world.static, *d.world.objects):
                raise UnknownName("support", given.on, [*d.world.static, *d.world.objects])
            d.first(_places(d, actor, given), lambda place: _put_there(d, actor, given, *place))
    finally:
        d.whole_body = was


def _places(d: Director, actor: Actor, given: Support) -> Iterator[tuple[Array, Pose, Postures]]:
    """Transforms of the hand flat on its place, with postures; raises `PlanningFailure` where there is none."""
    flat = dict(zip(finger_joints(actor.body, given.hand), finger_rotations(actor.body, given.hand, FLAT), strict=True))
    postures = Postures(d.world, actor.who, actor.now, hand=given.hand, taking=given.on, fingers=flat)
    what, met, found = f"lean on {given.on}", None, None
    for yaw in _YAWS_DEG:
        T, pair = _flat_on(actor, given, yaw, postures)
        met = met or pair
        if T is None:
            continue
        found = d.reach(actor, given.hand, T, actor.k, postures)
        if found.found:
            yield T, found.pose, postures
    if found is None:
        raise PlanningFailure("target-in-collision", f"{what}: {blamed(met) or 'there is no room for the hand'}")
    raise PlanningFailure(*_reason(found, what))


def _reason(found: Reached, what: str) -> tuple[Literal["target-out-of-reach", "target-in-collision"], str]:
    """Status and sentence of a supporting hand that does not get to its place."""
    if found.missing > 0.0:
        return "target-out-of-reach", f"{what}: the support of the hand is {found.missing:.2f} m out of reach"
    return "target-in-collision", f"{what}: every posture with the hand there collides"


def _flat_on(actor: Actor, given: Support, yaw: float, postures: Postures) -> tuple[Array | None, Pair | None]:
    """Transform (4, 4) of a hand, palm down, as low over its place as is free, or None and what it meets."""
    front = front_of(actor, actor.body.skeleton.at(actor.pose))
    outwards = 1.0 if given.hand == "left" else -1.0
    along = to_matrix(about(UP, outwards * np.radians(yaw))) @ front
    thumb = np.cross(-UP, along) if given.hand == "left" else np.cross(along, -UP)
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = np.stack([-UP, np.cross(thumb, -UP), thumb], axis=1), given.at
    T, pair = frame @ inverse(grip_frame(actor.body, given.hand)), None
    for height in _HEIGHTS_M:
        raised = shifted(T, height * UP)
        pair = postures.hand_blame(actor.pose, raised, given.hand)
        if pair is None:
            return raised, None
    return None, pair


def _put_there(d: Director, actor: Actor, given: Support, T: Array, pose: Pose, postures: Postures) -> None:
    """Move the hand above its place and down onto it."""
    what = f"lean on {given.on}"
    during = (actor.now, FOREVER)
    touching = hand_contacts(d.world, actor.who, given.hand, given.on, during, PRESS, _WHY)
    d.allow(touching)
    above = d.near(actor, given.hand, pose, shifted(T, _ABOVE_M * UP), actor.k, postures)
    if not isinstance(above, Pose):
        raise PlanningFailure("target-in-collision", f"{what}: {blamed(above) or 'there is no room above the support'}")
    fingers = finger_rotations(actor.body, given.hand, FLAT)
    steps: tuple[tuple[Pose, acting.Path], ...] = ((above, "any"), (pose, "contact"))
    for goal, path in steps:
        far = (hand_of(actor, given.hand, goal) - hand_of(actor, given.hand, actor.pose))[:3, 3]
        count = actor.frames(d.seconds_for(float(np.linalg.norm(far))))
        acting.travel(d, actor, {given.hand: fingers}, goal, count, what, path)
    actor.keep(joints_of(actor, given.hand))
    actor.pin(given.hand)
    joint = actor.body.role(f"{given.hand}_hand")
    T_joint = actor.body.skeleton.at(actor.pose)[joint]
    palm = (T_joint @ grip_frame(actor.body, given.hand))[:2, 3]
    corners = palm + _PALM_M * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    d.allow([replace(one, kind="support", during=(actor.now, FOREVER)) for one in touching])
    actor.change(support=HandSupport(given, T_joint, corners, actor.pose))


def _upright(d: Director, actor: Actor, hand: str, placed: Pose) -> Iterator[Pose]:
    """A posture with the working hand as it is there, or, with an object in it, before the body and as level as now."""
    if held_by(d.world, actor.who, hand, actor.now) is not None:
        postures = Postures(d.world, actor.who, actor.now)
        for T in carry_places(actor, hand, placed, hand_of(actor, hand, actor.pose)):
            pose = arm_to(actor, hand, placed, T)
            if pose is not None and postures.valid(pose):
                yield pose
    yield placed


def _stand_up(d: Director, actor: Actor, support: HandSupport) -> None:
    """Return to the posture in which the supporting hand was put there, and let it bear no more."""
    working = "left" if support.given.hand == "right" else "right"

    def do(goal: Pose) -> None:
        far = np.linalg.norm(hand_of(actor, working, goal)[:3, 3] - hand_of(actor, working, actor.pose)[:3, 3])
        acting.travel(d, actor, {working: None}, goal, actor.frames(d.seconds_for(float(far))), "stand up")

    d.first(_upright(d, actor, working, support.placed), do)
    if set(joints_of(actor, working)) & set(actor.kept):  # no longer as in the lean
        actor.keep(joints_of(actor, working))
    actor.change(support=None)
    own, now = (_WHY, support.given.on), actor.now
    ended = [replace(c, during=(c.during[0], min(c.during[1], now))) if (c.why, c.on) == own else c
             for c in d.world.contacts]  # fmt: skip
    d.world = d.world.with_(contacts=tuple(ended))
    given, leaving = support.given, (actor.now, actor.now + _OFF_S)
    d.allow(hand_contacts(d.world, actor.who, given.hand, given.on, leaving, PRESS, _WHY))
    above = arm_to(actor, given.hand, actor.pose, shifted(hand_of(actor, given.hand, actor.pose), _ABOVE_M * UP))
    if above is not None:
        count = actor.frames(d.seconds_for(_ABOVE_M))
        acting.travel(d, actor, {given.hand: None}, above, count, f"leave {given.on}", "contact")
    rest(d, Rest(who=actor.who, hand=given.hand))
