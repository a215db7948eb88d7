"""Torques that an adult's joints can give, and what a still posture with a load asks of them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array

# Torque that an adult can give for a moment, Nm for each kg of body mass, the stronger direction of a joint. The knee's
# is from 411 studies (Sarabon, Kozinc and Perman 2021: 2.1 to 3.5 in mid-range, women and men); the others are usual
# values, rounded, entered from memory.
STRENGTH = {
    "neck": 0.4,
    "spine1": 3.0,
    "left_upper_arm": 0.9,
    "right_upper_arm": 0.9,
    "left_forearm": 0.9,
    "right_forearm": 0.9,
    "left_hand": 0.2,
    "right_hand": 0.2,
    "left_thigh": 3.0,
    "right_thigh": 3.0,
    "left_shin": 2.8,
    "right_shin": 2.8,
    "left_foot": 2.6,
    "right_foot": 2.6,
}
# Mass that one hand lifts by the kind of its grasp, kg for each kg of body mass: pinches of 60 to 90 N with a friction
# of 0.6 on both sides, fists of 300 to 450 N; usual values, rounded, entered from memory.
GRIP_STRENGTH = {"tips": 0.1, "pinch": 0.12, "power": 0.5, "hook": 0.5, "flat": 0.1}
# Height of an adult's joints that the values are for, metres: longer levers pull on longer muscles.
_JOINTS_M = 1.6
_GRAVITY = 9.81
# Joints that a load in the hands is carried by; legs carry it through the bones.
_CARRY = ("spine1", "left_upper_arm", "right_upper_arm", "left_forearm", "right_forearm")


def strength_of(body: Character, role: str) -> float:
    """Torque in Nm that the joint of a role can give; the character has masses."""
    assert body.masses is not None
    size = max(float(np.ptp(body.skeleton.T_rest[:, 2, 3])) / _JOINTS_M, 1e-3)
    return STRENGTH[role] * body.masses.total * size


def load_effort(
    body: Character, T: Array, mass: float, center: ArrayLike, hands: Collection[str]
) -> tuple[str, float, float]:
    """Joint, torque in Nm and share of its strength that holding a load still asks for most.

    T (J, 4, 4): the joints; mass in kg with its centre (3,) in the world, shared evenly by the hands ('left', 'right').
    """
    if body.masses is None:
        return "", 0.0, 0.0
    own = body.masses.mass
    at = T[:, :3, 3] + np.einsum("jab,jb->ja", T[:, :3, :3], body.masses.center)
    found = ("", 0.0, 0.0)
    for role in _CARRY:
        if role not in body.roles:
            continue
        joint = body.roles[role]
        borne = [hand for hand in hands if body.roles[f"{hand}_hand"] in body.subtree(joint)]
        mine = list(body.subtree(joint))
        share = mass * len(borne) / max(len(hands), 1)
        arm = own[mine] @ (at[mine] - T[joint, :3, 3]) + share * (np.asarray(center) - T[joint, :3, 3])
        torque = _GRAVITY * float(np.hypot(arm[0], arm[1]))
        effort = torque / strength_of(body, role)
        if effort > found[2]:
            found = (role, torque, effort)
    return found


def too_heavy(body: Character, T: Array, mass: float, center: ArrayLike, hands: Collection[str]) -> str:
    """Sentence on the joint that a load asks for more torque than it can give, '' where none; see `load_effort`."""
    role, torque, share = load_effort(body, T, mass, center, hands)
    if share <= 1.0:
        return ""
    joint = role.replace("_", " ").replace("spine1", "lower back").replace("upper arm", "shoulder")
    joint = joint.replace("forearm", "elbow")
    return f"{mass:g} kg take {torque:.0f} Nm of the {joint}, {100 * share:.0f} % of its strength"


def slips(body: Character, mass: float, style: str) -> str:
    """Sentence on a grasp of a kind that cannot hold a mass in kg in one hand, '' where it can."""
    if body.masses is None or style not in GRIP_STRENGTH:
        return ""
    most = GRIP_STRENGTH[style] * body.masses.total
    return f"{mass:g} kg slip out of one hand, which lifts {most:.0f} kg by such a grasp" if mass > most else ""
