"""Explanations of the measures and their thresholds, for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from elbowroom.report.balance import OUTSIDE, SHARES, STANDING, STANDS
from elbowroom.report.clearance import NEAR, REACH
from elbowroom.report.difference import ALIKE, ALIKE_LIMB, CHANGED
from elbowroom.report.footing import FLOAT, SINK, SLIDE
from elbowroom.report.forces import EFFORT
from elbowroom.report.hands import PEAKS
from elbowroom.report.limits import PAST
from elbowroom.report.own import DEPTH
from elbowroom.report.physics import FRICTION, HELP, LONGEST_S, MOST_WEIGHTS, SLIDING_FRICTION
from elbowroom.report.physics import SHARES as INFEASIBLE
from elbowroom.report.recorded import FITS_M, OFF_M
from elbowroom.report.speed import JERK

TITLES = {
    "clearance": "Clearance",
    "own": "Self-penetration",
    "limits": "Joint limits",
    "balance": "Balance",
    "feet": "Foot sliding",
    "floating": "Floating",
    "sinking": "Sinking",
    "speed": "Speed and jerk",
    "hands": "Hands",
    "torque": "Effort",
    "physics": "Physics",
    "recorded": "Recorded people",
    "difference": "Original",
}

_FILTER = (
    "the motion is low-pass filtered first (6 Hz Butterworth, no lag), and the first and last 0.25 s are not judged"
)

_SIZES = "Lengths are for an adult and scale with the body."

_HEAD, _HAND, _FOOT = (JERK[role][1:] for role in ("head", "left_hand", "left_foot"))

# Explanations of the measures and their lights.
HOW = {
    "clearance": (
        f"Distance between bodies that must not touch, measured up to {100 * REACH:.0f} cm; feet on the floor, hands on"
        " held objects and other allowed contacts do not count, the floor only where something penetrates it. Green: no"
        f" collision at any time, and at least {1000 * NEAR:.0f} mm of clearance to other characters and objects;"
        " thighs and arms may brush the own body. Amber: less clearance, or not proven. Red: collisions."
    ),
    "own": (
        "Depth in millimetres of the deepest limb in the rest of the body: forearms and hands in anything but their own"
        " arm, upper arms in legs, head or the other arm, legs in each other. Folds of flesh do not count. Collision"
        f" shapes stand off the skin, so limbs of recorded people overlap, too. Green: at most {1000 * DEPTH[0]:.0f}"
        f" mm. Amber: {1000 * DEPTH[1]:.0f} mm. Red: more. {_SIZES}"
    ),
    "limits": (
        "Excess of each joint over the human range of motion, in degrees; of the waist, of the chest's turn against the"
        " hips, and of joints that share the hips, whatever limits a rig's joints have. Green: at most"
        f" {np.degrees(PAST[0]):.0f}°. Amber: at most {np.degrees(PAST[1]):.0f}°. Red: more."
    ),
    "balance": (
        "Distance of the centre of mass and the zero moment point inside the support polygon of the planted feet, in"
        " centimetres, negative outside. The zero moment point is where the ground reaction acts, which must be inside"
        f" the support. The centre of mass counts while the body stands, slower than {STANDS:g} m/s. Carried objects"
        f" count if their mass is known; {_FILTER}. Green: while standing, the centre of mass is at"
        f" most {100 * STANDING[0]:.0f} cm outside, and the zero moment point is further out than"
        f" {100 * OUTSIDE[0]:.0f} cm in at most {100 * SHARES[0]:.0f} % of the time. Amber: {100 * STANDING[1]:.0f}"
        f" cm and {100 * SHARES[1]:.0f} %. Red: more. {_SIZES}"
    ),
    "feet": (
        "Distance that the supporting part of a foot moves along the floor in one step, in millimetres; rolling over"
        " heel, ball or toes is not sliding, nor is pivoting. A foot is supporting if it is low and level, the weight"
        " presses near it, and it does not move relative to the other foot if that is supporting, too; it need not be"
        f" still. Green: at most {1000 * SLIDE[0]:.0f} mm in a step. Amber: {1000 * SLIDE[1]:.0f} mm. Red: more."
        f" {_SIZES}"
    ),
    "floating": (
        "Height of the lowest point of a supporting foot above the ground, in millimetres: the floor, or the surface"
        " under the foot; the median of each step counts. Feet in the air, as in a jump or in the flight of"
        f" a run, do not float. Green: at most {1000 * FLOAT[0]:.0f} mm. Amber: {1000 * FLOAT[1]:.0f} mm. Red: more."
        f" {_SIZES}"
    ),
    "sinking": (
        "Depth of the lowest point of a sole in the ground or the floor, in millimetres. Green: at most"
        f" {1000 * SINK[0]:.0f} mm. Amber: more for a moment, or at most {1000 * SINK[1]:.0f} mm. Red: more for 0.2 s"
        f" or longer. {_SIZES}"
    ),
    "speed": (
        f"Speed in m/s, and jerk, which is how abruptly the acceleration changes, in m/s³; {_FILTER}. A pop is a"
        " jump of the unfiltered motion, within a frame, that no person could do. Green: jerk of head and hips up"
        f" to {_HEAD[0]:.0f}, of hands up to {_HAND[0]:.0f}, of feet up to {_FOOT[0]:.0f} m/s³, as in recorded walks."
        f" Amber: up to {_HEAD[1]:.0f}, {_HAND[1]:.0f} and {_FOOT[1]:.0f}, as in runs and jumps, or a pop. Red: more,"
        " or pops three times as far as a person could."
    ),
    "hands": (
        "Paths of the wrists to scale with a dot every quarter of a second, and their speed in m/s. Bars at the top:"
        " movements of the hand relative to the chest. A human reach has one speed peak, around an"
        f" obstacle two or three. Green: at most {PEAKS[0]} peaks in a movement, or a second of it. Amber: at most"
        f" {PEAKS[1]}. Red: more."
    ),
    "torque": (
        "Torque at each joint by inverse dynamics, as a share of the peak strength of a healthy adult of this"
        f" weight; {_FILTER}. The ground reaction acts at the planted feet; held objects count if their mass is known."
        f" Green: at most {100 * EFFORT[0]:.0f} %. Amber: at most {100 * EFFORT[1]:.0f} %, as in runs and jumps."
        " Red: more."
    ),
    "physics": (
        "Whether pushes at the soles, and at hands, knees and other parts on the floor or in a declared support, could"
        f" produce the motion with a friction of {FRICTION:g}, 30 times a second; {_FILTER}. A foot that slides must be"
        f" slowed by a friction of {SLIDING_FRICTION:g} or more. Shown: the force that is missing, as a share of the"
        f" weight; a frame is feasible if it is at most {100 * HELP:.0f} %, or a little more while forces change"
        f" quickly, and the ground pushes with at most {MOST_WEIGHTS:g} times the weight. Green: no longer than"
        f" {LONGEST_S[0]:g} s without a break is infeasible, and at most {100 * INFEASIBLE[0]:.0f} % of the frames."
        f" Amber: {LONGEST_S[1]:g} s and {100 * INFEASIBLE[1]:.0f} %. Red: more."
    ),
    "recorded": (
        "While hands hold something over standing feet: mean distance of the body's markers from the posture that"
        " recorded people have with hands and feet there, in centimetres, and distance of hands and feet from the"
        f" nearest recorded ones. Beyond {100 * FITS_M:.0f} cm of the latter the recordings do not fit, and nothing is"
        f" judged. Green: at most {100 * OFF_M:.0f} cm more than is usual at that distance. Amber: more."
    ),
    "difference": (
        "Distance of the furthest joint from its position in the original, in centimetres, and similarity of the joint"
        " angles of each limb: 100 % is identical, 50 % is 25° off on average. Grey: frames in which a joint"
        f" moved by more than {1000 * CHANGED:.0f} mm. Green: at least {100 * ALIKE:.0f} % similar on average and"
        f" every limb {100 * ALIKE_LIMB:.0f} %, or the change was requested. Amber: less."
    ),
}


def thresholds() -> dict[str, dict[str, Any]]:
    """Thresholds of the lights for an adult, by measure, as plain data: upper ends of green and amber."""
    degrees = [round(float(np.degrees(p)), 1) for p in PAST]
    return {
        "clearance": {"near_m": NEAR},
        "own": {"depth_m": list(DEPTH)},
        "limits": {"past_deg": degrees},
        "balance": {
            "standing_outside_m": list(STANDING),
            "zmp_outside_m": list(OUTSIDE),
            "zmp_outside_share": list(SHARES),
        },
        "feet": {"slide_m": list(SLIDE)},
        "floating": {"float_m": list(FLOAT)},
        "sinking": {"sink_m": list(SINK)},
        "speed": {"jerk_m_s3": {name: [low, high] for name, low, high in JERK.values()}},
        "hands": {"peaks_per_movement_or_s": list(PEAKS)},
        "torque": {"effort_share": list(EFFORT)},
        "physics": {"infeasible_s": list(LONGEST_S), "infeasible_share": list(INFEASIBLE)},
        "recorded": {"fits_m": FITS_M, "off_beyond_usual_m": OFF_M},
        "difference": {"similarity_at_least": ALIKE, "limb_similarity_at_least": ALIKE_LIMB},
    }
