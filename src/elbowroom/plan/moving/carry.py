"""Motion of an arm that has taken something on top of a motion: the motion's own, or something held before it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elbowroom.finish.settle import between_free
from elbowroom.geometry.rotations import Array, about, multiply
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director
from elbowroom.plan.hands import arm_to, hand_of, shifted, shoulder_of
from elbowroom.plan.moving.timing import Moments
from elbowroom.plan.postures import Postures
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Drop, Put
from elbowroom.plan.verbs.put import carry_places
from elbowroom.world.fast import LimbCheck

# How far an upper arm is turned out and its elbow bent, radians, to carry what would meet the legs; and how much of the
# elbow's swing stays.
_SWUNG = np.radians([(0, 60), (0, 85), (0, 40), (0, 105), (12, 20), (12, 60), (25, 30), (25, 70), (40, 30), (40, 80)])
_SWINGS = 0.5

# How far up, metres, and how much of the way to the shoulder a thing goes that is held up where it was taken.
_RAISED = ((0.12, 0.35), (0.15, 0.0), (0.08, 0.5))


def homes(d: Director, actor: Actor, hand: str, thing: str, m: Moments) -> Iterator[Array]:
    """Motions of an arm (M, 3, 4) from frame `m.done` until the base ends, free with a thing in the hand from `m.back`.

    First what the person does anyway, unless the thing is to be kept level; then the same with the elbow bent or
    turned out; then postures against the trunk. Raises `PlanningFailure` where none is free all the time.
    """
    arm = list(actor.body.chain(f"{hand}_arm").joints)
    own = np.array(actor.original.rotations[m.done :, arm])
    until = _until(d, actor, thing, m)
    given = False
    level = d.world.objects[thing].freedom == "level"
    for home in _options(d, actor, hand, m, own, level=level):
        if d.settings.tier == "ik" or _stays_free(d, actor, hand, m, home, until):
            given = True
            yield home
    if not given:
        raise PlanningFailure("no-path", f"carry {thing}: there is no room for it beside or before {actor.who}")


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
    """The arm's own motion (M, 3, 4) with its elbow bent or turned out, as people walk with something in a hand."""
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
    """The frame up to which a hand carries a thing, if nothing else is asked before."""
    puts = (t.at for t in d.coming if isinstance(t, Put | Drop) and t.object == thing and t.at is not None)
    at = next(puts, None)
    last = len(actor.base) - 1
    return last if at is None else min(max(actor.frame(at) - actor.frames(0.5), m.back), last)


def _stays_free(d: Director, actor: Actor, hand: str, m: Moments, home: Array, until: int) -> bool:
    if until <= m.back:
        return True
    during = (actor.time(m.back), actor.time(until))
    check = LimbCheck(d.world, actor.who, f"{hand}_arm", during)
    rows = np.arange(m.back, until + 1)
    return between_free(check, home[rows - m.done], actor.base.start + rows / actor.base.fps)
