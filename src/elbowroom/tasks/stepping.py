"""A foot leaves the ground, touches or presses something, and comes back, the weight over the other one (S5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, about, normalize, rotate
from elbowroom.geometry.transforms import inverse
from elbowroom.tasks import acting
from elbowroom.tasks.actor import Actor
from elbowroom.tasks.body_way import body_way
from elbowroom.tasks.director import Director
from elbowroom.tasks.feet import Footing, footing
from elbowroom.tasks.fixtures import fixture_of
from elbowroom.tasks.hands import shifted
from elbowroom.tasks.postures import Postures
from elbowroom.tasks.stuck import Stuck, blamed
from elbowroom.tasks.swinging import feet_at, follow, foot_contacts, swing
from elbowroom.tasks.touching import first_hit, place_of, surface_of
from elbowroom.tasks.variety import varied
from elbowroom.tasks.verbs import Point, Press, Reach, Touch

_UP = np.array([0.0, 0.0, 1.0])

# Seconds in which the weight goes over, and in which a foot goes to its place at least.
_SHIFT, _SWING = 0.7, 0.65
# Metres a second of a foot, in the open and before it touches.
_SPEED, _SLOW = 0.9, 0.25
# Metres before the target at which the slow part begins, and how far beyond the target the surface may be.
_APPROACH, _BEYOND = 0.07, 0.03
# How a foot is turned at its target, radians: toes up, heading aside.
_PITCHES, _ASIDE = np.radians([0.0, 15.0, -15.0, 30.0]), np.radians([0.0, 20.0, -20.0, 40.0, -40.0])


@dataclass(frozen=True, eq=False)
class Step:
    """Where a foot goes: its place at the target (4, 4), and the postures before it and there."""

    T_world_foot: Array
    before: Pose
    there: Pose


def touch_with_foot(d: Director, task: Touch) -> None:
    """Touch something with the tip of a foot."""
    t = d.actor(task.who).now if task.at is None else task.at
    name = surface_of(d, task.target, t)[0]
    _step(d, task, task.target, name, f"touch {task.target}" if isinstance(task.target, str) else "touch")


def reach_with_foot(d: Director, task: Reach) -> None:
    """Bring the tip of a foot to a place."""
    _step(d, task, task.to, "", "reach")


def press_with_foot(d: Director, task: Press) -> None:
    """Press a pedal with the ball of a foot, and let it back."""
    assert task.foot is not None
    actor, fixture = d.actor(task.who), fixture_of(d, task.fixture)
    what = f"press {task.fixture}"
    low, high = fixture.joint.range
    now = float(fixture.state(actor.now))
    to = (high if abs(high - now) >= abs(low - now) else low) if task.to is None else task.to
    feet = footing(actor, task.foot, what)
    spot = np.asarray(fixture.path(actor.now)) @ fixture.frame("handle")
    out = spot[:3, 0]
    options = [
        (_placed(feet.turned(heading, normalize(out)), feet.sole.ball, spot[:3, 3]), -out)
        for heading in _headings(feet)
    ]

    def do(step: Step) -> None:
        _go(d, feet, step, task.fixture, task.at, what)
        T_fixture_foot = inverse(np.asarray(fixture.path(actor.now))) @ feet_at(feet, actor.pose)
        for state in (to, now):
            follow(d, feet, task.fixture, T_fixture_foot, state, what)
        _back(d, feet, step, what)

    d.first(_steps(d, feet, options, task.fixture, what), do)


def _step(d: Director, task: Touch | Reach, target: Point | str, thing: str, what: str) -> None:
    """The tip of a foot goes to a target, and back."""
    assert task.foot is not None
    actor = d.actor(task.who)
    feet = footing(actor, task.foot, what)
    t = actor.now if task.at is None else task.at
    point = place_of(d, target, t)
    if thing:
        mesh = surface_of(d, target, t)[1]
        hip = actor.body.skeleton.at(actor.pose)[actor.body.chain(f"{task.foot}_leg").joints[0], :3, 3]
        point = point if mesh is None else first_hit(mesh, hip * [1.0, 1.0, 0.0] + point * [0.0, 0.0, 1.0], point)[0]
    away = normalize((point - feet.T_world_foot[:3, 3]) * [1.0, 1.0, 0.0])
    tip = feet.tip()

    options = [
        (_placed(feet.turned(heading, _UP, pitch), tip, point), heading)
        for heading in [away, *_headings(feet)]
        for pitch in _PITCHES
    ]

    def do(step: Step) -> None:
        _go(d, feet, step, thing, task.at, what)
        _back(d, feet, step, what)

    d.first(varied(d, _steps(d, feet, options, thing, what)), do)


def _headings(feet: Footing) -> list[Array]:
    """Ways a foot may point: as the body faces, or a little aside."""
    return [np.asarray(rotate(about(_UP, angle), feet.front())) for angle in _ASIDE]


def _placed(turn: Array, point: Array, at: Array) -> Array:
    """Place (4, 4) of a foot turned so (3, 3) with a point of it (3,) at a place (3,)."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = turn, at - turn @ point
    return T


