"""Trunk, head, arms and fingers: rotations of the upper body over the gait cycle, for any speed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.figure import Figure
from elbowroom.locomotion.pelvis import turned

SPINE = ("spine1", "spine2", "chest")
NECK = ("neck", "head")
SHOULDER_DROP = np.radians(6.0)
# Abduction of hanging arms with nothing in their way; `clearance` adds what the body beside them takes.
_HANG = np.radians(7.0)
# Relaxed fingers, degrees at knuckle, middle and end joint (Lee and Jung 2014, resting hand: 20 to 45 at each)
_CURL = {"index": (18, 26, 14), "middle": (23, 30, 16), "ring": (27, 33, 17), "little": (30, 34, 18)}
_FLAT_CURL, _FLAT_THUMB = 0.05, np.radians(-22.0)
# Relaxed thumb of the left hand, palm down: axis and degrees at its first joint
_THUMB_AXIS, _THUMB_TURN = np.array([0.1, -0.55, 1.0]), 30.0


@dataclass(frozen=True, eq=False)
class ArmPose:
    """One arm over N frames, radians each (N,).

    Shoulder flexion, abduction, inward twist; elbow flexion, pronation; wrist flexion; `curl` scales the relaxed
    flexion of the fingers (1).
    """

    flexion: Array
    abduction: Array
    twist: Array
    elbow: Array
    pronation: Array
    wrist: Array
    curl: float = 1.0


def mirrored(q: Array) -> Array:
    """The same rotation on the other side of the body."""
    return q * np.array([1.0, 1.0, -1.0, -1.0])


def split(turn: Array, parts: tuple[str, ...], figure: Figure) -> dict[str, Array]:
    """A rotation (N, 4) shared equally among the joints of a chain that the figure has."""
    there = [p for p in parts if figure.has(p)]
    part = rot.exp(rot.log(turn) / max(len(there), 1))
    return dict.fromkeys(there, part)


def trunk(figure: Figure, pelvis: Array, chest: Array, head: Array) -> dict[str, Array]:
    """Rotations of spine, neck and head from world rotations (N, 4) of pelvis, chest and head."""
    turns = {"pelvis": pelvis}
    turns |= split(rot.multiply(rot.conjugate(pelvis), chest), SPINE, figure)
    turns |= split(rot.multiply(rot.conjugate(chest), head), NECK, figure)
    return turns


def arm(figure: Figure, side: str, pose: ArmPose, chest: Array, hang: Array) -> dict[str, Array]:
    """Rotations of an arm from world rotations (N, 4) of the chest and of the vertical in which the arm hangs."""
    x, y = np.eye(3)[:2]
    upper = rot.multiply(
        rot.multiply(rot.about(x, -pose.flexion), rot.about(y, np.pi / 2 - pose.abduction)), rot.about(x, pose.twist)
    )
    pronation, hand = rot.about(x, pose.pronation), rot.about(y, pose.wrist)
    if side == "right":
        upper, pronation, hand = mirrored(upper), mirrored(pronation), mirrored(hand)
    forearm = rot.multiply(rot.about(figure.hinge(f"{side}_forearm"), pose.elbow), pronation)
    turns = {
        f"{side}_upper_arm": rot.multiply(rot.multiply(rot.conjugate(chest), hang), upper),
        f"{side}_forearm": forearm,
        f"{side}_hand": hand,
    }
    if figure.has(f"{side}_clavicle"):
        # shoulders of a hanging arm are lower than with arms held out
        turns[f"{side}_clavicle"] = collar_turn(figure, side, np.full(len(chest), SHOULDER_DROP))
        lift = rot.conjugate(turns[f"{side}_clavicle"])
        turns[f"{side}_upper_arm"] = rot.multiply(lift, turns[f"{side}_upper_arm"])
    return turns | fingers(side, pose.curl)


def collar_turn(figure: Figure, side: str, drop: Array) -> Array:
    """Rotations (N, 4) that lower a shoulder by an angle (N,), radians, without twisting the clavicle."""
    bone = rot.normalize(figure.at(f"{side}_upper_arm") - figure.at(f"{side}_clavicle"))
    axis = np.array([0.0, 1.0 if side == "left" else -1.0, 0.0])
    return rot.about(axis - (axis @ bone) * bone, drop)


def fingers(side: str, curl: float, thumb_bend: float | None = None) -> dict[str, Array]:
    """Rotations (4,) of fingers bent by `curl` times their relaxed flexion; the thumb relaxed, or bent like a finger
    (rad).
    """
    turns = {}
    for finger, bends in _CURL.items():
        for k, bend in enumerate(bends, start=1):
            q = rot.about([0.0, 1.0, 0.0], np.radians(bend) * curl)
            turns[f"{side}_{finger}{k}"] = q if side == "left" else mirrored(q)
    # The thumb comes in beside the index finger.
    thumb = rot.about(_THUMB_AXIS, np.radians(_THUMB_TURN))
    if thumb_bend is not None:
        thumb = rot.about([0.0, 1.0, 0.0], np.array(thumb_bend))
    turns[f"{side}_thumb1"] = thumb if side == "left" else mirrored(thumb)
    return turns


def hanging(n: int) -> ArmPose:
    """Arms at rest beside the body, N frames."""
    still = np.zeros(n)
    return ArmPose(
        flexion=still + np.radians(-2.0),
        abduction=still + _HANG,
        twist=still + np.radians(6.0),
        elbow=still + np.radians(14.0),
        pronation=still + np.radians(4.0),
        wrist=still + np.radians(4.0),
    )


def upright(heading: Array, roll: Array | float = 0.0, pitch: Array | float = 0.0) -> Array:
    """World rotations (N, 4) of a part that stays level except for the given roll and pitch."""
    zero = np.zeros_like(heading)
    return turned(heading, zero + roll, zero + pitch)
