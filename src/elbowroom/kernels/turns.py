"""Turns (w, x, y, z) and directions in compiled code as plain tuples, which stay in registers; and slerp of many."""

from __future__ import annotations

import math

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner

Array = NDArray[np.float64]
Turn = tuple[float, float, float, float]
Vector = tuple[float, float, float]

# Rows of a rotation matrix may miss unit length and right angles by this much: single precision, a few products.
SKEW = 1e-4


@inner()
def row_of(rows: Array, i: int) -> Turn:
    """Row i of (N, 4) as a tuple."""
    return rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]


@inner()
def product(a: Turn, b: Turn) -> Turn:
    """Hamilton product."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inner()
def reversed_turn(a: Turn) -> Turn:
    """The inverse of a unit quaternion."""
    return a[0], -a[1], -a[2], -a[3]


@inner()
def cross(a: Vector, b: Vector) -> Vector:
    """Cross product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inner()
def dot(a: Vector, b: Vector) -> float:
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner()
def scaled(a: Vector, s: float) -> Vector:
    """s times a."""
    return a[0] * s, a[1] * s, a[2] * s


@inner()
def turned(q: Turn, v: Vector) -> Vector:
    """v turned by q."""
    axis = q[1], q[2], q[3]
    t = scaled(cross(axis, v), 2.0)
    u = cross(axis, t)
    return v[0] + q[0] * t[0] + u[0], v[1] + q[0] * t[1] + u[1], v[2] + q[0] * t[2] + u[2]


@inner()
def of_columns(x: Vector, y: Vector, z: Vector) -> Turn:
    """Unit quaternion of the matrix with these columns; slightly skewed ones give a rotation near by."""
    trace = x[0] + y[1] + z[2]
    if trace > 0.0:
        q = 1.0 + trace, y[2] - z[1], z[0] - x[2], x[1] - y[0]
    elif x[0] >= y[1] and x[0] >= z[2]:
        q = y[2] - z[1], 1.0 + x[0] - y[1] - z[2], y[0] + x[1], z[0] + x[2]
    elif y[1] >= z[2]:
        q = z[0] - x[2], y[0] + x[1], 1.0 - x[0] + y[1] - z[2], z[1] + y[2]
    else:
        q = x[1] - y[0], z[0] + x[2], z[1] + y[2], 1.0 - x[0] - y[1] + z[2]
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[0] * s, q[1] * s, q[2] * s, q[3] * s


@inner()
def of_matrix(T: Array) -> Turn:
    """Turn of a transform (4, 4)."""
    return of_columns((T[0, 0], T[1, 0], T[2, 0]), (T[0, 1], T[1, 1], T[2, 1]), (T[0, 2], T[1, 2], T[2, 2]))


@inner()
def from_frame_to_frame(a: tuple[Vector, Vector, Vector], b: tuple[Vector, Vector, Vector]) -> Turn:
    """The turn that takes three unit directions square to each other to three others."""
    return of_columns(_sum_of(a, b, 0), _sum_of(a, b, 1), _sum_of(a, b, 2))


@inner()
def _sum_of(a: tuple[Vector, Vector, Vector], b: tuple[Vector, Vector, Vector], k: int) -> Vector:
    """Column k of [b0 b1 b2] [a0 a1 a2]^T."""
    return (
        b[0][0] * a[0][k] + b[1][0] * a[1][k] + b[2][0] * a[2][k],
        b[0][1] * a[0][k] + b[1][1] * a[1][k] + b[2][1] * a[2][k],
        b[0][2] * a[0][k] + b[1][2] * a[1][k] + b[2][2] * a[2][k],
    )


@inner()
def across(v: Vector, n: Vector) -> tuple[float, Vector]:
    """Length of the part of v across the unit direction n, and that part's direction."""
    along = dot(v, n)
    p = v[0] - along * n[0], v[1] - along * n[1], v[2] - along * n[2]
    size = math.sqrt(dot(p, p))
    return size, scaled(p, 1.0 / size if size > 0.0 else 0.0)


@inner()
def about_z(angle: float) -> Turn:
    """Turn by an angle about z."""
    return math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)


@inner()
def write(q: Turn, out: Array, i: int) -> None:
    """Put a quaternion into row i of (N, 4)."""
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = q[0], q[1], q[2], q[3]


@inner()
def triple(rows: Array, i: int) -> Vector:
    """Row i of (N, 3) as a tuple."""
    return rows[i, 0], rows[i, 1], rows[i, 2]


@inner()
def put_triple(v: Vector, rows: Array, i: int) -> None:
    """Write a tuple into row i of (N, 3)."""
    rows[i, 0], rows[i, 1], rows[i, 2] = v[0], v[1], v[2]


@inner()
def plus(a: Vector, b: Vector) -> Vector:
    """Sum."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inner()
def minus(a: Vector, b: Vector) -> Vector:
    """Difference."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inner()
def turn_by(v: Vector) -> Turn:
    """Turn of an axis times an angle."""
    size = math.sqrt(dot(v, v))
    s = math.sin(0.5 * size) / size if size > 1e-9 else 0.5
    return math.cos(0.5 * size), s * v[0], s * v[1], s * v[2]


@inner()
def small(q: Turn) -> Vector:
    """Axis times angle of a small turn: twice its vector part, of the shorter way round."""
    s = 2.0 if q[0] >= 0.0 else -2.0
    return s * q[1], s * q[2], s * q[3]


@nb.njit(cache=True, nogil=True)
def unfit(T: Array) -> int:
    """Index of the first of the matrices (N, 4, 4) that is no rigid transform, -1 where all are."""
    for n in range(T.shape[0]):
        for i in range(3):
            if not math.isfinite(T[n, i, 3]):
                return n
            for j in range(i, 3):
                square = T[n, i, 0] * T[n, j, 0] + T[n, i, 1] * T[n, j, 1] + T[n, i, 2] * T[n, j, 2]
                if not abs(square - (1.0 if i == j else 0.0)) < SKEW:  # also where it is no number
                    return n
        q = T[n]
        x, y, z = (q[0, 0], q[0, 1], q[0, 2]), (q[1, 0], q[1, 1], q[1, 2]), (q[2, 0], q[2, 1], q[2, 2])
        if dot(cross(x, y), z) < 0.0:
            return n
    return -1


@nb.njit(cache=True, nogil=True)
def slerp(a, b, s, out):
    """Interpolate from unit quaternions a (N, 4) the shorter way to b (N, 4), by shares s (N,), into out (N, 4)."""
    for i in range(len(out)):
        dot = a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1] + a[i, 2] * b[i, 2] + a[i, 3] * b[i, 3]
        sign = 1.0 if dot >= 0.0 else -1.0
        square = 0.0
        for c in range(4):
            out[i, c] = sign * b[i, c] - sign * dot * a[i, c]  # the part of b that is square to a
            square += out[i, c] * out[i, c]
        sine = math.sqrt(square)
        angle = math.atan2(sine, sign * dot)
        along = math.cos(s[i] * angle)
        across = math.sin(s[i] * angle) / sine if sine > 1e-150 else s[i]
        for c in range(4):
            out[i, c] = along * a[i, c] + across * out[i, c]
