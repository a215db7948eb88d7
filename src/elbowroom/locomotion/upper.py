"""Pelvis, trunk, head, arms and fingers: their rotations over the gait cycle for any speed, and a height of the pelvis
from which the planted feet are always in reach.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.figure import Figure
from elbowroom.locomotion.limbs import TwoBoneLimb
from elbowroom.locomotion.sole import FootMotion

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


def bent(pull: Array, weight: Array, law: Array, stiff: Array, middle: ArrayLike = -2.0) -> Array:
    """Minimise the sum of weight (x - want)² and stiff (x[k-1] + middle x[k] + x[k+1] - law)² over a curve x (N, ...).

    pull: weight times want; weight, stiff (N,): of each frame; law, of the shape of pull; middle, (N,) or a number:
    with -2 the law is the second difference. The first and the last frame have no law.
    """
    n = len(pull)
    centre = np.broadcast_to(np.asarray(middle, dtype=float), (n,))[1:-1]
    factors = (np.ones(n - 2), centre, np.ones(n - 2))
    hold = stiff[1:-1]
    bands = np.zeros((3, n))  # upper form: bands[2] diagonal, bands[1] first, bands[0] second
    across = (slice(None),) + (None,) * (pull.ndim - 1)
    right = np.array(pull, dtype=float)
    bands[2] = weight
    for k, c in enumerate(factors):
        right[k : n - 2 + k] += (hold * c)[across] * law[1:-1]
        bands[2, k : n - 2 + k] += hold * c * c
    bands[1, 1 : n - 1] += hold * centre
    bands[1, 2:n] += hold * centre
    bands[0, 2:n] += hold
    return scipy.linalg.solveh_banded(bands, right)


GRAVITY = 9.81
# seconds: faster changes of height are smoothed away, walking and running; lifted by ground reaction they deviate
# slowly
_SMOOTH_WALK, _SMOOTH_RUN, _SMOOTH_LIFTED = 0.048, 0.03, 0.25
_ROUNDS = 8
_SLOW = 0.15  # seconds: a runner whose legs would not reach goes lower for several steps, not for a moment
_DUE = 0.009  # seconds


def turned(yaw: Array, roll: Array, pitch: Array) -> Array:
    """World rotations (N, 4) of a body part: yaw to the left, then roll to the left, then forward pitch."""
    about_z = rot.about([0.0, 0.0, 1.0], yaw)
    about_y = rot.about([0.0, 1.0, 0.0], roll)
    about_x = rot.about([1.0, 0.0, 0.0], pitch)
    return rot.multiply(rot.multiply(about_z, about_y), about_x)


def height(
    feet: list[FootMotion], limbs: list[TwoBoneLimb], hips: list[Array], knees: list[Array], rate: float, least: Array,
    standing_height: float, run: Array, lift: Array | None = None, rise: Array | None = None,
) -> Array:  # fmt: skip
    """Height of the pelvis joint (N,) over N frames at `rate` per second.

    hips: hip joints relative to the pelvis joint in world axes plus the pelvis' position on the floor, (N, 3) each;
    knees: target flexion of each loaded knee, (N,) radians. `lift` (N,) is the pelvis' acceleration when running; by
    default it is even on the ground, and in the air the body falls freely. `rise` (N,) is the height of the ground as
    the body follows it, where feet do not stand on one level. No planted foot is ever farther from its hip than a knee
    bent by `least` (N,) reaches.
    """
    n = len(hips[0])
    want, weight = np.zeros(n), np.full(n, 1e-6)
    want += standing_height * 1e-6
    most = np.full(n, np.inf)
    for foot, limb, hip, knee in zip(feet, limbs, hips, knees, strict=True):
        across = np.linalg.norm(foot.ankle[:, :2] - hip[:, :2], axis=1)
        base = foot.ankle[:, 2] - hip[:, 2]
        own = base if rise is None else base + rise - foot.ground
        target = own + np.sqrt(np.maximum(limb.length(knee) ** 2 - across**2, 0.01))
        ceiling = base + np.sqrt(np.maximum(limb.length(least) ** 2 - across**2, 0.01))
        want += foot.load * target
        weight += foot.load
        # in reach a little before contact, or the falling body would straighten the knee on landing
        due = scipy.ndimage.maximum_filter1d(foot.planted.astype(float), 2 * int(_DUE * rate) + 1) > 0
        most = np.minimum(most, np.where(foot.planted | (due & (run < 0.5)), ceiling, np.inf))
    aloft = ~(feet[0].planted | feet[1].planted)
    target = want / weight
    limit = np.where(np.isfinite(most), most, 1e3)
    smooth = (1.0 - run) * _SMOOTH_WALK + run * (_SMOOTH_RUN if lift is None else _SMOOTH_LIFTED)
    stiff = np.where(aloft, 40.0, 1.0) * (smooth * rate) ** 4
    law = np.where(aloft, -GRAVITY, 0.0) if lift is None else np.where(aloft, lift, run * lift)
    z = target
    push = np.zeros(n)
    for _ in range(_ROUNDS):
        held = weight + push
        z = bent((held - push) * target + push * (limit - 0.001), held, law / rate**2, stiff)
        over = (z > limit) & ((run < 0.5) | (lift is None))
        if not over.any():
            break
        push = np.where(over, np.maximum(push * 4.0, 4.0), push)
    if lift is not None:
        z = z - _slow(np.maximum(z - limit, 0.0), rate)
    return z


def _slow(over: Array, rate: float) -> Array:
    """A slowly changing upper envelope (N,) of a curve."""
    reach = int(np.ceil(3.0 * _SLOW * rate))
    wide = scipy.ndimage.maximum_filter1d(np.pad(over, 2 * reach, mode="edge"), 2 * reach + 1)
    return scipy.ndimage.gaussian_filter1d(wide, _SLOW * rate, truncate=3.0)[2 * reach : 2 * reach + len(over)]
