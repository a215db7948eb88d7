"""Collision-free postures: elbows and knees swivelled about the ends of their limbs, and the free arm moved away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.limits import EPS
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, angle_between, slerp
from elbowroom.plan.checks.hands import held_by, joints_of
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.actor import Actor
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.world.pairs import Pair
from elbowroom.world.world import World

# Swivel angles of elbows and knees that are tried, radians.
_ORBITS_RAD = np.radians([8, -8, 16, -16, 24, -24, 34, -34, 46, -46, 60, -60])
# Limbs that swivel, and the parts whose collisions that may resolve; one limb may block the other again.
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
# Fractions of a shoulder's elevation that are tried where its upper arm hits neck or head.
_SHOULDERS = (0.6, 0.3, 0.0)
# Excess over the joint limits, beyond that of the solver's result, that a swivel may cause, radians.
_BEYOND_RAD = 0.01
# Returns a colliding pair of a posture, None where it is free.
Blame = Callable[[Pose], Pair | None]


def freed(body: Character, blame: Blame, pose: Pose, most_rad: float = np.inf) -> Pose | Pair:
    """Swivel elbows and knees by as little as makes a posture free, at most `most_rad`.

    Returns the colliding pair where that does not help.
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
        turns = np.append(0.0, _ORBITS_RAD[np.abs(_ORBITS_RAD) <= most_rad])  # the first is the unchanged posture
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
    """Lower a shoulder until its upper arm is clear of neck and head, with the hand in place."""
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


# Seconds before and after its task during which an arm is not free for other motion.
_BUSY_S = 1.5
# Rotations of the upper arm, for each of its two swings, and of the elbow that are tried, radians.
_SWINGS_RAD = np.radians([0.0, 15.0, -15.0, 30.0, -30.0, 50.0, -50.0, 75.0, -75.0])
_ELBOW_RAD = np.radians([0.0, 30.0, 60.0, 90.0, 115.0])
# Costs of a posture of the free arm, per radian and metre: rotation of upper arm and elbow, the hand far from the hips,
# the elbow above the shoulder. People bend the elbow and keep the hand near the body. Tuned on leans over tables.
_UPPER, _ELBOW, _FAR, _RAISED = 0.5, 0.25, 2.0, 3.0
# Free-arm postures that are checked before giving up.
_TRIES = 200


def free_arm(world: World, actor: Actor, hand: str, k: int) -> str | None:
    """The other arm's chain if nothing constrains it at frame k; None where there is none."""
    other = "left" if hand == "right" else "right"
    if f"{other}_arm" not in actor.body.chains or set(joints_of(actor, other)) & set(actor.kept):
        return None
    near = actor.frames(_BUSY_S)
    if any(side == other and first - near < k < last + near for side, first, last in actor.contacts):
        return None
    return f"{other}_arm" if held_by(world, actor.who, other, actor.time(k)) is None else None


def clear_free_arm(
    postures: Postures, body: Character, pose: Pose, arm: str, room: float, like: Array | None = None
) -> Pose | None:
    """A posture whose free arm is out of the way: unchanged, as in rotations `like` (J, 4), or the cheapest free one.

    Keeps `room` metres of clearance where possible; None where no candidate is free.
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
