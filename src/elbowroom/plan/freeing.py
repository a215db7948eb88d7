"""Postures that are made free by turning elbows and knees about the ends of their limbs, hands and feet as they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.limits import EPS
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import angle_between, slerp
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.world.pairs import Pair

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
