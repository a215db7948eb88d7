"""Triangles rasterised into columns over a grid on the floor: one bit for each layer of height."""

from __future__ import annotations

import numba as nb
import numpy as np

_MOST = 12  # corners of a triangle that is cut to a cell
_ROUNDING = 1e-7  # cells: what lies on a border belongs to both sides, whichever way it is rounded


@nb.njit(cache=True, nogil=True)
def _cut(points, count, axis, at, sign, out):
    """Part of a convex polygon (count, 3) on one side of a plane across an axis; how many corners it has."""
    n = 0
    for k in range(count):
        m = k + 1 if k + 1 < count else 0
        a, b = sign * (points[k, axis] - at) + _ROUNDING, sign * (points[m, axis] - at) + _ROUNDING
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
        j0 = max(int(np.floor((min(t[0, 1], t[1, 1], t[2, 1]) - y0) / cell - _ROUNDING)), 0)
        j1 = min(int(np.floor((max(t[0, 1], t[1, 1], t[2, 1]) - y0) / cell + _ROUNDING)), ny - 1)
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
            i0 = max(int(np.floor((low_x - x0) / cell - _ROUNDING)), 0)
            i1 = min(int(np.floor((high_x - x0) / cell + _ROUNDING)), nx - 1)
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


@nb.njit(cache=True, nogil=True)
def _taken(words, b, j, i):
    """Tell whether a layer is taken, of columns (W, ny, nx) that stand on each other; none is above or below."""
    if b < 0 or b >= 64 * len(words):
        return False
    return (words[b // 64, j, i] >> np.uint64(b % 64)) & np.uint64(1) == np.uint64(1)


@nb.njit(cache=True, nogil=True)
def _stands(words, c, j, i, head):
    """Tell whether one may stand at layer c of a column, with so many layers of room; layer 0 is the floor."""
    if c > 0 and not _taken(words, c - 1, j, i):
        return False
    free = True
    for b in range(max(c, 1), c + head):
        free = free and not _taken(words, b, j, i)
    return free


@nb.njit(cache=True, nogil=True)
def reached_ground(words, start, layer, step, head):
    """Layers (ny, nx) of the ground that is reached from a cell (2,) at a layer by steps, -1 where none is.

    words (W, ny, nx): layers that are taken, 64 in each; step: layers between neighbours at most; head: layers that
    have to be free above the ground.
    """
    _, ny, nx = words.shape
    level = np.full((ny, nx), -1, np.int64)
    queue = np.empty((ny * nx, 2), np.int64)
    level[start[0], start[1]] = layer
    queue[0] = start
    first, count = 0, 1
    while first < count:
        j, i = queue[first]
        first += 1
        for k in range(4):
            a, b = j + (k == 0) - (k == 1), i + (k == 2) - (k == 3)
            if a < 0 or b < 0 or a >= ny or b >= nx or level[a, b] >= 0:
                continue
            for off in range(2 * step + 1):
                c = level[j, i] + (off + 1) // 2 * (1 if off % 2 == 1 else -1)
                if c >= 0 and _stands(words, c, a, b, head):
                    level[a, b] = c
                    queue[count] = a, b
                    count += 1
                    break
    return level


@nb.njit(cache=True, nogil=True)
def above_ground(words, level, out):
    """Columns (ny, nx) of 64 layers, each from its own layer of ground (ny, nx) on."""
    count, ny, nx = words.shape
    for j in range(ny):
        for i in range(nx):
            w, s = level[j, i] // 64, level[j, i] % 64
            word = words[w, j, i] >> np.uint64(s) if w < count else np.uint64(0)
            if s > 0 and w + 1 < count:
                word |= words[w + 1, j, i] << np.uint64(64 - s)
            out[j, i] = word


@nb.njit(cache=True, nogil=True)
def surface_heights(triangles, x0, y0, spacing, below, heights, owner, number):
    """Raise heights (ny, nx) at points of a grid to the highest of triangles (F, 3, 3) that is not above `below`.

    Point (j, i) is at (x0 + i spacing, y0 + j spacing); `owner` (ny, nx) gets a number where a height is raised.
    """
    ny, nx = heights.shape
    for f in range(len(triangles)):
        t = triangles[f]
        ux, uy, vx, vy = t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[2, 0] - t[0, 0], t[2, 1] - t[0, 1]
        area = ux * vy - uy * vx
        if abs(area) < 1e-12:
            continue
        i0 = max(int(np.ceil((min(t[0, 0], t[1, 0], t[2, 0]) - x0) / spacing)), 0)
        i1 = min(int(np.floor((max(t[0, 0], t[1, 0], t[2, 0]) - x0) / spacing)), nx - 1)
        j0 = max(int(np.ceil((min(t[0, 1], t[1, 1], t[2, 1]) - y0) / spacing)), 0)
        j1 = min(int(np.floor((max(t[0, 1], t[1, 1], t[2, 1]) - y0) / spacing)), ny - 1)
        for j in range(j0, j1 + 1):
            for i in range(i0, i1 + 1):
                px, py = x0 + i * spacing - t[0, 0], y0 + j * spacing - t[0, 1]
                s, r = (px * vy - py * vx) / area, (ux * py - uy * px) / area
                if s < -1e-9 or r < -1e-9 or s + r > 1.0 + 1e-9:
                    continue
                z = t[0, 2] + s * (t[1, 2] - t[0, 2]) + r * (t[2, 2] - t[0, 2])
                if heights[j, i] < z <= below[j, i]:
                    heights[j, i] = z
                    owner[j, i] = number
