"""Lengths, breadths and thicknesses of a person's parts, from published tables.

Every figure is a fraction of stature for (female, male). Sources:

- Drillis & Contini 1966, as printed in Winter 2009, Biomechanics and Motor Control of Human Movement,
  fig. 4.1: heights of ankle, knee, hip, shoulder, chin and eye, length of hand and foot.
- de Leva 1996, J. Biomechanics 29(9), table 4 and its landmarks: upper arm and forearm between joint centres,
  levels of omphalion and xiphion that cut the trunk.
- Gordon et al. 2014, 2012 Anthropometric Survey of U.S. Army Personnel (ANSUR II): breadths, depths, girths,
  rounded, of people with a body mass index near 22.5 kg/m²; `proportions` takes them to the wanted build.
- Bell et al. 1990 and Seidel et al. 1995 for the spacing of the hip joint centres.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Literal

from elbowroom.errors import BadValue, UnknownName

Sex = Literal["average", "female", "male"]
SEXES: tuple[Sex, ...] = ("average", "female", "male")

# Body mass index (kg/m²) that the girths below belong to, and the default build.
BMI = 22.5

HEIGHT_RANGE = (0.4, 3.0)  # m, of the built-in person
ANY_HEIGHT = (1e-3, 1e3)  # m, of rigs that files bring
BMI_RANGE = (8.0, 80.0)  # kg/m²
SCALE_RANGE = (0.2, 4.0)

# Which scale a figure follows. The first block is stacked from sole to vertex and sums to 1.
# name: (female, male, scale)
LENGTHS: dict[str, tuple[float, float, str]] = {
    "ankle_height": (0.039, 0.039, "leg"),
    "shin": (0.243, 0.246, "leg"),
    "thigh": (0.243, 0.245, "leg"),
    "hip_to_spine1": (0.052, 0.050, "trunk"),  # hip centres to L5/S1
    "spine1_to_spine2": (0.066, 0.065, "trunk"),  # to L2/L3
    "spine2_to_chest": (0.070, 0.070, "trunk"),  # to T9, the level of the xiphion
    "chest_to_neck": (0.131, 0.130, "trunk"),  # to C7/T1
    "neck": (0.069, 0.070, "trunk"),  # to the joint of skull and atlas
    "head": (0.087, 0.085, "head"),  # from there to the vertex
    # Beside the stack.
    "chin_to_vertex": (0.132, 0.130, "head"),
    "eye_to_vertex": (0.065, 0.064, "head"),
    "neck_to_shoulder_drop": (0.033, 0.033, "trunk"),  # shoulder centre below C7/T1, arms held out
    "upper_arm": (0.1586, 0.1618, "arm"),
    "forearm": (0.1523, 0.1544, "arm"),
    "hand": (0.108, 0.108, "hand"),  # wrist to the tip of the middle finger
    "foot": (0.149, 0.152, "foot"),  # heel to tip of the toes
}
# Share of the foot's length.
HEEL_SHARE = 0.23  # heel to ankle, along the foot
BALL_SHARE = 0.73  # heel to the ball of the foot, where the toes bend

# Half distances across the body. name: (female, male, scale)
SPACINGS: dict[str, tuple[float, float, str]] = {
    "hip": (0.0515, 0.0480, "hip"),  # hip joint centre to the middle
    "shoulder": (0.0930, 0.0960, "shoulder"),  # shoulder joint centre to the middle, arms held out
    "clavicle": (0.0145, 0.0145, "shoulder"),  # sternoclavicular joint to the middle
    "eye": (0.0185, 0.0180, "head"),
}

# Breadths (side to side) and depths (front to back). name: (female, male, scale, how it grows with build)
BREADTHS: dict[str, tuple[float, float, str, float]] = {
    "head": (0.0900, 0.0870, "head", 0.1),
    "shoulders": (0.2550, 0.2680, "shoulder", 0.5),  # across the deltoids
    "chest": (0.1570, 0.1610, "trunk_girth", 0.9),
    "waist": (0.1540, 0.1690, "trunk_girth", 1.2),
    "hips": (0.2080, 0.1830, "trunk_girth", 0.8),
    "hand": (0.0485, 0.0500, "hand", 0.2),  # across the knuckles, without the thumb
    "foot": (0.0565, 0.0580, "foot", 0.2),  # across the ball
    "heel": (0.0400, 0.0400, "foot", 0.2),
    "finger": (0.0105, 0.0115, "hand", 0.3),  # middle joint of the index finger
}
DEPTHS: dict[str, tuple[float, float, str, float]] = {
    "head": (0.1155, 0.1110, "head", 0.1),
    "chest": (0.1380, 0.1280, "trunk_girth", 1.0),
    "waist": (0.1110, 0.1160, "trunk_girth", 1.4),
    "hips": (0.1320, 0.1240, "trunk_girth", 1.0),
    "hand": (0.0155, 0.0165, "hand", 0.3),  # palm to back
}
GIRTHS: dict[str, tuple[float, float, str, float]] = {
    "head": (0.340, 0.325, "head", 0.1),
    "neck": (0.196, 0.2135, "trunk_girth", 0.6),
    "chest": (0.540, 0.541, "trunk_girth", 0.9),
    "underbust": (0.460, 0.500, "trunk_girth", 1.0),  # at the xiphion
    "waist": (0.430, 0.468, "trunk_girth", 1.3),
    "hips": (0.580, 0.523, "trunk_girth", 0.9),
    "thigh": (0.345, 0.311, "leg_girth", 1.0),  # at the crotch
    "lower_thigh": (0.228, 0.211, "leg_girth", 0.8),  # just above the kneecap
    "knee": (0.218, 0.211, "leg_girth", 0.6),
    "calf": (0.211, 0.201, "leg_girth", 0.7),
    "ankle": (0.126, 0.124, "leg_girth", 0.4),
    "armpit": (0.175, 0.179, "arm_girth", 1.0),  # upper arm at the armpit
    "upper_arm": (0.163, 0.166, "arm_girth", 1.0),
    "elbow": (0.144, 0.148, "arm_girth", 0.5),
    "forearm": (0.145, 0.151, "arm_girth", 0.7),
    "wrist": (0.093, 0.099, "arm_girth", 0.4),
    "hand": (0.114, 0.121, "hand", 0.3),
}

STACK = tuple(LENGTHS)[:9]


def within(value: object, least: float, most: float) -> bool:
    """Return whether a value is a number in a range; False for NaN and other types."""
    return isinstance(value, Real) and least <= float(value) <= most


@dataclass(frozen=True)
class Scales:
    """Departures of a body from the tables; 1 is as printed. Lengths first, then thicknesses.

    The height is kept: longer legs at the same height mean that everything else is smaller.
    """

    leg: float = 1.0
    arm: float = 1.0
    trunk: float = 1.0
    head: float = 1.0
    hand: float = 1.0
    foot: float = 1.0
    shoulder: float = 1.0
    hip: float = 1.0
    trunk_girth: float = 1.0
    arm_girth: float = 1.0
    leg_girth: float = 1.0

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if not within(value, *SCALE_RANGE):
                raise BadValue(f"{f.name}_scale {value} is not between {SCALE_RANGE[0]} and {SCALE_RANGE[1]}.")


@dataclass(frozen=True)
class Proportions:
    """Sizes of one person in metres, by name: see the tables of this file for the names.

    `unit` is the stature of the person with the tables' proportions whose parts these are before scaling; it
    equals `height` where all scales are 1. `spacing` are half distances across the body.
    """

    sex: Sex
    height: float
    mass: float
    unit: float
    scales: Scales
    length: Mapping[str, float]
    spacing: Mapping[str, float]
    breadth: Mapping[str, float]
    depth: Mapping[str, float]
    girth: Mapping[str, float]

    def level(self, joint: str) -> float:
        """Height above the soles of ankle, knee, hip, spine1, spine2, chest, neck, head or vertex."""
        levels = ("ankle", "knee", "hip", "spine1", "spine2", "chest", "neck", "head", "vertex")
        if joint not in levels:
            raise UnknownName("level of the body", joint, levels)
        return sum(self.length[name] for name in STACK[: levels.index(joint) + 1])


def between(row: tuple[float, float], sex: Sex) -> float:
    """The figure of a sex from a (female, male) pair; 'average' is half way."""
    return {"female": row[0], "male": row[1], "average": 0.5 * (row[0] + row[1])}[sex]


def check_height_and_mass(height: float, mass: float | None, heights: tuple[float, float] = HEIGHT_RANGE) -> float:
    """The mass in kg, or the usual one for the height; raises `BadValue` where either makes no sense."""
    if not within(height, *heights):
        raise BadValue(f"height {height} m is not between {heights[0]} and {heights[1]} m.")
    least, most = (bmi * height * height for bmi in BMI_RANGE)
    mass = BMI * height * height if mass is None else mass
    if not within(mass, least, most):
        raise BadValue(f"mass {mass} kg is not between {least:.1f} and {most:.0f} kg for a height of {height} m.")
    return float(mass)


def proportions(
    height: float = 1.70, mass: float | None = None, *, sex: Sex = "average", scales: Scales | None = None
) -> Proportions:
    """Sizes of a person of a height (m) and mass (kg; body mass index 22.5 where not given).

    Dwarfs and giants are welcome here, since rigs come in all sizes; `human` is stricter.
    """
    mass = check_height_and_mass(height, mass, ANY_HEIGHT)
    if sex not in SEXES:
        raise UnknownName("sex", sex, SEXES)
    s = scales or Scales()
    unit = height / sum(between(LENGTHS[name][:2], sex) * getattr(s, LENGTHS[name][2]) for name in STACK)
    # Thickness follows from mass: cross-sections grow with mass at a given height.
    build = math.sqrt(mass / (BMI * height * height))

    def plain(table: dict[str, tuple[float, float, str]]) -> dict[str, float]:
        return {n: unit * between(r[:2], sex) * getattr(s, r[2]) for n, r in table.items()}

    def thick(table: dict[str, tuple[float, float, str, float]]) -> dict[str, float]:
        return {n: unit * between(r[:2], sex) * getattr(s, r[2]) * build ** r[3] for n, r in table.items()}

    return Proportions(
        sex=sex,
        height=float(height),
        mass=mass,
        unit=unit,
        scales=s,
        length=plain(LENGTHS),
        spacing=plain(SPACINGS),
        breadth=thick(BREADTHS),
        depth=thick(DEPTHS),
        girth=thick(GIRTHS),
    )
