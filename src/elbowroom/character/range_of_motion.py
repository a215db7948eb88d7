"""Ranges of motion of adults, in degrees, from published figures, and the ranges that people use in recorded clips.

Sources, by the letters used in the table:

A  American Academy of Orthopaedic Surgeons (1965), Joint Motion: Method of Measuring and Recording.
B  Boone D. C., Azen S. P. (1979), Normal range of motion of joints in male subjects, J. Bone Joint Surg.
   61-A, 756-759.
C  Bennell K. et al. (1998), Intra-rater and inter-rater reliability of a weight-bearing lunge measure of
   ankle dorsiflexion, Aust. J. Physiother. 44, 175-180.
E  Engin A. E., Tuemer S. T. (1989), Three-dimensional kinematic modelling of the human shoulder complex,
   parts I and II, J. Biomech. Eng. 111, 107-121.
I  Isman R. E., Inman V. T. (1969), Anthropometric studies of the human foot and ankle, Bull. Prosthet. Res.
   10-11, 97-129.
K  Kapandji I. A., The Physiology of the Joints, vols 1-3.
M  McGinley J. L. et al. (2009), The reliability of three-dimensional kinematic gait measurements: a
   systematic review, Gait Posture 29, 360-369.
N  NASA-STD-3000, Man-Systems Integration Standards, vol. 1, section 3.3.2 (joint motion).
S  Soucie J. M. et al. (2011), Range of motion measurements: reference values and a database for comparison
   studies, Haemophilia 17, 500-507.
W  White A. A., Panjabi M. M. (1990), Clinical Biomechanics of the Spine, 2nd ed., tables of representative
   rotations per vertebral joint.

The figures say what healthy adults can reach, not what they mostly use. A ball joint's four directions are
the half axes of four quarter ellipses, so what lies between two extremes is less than both (Kallmann 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.limits import LimitKind
from elbowroom.geometry.rotations import Array


@dataclass(frozen=True)
class Range:
    """Range of a joint in degrees about its zero, all positive; `sources` are letters of the list above.

    `bends` is anatomical flexion (for the shoulder: lowering from the outstretched arm), `straightens` the
    other way in the same plane; `out` is away from the middle of the body (arm: backwards; trunk: to the
    left), `back_in` the other way; `turns_out` and `turns_in` are outward and inward rotation about the
    bone (supination and pronation for the forearm). `off_axis` is how far a hinge may leave its plane.
    """

    kind: LimitKind
    bends: float
    straightens: float
    out: float = 0.0
    back_in: float = 0.0
    turns_out: float = 0.0
    turns_in: float = 0.0
    off_axis: float = 0.0
    sources: str = ""


# Zero: spine and neck upright, legs straight down, arms straight out to the sides with palms down and elbow
# pits to the front, feet flat, fingers straight.
RANGES: dict[str, Range] = {
    # Trunk, after the sums over vertebral joints in W: the lumbar part bends most (K: 60), the chest turns
    # most. Together they allow what is measured for the whole (A: flexion 80, extension 25, to each side 35, turn
    # 45; K: flexion 105).
    "spine1": Range("ball", 60, 20, 20, 20, 10, 10, sources="A K W"),
    "spine2": Range("ball", 30, 15, 20, 20, 15, 15, sources="A W"),
    "chest": Range("ball", 25, 20, 20, 20, 30, 30, sources="A W"),
    # Neck (A: 45 each way, turn 60; N: 60, 60, 40, turn 79; W: half of the turn is between the first two
    # vertebrae, which belong to the head's joint here).
    "neck": Range("ball", 45, 45, 35, 35, 40, 40, sources="A N W"),
    "head": Range("ball", 25, 30, 20, 20, 45, 45, sources="A N W"),
    # Eyes: about 45 sideways and down, 40 up, clinical values of the eye's ductions.
    "eye": Range("swing", 45, 40, 45, 45, sources="N"),
    # Shoulder girdle (K): up 40, down 10, backwards 25, forwards 30, as angles of the collar bone.
    "clavicle": Range("swing", 12, 40, 25, 30, sources="K E"),
    # Shoulder, from the outstretched arm: down 90 to hang and 35 more across the body; up 90 to vertical
    # with the help of the girdle (A: 180 in all); to the front 135 (A), which is 45 past the front. To the
    # back A has 45 for the outstretched arm and 50-60 for the hanging one (B: 62): a quarter ellipse that
    # reaches the second must allow more of the first; the polygon below keeps both. Outward turn: 90 (A)
    # and 20 more for the arm stretched to the front, where elbows point down and out.
    "upper_arm": Range("ball", 125, 90, 78, 135, 110, 90, sources="A B K E"),
    # Elbow (A, B): 145, up to 150 (S); past straight by 10 at most (S). Turning the palm 80-90 both ways
    # (A, B).
    "forearm": Range("hinge", 150, 10, turns_out=90, turns_in=90, sources="A B S"),
    # Wrist (A: 80, 70, 30, 20; B: 76, 75, 36, 22); `out` is to the little finger's side.
    "hand": Range("swing", 80, 75, 36, 22, sources="A B"),
    # Hip: flexion 120 (A, B), 130-145 with bent knees (K); extension 30, out 45-55 when straight and 50 in 90 of
    # flexion, in 30 (A, N); outward turn 45 (A) to 60 (K), inward 45 (A), hip flexed. Out by 50 in 90 of flexion is a
    # swing of 90 that shows 50 as twist: a quarter ellipse that holds it has a half axis of 75, and twist must allow
    # 25 of outward turn on top. The polygon below keeps the straight leg's range.
    "thigh": Range("ball", 130, 30, 75, 30, 75, 45, sources="A B K N"),
    # Knee: 140 (A), 160 when squatting (K), past straight by 10 at most (S); turning 40 out and 30 in when
    # bent (K).
    "shin": Range("hinge", 160, 10, turns_out=35, turns_in=30, sources="A S K"),
    # Ankle: toes up 20 (A), 38 (N), 40-50 under the body's weight (C); down 50 (A); sole outwards 20 (A) to
    # 30 (K), inwards 35 (A).
    "foot": Range("swing", 45, 55, 28, 35, sources="A C K N"),
    # Joints of the toes (A): down 45, up 70.
    "toes": Range("hinge", 45, 70, sources="A"),
    # Fingers (A): knuckle 90 and 45 back, middle joint 100, last joint 90; apart 20.
    "finger1": Range("swing", 90, 45, 20, 20, sources="A K"),
    "finger2": Range("hinge", 105, 5, sources="A"),
    "finger3": Range("hinge", 90, 10, sources="A"),
    # Thumb (A, K): saddle joint about 50 by 45; then 50-60 and 80, and 20 back at the tip.
    "thumb1": Range("ball", 50, 30, 35, 35, 15, 15, sources="A K"),
    "thumb2": Range("hinge", 60, 10, sources="A"),
    "thumb3": Range("hinge", 80, 20, sources="A"),
}

# Turning of the foot itself to the side, outwards and inwards (K: 35-45 in all), for rigs that do it at the
# ankle.
FOOT_TURN = 20.0

# Joint angles from markers are off by up to about this much, in degrees (M).
RECORDED_ERROR = 5.0

# Deviation of recorded hinges from their axis, and twist of recorded swings: error of both ends, and soft
# tissue.
RECORDED_SLACK = 12.0

# Recorded hinges that are none: the forearm leaves the upper arm's line to the side, most when straight (K: 10 to 15,
# the carrying angle); the toes bend about a line across the foot that is oblique by 28 (I).
CARRYING_ANGLE, TOES_OBLIQUE = 12.0, 28.0

# Length of a collar bone, from the breast bone to the middle of the shoulder joint, as a share of stature. A rig
# whose joint sits nearer to the shoulder must turn it further for the same way of the shoulder.
CLAVICLE_LENGTH = 0.100

# A rig that bends the wrist about two axes in turn, flexion f and then deviation d, turns the hand by about f d / 2
# against swinging it there at once: 25 degrees at the ends of both ranges (80 and 36).
WRIST_IN_TURN = 25.0

# Reach cone of the shoulder as a spherical polygon about the outstretched arm, simplified from the outlines
# in E and K: (lowered, to the front) in degrees of swing.
SHOULDER_POLYGON: tuple[tuple[float, float], ...] = (
    *((125, 0), (120, 45), (95, 95), (60, 125), (0, 138), (-45, 110), (-75, 60), (-92, 0)),
    *((-80, -22), (-45, -34), (0, -47), (32, -64), (58, -72), (90, -50)),
)

# Reach cone of the hip about the hanging leg, (flexed, outwards) in degrees of swing: out by 50 to 55 and in by 30 from
# any flexion up to 90, less beyond (A, K).
HIP_POLYGON: tuple[tuple[float, float], ...] = (
    *((135, 0), (122, 40), (98, 62), (60, 70), (30, 62), (0, 55), (-22, 30), (-32, 0)),
    *((-22, -18), (0, -30), (45, -34), (90, -38), (118, -25)),
)


# Ranges that people use, far less than those that their joints have: percentiles 1 and 99 over 68 recorded clips of
# walking, running, carrying, reaching, sitting and bending, at least 10 to each side of the median
# (`tools/posture_ranges.py`). The data used in this project was obtained from mocap.cs.cmu.edu; the database was
# created with funding from NSF EIA-0196217. Motion data: Open Motion Project, ACCAD, The Ohio State University,
# CC BY 3.0. Joint coordinates, as in `character/limits.py`: bend, sideways and twist of the left side.
USED_DEG: dict[str, tuple[tuple[int, int], tuple[int, int], tuple[int, int]]] = {
    "spine1": ((-13, 43), (-11, 11), (-10, 10)),
    "spine2": ((-6, 23), (-10, 10), (-10, 10)),
    "chest": ((-24, 12), (-10, 10), (-10, 10)),
    "neck": ((-28, 31), (-28, 28), (-13, 13)),
    "head": ((-5, 20), (-20, 20), (-13, 13)),
    "clavicle": ((-10, 10), (-10, 10), (-10, 10)),
    "upper_arm": ((-45, 94), (-83, 51), (-94, 49)),
    "forearm": ((7, 121), (-10, 10), (-15, 10)),
    "hand": ((-62, 6), (-60, 38), (-21, 20)),
    "thigh": ((-23, 96), (-51, 15), (-42, 27)),
    "shin": ((0, 115), (-10, 10), (-10, 10)),
    "foot": ((-27, 32), (-13, 9), (-32, 27)),
}


# Signs of joint coordinates in the mirror: bends stay, sideways and twist change theirs.
MIRROR = (1.0, -1.0, -1.0)


def used_range(role: str) -> Array | None:
    """Lowest and highest joint coordinates (2, 3) that recorded people use, radians, as of the left side; else None."""
    side, _, part = role.partition("_")
    known = USED_DEG.get(part if side in ("left", "right") else role)
    return None if known is None else np.radians(known).T


def unusual(body: Character, joints: Sequence[int], rotations: Array) -> Array:
    """Excess of joints (n,) with local rotations (T, n, 4) over commonly used ranges, radians, (T, n); 0 within."""
    out = np.zeros(rotations.shape[:-1])
    roles = {joint: role for role, joint in body.roles.items()}
    for k, joint in enumerate(joints):
        role = roles.get(joint, "")
        known, limit = used_range(role), body.limits[joint]
        if known is None or limit is None:
            continue
        angles = limit.coordinates(rotations[:, k]) * (MIRROR if role.startswith("right_") else 1.0)
        out[:, k] = np.linalg.norm(angles - np.clip(angles, *known), axis=-1)
    return out
