"""Points inside of closed surfaces, and how far below the surface they are."""

from __future__ import annotations

import numba as nb
import numpy as np

from elbowroom.kernels.fields import winding
from elbowroom.kernels.triangles import DEPTH, nearest


@nb.njit(cache=True, nogil=True)
def contains_any(tree, T_solid_points, points):
    """Return whether one of points (N, 3), placed by a transform (4, 4), is inside of the closed surfaces of a tree."""
    nodes = np.zeros(DEPTH, np.int32)
    T = T_solid_points
    for n in range(len(points)):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        u = T[0, 0] * x + T[0, 1] * y + T[0, 2] * z + T[0, 3]
        v = T[1, 0] * x + T[1, 1] * y + T[1, 2] * z + T[1, 3]
        w = T[2, 0] * x + T[2, 1] * y + T[2, 2] * z + T[2, 3]
        if winding(tree, 0, u, v, w, nodes) != 0:
            return True
    return False


@nb.njit(cache=True, nogil=True)
def contained(tree, points):
    """Which of points (N, 3) are inside of the closed surfaces of a tree, (N,) bool."""
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
