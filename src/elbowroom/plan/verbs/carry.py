"""Carrying a held object: to a goal, in front of the body, or along with a motion; and hands at rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import get_args

import numpy as np

from elbowroom.character.hand_shapes import finger_joints, finger_rotations, power
from elbowroom.character.hands import grip_frame
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.finish.settle import between_free
from elbowroom.geometry.rotations import UP, Array, about, angle, from_matrix, multiply, normalize
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.checks.hands import (
    arm_to,
    arms_of,
    as_it_stood,
    discomfort,
    effort,
    front_of,
    hand_of,
    held_by,
    holder_of,
    joints_of,
    shifted,
    shoulder_of,
)
from elbowroom.plan.checks.places import moving_until, target_of, turned
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.state.take import Grip
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Hand, Rest, Task
from elbowroom.plan.verbs.encounters import Moments
from elbowroom.posing.grasps import held_grasp
from elbowroom.world.fast import LimbCheck

# Carrying positions of a hand: in front of its shoulder and below it, shares of the body's height, best first.
_CARRY = ((0.19, -0.17), (0.22, -0.12), (0.17, -0.22), (0.25, -0.05), (0.2, 0.0), (0.2, 0.08))

# Largest tilt of objects carried as they are, radians.
_TILT = float(np.radians(6.0))

# Postures to carry objects in that are compared, and the room around the arm in them, metres: bodies sway in walks.
_COMPARED, _SWAY_M = 16, 0.01

# Distances that a body steps back with what it holds in its hand, metres: boards of drawers and boxes are thin; and by
# which it sinks meanwhile.
_BACK_M, _DIP_M = tuple(0.02 * n for n in range(1, 16)), 0.04

# Searches for the return path of a hand.
_BACK_TRIES = 3

# Seconds after a task's time for which a standing character keeps standing, and those for which one waits that has
# nothing else to do, after its target has come to rest.
_STANDS_ON, _WAITS = 2.0, 4.0


def holding_hand(d: Director, task: Task, thing: str) -> str:
    """The hand in which an actor has the object of a task; raises where it has not."""
    hold = holder_of(d.world, thing, d.actor(task.who).now)
    if hold is None or hold.by != task.who:
        holder = "nobody holds it" if hold is None else f"{hold.by} holds it"
        raise PlanningFailure("hand-not-free", f"{task.verb} {thing}: {holder}, {task.who} must grab it first")
    if task.hand is not None and task.hand != hold.hand:
        raise BadValue(f"'{thing}' is in the {hold.hand} hand of {task.who}, not in the {task.hand} one.")
    return hold.hand


def grip_of(d: Director, actor: Actor, hand: str, thing: str) -> Grip:
    """Grip on an object in a hand; of one held from the start, by the grasp that was chosen for it.

    That has stood nowhere yet: its z axis is its vertical. With any other grip an open hand retreats from its palm.
    """
    if thing in d.take.grips:
        return d.take.grips[thing]
    hold, T_thing = holder_of(d.world, thing, actor.now), d.world.frame(thing, actor.now)
    if hold is not None and hold.T_hand_object is not None:
        for released in (True, False):
            grasp = held_grasp(actor.body, hand, d.world.objects[thing], released=released)
            if grasp is not None and np.allclose(hold.T_hand_object, inverse(grasp.T_thing_hand)):
                out = -grasp.T_thing_hand[:3, :3].T @ grasp.approach
                opened = finger_rotations(actor.body, hand, grasp.open)
                return Grip(opened, out, as_it_stood(T_thing, np.eye(4)), (hand, grasp.name))
    out = -grip_frame(actor.body, hand)[:3, 0]
    return Grip(finger_rotations(actor.body, hand, power(0.09)), out, T_thing)


def carry_to(d: Director, actor: Actor, hand: str, goal: Pose, count: int, what: str, *, direct: bool) -> None:
    """Move with a held object; without a direct path, and if the time is free, by way of a position before the body."""
    failure = d.attempt(lambda: acting.travel(d, actor, {hand: None}, goal, count, what))
    if failure is None:
        return
    if direct or failure.status != "no-path":
        raise failure
    begin = hand_of(actor, hand, actor.pose)[:3, 3]

    def do(between: Pose) -> None:
        middle, end = (hand_of(actor, hand, pose)[:3, 3] for pose in (between, goal))
        for pose, way in ((between, middle - begin), (goal, end - middle)):
            frames = actor.frames(d.seconds_for(float(np.linalg.norm(way))))
            acting.travel(d, actor, {hand: None}, pose, frames, what)

    between = [*_nearer(actor, hand), next(_easy(d, actor, hand))]
    if d.attempt(lambda: d.first(between, do)) is not None:
        raise failure


def _nearer(actor: Actor, hand: str) -> Iterator[Pose]:
    """Postures with the hand nearer to the shoulder, the body in place: out from among obstacles first."""
    T = hand_of(actor, hand, actor.pose)
    way = normalize((shoulder_of(actor, hand, actor.pose) - T[:3, 3]) * [1.0, 1.0, 0.0])
    for metres in (0.25, 0.12):
        pose = arm_to(actor, hand, actor.pose, shifted(T, metres * way))
        if pose is not None:
            yield pose


def rest(d: Director, task: Rest) -> None:
    """Return hands to the base motion; objects in them are carried before the body."""
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


def lower_idle_hands(d: Director, actor: Actor) -> None:
    """Return hands to the base motion that hold nothing and that a task has left where it was, as at a handle."""
    pinned = {hand for hand, _, last in actor.contacts if last > actor.k}
    for hand in get_args(Hand):
        idle = hand not in pinned and held_by(d.world, actor.who, hand, actor.now) is None
        if idle and set(actor.kept) & set(joints_of(actor, hand)):
            rest(d, Rest(who=actor.who, hand=hand))


def sways_free(d: Director, actor: Actor, hand: str) -> bool:
    """Return whether the arm that holds an object has the room that bodies need around it in a walk."""
    return Postures(d.world, actor.who, actor.now).valid(actor.pose, of=f"{hand}_arm", room=_SWAY_M)


def _frames_to(d: Director, actor: Actor, hand: str, goal: Pose) -> int:
    """Number of frames of an unhurried motion of a hand to a posture."""
    way = hand_of(actor, hand, goal)[:3, 3] - hand_of(actor, hand, actor.pose)[:3, 3]
    return actor.frames(max(d.seconds_for(float(np.linalg.norm(way))), 1.0))


def _back(d: Director, actor: Actor, hand: str) -> None:
    """Move a hand to where the base has it; from then on it follows the base."""
    mine = joints_of(actor, hand)
    count = _frames_to(d, actor, hand, actor.neutral(actor.k + actor.frames(1.0), mine))
    goal = actor.neutral(actor.k + count, mine)
    fingers = goal.rotations[list(finger_joints(actor.body, hand))]
    alone = set(actor.kept) <= set(mine)

    def do(_: int) -> None:
        acting.travel(d, actor, {hand: fingers}, goal, count, f"{hand} hand at ease", back=alone)

    d.first(range(_BACK_TRIES), do)  # each with other samples
    actor.give_back(mine)


def _at_ease(d: Director, actor: Actor, hand: str, goal: Pose) -> None:
    """Move a held object to the arm posture of `goal`, the body as in the base."""
    mine = list(joints_of(actor, hand))
    count = _frames_to(d, actor, hand, goal)
    body = actor.neutral(actor.k + count)
    q = body.rotations.copy()
    q[mine] = goal.rotations[mine]
    acting.travel(d, actor, {hand: None}, Pose.of(body.root, q), count, f"{hand} hand at ease", back=True)
    actor.keep(joints_of(actor, hand))


def _easy(d: Director, actor: Actor, hand: str) -> Iterator[Pose]:
    """Postures with the object before the body, oriented as now or rotated about the vertical; the present one last.

    First those with the arm at ease and room around it, the body as the base has it.
    """
    k = actor.k + actor.frames(1.0)
    # then, not now: what was just lifted may still touch what it lay in
    postures = Postures(d.world, actor.who, actor.time(k))
    body, T_now = actor.neutral(k), hand_of(actor, hand, actor.pose)
    mine = list(joints_of(actor, hand))
    ends = np.stack([target for T in turned(T_now, T_now[:3, 3]) for target in carry_places(actor, hand, body, T)])
    ends = ends[np.argsort(effort(actor, hand, ends, k), kind="stable")]
    free = partial(postures.valid, of=f"{hand}_arm")
    back = -front_of(actor, actor.body.skeleton.at(body))
    caught = []
    for some in (ends[:_COMPARED], ends[_COMPARED:]):
        near = [pose for T in some if (pose := arm_to(actor, hand, body, T)) is not None]
        for pose in sorted(near, key=partial(discomfort, actor, hand)):
            if not free(pose, room=_SWAY_M):
                continue
            # what is still in an open drawer, or in a box, is caught as the body turns away or steps back
            if all(free(Pose.of(pose.root + far * back - _DIP_M * UP, pose.rotations)) for far in _BACK_M):
                yield pose
            else:
                caught.append(pose)
    yield from caught
    tilted = []
    for target in carry_places(actor, hand, body, T_now):
        found = d.reach(actor, hand, target, k, postures)
        if found.found:
            q = body.rotations.copy()
            q[mine] = found.pose.rotations[mine]
            # The body returns to the base: its help would tilt the object.
            turn = hand_of(actor, hand, Pose.of(body.root, q))[:3, :3].T @ target[:3, :3]
            if float(angle(from_matrix(turn))) < _TILT:
                yield found.pose
            else:
                tilted.append(found.pose)
    for T in ends:
        alone = arm_to(actor, hand, body, T)
        if alone is not None and postures.valid(alone):
            yield alone
    yield from tilted
    yield actor.pose


def carry_places(actor: Actor, hand: str, pose: Pose, T_now: Array) -> Iterator[Array]:
    """Hand transforms (4, 4) that carry an object before a body, oriented as at `T_now` (4, 4)."""
    front = front_of(actor, actor.body.skeleton.at(pose))
    for ahead, above in _CARRY:
        target = T_now.copy()
        target[:3, 3] = shoulder_of(actor, hand, pose) + actor.body.height * (ahead * front + above * UP)
        yield target


@contextmanager
def on_top(d: Director, actor: Actor, task: Task) -> Iterator[None]:
    """Turn the motion so far into the base of a task that is layered over it.

    A standing character returns to its base first, which is extended for a task with a time; one that has nothing else
    to do waits for a target that moves.
    """
    if actor.stands and (actor.away or actor.kept):
        rest(d, Rest(who=actor.who))
    if actor.idle and task.at is None:
        actor.change(free_from={hand: max(actor.free_from.get(hand, 0), actor.k) for hand in ("left", "right")})
        found = target_of(d.world, task, actor.now)
        ends = actor.now if found is None else max(actor.now, moving_until(d.world, found[0]))
        actor.bake_into_base(actor.frame(ends) + actor.frames(_WAITS))
    else:
        until = task.at if actor.stands else None
        actor.bake_into_base(0 if until is None else actor.frame(until) + actor.frames(_STANDS_ON))
    actor.change(layered=True)
    yield
    actor.change(layered=not actor.stands)


# Abduction of the upper arm and flexion of the elbow for carrying what would hit the legs, radians; and the share of
# the elbow's swing that stays.
_SWUNG = np.radians([(0, 60), (0, 85), (0, 40), (0, 105), (12, 20), (12, 60), (25, 30), (25, 70), (40, 30), (40, 80)])
_SWINGS = 0.5

# Height and share of the distance to the shoulder by which an object is held up where it was taken.
_RAISED = ((0.12, 0.35), (0.15, 0.0), (0.08, 0.5))


def homes(d: Director, actor: Actor, hand: str, thing: str, m: Moments) -> Iterator[Array]:
    """Motions of an arm (M, 3, 4) from frame `m.done` to the end of the base, free with the object from `m.back` on.

    First the base's own, unless the object must stay level; then the same with the elbow bent or turned out; then
    postures against the trunk. Raises `PlanningFailure` where none is free throughout.
    """
    arm = list(actor.body.chain(f"{hand}_arm").joints)
    own = np.array(actor.original.rotations[m.done :, arm])
    until = _until(d, actor, thing, m)
    given = False
    level = d.world.objects[thing].freedom == "level"
    gazing = until > m.back and d.settings.tier != "ik"
    rows, during = np.arange(m.back, until + 1), (actor.time(m.back), actor.time(until))
    check = LimbCheck(d.world, actor.who, f"{hand}_arm", during) if gazing else None
    for home in _options(d, actor, hand, m, own, level=level):
        if check is None or between_free(check, home[rows - m.done], actor.base.start + rows / actor.base.fps):
            given = True
            yield home
    if not given:
        raise PlanningFailure("no-path", f"carry {thing}: there is no room for it beside or in front of {actor.who}")


def _options(d: Director, actor: Actor, hand: str, m: Moments, own: Array, *, level: bool) -> Iterator[Array]:
    if not level:
        yield own
        yield from _swung(actor, hand, own)
    arm = list(actor.body.chain(f"{hand}_arm").joints)
    pose = actor.neutral(m.back)
    postures = Postures(d.world, actor.who, actor.time(m.back))
    turn = hand_of(actor, hand, actor.neutral(m.done))
    for target in carry_places(actor, hand, pose, turn):
        found = d.reach(actor, hand, target, m.back, postures)
        if found.found:
            yield np.repeat(found.pose.rotations[None, arm], len(own), axis=0)
    # last, held up where it was taken
    taken = actor.neutral(m.done)
    for up, nearer in _RAISED:
        near = nearer * (shoulder_of(actor, hand, taken) - turn[:3, 3]) * [1.0, 1.0, 0.0]
        raised = arm_to(actor, hand, taken, shifted(turn, near + [0.0, 0.0, up]))
        if raised is not None:
            yield np.repeat(raised.rotations[None, arm], len(own), axis=0)
    if level:
        yield own


def _swung(actor: Actor, hand: str, own: Array) -> Iterator[Array]:
    """The arm's own motion (M, 3, 4) with its elbow bent or turned out, as people walk with an object in a hand."""
    body = actor.body
    upper, fore, _ = body.chain(f"{hand}_arm").joints
    axis = body.T_rest[int(body.parents[upper]), :3, :3].T @ body.front
    limit = body.limits[fore] if fore < len(body.limits) else None
    if limit is None or limit.kind != "hinge":
        return
    turns = limit.coordinates(own[:, 1])
    sign = 1.0 if limit.flexion[1] >= -limit.flexion[0] else -1.0
    for aside, bend in _SWUNG:
        bent = turns.copy()
        bent[:, 0] = sign * bend + _SWINGS * (turns[:, 0] - turns[:, 0].mean())
        home = own.copy()
        home[:, 0] = multiply(about(axis, aside if hand == "left" else -aside), own[:, 0])
        home[:, 1] = limit.rotation(limit.clamp_coordinates(bent))
        yield home


def _until(d: Director, actor: Actor, thing: str, m: Moments) -> int:
    """Frame up to which a hand carries an object, if no other task intervenes."""
    puts = (t.at for t in d.coming if t.releases and t.thing == thing and t.at is not None)
    at = next(puts, None)
    last = len(actor.base) - 1
    return last if at is None else min(max(actor.frame(at) - actor.frames(0.5), m.back), last)
