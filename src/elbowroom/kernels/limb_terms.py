"""Postures on the way from one to another, joint by joint in anatomical terms.

Rows hold time (s), terms (3 n) of n joints as in `character.limits`, then local rotations (4 n). On the way from one to
another, ball joints turn by slerp; hinges and joints that only swing go straight in their own terms, since slerp would
bend an elbow sideways. Time runs evenly.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.limits import swing_and_twist, swing_radius
from elbowroom.kernels.turns import product, reversed_turn, row_of

Array = NDArray[np.float64]

# Kinds of joints.
BALL, SWING, HINGE = 0, 1, 2

# Slerp may leave a range by this much, radians.
_ROUNDING = 1e-6


class Joints(NamedTuple):
    """Ranges of n joints, and room for the posture at hand.

    kind (n,); pre, post (n, 4), low, high (n, 3) as in `character.limits`, with corners (C, 2) from corner[j] to
    corner[j + 1] where a swing's range is a polygon; q (n, 4): local rotations of the posture.
    """

    kind: NDArray[np.int64]
    pre: Array
    post: Array
    low: Array
    high: Array
    corners: Array
    corner: NDArray[np.int64]
    q: Array


@inner()
def put(joints, j, x, y, z):
    """Set the rotation of joint j by its terms."""
    c, s = math.cos(0.5 * z), math.sin(0.5 * z)
    if joints.kind[j] == HINGE:
        cx, sx, cy, sy = math.cos(0.5 * x), math.sin(0.5 * x), math.cos(0.5 * y), math.sin(0.5 * y)
        turn = cx * cy, sx * cy, cx * sy, sx * sy
    else:
        size = math.sqrt(x * x + y * y)
        scale = math.sin(0.5 * size) / size if size > 1e-12 else 0.5
        turn = math.cos(0.5 * size), scale * x, scale * y, 0.0
    turn = product(turn, (c, 0.0, 0.0, s))
    w, x, y, z = product(product(row_of(joints.pre, j), turn), row_of(joints.post, j))
    joints.q[j, 0], joints.q[j, 1], joints.q[j, 2], joints.q[j, 3] = w, x, y, z


@inner()
def ball_terms(joints, j, q):
    """Swing and twist of a ball joint from its local rotation."""
    w, x, y, z = product(product(reversed_turn(row_of(joints.pre, j)), q), reversed_turn(row_of(joints.post, j)))
    return swing_and_twist(w, x, y, z)


@inner()
def swung_past(joints, j, x, y, z):
    """Angle by which swing or twist of joint j is out of range, the larger of the two, radians."""
    size = math.sqrt(x * x + y * y)
    past = max(z - joints.high[j, 2], joints.low[j, 2] - z, 0.0)
    if size > 0.0:
        polygon = joints.corners[joints.corner[j] : joints.corner[j + 1]]
        past = max(past, size - swing_radius(joints.low[j], joints.high[j], polygon, x / size, y / size))
    return past


@inner()
def turn_between(joints, j, a, b):
    """Length of the way that joint j turns between two states, radians, and the cosine of half of a ball's."""
    x, y, z = a[1 + 3 * j] - b[1 + 3 * j], a[2 + 3 * j] - b[2 + 3 * j], a[3 + 3 * j] - b[3 + 3 * j]
    if joints.kind[j] == HINGE:
        return math.sqrt(x * x + z * z) + abs(y), 1.0
    if joints.kind[j] == SWING:
        return math.sqrt(x * x + y * y) + abs(z), 1.0
    k = 1 + 3 * joints.kind.shape[0] + 4 * j
    d = a[k] * b[k] + a[k + 1] * b[k + 1] + a[k + 2] * b[k + 2] + a[k + 3] * b[k + 3]
    return 2.0 * math.acos(min(abs(d), 1.0)), d


@inner()
def pose(joints, a, b, s):
    """Set the rotations at a share of the way from a to b; (time, how far a ball joint is out of range)."""
    n = joints.kind.shape[0]
    past = 0.0
    for j in range(n):
        if joints.kind[j] == BALL:
            k = 1 + 3 * n + 4 * j
            d = turn_between(joints, j, a, b)[1]
            u, v = 1.0 - s, s
            if abs(d) < 0.9999995:
                angle = math.acos(abs(d))
                size = math.sin(angle)
                u, v = math.sin(u * angle) / size, math.sin(v * angle) / size
            if d < 0.0:
                v = -v
            w, x = u * a[k] + v * b[k], u * a[k + 1] + v * b[k + 1]
            y, z = u * a[k + 2] + v * b[k + 2], u * a[k + 3] + v * b[k + 3]
            f = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
            joints.q[j, 0], joints.q[j, 1], joints.q[j, 2], joints.q[j, 3] = w * f, x * f, y * f, z * f
            x, y, z = ball_terms(joints, j, row_of(joints.q, j))
            past = max(past, swung_past(joints, j, x, y, z))
        else:
            k, r = 1 + 3 * j, 1.0 - s
            put(joints, j, r * a[k] + s * b[k], r * a[k + 1] + s * b[k + 1], r * a[k + 2] + s * b[k + 2])
    return a[0] + s * (b[0] - a[0]), past


@inner()
def allowed_between(joints, a, b):
    """Angle by which ball joints may be out of range between two states: the one at the ends."""
    past = 0.0
    for j in range(joints.kind.shape[0]):
        if joints.kind[j] == BALL:
            k = 1 + 3 * j
            past = max(
                past, swung_past(joints, j, a[k], a[k + 1], a[k + 2]), swung_past(joints, j, b[k], b[k + 1], b[k + 2])
            )
    return past + _ROUNDING


@inner()
def settle(joints, t, a, b, s, out):
    """Write the state of the posture at hand, at a share of the way from a to b, but for its marks."""
    n = joints.kind.shape[0]
    out[0] = t
    for j in range(n):
        k = 1 + 3 * j
        if joints.kind[j] == BALL:
            out[k], out[k + 1], out[k + 2] = ball_terms(joints, j, row_of(joints.q, j))
        else:
            for i in range(k, k + 3):
                out[i] = (1.0 - s) * a[i] + s * b[i]
    keep(joints, out)


@inner()
def keep(joints, out):
    """Write the rotations of the posture at hand into a state."""
    n = joints.kind.shape[0]
    for j in range(n):
        for i in range(4):
            out[1 + 3 * n + 4 * j + i] = joints.q[j, i]
