"""Putting down what is held, and carrying it along at ease."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from elbowroom.character.grip import grip_frame
from elbowroom.character.hand_shapes import finger_joints, finger_rotations, power
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array, angle, from_matrix, normalize
from elbowroom.geometry.transforms import inverse
from elbowroom.plan import acting
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import FOREVER, Director, Grip
from elbowroom.plan.hands import (
    arm_to,
    arms_of,
    beyond_reach,
    front_of,
    hand_of,
    held_by,
    holder_of,
    joints_of,
    released,
    shifted,
    shoulder_of,
)
from elbowroom.plan.places import place_for, resting, supported, turned, under_cover
from elbowroom.plan.postures import Postures
from elbowroom.plan.result import PlanningFailure, blamed
from elbowroom.plan.tasks import Put, Rest, Task
from elbowroom.plan.verbs.grasp_choice import effort, failure
from elbowroom.plan.verbs.leave import let_go

# Ways from which a thing is set down: up and towards oneself, metres.
_OVER = (0.06, 0.03, 0.015)
_BEFORE = (0.2, 0.28, 0.12, 0.36)

# How many places before a goal are tried that no way leads to.
_TRIES = 3

_UP = np.array([0.0, 0.0, 1.0])

# Where a hand carries things: before its shoulder and below it, shares of the body's height; first what looks best.
_CARRY = ((0.19, -0.17), (0.22, -0.12), (0.17, -0.22), (0.25, -0.05), (0.2, 0.0))


# By how much things may tilt that are carried as they are, radians.
_TILT = float(np.radians(6.0))


def put(d: Director, task: Put) -> None:
    """Put down what a hand holds."""
    actor = d.actor(task.who)
    hand = holding_hand(d, task, task.object)
    what = f"put {task.object}"
    grip = d.grips.get(task.object) or usual_grip(d, actor, hand, task.object)
    T_goal = place_for(d.world, task, grip.T_world_taken, actor.now)
    T_hand_object = inverse(hand_of(actor, hand, actor.pose)) @ d.world.frame(task.object, actor.now)
    T_target = T_goal @ inverse(T_hand_object)
    under = resting(d.world, task.object, actor.now, T_goal)
    way = float(np.linalg.norm(T_target[:3, 3] - hand_of(actor, hand, actor.pose)[:3, 3]))
    slow = actor.frames(d.settings.approach / d.settings.slow)
    count = d.frames_until(actor, way, task.at, slow, what, beyond_reach(actor, hand, T_target[:3, 3]))
    k = actor.k + count + slow
    d.allow(supported(task.object, under, (actor.time(k - slow), FOREVER)))
    postures = Postures(d.world, actor.who, actor.time(k))
    there = d.reach(actor, hand, T_target, k, postures)
    if not there.found:
        raise failure(there, postures, what)[1]
    out = T_target[:3, :3] @ grip.out
    goal = d.looking(actor, there.pose, T_goal[:3, 3])

    def do(way_in: Array) -> None:
        above = d.near(actor, hand, goal, shifted(T_target, way_in), k, postures)
        if not isinstance(above, Pose):
            reason = blamed(above) or "the arm does not get there"
            raise PlanningFailure("target-in-collision", f"{what}: there is no room before its place ({reason})")
        carry_to(d, actor, hand, above, acting.set_out(d, actor, way, count), what, direct=task.at is not None)
        acting.travel(d, actor, hand, goal, slow, what, margin=0.0, straight=True)
        acting.join(d, actor, hand, actor.k - slow, actor.k - slow - actor.frames(0.4))
        d.world = released(d.world, task.object, actor.now, on=under)
        let_go(d, actor, hand, task.object, grip.open, [out], f"leave {task.object}")

    d.first(_ways_in(out, under_cover(d.world, task.object, actor.now, T_goal)), do, _TRIES)


def holding_hand(d: Director, task: Task, thing: str) -> str:
    """The hand in which somebody has what a task is about; raises where nobody or somebody else has it."""
    hold = holder_of(d.world, thing, d.actor(task.who).now)
    if hold is None or hold.by != task.who:
        holder = "nobody holds it" if hold is None else f"{hold.by} holds it"
        raise PlanningFailure("hand-not-free", f"{task.verb} {thing}: {holder}, {task.who} has to grab it first")
    if task.hand is not None and task.hand != hold.hand:
        raise BadValue(f"'{thing}' is in the {hold.hand} hand of {task.who}, not in the {task.hand} one.")
    return hold.hand


def carry_to(d: Director, actor: Actor, hand: str, goal: Pose, count: int, what: str, *, direct: bool) -> None:
    """Travel with what is held; where no way leads straight there, and time is free, first before the body."""
    saved = d.save()
    try:
        acting.travel(d, actor, hand, goal, count, what)
    except PlanningFailure as stuck:
        d.restore(saved)
        if direct or stuck.status != "no-path":
            raise
        begin = hand_of(actor, hand, actor.pose)[:3, 3]

        def do(between: Pose) -> None:
            middle, end = (hand_of(actor, hand, pose)[:3, 3] for pose in (between, goal))
            for pose, way in ((between, middle - begin), (goal, end - middle)):
                acting.travel(d, actor, hand, pose, actor.frames(d.seconds_for(float(np.linalg.norm(way)))), what)

        try:
            d.first([*_nearer(actor, hand), next(_easy(d, actor, hand))], do)
        except PlanningFailure:
            d.restore(saved)
            raise stuck from None


def _nearer(actor: Actor, hand: str) -> Iterator[Pose]:
    """Postures with the hand nearer to the shoulder, the body as it stands: out from among things first."""
    T = hand_of(actor, hand, actor.pose)
    way = normalize((shoulder_of(actor, hand, actor.pose) - T[:3, 3]) * [1.0, 1.0, 0.0])
    for metres in (0.25, 0.12):
        pose = arm_to(actor, hand, actor.pose, shifted(T, metres * way))
        if pose is not None:
            yield pose


def rest(d: Director, task: Rest) -> None:
    """Give hands back to the base motion; what they hold they carry before the body."""
    actor = d.actor(task.who)
    hands = arms_of(actor, task.hand)
    for hand in hands:
        if set(joints_of(actor, hand)) & set(actor.kept):
            hold = held_by(d.world, actor.who, hand, actor.now)
            if hold is None:
                _back(d, actor, hand)
            else:
                d.first(_easy(d, actor, hand), partial(_at_ease, d, actor, hand))
    if actor.away and not actor.kept:
        _back(d, actor, hands[0])


def _frames_to(d: Director, actor: Actor, hand: str, goal: Pose) -> int:
    """Frames for an unhurried way of a hand to where it is in a posture."""
    way = hand_of(actor, hand, goal)[:3, 3] - hand_of(actor, hand, actor.pose)[:3, 3]
    return actor.frames(max(d.seconds_for(float(np.linalg.norm(way))), 1.0))


def _back(d: Director, actor: Actor, hand: str) -> None:
    """Travel to where the base has the hand, which follows it from then on."""
    mine = joints_of(actor, hand)
    count = _frames_to(d, actor, hand, actor.neutral(actor.k + actor.frames(1.0), mine))
    goal = actor.neutral(actor.k + count, mine)
    fingers = goal.rotations[list(finger_joints(actor.body, hand))]
    alone = set(actor.kept) <= set(mine)
    acting.travel(d, actor, hand, goal, count, f"{hand} hand at ease", fingers=fingers, back=alone)
    actor.give_back(mine)


def _at_ease(d: Director, actor: Actor, hand: str, goal: Pose) -> None:
    """Travel with what is held to where the arm is in a posture, the body as the base has it."""
    mine = list(joints_of(actor, hand))
    count = _frames_to(d, actor, hand, goal)
    body = actor.neutral(actor.k + count)
    q = body.rotations.copy()
    q[mine] = goal.rotations[mine]
    acting.travel(d, actor, hand, Pose.of(body.root, q), count, f"{hand} hand at ease", back=True)
    actor.keep(joints_of(actor, hand))


def _easy(d: Director, actor: Actor, hand: str) -> Iterator[Pose]:
    """Postures with what is held before the body, turned as it is now or about the vertical; last the present one."""
    k = actor.k + actor.frames(1.0)
    postures = Postures(d.world, actor.who, actor.now)
    body, T_now = actor.neutral(k), hand_of(actor, hand, actor.pose)
    mine = list(joints_of(actor, hand))
    tilted = []
    for target in carry_places(actor, hand, body, T_now):
        found = d.reach(actor, hand, target, k, postures)
        if found.found:
            q = body.rotations.copy()
            q[mine] = found.pose.rotations[mine]
            # The body goes back to where the base has it: what it helped with tilts the thing.
            turn = hand_of(actor, hand, Pose.of(body.root, q))[:3, :3].T @ target[:3, :3]
            if float(angle(from_matrix(turn))) < _TILT:
                yield found.pose
            else:
                tilted.append(found.pose)
    ends = np.stack([target for T in turned(T_now, T_now[:3, 3]) for target in carry_places(actor, hand, body, T)])
    for i in np.argsort(effort(actor, hand, ends, k), kind="stable"):
        alone = arm_to(actor, hand, body, ends[i])
        if alone is not None and postures.valid(alone):
            yield alone
    yield from tilted
    yield actor.pose


def carry_places(actor: Actor, hand: str, pose: Pose, T_now: Array) -> Iterator[Array]:
    """Return where a hand that is turned as at a place (4, 4) carries things before a body in a posture, (4, 4)."""
    front = front_of(actor, actor.body.skeleton.at(pose))
    for ahead, above in _CARRY:
        target = T_now.copy()
        target[:3, 3] = shoulder_of(actor, hand, pose) + actor.body.height * (ahead * front + above * _UP)
        yield target


def usual_grip(d: Director, actor: Actor, hand: str, thing: str) -> Grip:
    """For what was in the hand from the start: an open hand that goes back from its palm."""
    out = -grip_frame(actor.body, hand)[:3, 0]
    open_hand = finger_rotations(actor.body, hand, power(0.09))
    return Grip(open_hand, out, d.world.frame(thing, actor.now))


def _ways_in(out: Array, covered: bool) -> list[Array]:
    """Return where a thing is before it is set down, as seen from its place; `out` (3,) is the way off of the hand.

    Under cover it comes from before its place, else from above.
    """
    level = out * [1.0, 1.0, 0.0]
    size = float(np.linalg.norm(level))
    above = [z * _UP for z in _OVER]
    if size < 0.3:
        return above
    before = [far * level / size + z * _UP for far in _BEFORE for z in (0.015, 0.004)]
    return [*before, *above] if covered else [*above, *before]
