"""Triangles rasterised into columns over a grid on the floor: one bit for each layer of height."""

from __future__ import annotations

import numba as nb
import numpy as np

_MOST = 12  # corners of a triangle that is cut to a cell


@nb.njit(cache=True, nogil=True)
def _cut(points, count, axis, at, sign, out):
    """Part of a convex polygon (count, 3) on one side of a plane across an axis; how many corners it has."""
    n = 0
    for k in range(count):
        m = k + 1 if k + 1 < count else 0
        a, b = sign * (points[k, axis] - at), sign * (points[m, axis] - at)
        if a >= 0.0:
            out[n] = points[k]
            n += 1
        if (a < 0.0) != (b < 0.0):
            u = a / (a - b)
            for c in range(3):
                out[n, c] = points[k, c] + u * (points[m, c] - points[k, c])
            n += 1
    return n


@nb.njit(cache=True, nogil=True)
def mark_columns(triangles, x0, y0, cell, z0, layer, columns):
    """Set the bits of columns (ny, nx) uint64 that triangles (F, 3, 3) pass through.

    Cell (j, i) begins at (x0 + i cell, y0 + j cell), bit b at z0 + b layer; what is lower or higher is left out.
    """
    ny, nx = columns.shape
    one, two = np.empty((_MOST, 3)), np.empty((_MOST, 3))
    row, part = np.empty((_MOST, 3)), np.empty((_MOST, 3))
    for f in range(len(triangles)):
        t = triangles[f]
        low_z, high_z = min(t[0, 2], t[1, 2], t[2, 2]), max(t[0, 2], t[1, 2], t[2, 2])
        if high_z < z0 or low_z >= z0 + 64 * layer:
            continue
        j0 = max(int(np.floor((min(t[0, 1], t[1, 1], t[2, 1]) - y0) / cell)), 0)
        j1 = min(int(np.floor((max(t[0, 1], t[1, 1], t[2, 1]) - y0) / cell)), ny - 1)
        for j in range(j0, j1 + 1):
            for c in range(3):
                one[c] = t[c]
            n = _cut(one, 3, 1, y0 + j * cell, 1.0, two)
            n = _cut(two, n, 1, y0 + (j + 1) * cell, -1.0, row)
            if n == 0:
                continue
            low_x, high_x = row[0, 0], row[0, 0]
            for k in range(1, n):
                low_x, high_x = min(low_x, row[k, 0]), max(high_x, row[k, 0])
            i0 = max(int(np.floor((low_x - x0) / cell)), 0)
            i1 = min(int(np.floor((high_x - x0) / cell)), nx - 1)
            for i in range(i0, i1 + 1):
                m = _cut(row, n, 0, x0 + i * cell, 1.0, one)
                m = _cut(one, m, 0, x0 + (i + 1) * cell, -1.0, part)
                if m == 0:
                    continue
                low, high = part[0, 2], part[0, 2]
                for k in range(1, m):
                    low, high = min(low, part[k, 2]), max(high, part[k, 2])
                b0 = max(int(np.floor((low - z0) / layer)), 0)
                b1 = min(int(np.floor((high - z0) / layer)), 63)
                for b in range(b0, b1 + 1):
                    columns[j, i] |= np.uint64(1) << np.uint64(b)
