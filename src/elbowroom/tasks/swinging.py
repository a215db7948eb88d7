"""How a foot goes from place to place over frames: up and over, or with what it presses (S5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.finish.settle import between_free
from elbowroom.geometry.ease import ease
from elbowroom.geometry.rotations import Array, from_matrix, slerp
from elbowroom.geometry.transforms import transform
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.tasks import acting
from elbowroom.tasks.arm_ways import Way
from elbowroom.tasks.body_way import body_way
from elbowroom.tasks.director import Director
from elbowroom.tasks.feet import Footing
from elbowroom.tasks.fixtures import fixture_of, moved_along
from elbowroom.tasks.limb_way import limb_way
from elbowroom.tasks.postures import PRESS
from elbowroom.tasks.stuck import Stuck
from elbowroom.world.allowances import supports
from elbowroom.world.contacts import Contact
from elbowroom.world.fast import LimbCheck

_UP = np.array([0.0, 0.0, 1.0])

# How high a foot rises on its way, metres; the share of its time in which it only rises, and in which it only sinks.
_ARCS, _LIFTS = (0.05, 0.1, 0.2, 0.0), 0.15

# Seconds in which a pedal goes down or comes up.
_PRESSES = 0.35


def feet_at(feet: Footing, pose: Pose) -> Array:
    """Where the foot that moves is in a posture, (4, 4)."""
    return np.asarray(feet.actor.body.skeleton.at(pose)[feet.sole.foot])


def swing(d: Director, feet: Footing, goal: Pose, count: int, what: str, arcs: tuple[float, ...] = _ARCS) -> None:
    """The foot goes to where it is in a posture: up and over, else as a search finds."""
    actor, limb = feet.actor, f"{feet.side}_leg"
    root, q = body_way(actor, goal, count)
    joints = list(actor.body.chain(limb).joints)
    q[:, joints] = slerp(actor.q[-1, joints], goal.rotations[joints], ease(np.linspace(0.0, 1.0, count + 1))[:, None])
    standing = d.world
    d.world = replace(d.world, contacts=(*d.world.contacts, *supports(d.world)))
    try:
        # Searches differ from seed to seed, ways up and over do not.
        over = None if d.settings.tier == "plan" and arcs is _ARCS else _over(d, feet, root, q, arcs)
        way = over or limb_way(d, actor, limb, root, q, what, margin=0.0)
    finally:
        d.world = standing
    q[:, joints] = way.rotations
    acting.add(d, actor, root, q)
    d.note(actor, limb, what, (actor.time(actor.k - count), actor.now), way)


def _over(d: Director, feet: Footing, root: Array, q: Array, arcs: tuple[float, ...]) -> Way | None:
    """Ways of the foot that rise between the first and the last frame; the first that is free."""
    actor, limb = feet.actor, f"{feet.side}_leg"
    ik = LimbIK(actor.body, limb, actor.pose)
    joints, count = list(ik.joints), len(root) - 1
    T = actor.body.transforms(root, q)
    (a, keep_a), (b, _) = (ik.describe(T[k, ik.parent], q[k, joints]) for k in (0, -1))
    first, last = T[0, ik.joints[2]], T[-1, ik.joints[2]]
    h = np.linspace(0.0, 1.0, count + 1)
    # A foot goes up before it goes on, and down when it is there.
    s = ease(h if arcs == (0.0,) else np.clip((h - _LIFTS) / (1.0 - 2.0 * _LIFTS), 0.0, 1.0))
    lift = ease(np.minimum(h, 1.0 - h) / (2.0 * _LIFTS))
    turns = slerp(from_matrix(first[:3, :3]), from_matrix(last[:3, :3]), s)
    during = (actor.now, actor.time(actor.k + count))
    check = LimbCheck(actor.placed(d.world, root, q), actor.who, limb, during)
    for height in arcs:
        places = first[:3, 3] + s[:, None] * (last[:3, 3] - first[:3, 3])
        places = places + height * lift[:, None] * _UP
        out = ik.solve(T[:, ik.parent], transform(places, turns), a + s * (b - a), keep_a)
        if not out.reached.all():
            continue
        rotations = np.array(out.rotations)
        rotations[0], rotations[-1] = q[0, joints], q[-1, joints]
        if d.settings.tier == "ik" or between_free(check, rotations, actor.times(count)):
            return Way(rotations, "ik", checks=count + 1)
    return None


def follow(d: Director, feet: Footing, name: str, T_fixture_foot: Array, to: float, what: str) -> None:
    """A fixture moves along its joint and the foot with it."""
    actor = feet.actor
    fixture = fixture_of(d, name)
    begin = float(fixture.state(actor.now))
    count = actor.frames(_PRESSES)
    s = ease(np.linspace(0.0, 1.0, count + 1))
    states = begin + s * (to - begin)
    targets = fixture.T_world_closed @ fixture.joint.moved_many(states) @ T_fixture_foot
    ik = LimbIK(actor.body, f"{feet.side}_leg", actor.pose)
    root, q = actor.ahead(count)
    parents = actor.body.transforms(root, q)[:, ik.parent]
    out = ik.solve(parents, targets, ik.orbit_of(actor.pose), ik.keep_of(actor.pose))
    if not out.reached.all():
        raise Stuck("target-out-of-reach", f"{what}: the foot falls back by {out.missing.max():.2f} m on the way")
    q[:, list(ik.joints)] = out.rotations
    d.world = moved_along(d.world, name, actor.times(count), states)
    during = (actor.now, actor.time(actor.k + count))
    d.allow(foot_contacts(d, feet, name, during))
    acting.add(d, actor, root, q)
    d.note(actor, f"{feet.side}_leg", what, during, Way(out.rotations, "ik"))
    d.require_free(during, what)


def foot_contacts(d: Director, feet: Footing, thing: str, during: tuple[float, float]) -> list[Contact]:
    """A foot may touch a thing during an interval."""
    body, who = feet.actor.body, feet.actor.who
    joints = set(body.subtree(feet.sole.foot))
    names = dict.fromkeys(f"{who}.{shape.name}" for shape in body.shapes if shape.joint in joints)
    return [Contact(name, thing, during, "touch", PRESS, "a foot touches it") for name in names]
