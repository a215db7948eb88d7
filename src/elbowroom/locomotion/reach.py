"""Postures in which both hands get to two points in front of the body, from the floor to above the head.

The body follows the hands: knees and hips bend as far as low points need, the pelvis moves back so that the
weight stays over the feet, shoulders rise for high points; the arms are then solved exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion import room, upper
from elbowroom.locomotion.course import facing
from elbowroom.locomotion.feet import Foot
from elbowroom.locomotion.figure import SIDES, Figure
from elbowroom.locomotion.limbs import Limb, twist_about
from elbowroom.locomotion.pelvis import turned
from elbowroom.locomotion.sole import measure
from elbowroom.locomotion.standing import planted, stand
from elbowroom.locomotion.steps import TOE_OUT

_STANCE = 1.0  # distance of the feet against the hips' when lifting
_TOES_OUT = TOE_OUT
_STRETCH = 0.95  # share of the arm's length that a comfortable reach uses
CROUCH = 0.62  # deepest lowering of the hips against the leg's length
_RISE = 0.06  # metres of the reference leg
_TRIALS = np.linspace(-1.0, 1.0, 121)
_ELBOWS_OUT = 0.85  # tangent of the angle by which elbows leave the vertical
_EASY, _TAPER = 0.93, 0.02  # share of the arm's length, and metres over which the reach tapers off before it
_WRIST_ASIDE = np.radians(20.0)
_WRIST_ROUNDS = 4
_SOFT = 0.006  # metres
_STANDING = 60  # index of 0 among the trials


@dataclass(frozen=True, eq=False)
class Posture:
    """How far the body crouches (0 stands, 1 is deepest) and leans over (radians), how far the pelvis is back (m), and
    how far the heels are off the floor (radians of the sole), each (N,)."""

    crouch: Array
    lean: Array
    back: Array
    tiptoe: Array


def shoulders(body: Figure) -> Array:
    """Height and forward place (2,) of the shoulders against the hip joints in the standing figure."""
    joint = "left_upper_arm"
    at = body.at(joint) - body.at("left_thigh")
    return np.array([at[2], -at[1]])


def arm_length(body: Figure) -> float:
    """From shoulder to the middle of the palm, metres."""
    return float(
        np.linalg.norm(body.at("left_forearm") - body.at("left_upper_arm"))
        + np.linalg.norm(body.at("left_hand") - body.at("left_forearm"))
        + palm(body, "left")[0]
    )


@lru_cache(maxsize=32)
def palm(body: Figure, side: str) -> tuple[float, float]:
    """The middle of the palm's skin against the wrist: along the fingers and out of the palm, metres."""
    character, hand = body.character, body.character.role(f"{side}_hand")
    wrist = body.at(f"{side}_hand")
    length = 0.085 * body.scale
    if body.has(f"{side}_middle1"):
        length = abs(float(body.at(f"{side}_middle1")[0] - wrist[0]))
    along = 0.75 * length
    # the ball of the thumb stands out farther than the palm's skin and gives way a little
    ball = _ball_of_thumb(body, side) - _SOFT
    if character.skin is not None:
        # the hand's skin in the axes of the standing figure
        mine = character.skin.posed(character.skeleton.T_rest)[character.skin.owner == hand]
        local = (mine - character.skeleton.T_rest[hand, :3, 3]) @ character.skeleton.T_rest[hand, :3, :3]
        points = rot.rotate(body.rotations[hand], local)
        near = np.abs(np.abs(points[:, 0]) - along) < 0.3 * length
        if near.any():
            return along, max(ball, float(np.clip(-points[near, 2].min(), 0.1 * length, 0.5 * length)))
    return along, max(ball, 0.17 * length)


def _ball_of_thumb(body: Figure, side: str) -> float:
    """How far the shapes of hand and thumb stand out of a flat palm, metres."""
    character = body.character
    joints = tuple(character.roles[r] for r in (f"{side}_hand", f"{side}_thumb1") if r in character.roles)
    T = character.skeleton.forward(*body.assemble(upper.flat_fingers(side), np.zeros((1, 3))))
    hand = room.part(character, joints, T)
    if hand is None:
        return 0.0
    return float(hand.extent(np.array([[[0.0, 0.0, -1.0]]]))[0, 0] + T[0, character.role(f"{side}_hand"), 2, 3])


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
                f"are {self.arm:.2f} m long; another height or distance would do."
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
    shoulder = chain_point(body, turns, root, "left") + rot.rotate(rot.multiply(chest, drop), collar)
    return Postures(body.character.name, p, shoulder, arm_length(body), _RISE * body.scale)


def _back(body: Figure, crouch: Array, lean: Array) -> Array:
    """How far the hips go behind the ankles so that the weight stays over the feet.

    Head, arms and trunk are about 0.68 of the mass, their centre 0.6 of the way up to the shoulders (Winter 2009,
    table 4.1); the thighs go back by half as much as the hips. Standing, the weight is a little before the ankles.
    """
    up = shoulders(body)[0]
    return (0.68 * 0.6 * up * np.sin(lean) - 0.035 * body.scale * np.minimum(1.0, 3.0 * crouch)) / (0.68 + 0.5 * 0.2)


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


