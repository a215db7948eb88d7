"""Postures made free: elbows and knees turned about the ends of their limbs, and the free arm out of the way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.limits import EPS
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, angle_between, slerp
from elbowroom.plan.actor import Actor
from elbowroom.plan.hands import held_by, joints_of
from elbowroom.plan.postures import Postures
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.world.pairs import Pair
from elbowroom.world.world import World

# Turns of an elbow about shoulder and hand, and of a knee about hip and foot, that are tried, radians.
_ORBITS_RAD = np.radians([8, -8, 16, -16, 24, -24, 34, -34, 46, -46, 60, -60])
# Limbs that turn so, and which of their parts are in the way then; each may be in the other's way again.
_ARM_PARTS = ("fore", "upper_arm")
_LEG_PARTS = ("thigh", "shin")
_LIMBS = (
    ("left_leg", _LEG_PARTS),
    ("right_leg", _LEG_PARTS),
    ("left_leg", _LEG_PARTS),
    ("left_arm", _ARM_PARTS),
    ("right_arm", _ARM_PARTS),
    ("left_arm", _ARM_PARTS),
)
# Shares of a shoulder's rise that are tried where its upper arm meets neck or head.
_SHOULDERS = (0.6, 0.3, 0.0)
# Radians that joints may be farther out of their ranges than the solver leaves them.
_BEYOND_RAD = 0.01
# Pair that collides in a posture, None where it is free.
Blame = Callable[[Pose], Pair | None]


def freed(body: Character, blame: Blame, pose: Pose, most_rad: float = np.inf) -> Pose | Pair:
    """A posture with its elbows and knees turned about the ends of their limbs until it is free, by little.

    What is in the way where that does not help; nothing turns by more than `most_rad`.
    """
    pair = blame(pose)
    for side in ("left", "right"):
        if pair is not None and any("upper_arm" in name for name in pair) and any(side in name for name in pair):
            lowered = _lowered(body, pose, side, blame, most_rad)
            pose, pair = (pose, pair) if lowered is None else (lowered, blame(lowered))
    for limb, parts in _LIMBS:
        side = limb.partition("_")[0]
        if pair is None or not any(f".{side}_{part}" in name for name in pair for part in parts):
            continue
        ik = LimbIK(body, limb, pose)
        T_parent, T_end = ik.T_world_parent(pose), body.skeleton.at(pose)[ik.joints[-1]]
        turns = np.append(0.0, _ORBITS_RAD[np.abs(_ORBITS_RAD) <= most_rad])  # the first one as it is
        solved = ik.solve(T_parent, T_end, ik.orbit_of(pose) + turns, ik.keep_of(pose))
        beyond = solved.excess.max(axis=-1)
        can = solved.reached & (beyond <= max(float(beyond[0]), EPS) + _BEYOND_RAD)
        for limb_rotations in solved.rotations[1:][can[1:]]:
            rotations = np.array(pose.rotations)
            rotations[list(ik.joints)] = limb_rotations
            turned = Pose.of(pose.root, rotations)
            other = blame(turned)
            if other is None or not any(f".{side}_{part}" in name for name in other for part in parts):
                pose, pair = turned, other
                break
    return pose if pair is None else pair


def _lowered(body: Character, pose: Pose, side: str, blame: Blame, most_rad: float) -> Pose | None:
    """The posture with a shoulder lowered until its upper arm is off neck and head, the hand where it was."""
    clavicle = body.roles.get(f"{side}_clavicle")
    if clavicle is None:
        return None
    T_hand = body.skeleton.at(pose)[body.role(f"{side}_hand")]
    for share in _SHOULDERS:
        rotations = np.array(pose.rotations)
        rotations[clavicle] = slerp(body.skeleton.rest[clavicle], rotations[clavicle], np.array(share))
        moved = Pose.of(pose.root, rotations)
        ik = LimbIK(body, f"{side}_arm", moved)
        solved = ik.solve(ik.T_world_parent(moved), T_hand, ik.orbit_of(pose), ik.keep_of(pose))
        if not (solved.reached.all() and float(solved.excess.max()) <= _BEYOND_RAD):
            continue
        lowered = ik.posed(moved, solved)
        if angle_between(lowered.rotations, pose.rotations).max() > most_rad:
            return None
        other = blame(lowered)
        if other is None or not any(f".{side}_upper_arm" in name for name in other):
            return lowered
    return None


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
