"""The built-in person: joints at anatomical places for any height, mass and build.

Rest pose: T pose with identity rotations, so every joint's frame is along the world's axes; faces -Y, left is
+X, palms down, soles on z = 0, pelvis above the origin.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from elbowroom.character.anthropometry import BALL_SHARE, HEEL_SHARE, Proportions, Scales, Sex, proportions
from elbowroom.character.body import Character
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


def rest_positions(p: Proportions) -> dict[str, Array]:
    """Where each joint is in the rest pose, (3,) in metres, by name."""
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
    tree = joint_names()
    at = rest_positions(p)
    index = {name: j for j, (name, _) in enumerate(tree)}
    parents = [index.get(parent, -1) for _, parent in tree]
    offsets = [at[name] - at.get(parent, np.zeros(3)) for name, parent in tree]
    return Skeleton(tuple(index), np.array(parents), np.array(offsets))


@lru_cache(maxsize=64)
def human(
    height: float = 1.70,
    mass: float | None = None,
    *,
    sex: Sex = "average",
    name: str = "person",
    leg_scale: float = 1.0,
    arm_scale: float = 1.0,
    trunk_scale: float = 1.0,
    head_scale: float = 1.0,
    hand_scale: float = 1.0,
    foot_scale: float = 1.0,
    shoulder_scale: float = 1.0,
    hip_scale: float = 1.0,
    trunk_girth_scale: float = 1.0,
    arm_girth_scale: float = 1.0,
    leg_girth_scale: float = 1.0,
    skin: bool = True,
) -> Character:
    """A person `height` metres tall, of `mass` kg (body mass index 22.5 where not given).

    Sizes come from the tables in `anthropometry`; the scales depart from them at the same height:
    `leg_scale=1.3` gives legs that are 1.3 times as long against the trunk. `skin=False` leaves the skin mesh out.
    Equal calls return the same object.
    """
    scales = Scales(
        leg=leg_scale,
        arm=arm_scale,
        trunk=trunk_scale,
        head=head_scale,
        hand=hand_scale,
        foot=foot_scale,
        shoulder=shoulder_scale,
        hip=hip_scale,
        trunk_girth=trunk_girth_scale,
        arm_girth=arm_girth_scale,
        leg_girth=leg_girth_scale,
    )
    p = proportions(height, mass, sex=sex, scales=scales)
    skeleton = human_skeleton(p)
    roles = {joint: j for j, joint in enumerate(skeleton.names)}
    return Character(name=name, skeleton=skeleton, roles=roles)