def _foot(body: Figure, side: str, tiptoe: Array) -> Foot:
    """A planted foot whose heel is off the floor by an angle (N,)."""
    flat = planted(body, side, len(tiptoe), 1.0, _STANCE, _TOES_OUT)
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


def arms_to(
    body: Figure,
    chest: Array,
    root: Array,
    turns: dict[str, Array],
    grips: dict[str, Array],
    fingers_down: Array,
    free: Array,
) -> dict[str, Array]:
    """Turns of both arms whose palms are at `grips[side]` (N, 3), facing each other.

    fingers_down (N,): angle by which the fingers point down from straight ahead, radians; free (N,): 1 where the hands
    need not get there, 0 where they must.
    """
    out: dict[str, Array] = {}
    high = _shrug(body, chest, root, grips)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        drop = upper.collar_turn(body, side, upper.SHOULDER_DROP - high)
        clavicle = rot.multiply(chest, drop)
        base = chain_point(body, turns, root, side)
        shoulder = base + rot.rotate(clavicle, body.at(f"{side}_upper_arm") - body.at(f"{side}_clavicle"))
        along, off = palm(body, side)
        bones = [body.at(f"{side}_{part}") for part in ("upper_arm", "forearm", "hand")]
        limb = Limb(bones[1] - bones[0], bones[2] - bones[1], body.hinge(f"{side}_forearm"))
        # elbows under the line from shoulder to hand, and out to the side of it
        out_of_line = np.cross([1.0, 0.0, 0.0], rot.normalize(grips[side] - shoulder))
        axis = sign * _ELBOWS_OUT * out_of_line - np.array([1.0, 0.0, 0.0])
        down = fingers_down
        for _ in range(_WRIST_ROUNDS):
            hand = hand_turn(side, down)
            wrist = grips[side] - rot.rotate(hand, np.array([sign * along, 0.0, -off])) - shoulder
            # A free hand on its way does not stretch the arm for what it cannot reach yet.
            far = np.linalg.norm(wrist, axis=1)
            over = (far - _EASY * limb.length(0.0)) / _TAPER
            easy = far - _TAPER * np.logaddexp(0.0, over)
            wrist = wrist * (1.0 + free * (easy / far - 1.0))[:, None]
            solved = limb.solve(wrist, axis, least=np.radians(3.0))
            bent = rot.about(limb.axis, solved.bend)
            forearm = rot.multiply(solved.upper, bent)
            # the hand leaves the forearm's line only as far as a wrist goes sideways
            line = rot.rotate(forearm, limb.lower)
            slope = np.arctan2(-line[:, 2], np.hypot(line[:, 0], line[:, 1]))
            down = slope + _WRIST_ASIDE * np.tanh((fingers_down - slope) / _WRIST_ASIDE)
        between = rot.multiply(rot.conjugate(forearm), hand)
        # what turns about the forearm is pronation, the rest is the wrist
        pronation = twist_about(between, limb.lower)
        out[f"{side}_clavicle"] = drop
        out[f"{side}_upper_arm"] = rot.multiply(rot.conjugate(clavicle), solved.upper)
        out[f"{side}_forearm"] = rot.multiply(bent, pronation)
        out[f"{side}_hand"] = rot.multiply(rot.conjugate(rot.multiply(forearm, pronation)), hand)
    return out


def hand_turn(side: str, fingers_down: Array) -> Array:
    """World turns (N, 4) of a hand whose palm faces the other hand, fingers ahead and down by an angle."""
    x, y, z = np.eye(3)
    # out of the standing figure: fingers to the front, then the palm from down to inwards, then fingers down
    inwards = rot.multiply(rot.about(y, np.pi / 2), rot.about(z, -np.pi / 2))
    q = rot.multiply(rot.about(x, fingers_down), inwards)
    return q if side == "left" else upper.mirrored(q)


def chain_point(body: Figure, turns: dict[str, Array], root: Array, side: str) -> Array:
    """Where the collar bone's root is (N, 3), through pelvis and spine."""
    at, turn, last = root, turns["pelvis"], body.at("pelvis")
    for part in (*upper.SPINE, f"{side}_clavicle"):
        if not body.has(part):
            continue
        here = body.at(part)
        at = at + rot.rotate(turn, here - last)
        last = here
        if part in turns and not part.endswith("clavicle"):
            turn = rot.multiply(turn, turns[part])
    return at


def _shrug(body: Figure, chest: Array, root: Array, grips: dict[str, Array]) -> Array:
    """How far the shoulders rise (N,), radians: with hands above them."""
    level = root[:, 2] + rot.rotate(chest, body.at("left_upper_arm") - body.at("pelvis"))[:, 2]
    above = 0.5 * (grips["left"][:, 2] + grips["right"][:, 2]) - level
    return np.radians(25.0) * np.clip(0.5 + above / (1.2 * arm_length(body)), 0.0, 1.0) ** 2
