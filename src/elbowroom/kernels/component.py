"""Postures of one component of a body, as offsets from a posture along a path within joint ranges; and balance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import njit_nogil
from elbowroom.kernels.limb_terms import Joints, put
from elbowroom.kernels.pose import center_of_mass, forward
from elbowroom.kernels.turns import product, row_of, turn_by, write
from elbowroom.kernels.whole_body_ranges import clamped, coordinates, outward

Array = NDArray[np.float64]


class Offsets(NamedTuple):
    """Joints that W numbers of a component move, the first six of them the root's with `pelvis`.

    joint (M,): their indices; joints: their ranges; spread (M, 3, W): coordinates of each that a number adds to.
    """

    joint: NDArray[np.int64]
    joints: Joints
    spread: Array
    pelvis: bool


class Masses(NamedTuple):
    """Skeleton and masses as `pose.forward` and `pose.center_of_mass` take them, and room to work in."""

    parents: NDArray[np.int32]
    offsets: Array
    rows: NDArray[np.int64]
    shares: Array
    centers: Array
    T: Array  # (1, J, 4, 4)
    com: Array  # (1, 3)


@njit_nogil()
def offset_postures(table, axes, roots, rotations, share, numbers, push, out_root, out_q):
    """Postures at a share of the way between two, with offsets (N, W) added to each.

    roots (2, 3), rotations (2, J, 4): both ends, quaternions on one half; axes (3, 3): ahead, left and up in columns;
    push (4,): metres along the axes and radians to the left by which the root moves. Writes out_root (N, 3) and out_q
    (N, J, 4). Coordinates are moved into their ranges; those that were out of them stay so by as much.
    """
    up = axes[0, 2], axes[1, 2], axes[2, 2]
    for n in range(numbers.shape[0]):
        for j in range(rotations.shape[1]):
            _between(rotations[0, j], rotations[1, j], share, out_q[n, j])
        for i in range(3):
            out_root[n, i] = (1.0 - share) * roots[0, i] + share * roots[1, i]
            for k in range(3):
                moved = push[k] + (numbers[n, k] if table.pelvis else 0.0)
                out_root[n, i] += axes[i, k] * moved
        q = row_of(out_q[n], 0)
        if table.pelvis:
            x, y, z = numbers[n, 3], numbers[n, 4], numbers[n, 5]
            turn = (
                axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z,
                axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z,
                axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z,
            )
            q = product(turn_by(turn), q)
        if push[3] != 0.0:
            q = product(turn_by((push[3] * up[0], push[3] * up[1], push[3] * up[2])), q)
        write(q, out_q[n], 0)
        for m in range(table.joint.shape[0]):
            x, y, z = 0.0, 0.0, 0.0
            for w in range(numbers.shape[1]):
                x += table.spread[m, 0, w] * numbers[n, w]
                y += table.spread[m, 1, w] * numbers[n, w]
                z += table.spread[m, 2, w] * numbers[n, w]
            own = coordinates(table.joints, m, row_of(out_q[n], table.joint[m]))
            inside = clamped(table.joints, m, own)
            to = clamped(table.joints, m, (own[0] + x, own[1] + y, own[2] + z))
            put(table.joints, m, to[0] + own[0] - inside[0], to[1] + own[1] - inside[1], to[2] + own[2] - inside[2])
            write(row_of(table.joints.q, m), out_q[n], table.joint[m])


@njit_nogil()
def _between(a, b, share, out):
    """Interpolate two unit quaternions (4,) on one half, by slerp."""
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    u, v = 1.0 - share, share
    if dot < 0.9999995:
        angle = math.acos(max(dot, -1.0))
        size = math.sin(angle)
        u, v = math.sin(u * angle) / size, math.sin(v * angle) / size
    size = 0.0
    for i in range(4):
        out[i] = u * a[i] + v * b[i]
        size += out[i] * out[i]
    size = math.sqrt(size)
    for i in range(4):
        out[i] /= size


@njit_nogil()
def support_margin(masses, root, rotations, load, corners):
    """Distance of the centre of mass inside of corners (K, 2) that run counter-clockwise, metres.

    root (1, 3), rotations (1, J, 4); load (4,): mass over that of the body, and its centre.
    """
    forward(masses.parents, masses.offsets, root, rotations, masses.T)
    center_of_mass(masses.T, masses.rows, masses.shares, masses.centers, masses.com)
    x = (masses.com[0, 0] + load[0] * load[1]) / (1.0 + load[0])
    y = (masses.com[0, 1] + load[0] * load[2]) / (1.0 + load[0])
    least = math.inf
    for k in range(corners.shape[0]):
        out = outward(corners, k)
        least = min(least, out[0] * (corners[k, 0] - x) + out[1] * (corners[k, 1] - y))
    return least
