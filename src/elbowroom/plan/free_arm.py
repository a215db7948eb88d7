"""The free arm: while one hand works and the trunk helps it, the other arm gets out of the way of things."""

from __future__ import annotations

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array
from elbowroom.plan.actor import Actor
from elbowroom.plan.hands import held_by, joints_of
from elbowroom.plan.postures import Postures
from elbowroom.world.world import World

# Seconds before and after its work during which an arm is not free to move otherwise.
_BUSY_S = 1.5
# Turns of the upper arm in each of its two swings, and of the elbow, that are tried, radians.
_SWINGS_RAD = np.radians([0.0, 15.0, -15.0, 30.0, -30.0, 50.0, -50.0, 75.0, -75.0])
_ELBOW_RAD = np.radians([0.0, 30.0, 60.0, 90.0, 115.0])
# What a turn of the elbow costs, as a share of one of the upper arm: forearms are raised without much ado.
_ELBOW_SHARE = 0.6
# Postures of the free arm that are looked at before it is given up.
_TRIES = 200


def free_arm(world: World, actor: Actor, hand: str, k: int) -> str | None:
    """The other arm's chain, if nothing keeps it where it is at frame k; None where there is none."""
    other = "left" if hand == "right" else "right"
    if f"{other}_arm" not in actor.body.chains or set(joints_of(actor, other)) & set(actor.kept):
        return None
    near = actor.frames(_BUSY_S)
    if any(side == other and first - near < k < last + near for side, first, last in actor.contacts):
        return None
    return f"{other}_arm" if held_by(world, actor.who, other, actor.time(k)) is None else None


def set_aside(postures: Postures, body: Character, pose: Pose, arm: str, like: Array, room: float) -> Pose | None:
    """A posture whose free arm is out of the way: as it is, as in rotations `like` (J, 4), or turned the least.

    `room` metres are kept where that can be; None where no turn that is tried is free.
    """
    if postures.valid(pose):
        return pose
    joints = list(body.chain(arm).joints)
    limits = [body.limits[j] if j < len(body.limits) else None for j in joints[:2]]
    if not postures.valid(pose, but=arm) or len(joints) < 2 or limits[0] is None or limits[1] is None:
        return None
    shoulder, elbow = limits[0], limits[1]
    upper, lower = shoulder.coordinates(pose.rotations[joints[0]]), elbow.coordinates(pose.rotations[joints[1]])
    x, y, bend = (a.ravel() for a in np.meshgrid(_SWINGS_RAD, _SWINGS_RAD, _ELBOW_RAD, indexing="ij"))
    order = np.argsort(np.hypot(x, y) + _ELBOW_SHARE * bend, kind="stable")[1:]
    none = np.zeros(len(order))
    uppers = shoulder.rotation(shoulder.clamp_coordinates(upper + np.stack([x[order], y[order], none], axis=1)))
    lowers = elbow.rotation(elbow.clamp_coordinates(lower + np.stack([bend[order], none, none], axis=1)))
    tried = [like[joints]] if not np.allclose(like[joints], pose.rotations[joints]) else []
    for a, b in zip(uppers[:_TRIES], lowers[:_TRIES], strict=True):
        tried.append(np.concatenate([[a, b], pose.rotations[joints[2:]]]))
    q = pose.rotations.copy()
    for distance in (room, 0.0):
        for rotations in tried:
            q[joints] = rotations
            moved = Pose.of(pose.root, q)
            if postures.valid(moved, of=arm, room=distance):
                return moved
    return None
