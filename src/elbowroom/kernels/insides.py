"""Points inside of closed surfaces, and how far below the surface they are."""

from __future__ import annotations

import numba as nb
import numpy as np

from elbowroom.kernels.fields import winding
from elbowroom.kernels.triangles import DEPTH, nearest


@nb.njit(cache=True, nogil=True)
def contains(tree, points):
    """Which points (N, 3) are inside of the closed surfaces of a tree, (N,) bool."""
    nodes = np.zeros(DEPTH, np.int32)
    out = np.zeros(len(points), np.bool_)
    for n in range(len(points)):
        out[n] = winding(tree, 0, points[n, 0], points[n, 1], points[n, 2], nodes) != 0
    return out


@nb.njit(cache=True, nogil=True)
def depths(tree, points):
    """Distance to the surface of points (N, 3) inside of the closed surfaces of a tree, 0 for those outside, (N,)."""
    nodes = np.zeros(DEPTH, np.int32)
    bounds = np.zeros(DEPTH)
    out = np.zeros(len(points))
    for n in range(len(points)):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        if winding(tree, 0, x, y, z, nodes) != 0:
            square, _ = nearest(tree, 0, x, y, z, np.inf, 0.0, nodes, bounds)
            out[n] = np.sqrt(square)
    return out
