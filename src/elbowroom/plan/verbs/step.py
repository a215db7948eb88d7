"""A foot leaves the ground, touches or presses something, and returns, the weight over the other one (S5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.finish.settle import between_free
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import UP, Array, about, from_matrix, normalize, rotate, slerp
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.plan.checks.hands import shifted
from elbowroom.plan.checks.postures import PRESS, Postures
from elbowroom.plan.repair.arm_paths import LimbTrajectory
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, blamed
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director, varied
from elbowroom.plan.steps.give_way import require_free
from elbowroom.plan.steps.limb_path import body_frames, find_limb_path
from elbowroom.plan.tasks import Point, Press, Reach, Touch
from elbowroom.plan.verbs.fixtures import fixture_of, goal_of, moved_along
from elbowroom.plan.verbs.one_leg import Footing, footing
from elbowroom.plan.verbs.touch import first_hit, place_of, surface_of
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.world.allowances import supports
from elbowroom.world.contacts import Contact
from elbowroom.world.fast import LimbCheck

# Seconds of the weight shift, and the shortest time of a foot motion.
_SHIFT, _SWING = 0.7, 0.65
# Speed of a foot in the open and before contact, m/s.
_SPEED, _SLOW = 0.9, 0.25
# Distance before the target at which the slow part begins, and the largest distance of the surface beyond it, metres.
_APPROACH, _BEYOND_M = 0.07, 0.03
# Orientations of a foot at its target, radians: toes up, heading sideways.
_PITCHES, _ASIDE = np.radians([0.0, 15.0, -15.0, 30.0]), np.radians([0.0, 20.0, -20.0, 40.0, -40.0])


@dataclass(frozen=True, eq=False)
class Step:
    """Goal of a foot: its transform at the target (4, 4), and the postures before it and there."""

    T_world_foot: Array
    before: Pose
    there: Pose


def touch_with_foot(d: Director, task: Touch) -> None:
    """Touch something with the tip of a foot."""
    t = d.actor(task.who).now if task.at is None else task.at
    name = surface_of(d, task.target, t)[0]
    _step(d, task, task.target, name, f"touch {task.target}" if isinstance(task.target, str) else "touch")


def reach_with_foot(d: Director, task: Reach) -> None:
    """Bring the tip of a foot to a target."""
    _step(d, task, task.to, "", "reach")


def press_with_foot(d: Director, task: Press) -> None:
    """Press a pedal with the ball of a foot, and release it."""
    assert task.foot is not None
    actor, fixture = d.actor(task.who), fixture_of(d, task.fixture)
    what = f"press {task.fixture}"
    now = float(fixture.state(actor.now))
    to = goal_of(d, task, now)
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
    """Move the tip of a foot to a target and back."""
    assert task.foot is not None
    actor = d.actor(task.who)
    feet = footing(actor, task.foot, what)
    t = actor.now if task.at is None else task.at
    point = place_of(d, target, t)
    if thing:
        mesh = surface_of(d, target, t)[1]
        hip = actor.body.skeleton.at(actor.pose)[actor.body.chain(f"{task.foot}_leg").joints[0], :3, 3]
        point = point if mesh is None else first_hit(mesh, hip * [1.0, 1.0, 0.0] + point * UP, point)[0]
    away = normalize((point - feet.T_world_foot[:3, 3]) * [1.0, 1.0, 0.0])
    tip = feet.tip()

    options = [
        (_placed(feet.turned(heading, UP, pitch), tip, point), heading)
        for heading in [away, *_headings(feet)]
        for pitch in _PITCHES
    ]

    def do(step: Step) -> None:
        _go(d, feet, step, thing, task.at, what)
        _back(d, feet, step, what)

    d.first(varied(d, _steps(d, feet, options, thing, what)), do)


def _headings(feet: Footing) -> list[Array]:
    """Headings of a foot: as the body faces, or a little sideways."""
    return [np.asarray(rotate(about(UP, angle), feet.front())) for angle in _ASIDE]


def _placed(turn: Array, point: Array, at: Array) -> Array:
    """Transform (4, 4) of a foot with orientation `turn` (3, 3) and a point of it (3,) at a position (3,)."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = turn, at - turn @ point
    return T