def _steps(d: Director, feet: Footing, options: Sequence[tuple[Array, Array]], thing: str, what: str) -> Iterator[Step]:
    """Steps to places of the foot (4, 4), each with the way it comes (3,); raises `Stuck` where there is none."""
    actor = feet.actor
    postures = Postures(d.world, actor.who, actor.now)
    reason: Stuck | None = None
    given = False
    for T, toward in options:
        there = feet.at(T)
        if there is None:
            reason = reason or Stuck("target-out-of-reach", f"{what}: the leg does not get there in balance")
            continue
        before = feet.at(shifted(T, -_APPROACH * toward), there.root)
        pair = None if before is None else postures.blame(before)
        if before is None or pair is not None:
            why = "the leg does not get there" if before is None else blamed(pair)
            reason = Stuck("target-in-collision", f"{what}: there is no room before it for the foot ({why})")
            continue
        T_there, there = _until(feet, postures, T, toward, there, thing)
        pair = postures.blame(there)
        if pair is not None:
            reason = Stuck("target-in-collision", f"{what}: {blamed(pair)}")
            continue
        given = True
        yield Step(T_there, before, there)
    if reason is not None and not given:
        raise reason


def _until(feet: Footing, postures: Postures, T: Array, toward: Array, there: Pose, thing: str) -> tuple[Array, Pose]:
    """The foot's place and posture as it comes to touch a thing, on its way to a place (4, 4) and a little beyond."""
    if not thing:
        return T, there
    free, blocked = -_APPROACH, _BEYOND
    best: tuple[Array, Pose] = (T, there)
    for _ in range(12):
        middle = 0.5 * (free + blocked)
        pose = feet.at(shifted(T, middle * toward), there.root)
        if pose is not None and postures.valid(pose):
            free, best = middle, (shifted(T, middle * toward), pose)
        else:
            blocked = middle
    return best


def _go(d: Director, feet: Footing, step: Step, thing: str, at: float | None, what: str) -> None:
    """Shift the weight, bring the foot before its target, and then to it."""
    actor = feet.actor
    way = float(np.linalg.norm(feet_at(feet, step.before)[:3, 3] - feet.T_world_foot[:3, 3]))
    slow = max(float(np.linalg.norm(step.T_world_foot[:3, 3] - feet_at(feet, step.before)[:3, 3])) / _SLOW, 0.15)
    parts = np.array([_SHIFT, max(way / _SPEED, _SWING), slow])
    if at is not None:
        spare = at - actor.now - float(parts.sum())
        if spare < -0.4 * parts.sum():
            raise Stuck("too-little-time", f"{what}: {at:g} s is {-spare:.2f} s too early")
        if spare > 0.0:
            acting.wait(d, actor, actor.frames(spare))
        parts = parts * min((at - actor.now) / float(parts.sum()), 1.0)
    shift, swings, slow_count = (actor.frames(float(x)) for x in parts)
    if at is not None:
        shift = max(actor.frame(at) - actor.k - swings - slow_count, 1)
    focus = step.T_world_foot[:3, 3]
    weight = feet.at(feet.T_world_foot)
    if weight is None:
        raise Stuck("out-of-balance", f"{what}: the weight does not go over the {feet.other} foot")
    root, q = body_way(actor, d.looking(actor, weight, focus), shift)
    acting.add(d, actor, root, q)
    swing(d, feet, d.looking(actor, step.before, focus), swings, what)
    if thing:
        end = actor.time(actor.k + slow_count) + 2.0
        d.allow(foot_contacts(d, feet, thing, (actor.now, end)))
    swing(d, feet, d.looking(actor, step.there, focus), slow_count, what, arcs=(0.0,))


def _back(d: Director, feet: Footing, step: Step, what: str) -> None:
    """The foot goes off, down to where it was, and the weight goes back."""
    actor = feet.actor
    swing(d, feet, _with_legs(actor, step.before), actor.frames(0.3), what, arcs=(0.0,))
    weight = feet.at(feet.T_world_foot)
    assert weight is not None, "the foot left the ground from there"
    way = float(np.linalg.norm(feet.T_world_foot[:3, 3] - feet_at(feet, actor.pose)[:3, 3]))
    swing(d, feet, weight, actor.frames(max(way / _SPEED, _SWING)), what)
    count = actor.frames(_SHIFT)
    root, q = body_way(actor, actor.neutral(actor.k + count), count)
    acting.add(d, actor, root, q, away=False)
    d.require_free((actor.time(actor.k - count), actor.now), what)


def _with_legs(actor: Actor, pose: Pose) -> Pose:
    """A posture with all but the root and the legs as they are now."""
    return Pose.of(pose.root, np.where(actor.upper[:, None], actor.q[-1], pose.rotations))
