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
# Costs of a posture of the free arm, radians and metres: turns of the upper arm and of the elbow, the hand far from the
# hips, the elbow above the shoulder. People bend the elbow and keep the hand near the body. Tuned on leans over tables.
_UPPER, _ELBOW, _FAR, _RAISED = 0.5, 0.25, 2.0, 3.0
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


def set_aside(
    postures: Postures, body: Character, pose: Pose, arm: str, room: float, like: Array | None = None
) -> Pose | None:
    """A posture whose free arm is out of the way: as it is, as in rotations `like` (J, 4), or else elsewhere.

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
    none = np.zeros(len(x))
    frames = np.repeat(pose.rotations[None], len(x), axis=0)
    frames[:, joints[0]] = shoulder.rotation(shoulder.clamp_coordinates(upper + np.stack([x, y, none], axis=1)))
    frames[:, joints[1]] = elbow.rotation(elbow.clamp_coordinates(lower + np.stack([bend, none, none], axis=1)))
    at = body.transforms(np.repeat(pose.root[None], len(x), axis=0), frames)[..., :3, 3][:, [0, *joints]]
    far = np.linalg.norm(at[:, -1] - at[:, 0], axis=1)
    raised = np.maximum(at[:, 2, 2] - at[:, 1, 2], 0.0)
    order = np.argsort(_UPPER * np.hypot(x, y) + _ELBOW * bend + _FAR * far + _RAISED * raised, kind="stable")
    tried = [] if like is None else [like[joints]]
    tried += list(frames[order[:_TRIES]][:, joints])
    q = pose.rotations.copy()
    for distance in (room, 0.0):
        for rotations in tried:
            q[joints] = rotations
            moved = Pose.of(pose.root, q)
            if postures.valid(moved, of=arm, room=distance):
                return moved
    return None
