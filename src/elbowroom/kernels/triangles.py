"""Nearest triangle of a mesh by a bounding-box tree.

Distance fields need the exact distance at millions of points; asking an exact collision library once per point from
Python would take minutes, so this one query is compiled here. Everything else about triangles is Coal's.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner

Array = NDArray[np.float64]

# Triangles in a leaf: fewer make the tree deeper, more waste point-triangle tests.
LEAF = 4
DEPTH = 128


class Tree(NamedTuple):
    """Triangles in tree order and the boxes over them.

    triangles (F, 3, 3); order (F,) is each one's index in the mesh; boxes (N, 6) low and high corner; kids (N, 2):
    two child nodes, or for a leaf -(first triangle + 1) and the number of triangles. weight (F,): what crossing a
    triangle counts, so that solids that overlap and are turned differently do not cancel each other.
    """

    triangles: Array
    order: NDArray[np.int64]
    weight: NDArray[np.int64]
    boxes: Array
    kids: NDArray[np.int32]


@inner(forceinline=True)
def _sq(x, y, z):
    return x * x + y * y + z * z


@inner(forceinline=True)
def away(x, y, z, tri, t):
    """Vector from the nearest point of triangle `t` to a point (Ericson, Real-Time Collision Detection, 5.1.5)."""
    ax, ay, az = tri[t, 0, 0], tri[t, 0, 1], tri[t, 0, 2]
    abx, aby, abz = tri[t, 1, 0] - ax, tri[t, 1, 1] - ay, tri[t, 1, 2] - az
    acx, acy, acz = tri[t, 2, 0] - ax, tri[t, 2, 1] - ay, tri[t, 2, 2] - az
    apx, apy, apz = x - ax, y - ay, z - az
    d1 = abx * apx + aby * apy + abz * apz
    d2 = acx * apx + acy * apy + acz * apz
    if d1 <= 0 and d2 <= 0:
        return apx, apy, apz
    bpx, bpy, bpz = apx - abx, apy - aby, apz - abz
    d3 = abx * bpx + aby * bpy + abz * bpz
    d4 = acx * bpx + acy * bpy + acz * bpz
    if d3 >= 0 and d4 <= d3:
        return bpx, bpy, bpz
    cpx, cpy, cpz = apx - acx, apy - acy, apz - acz
    d5 = abx * cpx + aby * cpy + abz * cpz
    d6 = acx * cpx + acy * cpy + acz * cpz
    if d6 >= 0 and d5 <= d6:
        return cpx, cpy, cpz
    vc = d1 * d4 - d3 * d2
    if vc <= 0 and d1 >= 0 and d3 <= 0:
        s = d1 / (d1 - d3) if d1 > d3 else 0.0
        return apx - s * abx, apy - s * aby, apz - s * abz
    vb = d5 * d2 - d1 * d6
    if vb <= 0 and d2 >= 0 and d6 <= 0:
        s = d2 / (d2 - d6) if d2 > d6 else 0.0
        return apx - s * acx, apy - s * acy, apz - s * acz
    va = d3 * d6 - d5 * d4
    if va <= 0 and d4 >= d3 and d5 >= d6:
        w = (d4 - d3) + (d5 - d6)
        s = (d4 - d3) / w if w > 0 else 0.0
        return bpx - s * (acx - abx), bpy - s * (acy - aby), bpz - s * (acz - abz)
    w = va + vb + vc
    if w <= 0:  # no area and past all edge tests by rounding alone
        a2, b2, c2 = _sq(apx, apy, apz), _sq(bpx, bpy, bpz), _sq(cpx, cpy, cpz)
        if a2 <= b2 and a2 <= c2:
            return apx, apy, apz
        return (bpx, bpy, bpz) if b2 <= c2 else (cpx, cpy, cpz)
    v, w = vb / w, vc / w
    return apx - v * abx - w * acx, apy - v * aby - w * acy, apz - v * abz - w * acz


@inner()
def point_triangle(x, y, z, tri, t):
    """Squared distance from a point to triangle `t`."""
    dx, dy, dz = away(x, y, z, tri, t)
    return dx * dx + dy * dy + dz * dz


@nb.njit(cache=True, nogil=True)
def _grow(tri):
    """Median-split tree over triangles (F, 3, 3): order, boxes, kids."""
    count = tri.shape[0]
    center = np.zeros((count, 3))
    for f in range(count):
        for k in range(3):
            low = min(tri[f, 0, k], tri[f, 1, k], tri[f, 2, k])
            high = max(tri[f, 0, k], tri[f, 1, k], tri[f, 2, k])
            center[f, k] = 0.5 * (low + high)
    order = np.arange(count)
    # every leaf but a lone one has at least half of LEAF, 2: no more nodes than triangles
    boxes = np.zeros((count + 1, 6))
    kids = np.zeros((count + 1, 2), np.int32)
    stack = np.zeros((DEPTH, 3), np.int64)
    stack[0, 2] = count
    top, nodes = 1, 1
    while top > 0:
        top -= 1
        node, start, end = stack[top, 0], stack[top, 1], stack[top, 2]
        axis, widest = 0, -1.0
        for k in range(3):
            low, high, first, last = np.inf, -np.inf, np.inf, -np.inf
            for i in range(start, end):
                f = order[i]
                low = min(low, tri[f, 0, k], tri[f, 1, k], tri[f, 2, k])
                high = max(high, tri[f, 0, k], tri[f, 1, k], tri[f, 2, k])
                first = min(first, center[f, k])
                last = max(last, center[f, k])
            boxes[node, k] = low
            boxes[node, 3 + k] = high
            if last - first > widest:
                axis, widest = k, last - first
        if end - start <= LEAF:
            kids[node, 0] = -(start + 1)
            kids[node, 1] = end - start
            continue
        middle = (start + end) // 2
        _select(order, center, axis, start, end - 1, middle)
        kids[node, 0] = nodes
        kids[node, 1] = nodes + 1
        stack[top, 0], stack[top, 1], stack[top, 2] = nodes, start, middle
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = nodes + 1, middle, end
        top += 2
        nodes += 2
    return order, boxes[:nodes].copy(), kids[:nodes].copy()


@inner()
def _select(order, center, axis, left, right, middle):
    """Partial sort of `order` so that what lies before `middle` is not above it along an axis."""
    while left < right:
        pivot = center[order[(left + right) // 2], axis]
        i, j = left, right
        while i <= j:
            while center[order[i], axis] < pivot:
                i += 1
            while center[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


def tree_of(triangles: Array, weight: NDArray[np.int64] | None = None) -> Tree:
    """Tree over triangles (F, 3, 3), F at least 1; each counts 1 unless weights (F,) are given."""
    order, boxes, kids = _grow(np.ascontiguousarray(triangles, dtype=float))
    weight = np.ones(len(order), np.int64) if weight is None else weight[order]
    return Tree(np.ascontiguousarray(triangles[order]), order, weight, boxes, kids)


@inner(forceinline=True)
def box_distance(boxes, n, x, y, z):
    """Squared distance from a point to box `n`."""
    dx = max(boxes[n, 0] - x, 0.0, x - boxes[n, 3])
    dy = max(boxes[n, 1] - y, 0.0, y - boxes[n, 4])
    dz = max(boxes[n, 2] - z, 0.0, z - boxes[n, 5])
    return dx * dx + dy * dy + dz * dz


@inner()
def nearest(tree, root, x, y, z, best, enough, nodes, bounds):
    """Squared distance and index (in tree order) of the nearest triangle closer than sqrt(best); -1 where none is.

    `root` is the node to start from: several meshes may share one set of arrays. The search ends at once with any
    triangle whose squared distance is below `enough`.
    nodes (DEPTH,) int32 and bounds (DEPTH,) float64 are room to work in, so that a search allocates nothing.
    """
    who = -1
    nodes[0] = root
    bounds[0] = box_distance(tree.boxes, root, x, y, z)
    top = 1
    while top > 0:
        top -= 1
        if bounds[top] >= best:
            continue
        n = nodes[top]
        while True:
            a = tree.kids[n, 0]
            if a < 0:
                first = -a - 1
                for t in range(first, first + tree.kids[n, 1]):
                    d = point_triangle(x, y, z, tree.triangles, t)
                    if d < best:
                        best = d
                        who = t
                if best < enough:
                    return best, who
                break
            b = tree.kids[n, 1]
            da = box_distance(tree.boxes, a, x, y, z)
            db = box_distance(tree.boxes, b, x, y, z)
            if da > db:
                a, b, da, db = b, a, db, da
            if db < best:
                nodes[top] = b
                bounds[top] = db
                top += 1
            if da >= best:
                break
            n = a
    return best, who


@nb.njit(cache=True, nogil=True)
def distances(tree, points):
    """Distances (N,) from points (N, 3) to the nearest triangle of a tree."""
    nodes = np.zeros(DEPTH, np.int32)
    bounds = np.zeros(DEPTH)
    out = np.zeros(len(points))
    for n in range(len(points)):
        square, _ = nearest(tree, 0, points[n, 0], points[n, 1], points[n, 2], np.inf, 0.0, nodes, bounds)
        out[n] = np.sqrt(square)
    return out


def joined(trees: list[Tree]) -> tuple[Tree, NDArray[np.int64]]:
    """Several trees in one set of arrays, and the root node of each."""
    first_node = np.cumsum([0] + [len(t.kids) for t in trees])
    first_triangle = np.cumsum([0] + [len(t.triangles) for t in trees])
    kids = []
    for tree, node, triangle in zip(trees, first_node[:-1], first_triangle[:-1], strict=True):
        moved = tree.kids.copy()
        leaf = moved[:, 0] < 0
        moved[leaf, 0] -= triangle
        moved[~leaf] += node
        kids.append(moved)
    return (
        Tree(
            np.concatenate([t.triangles for t in trees]),
            np.concatenate([t.order for t in trees]),
            np.concatenate([t.weight for t in trees]),
            np.concatenate([t.boxes for t in trees]),
            np.concatenate(kids).astype(np.int32),
        ),
        first_node[:-1].astype(np.int64),
    )
