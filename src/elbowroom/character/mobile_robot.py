"""A mobile manipulator made by formula: an arm of six joints on a base that rolls (E1)."""

from __future__ import annotations

import numpy as np

from elbowroom.character.body import Masses
from elbowroom.character.robot import Drive, JointKind, Robot, RobotJoints, robot_chains
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array, about
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.transforms import transform

# Base: length, width, height and clearance above the floor, metres; the size of a small warehouse robot.
_BASE_M = (0.62, 0.5, 0.34)
_CLEARANCE_M = 0.02
# Column on the base up to the shoulder, wrist to the end of the fork; radii of upper arm, forearm and wrist, metres.
_COLUMN_M = 0.26
_TOOL_M = 0.28
_RADII_M = (0.06, 0.05, 0.045)
# Wrist, without its rounded end, metres.
_WRIST_M = 0.07
# Fork on which things lie: length, width and thickness, metres.
_FORK_M = (0.14, 0.1, 0.015)
# Share of the two long links that the upper arm has.
_UPPER = 0.52
# Ranges of the joints, radians, and their fastest turn, radians per second, as of common arms of this size.
_RANGES_RAD = np.radians([(-360, 360), (-130, 130), (-150, 150), (-360, 360), (-125, 125), (-360, 360)])
_SPEED_RAD_S = 3.1
# Angles of the joints from an arm that points straight up to one that is folded over its base, where all values are 0.
_FOLDED_RAD = np.radians([0.0, -40.0, 130.0, 0.0, -90.0, 0.0])
# Masses of base, column, upper arm, forearm, and the three parts of the wrist, kilograms.
_MASSES_KG = (90.0, 8.0, 8.0, 4.0, 2.0, 1.5, 1.5)


def mobile_arm(name: str = "robot", *, reach: float = 0.95, drive: Drive = "differential") -> Robot:
    """An arm of six joints with a spherical wrist and a fork, on a base that rolls.

    `reach` is from shoulder to wrist, metres. A differential base rolls along its heading and turns on the spot, an
    omnidirectional one rolls any way. With all values at 0 the arm is folded. It faces +x; the link `grip` is amid the
    top of the fork, x ahead, z up.
    """
    if not 0.4 <= reach <= 2.0:
        raise BadValue(f"the reach of {name} is {reach:g} m; give 0.4 to 2.")
    upper, fore = _UPPER * reach, (1.0 - _UPPER) * reach
    shoulder = _CLEARANCE_M + _BASE_M[2] + _COLUMN_M
    offsets = np.array([(0, 0, 0), (0, 0, shoulder), (0, 0, 0), (0, 0, upper), (0, 0, fore), (0, 0, 0), (0, 0, 0)])
    axes = np.array([(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1)], dtype=float)
    kinds: tuple[JointKind, ...] = ("base", *("turns",) * 6)
    names = ("base", "column", "shoulder", "elbow", "forearm", "wrist", "flange")
    joints = RobotJoints(
        names=names,
        parents=np.arange(-1, 6, dtype=np.int32),
        kinds=kinds,
        T_parent_joint=np.stack([np.eye(4), *map(transform, offsets[1:], map(about, axes[1:], _FOLDED_RAD))]),
        axes=axes,
        lower=np.array([-np.inf, *(_RANGES_RAD[:, 0] - _FOLDED_RAD)]),
        upper=np.array([np.inf, *(_RANGES_RAD[:, 1] - _FOLDED_RAD)]),
        speed=np.array([np.inf, *np.full(6, _SPEED_RAD_S)]),
    )
    masses = Masses(np.array(_MASSES_KG), np.zeros((7, 3)), np.stack([0.01 * m * np.eye(3) for m in _MASSES_KG]))
    return Robot(
        name=name,
        joints=joints,
        links={"grip": (6, _grip())},
        chains=robot_chains(joints),
        shapes=_shapes(upper, fore),
        masses=masses,
        base="wheels",
        drive=drive,
    )


def _grip() -> Array:
    """`T_flange_grip` (4, 4): amid the top of the fork, x out of the flange, z up where the flange points ahead."""
    T = np.eye(4)
    T[:3, :3] = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    T[:3, 3] = (-0.5 * _FORK_M[2], 0.0, _TOOL_M - 0.5 * _FORK_M[0])
    return T


def _shapes(upper: float, fore: float) -> tuple[Shape, ...]:
    def capsule(name: str, joint: int, radius: float, start: float, end: float) -> Shape:
        size = np.array([radius, 0.5 * (end - start), 0.0])
        return Shape(name, joint, "capsule", size, transform([0.0, 0.0, 0.5 * (start + end)]))

    return (
        Shape("base", 0, "box", 0.5 * np.array(_BASE_M), transform([0.0, 0.0, _CLEARANCE_M + 0.5 * _BASE_M[2]])),
        capsule("column", 1, 0.08, 0.09 - _COLUMN_M, -0.08),
        capsule("upper_arm", 2, _RADII_M[0], 0.0, upper),
        capsule("forearm", 3, _RADII_M[1], 0.0, fore),
        capsule("wrist", 5, _RADII_M[2], 0.0, _WRIST_M),
        Shape("fork", 6, "box", 0.5 * np.array([_FORK_M[2], _FORK_M[1], _FORK_M[0]]),
              transform([0.0, 0.0, _TOOL_M - 0.5 * _FORK_M[0]])),
    )  # fmt: skip
