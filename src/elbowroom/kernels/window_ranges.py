"""Ranges of joints in a window of frames, and the axes about which its variables turn joints."""

from __future__ import annotations

import math

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.limb_terms import HINGE
from elbowroom.kernels.limits import flexion_and_twist, swing_and_twist, swing_radius
from elbowroom.kernels.turns import product, reversed_turn, row_of

Array = NDArray[np.float64]

# Angles below which sines are taken from their series, radians; the turn by which slopes are taken; and what counts as
# beyond a range.
_SMALL_RAD, _TINY_RAD, _BEYOND_RAD = 1e-4, 1e-5, 1e-6


@inner()
def _slope(x, y, z, i, j):
    """Entry (i, j) of the matrix from small changes of a rotation vector to the rotations that they add on the left."""
    angle = math.sqrt(x * x + y * y + z * z)
    once, twice = 0.5, 1.0 / 6.0
    if angle >= _SMALL_RAD:
        once = (1.0 - math.cos(angle)) / (angle * angle)
        twice = (angle - math.sin(angle)) / (angle * angle * angle)
    a = x if i == 0 else y if i == 1 else z
    b = x if j == 0 else y if j == 1 else z
    square = a * b - (angle * angle if i == j else 0.0)
    across = 0.0
    if i != j:
        third = x if i + j == 3 else y if i + j == 2 else z
        across = -third if (j - i) % 3 == 1 else third
    return (1.0 if i == j else 0.0) + once * across + twice * square


@inner()
def _terms(joints, j, q):
    """Terms (x, y, z) of the local rotation q of joint j."""
    w, x, y, z = product(product(reversed_turn(row_of(joints.pre, j)), q), reversed_turn(row_of(joints.post, j)))
    if joints.kind[j] == HINGE:
        return flexion_and_twist(w, x, y, z)
    return swing_and_twist(w, x, y, z)


@inner()
def _beyond(joints, j, x, y, z):
    """Excess of terms of joint j over its range, (x, y, z)."""
    low, high = joints.low[j], joints.high[j]
    out_z = z - min(max(z, low[2]), high[2])
    if joints.kind[j] == HINGE:
        return x - min(max(x, low[0]), high[0]), y - min(max(y, low[1]), high[1]), out_z
    size = math.sqrt(x * x + y * y)
    if size > 0.0:
        corners = joints.corners[joints.corner[j] : joints.corner[j + 1]]
        most = swing_radius(low, high, corners, x / size, y / size)
        if size > most:
            return x - x * most / size, y - y * most / size, out_z
    return 0.0, 0.0, out_z


@nb.njit(cache=True, nogil=True)
def ranges(joints, own, q, v, most, aim, held, weight, A, b, costs, excess):
    """Add to A (F, n, n), lower half, b (F, n) and costs (F,) what brings joints back into their ranges.

    joints: K ranges; own (K,): first variable of each; q (F, K, 4): rotations as changed by v (F, n). What has been
    more than `most` (K,) beyond its range is `held` (F, K), and brought back to `aim` (K,), radians. excess (K,) takes
    by how much a held joint is beyond its range at most, minus infinity where none is.
    """
    excess[:] = -np.inf
    for f in range(len(q)):
        for k in range(len(own)):
            turn = row_of(q[f], k)
            x, y, z = _terms(joints, k, turn)
            ax, ay, az = _beyond(joints, k, x, y, z)
            size = math.sqrt(ax * ax + ay * ay + az * az)
            if size > most[k]:
                held[f, k] = True
            if not held[f, k] or size <= _BEYOND_RAD:
                continue
            excess[k] = max(excess[k], size)
            costs[f] += weight * (aim[k] - size) ** 2
            ax, ay, az = ax / size, ay / size, az / size
            s, c = math.sin(0.5 * _TINY_RAD), math.cos(0.5 * _TINY_RAD)
            u, v0, w = 0.0, 0.0, 0.0
            for a in range(3):
                tiny = (c, s if a == 0 else 0.0, s if a == 1 else 0.0, s if a == 2 else 0.0)
                tx, ty, tz = _terms(joints, k, product(tiny, turn))
                along = ((tx - x) * ax + (ty - y) * ay + (tz - z) * az) / _TINY_RAD
                if a == 0:
                    u = along
                elif a == 1:
                    v0 = along
                else:
                    w = along
            o = own[k]
            vx, vy, vz = v[f, o], v[f, o + 1], v[f, o + 2]
            for i in range(3):
                row_i = u * _slope(vx, vy, vz, 0, i) + v0 * _slope(vx, vy, vz, 1, i) + w * _slope(vx, vy, vz, 2, i)
                b[f, o + i] += weight * (aim[k] - size) * row_i
                for j in range(i + 1):
                    row_j = u * _slope(vx, vy, vz, 0, j) + v0 * _slope(vx, vy, vz, 1, j) + w * _slope(vx, vy, vz, 2, j)
                    A[f, o + i, o + j] += weight * row_i * row_j


@nb.njit(cache=True, nogil=True)
def axes_of(parents, T, v, out):
    """Directions (F, K, 3, 3) in the world, in columns, about which small changes of v (F, n) turn joints.

    parents (K,) carry these joints, -1 for none; T (F, J, 4, 4).
    """
    for f in range(len(T)):
        for k in range(len(parents)):
            x, y, z = v[f, 3 * k], v[f, 3 * k + 1], v[f, 3 * k + 2]
            p = parents[k]
            for a in range(3):
                for c in range(3):
                    if p < 0:
                        out[f, k, a, c] = _slope(x, y, z, a, c)
                    else:
                        R = T[f, p]
                        out[f, k, a, c] = (
                            R[a, 0] * _slope(x, y, z, 0, c)
                            + R[a, 1] * _slope(x, y, z, 1, c)
                            + R[a, 2] * _slope(x, y, z, 2, c)
                        )