def _steps(d: Director, feet: Footing, options: Sequence[tuple[Array, Array]], thing: str, what: str) -> Iterator[Step]:
    """Steps to foot transforms (4, 4), each with its approach (3,); raises `PlanningFailure` if there is none."""
    actor = feet.actor
    postures = Postures(d.world, actor.who, actor.now)
    reason: PlanningFailure | None = None
    given = False
    for T, toward in options:
        there = feet.at(T)
        if there is None:
            reason = reason or PlanningFailure("target-out-of-reach", f"{what}: the leg cannot get there in balance")
            continue
        before = feet.at(shifted(T, -_APPROACH * toward), there.root)
        pair = None if before is None else postures.blame(before)
        if before is None or pair is not None:
            why = "the leg cannot get there" if before is None else blamed(pair)
            reason = PlanningFailure("target-in-collision", f"{what}: the foot has no room in front of it ({why})")
            continue
        T_there, there = _until(feet, postures, T, toward, there, thing)
        pair = postures.blame(there)
        if pair is not None:
            reason = PlanningFailure("target-in-collision", f"{what}: {blamed(pair)}")
            continue
        given = True
        yield Step(T_there, before, there)
    if reason is not None and not given:
        raise reason


def _until(feet: Footing, postures: Postures, T: Array, toward: Array, there: Pose, thing: str) -> tuple[Array, Pose]:
    """Transform and posture of the foot as it first touches a thing, on its way to a transform (4, 4) and a little
    beyond.
    """
    if not thing:
        return T, there
    free, blocked = -_APPROACH, _BEYOND_M
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
    distance = float(np.linalg.norm(feet_at(feet, step.before)[:3, 3] - feet.T_world_foot[:3, 3]))
    slow = max(float(np.linalg.norm(step.T_world_foot[:3, 3] - feet_at(feet, step.before)[:3, 3])) / _SLOW, 0.15)
    parts = np.array([_SHIFT, max(distance / _SPEED, _SWING), slow])
    if at is not None:
        spare = at - actor.now - float(parts.sum())
        if spare < -0.4 * parts.sum():
            raise PlanningFailure("too-little-time", f"{what}: {at:g} s is {-spare:.2f} s too early")
        if spare > 0.0:
            acting.wait(d, actor, actor.frames(spare))
        parts = parts * min((at - actor.now) / float(parts.sum()), 1.0)
    shift, swings, slow_count = (actor.frames(float(x)) for x in parts)
    if at is not None:
        shift = max(actor.frame(at) - actor.k - swings - slow_count, 1)
    focus = step.T_world_foot[:3, 3]
    weight = feet.at(feet.T_world_foot)
    if weight is None:
        raise PlanningFailure("out-of-balance", f"{what}: the weight cannot be shifted over the {feet.other} foot")
    root, q = body_frames(actor, d.looking(actor, weight, focus), shift)
    acting.add(d, actor, root, q)
    swing(d, feet, d.looking(actor, step.before, focus), swings, what)
    if thing:
        end = actor.time(actor.k + slow_count) + 2.0
        d.allow(foot_contacts(d, feet, thing, (actor.now, end)))
    swing(d, feet, d.looking(actor, step.there, focus), slow_count, what, arcs=(0.0,))


def _back(d: Director, feet: Footing, step: Step, what: str) -> None:
    """Retreat, put the foot down where it was, and shift the weight back."""
    actor = feet.actor
    swing(d, feet, _with_legs(actor, step.before), actor.frames(0.3), what, arcs=(0.0,))
    weight = feet.at(feet.T_world_foot)
    assert weight is not None, "the foot left the ground from there"
    distance = float(np.linalg.norm(feet.T_world_foot[:3, 3] - feet_at(feet, actor.pose)[:3, 3]))
    swing(d, feet, weight, actor.frames(max(distance / _SPEED, _SWING)), what)
    count = actor.frames(_SHIFT)
    root, q = body_frames(actor, actor.neutral(actor.k + count), count)
    acting.add(d, actor, root, q, away=False)
    require_free(d, (actor.time(actor.k - count), actor.now), what)


def _with_legs(actor: Actor, pose: Pose) -> Pose:
    """A posture with everything but the root and the legs as it is now."""
    return Pose.of(pose.root, np.where(actor.upper[:, None], actor.q[-1], pose.rotations))


# Heights of a foot on its way, metres; the shares of its time in which it only rises, and only sinks.
_ARCS, _LIFTS = (0.05, 0.1, 0.2, 0.0), 0.15

# Seconds in which a pedal goes down or comes up.
_PRESSES = 0.35


def feet_at(feet: Footing, pose: Pose) -> Array:
    """Transform (4, 4) of the moving foot in a posture."""
    return np.asarray(feet.actor.body.skeleton.at(pose)[feet.sole.foot])


