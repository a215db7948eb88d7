"""Balls that cover a solid, and a tree over them.

Each ball has an outer radius, and the balls together hold the whole shape; and an inner radius that the shape fills.
Inner and outer differ by one small number, so a distance to the ball's centre decides all but a thin band.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.fields import lower, room, winding, within

Array = NDArray[np.float64]

# Balls in a leaf of the tree.
LEAF = 3
# How many candidates and open samples are looked at when the next ball is chosen.
CANDIDATES, LOOK = 150, 400


class Balls(NamedTuple):
    """Covers of several shapes in one set of arrays.

    ball (N, 5): centre, outer, inner radius, each cover's balls in the order of its tree; part (N,): what a ball
    belongs to; node (M, 4): sphere around all balls below a node; kids (M, 2): child nodes, or for a leaf
    -(first ball + 1) and how many.
    """

    ball: Array
    part: NDArray[np.int64]
    node: Array
    kids: NDArray[np.int32]


@nb.njit(cache=True, nogil=True)
def depths(fields, points, far, out):
    """Signed distance of points (N, 3) to mesh 0: negative inside of solids, at most `far` outside."""
    space = room()
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        if lower(fields, 0, x, y, z) > far:
            out[i] = far
            continue
        inside = fields.solid_root[0] >= 0 and winding(fields.solids, fields.solid_root[0], x, y, z, space.nodes) != 0
        d = np.sqrt(abs(within(fields, 0, x, y, z, 1e3, 0.0, space)))
        out[i] = -d if inside else min(d, far)


@nb.njit(cache=True, nogil=True, inline="always")
def _apart(a, i, b, j):
    x, y, z = a[i, 0] - b[j, 0], a[i, 1] - b[j, 1], a[i, 2] - b[j, 2]
    return x * x + y * y + z * z


@nb.njit(cache=True, nogil=True)
def choose_balls(centers, radii, samples, picked):
    """Greedy cover: balls of radii (C,) about centers (C, 3) that hold all samples (X, 3).

    picked (C,) takes the chosen ones; returns their number. Every sample must lie in some ball.
    """
    waiting = np.arange(samples.shape[0])
    left, count = samples.shape[0], 0
    able = np.zeros(centers.shape[0], np.int64)
    while left > 0:
        m = 0
        for c in range(centers.shape[0]):
            if _apart(samples, waiting[0], centers, c) <= radii[c] * radii[c]:
                able[m] = c
                m += 1
        best, most = able[0], -1
        for k in range(0, m, max(m // CANDIDATES, 1)):
            c, held = able[k], 0
            for i in range(0, left, max(left // LOOK, 1)):
                if _apart(samples, waiting[i], centers, c) <= radii[c] * radii[c]:
                    held += 1
            if held > most:
                best, most = c, held
        picked[count] = best
        count += 1
        keep = 0
        for i in range(left):
            if _apart(samples, waiting[i], centers, best) > radii[best] * radii[best]:
                waiting[keep] = waiting[i]
                keep += 1
        left = keep
    return count
