"""How far the joints of adults move, in degrees, from published figures.

Sources, by the letters used in the table:

A  American Academy of Orthopaedic Surgeons (1965), Joint Motion: Method of Measuring and Recording.
B  Boone D. C., Azen S. P. (1979), Normal range of motion of joints in male subjects, J. Bone Joint Surg. 61-A, 756-759.
S  Soucie J. M. et al. (2011), Range of motion measurements: reference values and a database for comparison studies,
   Haemophilia 17, 500-507.
K  Kapandji I. A., The Physiology of the Joints, vols 1-3.
N  NASA-STD-3000, Man-Systems Integration Standards, vol. 1, section 3.3.2 (joint motion, 95th percentile).
W  White A. A., Panjabi M. M. (1990), Clinical Biomechanics of the Spine, 2nd ed., table 2-5 and figures 2-20 ff.
E  Engin A. E., Tuemer S. T. (1989), Three-dimensional kinematic modelling of the human shoulder complex, parts I and
   II, J. Biomech. Eng. 111, 107-121.
L  Lee W. J. et al. (2019) and earlier reviews of ocular ductions: about 45 degrees sideways, 35 up, 50 down.

The figures are means of what healthy adults reach, not averages of use. A ball joint's four directions are the
half axes of four quarter ellipses, so what lies between two extremes is less than both (Kallmann 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

from elbowroom.character.limits import Kind


@dataclass(frozen=True)
class Range:
    """Range of a joint in degrees about its zero, all positive; `sources` are letters of the list above.

    `bends` is anatomical flexion (for the shoulder: lowering from the outstretched arm), `straightens` the other way
    in the same plane; `out` is away from the middle of the body or to the left, `back_in` the other way; `turns_out`
    and `turns_in` are outward and inward rotation about the bone (supination and pronation for the forearm).
    `off_axis` is what recorded hinges show beyond a true hinge (soft tissue and marker error).
    """

    kind: Kind
    bends: float
    straightens: float
    out: float = 0.0
    back_in: float = 0.0
    turns_out: float = 0.0
    turns_in: float = 0.0
    off_axis: float = 0.0
    sources: str = ""


# Zero: spine and neck upright, legs straight down, arms straight out to the sides with palms down and elbow pits to
# the front, feet flat, fingers straight.
RANGES: dict[str, Range] = {
    # Trunk. Whole thoracolumbar spine (A): flexion 80, extension 25, to each side 35, turn 45; shared out by
    # W: the lumbar part has most of the flexion, the thoracic part most of the turn.
    "spine1": Range("ball", 35, 15, 15, 15, 10, 10, sources="A W"),
    "spine2": Range("ball", 30, 15, 15, 15, 15, 15, sources="A W"),
    "chest": Range("ball", 25, 15, 15, 15, 25, 25, sources="A W"),
    # Whole cervical spine (A, W): flexion 45, extension 45 (N: 60 and 60), to each side 45, turn 60 (W: 80, half of it
    # between the first two vertebrae, which belong to the head's joint here).
    "neck": Range("ball", 35, 35, 25, 25, 35, 35, sources="A N W"),
    "head": Range("ball", 25, 30, 20, 20, 45, 45, sources="A N W"),
    "eye": Range("swing", 50, 35, 45, 45, sources="L"),
    # Shoulder girdle (K): elevation 40, depression 10, forwards 30, backwards 25 (angles of the collar bone).
    "clavicle": Range("swing", 12, 40, 25, 30, sources="K E"),
    # Shoulder, from the outstretched arm: down 90 to hang and 30 more across the body; up 90 to vertical with the
    # help of the girdle (A 180 in all); horizontal flexion 135 (A), extension 50 (A 45, B 62 hanging).
    "upper_arm": Range("ball", 120, 90, 55, 135, 90, 90, sources="A B K E"),
    # Elbow (A, B): 0 to 145, S up to 150; over-extension to 10 is common (S 5). Pronation and supination 80-90 (A, B).
    "forearm": Range("hinge", 150, 10, turns_out=90, turns_in=90, off_axis=10, sources="A B S"),
    # Wrist (A): flexion 80, extension 70; away from the thumb 30, towards it 20 (B: 76, 75, 36, 22).
    "hand": Range("swing", 80, 75, 36, 22, sources="A B"),
    # Hip (A, B): flexion 120, extension 30, out 45, in 30, rotation 45 and 45.
    "thigh": Range("ball", 125, 30, 50, 30, 45, 45, sources="A B S"),
    # Knee (A, B): 0 to 140, S over-extension 5-10; turning of the bent knee 40 out and 30 in (K), small when straight.
    "shin": Range("hinge", 145, 10, turns_out=25, turns_in=20, off_axis=10, sources="A B S K"),
    # Ankle (A): up 20, down 50 (N: 38 and 80 with weight); sole inwards 35, outwards 20.
    "foot": Range("swing", 30, 55, 20, 35, sources="A B N"),
    # Joints of the toes (A): down 45, up 70.
    "toes": Range("hinge", 45, 70, off_axis=5, sources="A"),
    # Fingers (A): knuckle 90 and 45 back, middle joint 100, last joint 90; apart 20.
    "finger1": Range("swing", 90, 45, 20, 20, sources="A K"),
    "finger2": Range("hinge", 105, 5, off_axis=3, sources="A"),
    "finger3": Range("hinge", 90, 10, off_axis=3, sources="A"),
    # Thumb (A, K): saddle joint about 50 by 45; then 50 and 80, and 20 back at the tip.
    "thumb1": Range("ball", 50, 30, 35, 35, 15, 15, sources="A K"),
    "thumb2": Range("hinge", 60, 10, off_axis=5, sources="A"),
    "thumb3": Range("hinge", 80, 20, off_axis=3, sources="A"),
}

# Reach cone of the shoulder as a spherical polygon about the outstretched arm, after the globographic outlines of
# Engin and Tuemer (1989) and Kapandji vol. 1: (lowered, to the front) in degrees of swing.
SHOULDER_POLYGON: tuple[tuple[float, float], ...] = (
    (120, 0), (118, 45), (95, 95), (60, 125), (0, 138), (-45, 110), (-75, 60), (-92, 0),
    (-80, -22), (-45, -32), (0, -45), (40, -58), (80, -62), (105, -40),
)  # fmt: skip
