"""Distance fields: a sparse grid of exact distances to a mesh, and what capsules do in it.

A field covers space with bricks. Near the mesh a brick holds the exact distance at its (n + 1)³ corners, elsewhere at
its centre alone. The distance d to any set makes d² - |x|² concave (it is a minimum of affine functions), so between
corners, with trilinear weights w_i,

    d(p)² >= sum w_i d_i² - sum w_i |c_i - p|²

holds without exception; for a flat wall it is off by no more than h² / 4d. The field answers 'certainly farther than'
from that bound; where it cannot, the tree of triangles gives the exact distance at the point.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.triangles import DEPTH, Tree, box_distance, nearest, point_triangle

Array = NDArray[np.float64]

FREE, UNCERTAIN, HIT = 0, 1, 2

# What `start` says of a brick without corners of its own.
FAR, INSIDE = -1, -2

# How far a vertical ray is moved aside, metres: no surface is as thin, no vertex sits there by design.
ASIDE_X, ASIDE_Y = 1.2379e-7, 0.8713e-7


class Fields(NamedTuple):
    """Arrays of F fields, each in its mesh's own frame.

    tree, root (F,): all triangles; solids, solid_root (F,): those of closed surfaces, root -1 where there are none.
    origin (F, 3), edge (F,): low corner of a grid and edge of its bricks, metres; n (F,): cells along a brick's edge;
    shape (F, 3): bricks along each axis; brick (F,): first brick of a field; start (B,): first corner of a brick, or
    FAR or INSIDE; center (B,): distance at the brick's centre; corner: distances at corners, 0 inside of solids. Both
    are rounded down. ball (F, 4): centre and radius of a sphere around the mesh.
    """

    tree: Tree
    root: NDArray[np.int64]
    solids: Tree
    solid_root: NDArray[np.int64]
    origin: Array
    edge: Array
    n: NDArray[np.int64]
    shape: NDArray[np.int64]
    brick: NDArray[np.int64]
    start: NDArray[np.int32]
    center: NDArray[np.float32]
    corner: NDArray[np.float32]
    ball: Array


class Room(NamedTuple):
    """Space that searches of a tree work in, so that a check allocates nothing."""

    nodes: NDArray[np.int32]
    bounds: Array


def new_room():
    """Room for one thread, for Python: what compiled code gives becomes a named tuple by Python code, and an exception
    that is raised in the thread just then, such as a cancel, ends the process."""
    return Room(np.zeros(DEPTH, np.int32), np.zeros(DEPTH))


# The same inside of compiled code.
room = nb.njit(cache=True, nogil=True)(new_room)


@inner()
def winding(tree, root, x, y, z, nodes):
    """Winding number of a tree's closed surfaces about a point: weighted crossings of the ray straight up.

    The ray is moved aside by a hair, since corners of furniture love round coordinates.
    """
    x += ASIDE_X
    y += ASIDE_Y
    count = 0
    nodes[0] = root
    top = 1
    while top > 0:
        top -= 1
        n = nodes[top]
        box = tree.boxes[n]
        if x < box[0] or x > box[3] or y < box[1] or y > box[4] or z > box[5]:
            continue
        a = tree.kids[n, 0]
        if a >= 0:
            nodes[top] = a
            nodes[top + 1] = tree.kids[n, 1]
            top += 2
            continue
        first = -a - 1
        for t in range(first, first + tree.kids[n, 1]):
            count += tree.weight[t] * _above(tree.triangles, t, x, y, z)
    return count


@nb.njit(cache=True, nogil=True, inline="always")
def _side(ax, ay, bx, by, x, y):
    """Which side of the line a-b a point is on in plan; the same to the last bit for b-a but for the sign."""
    if ax < bx or (ax == bx and ay < by):
        return (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    return -((ax - bx) * (y - by) - (ay - by) * (x - bx))


@inner()
def _above(tri, t, x, y, z):
    """1 or -1 where the triangle lies above the point, by the way it is turned; 0 where it does not."""
    ax, ay, bx, by, cx, cy = tri[t, 0, 0], tri[t, 0, 1], tri[t, 1, 0], tri[t, 1, 1], tri[t, 2, 0], tri[t, 2, 1]
    u = _side(bx, by, cx, cy, x, y)
    v = _side(cx, cy, ax, ay, x, y)
    w = _side(ax, ay, bx, by, x, y)
    if not ((u > 0 and v > 0 and w > 0) or (u < 0 and v < 0 and w < 0)):
        return 0
    height = (u * tri[t, 0, 2] + v * tri[t, 1, 2] + w * tri[t, 2, 2]) / (u + v + w)
    if height <= z:
        return 0
    return 1 if u > 0 else -1


@nb.njit(cache=True, nogil=True)
def measure_centers(tree, solids, solid, origin, edge, shape, first, last, center, inside):
    """Distance at the centres of bricks first..last: center (B,), inside (B,) bool are filled."""
    nodes = np.zeros(DEPTH, np.int32)
    bounds = np.zeros(DEPTH)
    before, near, was = -1, -np.inf, False
    for b in range(first, last):
        i, j, k = b // (shape[1] * shape[2]), (b // shape[2]) % shape[1], b % shape[2]
        x, y, z = origin[0] + (i + 0.5) * edge, origin[1] + (j + 0.5) * edge, origin[2] + (k + 0.5) * edge
        best = np.inf
        if before >= 0:
            best = point_triangle(x, y, z, tree.triangles, before) * (1 + 1e-12) + 1e-18
        best, who = nearest(tree, 0, x, y, z, best, 0.0, nodes, bounds)
        if who >= 0:
            before = who
        here = np.sqrt(best)
        # nothing lies between two points whose distances add up to more than what is between them (and rounding)
        if solid and (k == 0 or near + here <= edge * 1.0001):
            was = winding(solids, 0, x, y, z, nodes) != 0
        near = here
        inside[b] = solid and was
        center[b] = near


@nb.njit(cache=True, nogil=True)
def measure_corners(tree, solids, solid, origin, edge, n, shape, bricks, first, last, corner):
    """Exact distances at the corners of bricks[first:last], written to corner[(q, corner)]; 0 inside of solids.

    Corners are visited so that each is next to the one before: its triangle starts the search, and its side of the
    surface holds for the next one where no surface is near enough to lie between.
    """
    nodes = np.zeros(DEPTH, np.int32)
    bounds = np.zeros(DEPTH)
    h, m = edge / n, n + 1
    for q in range(first, last):
        b = bricks[q]
        i0, j0, k0 = b // (shape[1] * shape[2]), (b // shape[2]) % shape[1], b % shape[2]
        before, near, was = -1, -np.inf, False
        for i in range(m):
            for jj in range(m):
                j = jj if i % 2 == 0 else n - jj
                for kk in range(m):
                    k = kk if (i * m + jj) % 2 == 0 else n - kk
                    x = origin[0] + i0 * edge + i * h
                    y = origin[1] + j0 * edge + j * h
                    z = origin[2] + k0 * edge + k * h
                    best = np.inf
                    if before >= 0:
                        best = point_triangle(x, y, z, tree.triangles, before) * (1 + 1e-12) + 1e-18
                    best, who = nearest(tree, 0, x, y, z, best, 0.0, nodes, bounds)
                    if who >= 0:
                        before = who
                    here = np.sqrt(best)
                    if solid and near + here <= h * 1.0001:
                        was = winding(solids, 0, x, y, z, nodes) != 0
                    near = here
                    corner[q, (i * m + j) * m + k] = 0.0 if solid and was else near


@inner(forceinline=True)
def lower(fields, f, x, y, z):
    """A distance that a point certainly has from mesh `f`; 0 says nothing, -1 says inside of a solid."""
    edge = fields.edge[f]
    gx = (x - fields.origin[f, 0]) / edge
    gy = (y - fields.origin[f, 1]) / edge
    gz = (z - fields.origin[f, 2]) / edge
    i, j, k = int(np.floor(gx)), int(np.floor(gy)), int(np.floor(gz))
    shape = fields.shape[f]
    if i < 0 or j < 0 or k < 0 or i >= shape[0] or j >= shape[1] or k >= shape[2]:
        return np.sqrt(box_distance(fields.tree.boxes, fields.root[f], x, y, z))
    b = fields.brick[f] + (i * shape[1] + j) * shape[2] + k
    start = fields.start[b]
    if start < 0:
        if start == INSIDE:
            return -1.0
        dx, dy, dz = (gx - i - 0.5) * edge, (gy - j - 0.5) * edge, (gz - k - 0.5) * edge
        return max(fields.center[b] - np.sqrt(dx * dx + dy * dy + dz * dz), 0.0)
    n = fields.n[f]
    m = n + 1
    u, v, w = (gx - i) * n, (gy - j) * n, (gz - k) * n
    a, c, e = min(int(u), n - 1), min(int(v), n - 1), min(int(w), n - 1)
    u, v, w = u - a, v - c, w - e
    s = _blend(fields.corner, start + (a * m + c) * m + e, m, u, v, w)
    h = edge / n
    s -= h * h * (u * (1 - u) + v * (1 - v) + w * (1 - w))
    return np.sqrt(s) if s > 0 else 0.0


@inner(forceinline=True)
def squared(fields, f, x, y, z):
    """The square of what `lower` says, without its square root where corners are near; -1 inside of a solid."""
    edge = fields.edge[f]
    gx = (x - fields.origin[f, 0]) / edge
    gy = (y - fields.origin[f, 1]) / edge
    gz = (z - fields.origin[f, 2]) / edge
    nx, ny, nz = fields.shape[f, 0], fields.shape[f, 1], fields.shape[f, 2]
    if not (gx >= 0.0 and gy >= 0.0 and gz >= 0.0 and gx < nx and gy < ny and gz < nz):
        return box_distance(fields.tree.boxes, fields.root[f], x, y, z)
    i, j, k = int(gx), int(gy), int(gz)
    b = fields.brick[f] + (i * ny + j) * nz + k
    start = fields.start[b]
    if start < 0:
        if start == INSIDE:
            return -1.0
        dx, dy, dz = (gx - i - 0.5) * edge, (gy - j - 0.5) * edge, (gz - k - 0.5) * edge
        left = max(fields.center[b] - np.sqrt(dx * dx + dy * dy + dz * dz), 0.0)
        return left * left
    n = fields.n[f]
    u, v, w = (gx - i) * n, (gy - j) * n, (gz - k) * n
    a, c, e = min(int(u), n - 1), min(int(v), n - 1), min(int(w), n - 1)
    u, v, w = u - a, v - c, w - e
    h = edge / n
    less = h * h * (u * (1 - u) + v * (1 - v) + w * (1 - w))
    return max(_blend(fields.corner, start + (a * (n + 1) + c) * (n + 1) + e, n + 1, u, v, w) - less, 0.0)


@inner(forceinline=True)
def _blend(corner, o, m, u, v, w):
    """Squares of the eight corner distances of a cell, blended."""
    p000, p001 = np.float64(corner[o]), np.float64(corner[o + 1])
    p010, p011 = np.float64(corner[o + m]), np.float64(corner[o + m + 1])
    o += m * m
    p100, p101 = np.float64(corner[o]), np.float64(corner[o + 1])
    p110, p111 = np.float64(corner[o + m]), np.float64(corner[o + m + 1])
    s00 = p000 * p000 * (1 - w) + p001 * p001 * w
    s01 = p010 * p010 * (1 - w) + p011 * p011 * w
    s10 = p100 * p100 * (1 - w) + p101 * p101 * w
    s11 = p110 * p110 * (1 - w) + p111 * p111 * w
    return (s00 * (1 - v) + s01 * v) * (1 - u) + (s10 * (1 - v) + s11 * v) * u


@inner(forceinline=True)
def nearer(fields, f, x, y, z, radius):
    """Return whether a point is certainly nearer than `radius` to mesh `f`, or in it, by the nearest corner alone."""
    edge = fields.edge[f]
    gx = (x - fields.origin[f, 0]) / edge
    gy = (y - fields.origin[f, 1]) / edge
    gz = (z - fields.origin[f, 2]) / edge
    shape = fields.shape[f]
    if not (gx >= 0.0 and gy >= 0.0 and gz >= 0.0 and gx < shape[0] and gy < shape[1] and gz < shape[2]):
        return False
    i, j, k = int(gx), int(gy), int(gz)
    start = fields.start[fields.brick[f] + (i * shape[1] + j) * shape[2] + k]
    if start < 0:
        return start == INSIDE
    n = fields.n[f]
    u, v, w = (gx - i) * n, (gy - j) * n, (gz - k) * n
    a, c, e = int(u + 0.5), int(v + 0.5), int(w + 0.5)
    rest = radius - fields.corner[start + (a * (n + 1) + c) * (n + 1) + e] * (1.0 + 1e-6)  # it was rounded down
    h = edge / n
    d2 = h * h * ((u - a) ** 2 + (v - c) ** 2 + (w - e) ** 2)
    return rest > 0.0 and d2 < rest * rest


@inner()
def within(fields, f, x, y, z, radius, enough, room):
    """Exact: squared distance to the surface where it is below radius², else radius², or -1 inside of a solid.

    Where the surface is nearer than `enough`, any squared distance below enough² may be returned.
    """
    best, who = nearest(fields.tree, fields.root[f], x, y, z, radius * radius, enough * enough, room.nodes, room.bounds)
    if who >= 0 or fields.solid_root[f] < 0:
        return best
    return -1.0 if winding(fields.solids, fields.solid_root[f], x, y, z, room.nodes) != 0 else best