def swing(d: Director, feet: Footing, goal: Pose, count: int, what: str, arcs: tuple[float, ...] = _ARCS) -> None:
    """Move the foot to its transform in a posture: up and over, otherwise by a search."""
    actor, limb = feet.actor, f"{feet.side}_leg"
    root, q = body_frames(actor, goal, count)
    joints = list(actor.body.chain(limb).joints)
    q[:, joints] = slerp(
        actor.q[-1, joints], goal.rotations[joints], smoothstep(np.linspace(0.0, 1.0, count + 1))[:, None]
    )
    standing = d.world
    d.world = replace(d.world, contacts=(*d.world.contacts, *supports(d.world)))
    try:
        # Only searches depend on the seed.
        over = None if d.settings.tier == "plan" and arcs is _ARCS else _over(d, feet, root, q, arcs)
        trajectory = over or find_limb_path(d, actor, limb, root, q, what, margin=0.0)
    finally:
        d.world = standing
    q[:, joints] = trajectory.rotations
    acting.add(d, actor, root, q)
    d.note(actor, limb, what, (actor.time(actor.k - count), actor.now), trajectory)


def _over(d: Director, feet: Footing, root: Array, q: Array, arcs: tuple[float, ...]) -> LimbTrajectory | None:
    """The first free path of the foot that rises between the first and the last frame."""
    actor, limb = feet.actor, f"{feet.side}_leg"
    ik = LimbIK(actor.body, limb, actor.pose)
    joints, count = list(ik.joints), len(root) - 1
    T = actor.body.transforms(root, q)
    (a, keep_a), (b, _) = (ik.describe(T[k, ik.parent], q[k, joints]) for k in (0, -1))
    first, last = T[0, ik.joints[2]], T[-1, ik.joints[2]]
    h = np.linspace(0.0, 1.0, count + 1)
    # A foot rises before it moves on, and sinks after it has arrived.
    s = smoothstep(h if arcs == (0.0,) else np.clip((h - _LIFTS) / (1.0 - 2.0 * _LIFTS), 0.0, 1.0))
    lift = smoothstep(np.minimum(h, 1.0 - h) / (2.0 * _LIFTS))
    turns = slerp(from_matrix(first[:3, :3]), from_matrix(last[:3, :3]), s)
    during = (actor.now, actor.time(actor.k + count))
    check = LimbCheck(actor.placed(d.world, root, q), actor.who, limb, during)
    for height in arcs:
        places = first[:3, 3] + s[:, None] * (last[:3, 3] - first[:3, 3])
        places = places + height * lift[:, None] * UP
        out = ik.solve(T[:, ik.parent], transform(places, turns), a + s * (b - a), keep_a)
        if not out.reached.all():
            continue
        rotations = np.array(out.rotations)
        rotations[0], rotations[-1] = q[0, joints], q[-1, joints]
        if d.settings.tier == "ik" or between_free(check, rotations, actor.times(count)):
            return LimbTrajectory(rotations, "ik", checks=count + 1)
    return None


def follow(d: Director, feet: Footing, name: str, T_fixture_foot: Array, to: float, what: str) -> None:
    """Move a fixture along its joint with the foot on it."""
    actor = feet.actor
    fixture = fixture_of(d, name)
    begin = float(fixture.state(actor.now))
    count = actor.frames(_PRESSES)
    s = smoothstep(np.linspace(0.0, 1.0, count + 1))
    states = begin + s * (to - begin)
    targets = fixture.T_world_closed @ fixture.joint.moved_many(states) @ T_fixture_foot
    ik = LimbIK(actor.body, f"{feet.side}_leg", actor.pose)
    root, q = actor.ahead(count)
    parents = actor.body.transforms(root, q)[:, ik.parent]
    out = ik.solve(parents, targets, ik.orbit_of(actor.pose), ik.keep_of(actor.pose))
    if not out.reached.all():
        raise PlanningFailure(
            "target-out-of-reach", f"{what}: the foot falls short by {out.missing.max():.2f} m along the path"
        )
    q[:, list(ik.joints)] = out.rotations
    d.world = moved_along(d.world, name, actor.times(count), states)
    during = (actor.now, actor.time(actor.k + count))
    d.allow(foot_contacts(d, feet, name, during))
    acting.add(d, actor, root, q)
    d.note(actor, f"{feet.side}_leg", what, during, LimbTrajectory(out.rotations, "ik"))
    require_free(d, during, what)


def foot_contacts(d: Director, feet: Footing, thing: str, during: tuple[float, float]) -> list[Contact]:
    """Contacts that let a foot touch a thing during an interval."""
    body, who = feet.actor.body, feet.actor.who
    joints = set(body.subtree(feet.sole.foot))
    names = dict.fromkeys(f"{who}.{shape.name}" for shape in body.shapes if shape.joint in joints)
    return [Contact(name, thing, during, "touch", PRESS, "a foot touches it") for name in names]
