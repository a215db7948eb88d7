"""Joints of the built-in person: their tree and where they are in the rest pose.

Rest pose: T pose with identity rotations, so every joint's frame is along the world's axes; faces -Y, left is
+X, palms down, soles on z = 0, pelvis above the origin.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elbowroom.character.anthropometry import BALL_SHARE, HEEL_SHARE, Proportions
from elbowroom.character.hands import finger_names, finger_offsets
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.rotations import Array

# Where joints of the trunk lie behind (+) or before (-) the hip centres, fractions of stature: the curve of a
# standing spine (Kapandji), its joints behind the middle of the trunk and the skull's before the neck's root.
SPINE_DEPTH = {"spine1": 0.016, "spine2": 0.010, "chest": 0.018, "neck": 0.016, "head": 0.004}
SHOULDER_DEPTH = 0.014  # shoulder centre
STERNUM_DEPTH = -0.020  # sternoclavicular joint
EYE_DEPTH = -0.046  # centre of the eyeball, from the head's joint
BALL_HEIGHT = 0.013  # joint of the ball of the foot above the sole


def joint_names() -> tuple[tuple[str, str], ...]:
    """All joints of the person as (name, parent's name), parents first; the root's parent is ''."""
    tree = [
        ("pelvis", ""),
        ("spine1", "pelvis"),
        ("spine2", "spine1"),
        ("chest", "spine2"),
        ("neck", "chest"),
    ]
    tree += [("head", "neck"), ("left_eye", "head"), ("right_eye", "head")]
    for side in ("left", "right"):
        arm = [f"{side}_{part}" for part in ("clavicle", "upper_arm", "forearm", "hand")]
        tree += zip(arm, ["chest", *arm[:-1]], strict=True)
        for k, name in enumerate(finger_names(side)):
            tree.append((name, arm[-1] if k % 3 == 0 else tree[-1][0]))
    for side in ("left", "right"):
        leg = [f"{side}_{part}" for part in ("thigh", "shin", "foot", "toes")]
        tree += zip(leg, ["pelvis", *leg[:-1]], strict=True)
    return tuple(tree)


# Parent of each part, parents first; '' above the root. The same names are the roles of any rig.
PARENT_ROLE = dict(joint_names())


def carrier(role: str, roles: Mapping[str, int]) -> int:
    """The joint of a rig that carries a part: its own, or that of the nearest part above it, or the root."""
    while role and role not in roles:
        role = PARENT_ROLE[role]
    return roles[role] if role else 0


def rest_positions(p: Proportions) -> dict[str, Array]:
    """Position of each joint in the rest pose, (3,) in metres, by name."""
    u = p.unit
    at: dict[str, Array] = {"pelvis": np.array([0.0, 0.0, p.level("hip")])}
    for joint, depth in SPINE_DEPTH.items():
        at[joint] = np.array([0.0, depth * u, p.level(joint)])
    for side, out in (("left", 1.0), ("right", -1.0)):
        eye = [out * p.spacing["eye"], at["head"][1] + EYE_DEPTH * u * p.scales.head]
        at[f"{side}_eye"] = np.array([*eye, p.height - p.length["eye_to_vertex"]])
        shoulder_z = p.level("neck") - p.length["neck_to_shoulder_drop"]
        at[f"{side}_clavicle"] = np.array([out * p.spacing["clavicle"], STERNUM_DEPTH * u, shoulder_z])
        arm = np.array([out * p.spacing["shoulder"], SHOULDER_DEPTH * u, shoulder_z])
        at[f"{side}_upper_arm"] = arm
        at[f"{side}_forearm"] = arm + [out * p.length["upper_arm"], 0, 0]
        hand = arm + [out * (p.length["upper_arm"] + p.length["forearm"]), 0, 0]
        at[f"{side}_hand"] = hand
        fingers = finger_offsets(p.length["hand"], p.breadth["hand"], out).reshape(5, 3, 3).cumsum(axis=1)
        at |= zip(finger_names(side), hand + fingers.reshape(-1, 3), strict=True)
        hip = out * p.spacing["hip"]
        for joint, level in (("thigh", "hip"), ("shin", "knee"), ("foot", "ankle")):
            at[f"{side}_{joint}"] = np.array([hip, 0.0, p.level(level)])
        ball = -(BALL_SHARE - HEEL_SHARE) * p.length["foot"]
        at[f"{side}_toes"] = np.array([hip, ball, BALL_HEIGHT * u * p.scales.foot])
    return at


def human_skeleton(p: Proportions) -> Skeleton:
    """The 54 joints of a person of these proportions."""
    return skeleton_at(rest_positions(p))


def skeleton_at(at: Mapping[str, Array]) -> Skeleton:
    """The person's 54 joints with given positions (3,) in the rest pose, by name."""
    tree = joint_names()
    index = {name: j for j, (name, _) in enumerate(tree)}
    parents = [index.get(parent, -1) for _, parent in tree]
    offsets = [at[name] - at.get(parent, np.zeros(3)) for name, parent in tree]
    return Skeleton(tuple(index), np.array(parents), np.array(offsets))
