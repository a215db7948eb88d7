"""Ranges of joints and edges of a support as pushes: gentle near them, hard at them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.limb_terms import HINGE, Joints, ball_terms
from elbowroom.kernels.limits import flexion_and_twist, swing_radius
from elbowroom.kernels.turns import Turn, Vector, product, reversed_turn, row_of

Array = NDArray[np.float64]

# Angle from the end of a range at which a joint is pushed back, radians, and at most this share of the range.
_NEAR_END_RAD, _NEAR_END_SHARE = 0.07, 0.15
# Distance inside the edge of the support at which the centre of mass is pushed back, metres; tuned on boxes.
NEAR_EDGE_M = 0.02

# Weights against 1 for a metre of a marker, tuned so that the hard push holds against 41 markers 10 cm off, and the
# gentle one does not throw the body about from one posture to the next. The hard one begins at a share of the margin.
_GENTLE, _HARD, _HARD_SHARE = 1.0, 30.0, 0.15
# A metre of the centre of mass counts as so many radians.
_BALANCE = 3.0


@inner()
def coordinates(joints: Joints, j: int, q: Turn) -> Vector:
    """Coordinates of a local rotation of piece j."""
    if joints.kind[j] == HINGE:
        w, x, y, z = product(product(reversed_turn(row_of(joints.pre, j)), q), reversed_turn(row_of(joints.post, j)))
        return flexion_and_twist(w, x, y, z)
    return ball_terms(joints, j, q)


@inner()
def beyond(joints: Joints, j: int, c: Vector) -> tuple[float, float, float, float]:
    """Distances of coordinates beyond the range of piece j, radians, negative inside, and sizes of these ranges.

    The first is that of swing or flexion, the second that of the twist; sizes likewise.
    """
    low, high = joints.low[j], joints.high[j]
    twisted, span = max(c[2] - high[2], low[2] - c[2]), high[2] - low[2]
    if joints.kind[j] == HINGE:
        return max(c[0] - high[0], low[0] - c[0]), twisted, high[0] - low[0], span
    size = math.sqrt(c[0] * c[0] + c[1] * c[1])
    if size < 1e-9:
        return -1.0, twisted, 1.0, span
    polygon = joints.corners[joints.corner[j] : joints.corner[j + 1]]
    most = swing_radius(low, high, polygon, c[0] / size, c[1] / size)
    return size - most, twisted, most, span


@inner()
def _pushed(past: float, inset: float) -> float:
    """Row of something that is so far beyond a bound: gentle from `inset` before it on, hard shortly before it."""
    return _GENTLE * max(past + inset, 0.0) + _HARD * max(past + _HARD_SHARE * inset, 0.0)


@inner()
def range_rows(joints: Joints, j: int, c: Vector) -> tuple[float, float]:
    """Rows of piece j near the ends of its range."""
    a, b, first, second = beyond(joints, j, c)
    return (
        _pushed(a, min(_NEAR_END_RAD, _NEAR_END_SHARE * first)),
        _pushed(b, min(_NEAR_END_RAD, _NEAR_END_SHARE * second)),
    )


@inner()
def edge_row(inside: float) -> float:
    """Row of the centre of mass, that far inside an edge of the support."""
    return _BALANCE * _pushed(-inside, NEAR_EDGE_M)


@inner()
def clamped(joints: Joints, j: int, c: Vector) -> Vector:
    """Coordinates moved into the range of piece j."""
    low, high = joints.low[j], joints.high[j]
    x, y, z = c[0], c[1], min(max(c[2], low[2]), high[2])
    if joints.kind[j] == HINGE:
        return min(max(x, low[0]), high[0]), min(max(y, low[1]), high[1]), z
    past = beyond(joints, j, c)[0]
    if past > 0.0:
        size = math.sqrt(x * x + y * y)
        x, y = x * (size - past) / size, y * (size - past) / size
    return x, y, z


@inner()
def outward(corners: Array, k: int) -> tuple[float, float]:
    """Unit direction out of edge k of a polygon (K, 2) that runs counter-clockwise."""
    other = k + 1 if k + 1 < corners.shape[0] else 0
    ex, ey = corners[other, 0] - corners[k, 0], corners[other, 1] - corners[k, 1]
    size = math.sqrt(ex * ex + ey * ey)
    size = size if size > 0.0 else 1.0
    return ey / size, -ex / size
