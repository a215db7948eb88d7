"""Crouching and leaning that bring the hands to a box, from the floor to above the head.

It follows the hands: knees and hips bend as far as low boxes need, the pelvis moves back so that the weight stays over
the feet, heels lift for high ones. The arms are then solved exactly (`locomotion.box_hands`). Unlike `posing.reach`,
which takes any target of one hand from any posture, this is a curve of postures for clips that are made from nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion import upper
from elbowroom.locomotion.box_hands import arm_length, collar_root
from elbowroom.locomotion.course import facing
from elbowroom.locomotion.feet import Foot
from elbowroom.locomotion.figure import SIDES, Figure
from elbowroom.locomotion.limbs import Limb
from elbowroom.locomotion.pelvis import turned
from elbowroom.locomotion.sole import measure
from elbowroom.locomotion.standing import planted, stand
from elbowroom.locomotion.steps import TOE_OUT

_STANCE = 1.0  # distance of the feet against the hips' when lifting
_STRETCH = 0.95  # share of the arm's length that a comfortable reach uses
CROUCH = 0.62  # deepest lowering of the hips against the leg's length
_RISE = 0.06  # metres of the reference leg
_TRIALS = np.linspace(-1.0, 1.0, 121)
_STANDING = 60  # index of 0 among the trials


@dataclass(frozen=True, eq=False)
class Posture:
    """Crouch of the body (0 stands, 1 is deepest), forward lean (radians), offset of the pelvis to the back (m), and
    how far the heels are off the floor (radians of the sole), each (N,)."""

    crouch: Array
    lean: Array
    back: Array
    tiptoe: Array


@dataclass(frozen=True, eq=False)
class Postures:
    """A range of postures from tiptoes to the deepest crouch, and where the left shoulder is in each, (K, 3)."""

    name: str
    range: Posture
    shoulder: Array
    arm: float
    rise: float

    def for_grip(self, height: float, ahead: float, half_width: float) -> Array:
        """Crouch, lean, back and tiptoe (4,) of the least effort from which a grip is in easy reach.

        height over the floor, ahead of the ankles and half the distance of the hands in metres.
        """
        high = height > self.shoulder[_STANDING, 2]
        at = self.shoulder + np.array([0.0, 0.0, self.rise]) * high
        far = np.linalg.norm(at - np.array([half_width, -ahead, height]), axis=1)
        reach = _STRETCH * self.arm
        good = np.flatnonzero(far[_STANDING:] <= reach) + _STANDING
        if high and not len(good):
            good = np.flatnonzero(far[:_STANDING] <= reach)[::-1]
        k = int(good[0]) if len(good) else int(np.argmin(far))
        if far[k] > 0.99 * self.arm:
            raise BadValue(
                f"a grip at {height:.2f} m height, {ahead:.2f} m in front, is out of reach of {self.name}, whose arms "
                f"are {self.arm:.2f} m long; choose another height or distance."
            )
        p = self.range
        return np.array([p.crouch[k], p.lean[k], p.back[k], p.tiptoe[k]])


def postures(body: Figure) -> Postures:
    """Postures of a figure from tiptoes over standing to the deepest crouch: first it leans, then the knees bend."""
    down, up = np.maximum(_TRIALS, 0.0), np.maximum(-_TRIALS, 0.0)
    crouch, lean = down**1.8, down * np.radians(98.0)
    p = Posture(crouch, lean, _back(body, crouch, lean), up * np.radians(38.0))
    # one frame a second: each posture on its own, nothing smoothed between them
    turns, root, chest = crouched(body, p, 0.0 * lean, 1.0)
    drop = upper.collar_turn(body, "left", np.full(len(lean), upper.SHOULDER_DROP))
    collar = body.at("left_upper_arm") - body.at("left_clavicle")
    shoulder = collar_root(body, turns, root, "left") + rot.rotate(rot.multiply(chest, drop), collar)
    return Postures(body.character.name, p, shoulder, arm_length(body), _RISE * body.scale)


def crouched(body: Figure, p: Posture, look: Array, fps: float) -> tuple[dict[str, Array], Array, Array]:
    """Turns of legs and trunk, pelvis positions (N, 3) and chest turns (N, 4) over N frames of a posture.

    look (N,): angle by which the head looks down, radians.
    """
    n = len(p.crouch)
    still = np.zeros(n)
    # the hips fold more than the back bends
    pelvis = turned(still, still, 0.45 * p.lean)
    chest = turned(still, still, p.lean)
    head = turned(still, still, look)
    hips = body.leg * (1.0 - CROUCH * p.crouch)
    feet = [_foot(body, side, p.tiptoe) for side in SIDES]
    hips = hips + feet[0].ankle[:, 2] - body.at("left_foot")[2]
    # on tiptoes the weight is over the balls of the feet
    ball = -body.at("left_toes")[1] if body.has("left_toes") else 0.13 * body.scale
    place = np.stack([still, p.back - ball * np.sin(p.tiptoe) * 1.2], axis=-1)
    offset = rot.rotate(pelvis, body.at("left_thigh") - body.at("pelvis"))
    place = place - offset[:, :2] * np.array([0.0, 1.0])
    knees = [_knees(body, side, foot, hips, p) for side, foot in zip(SIDES, feet, strict=True)]
    turns, root = stand(body, feet, knees, place, pelvis, fps)
    return turns | upper.trunk(body, pelvis, chest, head), root, chest


def shoulders(body: Figure) -> Array:
    """Height and forward place (2,) of the shoulders against the hip joints in the standing figure."""
    joint = "left_upper_arm"
    at = body.at(joint) - body.at("left_thigh")
    return np.array([at[2], -at[1]])


def _back(body: Figure, crouch: Array, lean: Array) -> Array:
    """Distance of the hips behind the ankles that keeps the weight over the feet.

    Head, arms and trunk are about 0.68 of the mass, their centre 0.6 of the way up to the shoulders (Winter 2009,
    table 4.1); the thighs go back by half as much as the hips. Standing, the weight is a little before the ankles.
    """
    up = shoulders(body)[0]
    return (0.68 * 0.6 * up * np.sin(lean) - 0.035 * body.scale * np.minimum(1.0, 3.0 * crouch)) / (0.68 + 0.5 * 0.2)


def _foot(body: Figure, side: str, tiptoe: Array) -> Foot:
    """A planted foot whose heel is off the floor by an angle (N,)."""
    flat = planted(body, side, len(tiptoe), 1.0, _STANCE, TOE_OUT)
    sole = measure(body, side)
    rolled = sole.stance(-tiptoe)
    ahead = rolled[:, :1] * facing(flat.heading)
    ankle = np.concatenate([flat.ankle[:, :2] + ahead, rolled[:, 1:]], axis=-1)
    toes = sole.toe_pitch(-tiptoe) + tiptoe
    return Foot(ankle, -tiptoe, flat.heading, toes, flat.load, flat.planted)


def _knees(body: Figure, side: str, foot: Foot, hips: Array, p: Posture) -> Array:
    """Knee bend (N,) that brings a hip joint to a height above its planted foot."""
    limb = Limb(
        body.at(f"{side}_shin") - body.at(f"{side}_thigh"), body.at(f"{side}_foot") - body.at(f"{side}_shin"),
        body.hinge(f"{side}_shin"),
    )  # fmt: skip
    aside = foot.ankle[:, 0] - body.at(f"{side}_thigh")[0]
    distance = np.sqrt((hips - foot.ankle[:, 2]) ** 2 + (p.back - foot.ankle[:, 1]) ** 2 + aside**2)
    return np.maximum(limb.flexion(np.minimum(distance, limb.length(np.radians(7.0)))), np.radians(6.0))
