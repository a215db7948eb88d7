"""Balls that cover a solid, and a tree over them.

Each ball has an outer radius, and the balls together hold the whole shape; and an inner radius that the shape fills.
Inner and outer differ by little, so a distance to the ball's centre decides all but a thin band.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.fields import lower, room, winding
from elbowroom.kernels.triangles import away, nearest

Array = NDArray[np.float64]

# Balls in a leaf of the tree.
LEAF = 3


class Balls(NamedTuple):
    """Covers of several shapes in one set of arrays.

    ball (N, 5): centre, outer, inner radius, each cover's balls in the order of its tree; node (M, 4): sphere around
    all balls below a node; kids (M, 2): child nodes, or for a leaf -(first ball + 1) and how many.
    """

    ball: Array
    node: Array
    kids: NDArray[np.int32]


@nb.njit(cache=True, nogil=True)
def grow(ball, order, node, kids):
    """A tree over balls (N, 5), halved across their longest side; returns how many nodes it has.

    order (N,) takes the order of the balls in the tree, node (2 N, 4) and kids (2 N, 2) what `Balls` says.
    """
    count = ball.shape[0]
    for i in range(count):
        order[i] = i
    todo = np.zeros((64, 3), np.int64)
    todo[0, 2] = count
    top, nodes = 1, 1
    low, high = np.zeros(3), np.zeros(3)
    while top > 0:
        top -= 1
        n, start, end = todo[top, 0], todo[top, 1], todo[top, 2]
        low[:], high[:] = np.inf, -np.inf
        for i in range(start, end):
            for a in range(3):
                low[a] = min(low[a], ball[order[i], a])
                high[a] = max(high[a], ball[order[i], a])
        reach = 0.0
        for a in range(3):
            node[n, a] = 0.5 * (low[a] + high[a])
        for i in range(start, end):
            reach = max(reach, np.sqrt(_apart(ball, order[i], node, n)) + ball[order[i], 3])
        node[n, 3] = reach
        if end - start <= LEAF:
            kids[n, 0], kids[n, 1] = -(start + 1), end - start
            continue
        axis = 0
        for j in range(1, 3):
            if high[j] - low[j] > high[axis] - low[axis]:
                axis = j
        mine = order[start:end].copy()
        order[start:end] = mine[np.argsort(ball[mine, axis], kind="mergesort")]
        middle = start + (end - start + 1) // 2
        kids[n, 0], kids[n, 1] = nodes, nodes + 1
        todo[top, 0], todo[top, 1], todo[top, 2] = nodes + 1, middle, end
        todo[top + 1, 0], todo[top + 1, 1], todo[top + 1, 2] = nodes, start, middle
        top += 2
        nodes += 2
    return nodes


@nb.njit(cache=True, nogil=True)
def core(ball, picked):
    """Balls that fill most of balls (N, 5), thick ones, spread out: picked (C,), repeated where there are fewer."""
    far = np.full(ball.shape[0], np.inf)
    for c in range(picked.shape[0]):
        best, who = -1.0, 0
        for i in range(ball.shape[0]):
            if c > 0:
                far[i] = min(far[i], np.sqrt(_apart(ball, i, ball, picked[c - 1])))
            weight = ball[i, 4] if c == 0 else far[i] * ball[i, 4] ** 2
            if weight > best:
                best, who = weight, i
        picked[c] = who


@nb.njit(cache=True, nogil=True)
def depths(fields, points, out):
    """Depths of points (N, 3) in mesh 0, metres, negative outside of solids: out (N,)."""
    space = room()
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        d2, _ = nearest(fields.tree, fields.root[0], x, y, z, np.inf, 0.0, space.nodes, space.bounds)
        inside = fields.solid_root[0] >= 0 and winding(fields.solids, fields.solid_root[0], x, y, z, space.nodes) != 0
        out[i] = np.sqrt(d2) if inside else -np.sqrt(d2)


@nb.njit(cache=True, nogil=True)
def choose(centers, radii, samples, picked):
    """Greedy cover: always the ball, of radii (C,) about centers (C, 3), that holds most of the samples (X, 3) left.

    picked (C,) takes the chosen ones; returns their number. Samples in no ball are left out.
    """
    gain = np.zeros(centers.shape[0], np.int64)
    left = np.ones(samples.shape[0], np.bool_)
    for c in range(centers.shape[0]):
        for s in range(samples.shape[0]):
            gain[c] += _apart(samples, s, centers, c) <= radii[c] * radii[c]
    count = 0
    while True:
        best = np.argmax(gain)
        if gain[best] <= 0:
            return count
        picked[count] = best
        count += 1
        for s in range(samples.shape[0]):
            if left[s] and _apart(samples, s, centers, best) <= radii[best] * radii[best]:
                left[s] = False
                for c in range(centers.shape[0]):
                    gain[c] -= _apart(samples, s, centers, c) <= radii[c] * radii[c]


@nb.njit(cache=True, nogil=True, inline="always")
def _apart(a, i, b, j):
    x, y, z = a[i, 0] - b[j, 0], a[i, 1] - b[j, 1], a[i, 2] - b[j, 2]
    return x * x + y * y + z * z


@inner()
def _held(balls, x, y, z, radius):
    """Return whether one of balls (K, 5) contains a whole ball."""
    for b in range(balls.shape[0]):
        spare = balls[b, 3] - radius
        dx, dy, dz = balls[b, 0] - x, balls[b, 1] - y, balls[b, 2] - z
        if spare > 0.0 and dx * dx + dy * dy + dz * dz <= spare * spare:
            return True
    return False


@nb.njit(cache=True, nogil=True)
def cells(fields, low, edge, counts, more, least, held, out):
    """Cubes that hold mesh 0 but for what balls held (K, 5) hold, as balls out (N, 5) around them.

    Returns their number, or -1 where there is no room. Cubes of an edge fill a box from its low corner, counts (3,)
    along the axes. One that is nowhere near the mesh is dropped, and so is one that a held ball holds as a whole; one
    whose ball exceeds what the mesh fills of it by no more than `more`, or whose edge is below `least`, is kept; others
    are cut into eight. The inner radius is how deep the centre lies; one outside is moved to the surface.
    """
    space = room()
    solid = fields.solid_root[0] >= 0
    stack = np.zeros((8 * 32, 4))
    found = 0
    for first in range(counts[0] * counts[1] * counts[2]):
        i, j, k = first // (counts[1] * counts[2]), (first // counts[2]) % counts[1], first % counts[2]
        stack[0, 0] = low[0] + (i + 0.5) * edge
        stack[0, 1] = low[1] + (j + 0.5) * edge
        stack[0, 2] = low[2] + (k + 0.5) * edge
        stack[0, 3] = edge
        top = 1
        while top > 0:
            top -= 1
            x, y, z, size = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
            outer = 0.5 * np.sqrt(3.0) * size * (1.0 + 1e-9)
            if lower(fields, 0, x, y, z) > outer or _held(held, x, y, z, outer):
                continue
            d2, who = nearest(fields.tree, fields.root[0], x, y, z, np.inf, 0.0, space.nodes, space.bounds)
            d = np.sqrt(d2)
            inside = solid and winding(fields.solids, fields.solid_root[0], x, y, z, space.nodes) != 0
            if d > outer and not inside:
                continue
            if size <= least or (inside and outer - d <= more) or (not inside and outer + d <= more):
                if found == out.shape[0]:
                    return -1
                if not inside:
                    dx, dy, dz = away(x, y, z, fields.tree.triangles, who)
                    x, y, z, outer = x - dx, y - dy, z - dz, outer + d
                out[found, 0], out[found, 1], out[found, 2], out[found, 3] = x, y, z, outer
                out[found, 4] = min(d, outer) if inside else 0.0
                found += 1
                continue
            h = 0.25 * size
            for c in range(8):
                stack[top, 0] = x + (h if c & 1 else -h)
                stack[top, 1] = y + (h if c & 2 else -h)
                stack[top, 2] = z + (h if c & 4 else -h)
                stack[top, 3] = 2.0 * h
                top += 1
    return found
