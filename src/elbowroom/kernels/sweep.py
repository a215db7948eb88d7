"""Bounds for a proof in continuous time: travel of parts in a time, and distances that they certainly keep.

Every part is the hull of some points, thickened by a radius. Bounds below are bounds: a part is never nearer than they
say.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.fields import lower, winding, within

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# What the second part of a unit is, where it is no mover.
FLOOR, STATIC = -1, -2

# Steps of the search for a separating direction, and how near it comes to the true distance, metres.
STEPS, CLOSE = 24, 1e-4


class Movers(NamedTuple):
    """Parts that move, each the hull of points in its own frame, thickened by a radius.

    points, first (M + 1,): those of part m are points[first[m]:first[m + 1]]; radius (M,); ball (M, 4): sphere around
    the thickened part; cover (C, 4), cover_first (M + 1,): balls that hold it together; field (M,): number of the field
    of a part that its hull says too little of, -1 for others.
    """

    points: Array
    first: Index
    radius: Array
    ball: Array
    cover: Array
    cover_first: Index
    field: Index


class Tree(NamedTuple):
    """Joints of all bodies and things over K knots in time; between knots each turns and shifts at constant speed.

    parent (K - 1, J): joint that it rides on, -1 for the world, always a lower number; angle, shift (K - 1, J): turn in
    radians and way in metres from knot to knot, as seen from the parent; place (K, J, 3): positions in the world.
    """

    parent: NDArray[np.int32]
    angle: Array
    shift: Array
    place: Array


@nb.njit(cache=True, nogil=True)
def travel(tree, ball, joint, units, out):
    """Bound how far points of two parts move towards each other from knot to knot: out (U, K - 1), metres.

    ball (K, M, 4): spheres around parts in the world; joint (M,): what they ride on; units (U, 2): pairs of parts, or
    a part and FLOOR or STATIC. Both parts are followed up to the first joint that carries both, whose own motion
    moves neither against the other. A part's distance from a joint is that at the knot, and what it has gained since.
    """
    for k in range(out.shape[1]):
        for u in range(units.shape[0]):
            a, b = units[u, 0], units[u, 1]
            i, j = joint[a], (joint[b] if b >= 0 else -1)
            way_a, way_b = 0.0, 0.0
            while i != j:
                if i > j:
                    far = _apart(ball[k, a], tree.place[k, i]) + ball[k, a, 3] + way_a
                    way_a += tree.angle[k, i] * far + tree.shift[k, i]
                    i = tree.parent[k, i]
                else:
                    far = _apart(ball[k, b], tree.place[k, j]) + ball[k, b, 3] + way_b
                    way_b += tree.angle[k, j] * far + tree.shift[k, j]
                    j = tree.parent[k, j]
            out[u, k] = way_a + way_b


@nb.njit(cache=True, nogil=True)
def closing(movers, T, tree, ball, joint, units, way, bend):
    """Lower bounds of travel way (U, K - 1) where two parts hardly move against each other: a hand and what it holds.

    Arguments as in `travel`; T (K, M, 4, 4) places parts. As the second part sees it, a point of the first is at both
    knots where T has it, and in between off the straight line by an eighth of its acceleration (interval squared) at
    most. Parts that meet in between are at both knots together no farther apart than the point moves, and twice that
    much: that is the bound, and bend (U, K - 1) the acceleration, 0 where the travel is less. Of half an interval the
    bound is half of it and a sixteenth of the bend, the bend a quarter.
    """
    chain, seen = np.zeros(tree.parent.shape[1] + 1, np.int64), np.zeros((2, 3, 4))
    for k in range(way.shape[1]):
        for u in range(units.shape[0]):
            a, b = units[u, 0], units[u, 1]
            i, j = joint[a], (joint[b] if b >= 0 else -1)
            speed, curve, count = 0.0, 0.0, 0
            while i != j:
                if i > j:
                    turn, far = tree.angle[k, i], _apart(ball[k, a], tree.place[k, i]) + ball[k, a, 3] + speed
                    curve += turn * (2.0 * speed + turn * far)
                    speed += turn * far + tree.shift[k, i]
                    i = tree.parent[k, i]
                else:
                    chain[count] = j
                    count += 1
                    j = tree.parent[k, j]
            for n in range(count - 1, -1, -1):
                j = chain[n]
                turn, speed = tree.angle[k, j], speed + tree.shift[k, j]
                far = _apart(ball[k, a], tree.place[k, j]) + ball[k, a, 3] + speed
                curve += turn * (2.0 * speed + turn * far)
                speed += turn * far
            if 0.25 * curve < way[u, k]:
                moved = 0.25 * curve + _moved_by(movers, a, b, T[k], T[k + 1], seen)
                if moved < way[u, k]:
                    way[u, k], bend[u, k] = moved, curve


# Parts with no more corners than this are measured by them, others by the ball around them.
CORNERS = 32


@inner()
def _moved_by(movers, a, b, before, after, seen):
    """Metres that points of part a are moved by at most from one placing of all parts (M, 4, 4) to another, as b sees
    them; seen (2, 3, 4) is room to work in."""
    for i in range(3):
        for j in range(4):
            seen[0, i, j], seen[1, i, j] = before[a, i, j], after[a, i, j]
    if b >= 0:
        _seen_from(before[b], before[a], seen[0])
        _seen_from(after[b], after[a], seen[1])
    from_a, to_a = seen[0], seen[1]
    turned = 0.0
    for i in range(3):
        for j in range(3):
            turned += (to_a[i, j] - from_a[i, j]) ** 2
    turned = np.sqrt(0.5 * turned)  # the most that a unit vector changes by
    first, last = movers.first[a], movers.first[a + 1]
    if last - first > CORNERS:
        x, y, z = _moved(from_a, movers.ball[a])
        p, q, r = _moved(to_a, movers.ball[a])
        return np.sqrt((p - x) ** 2 + (q - y) ** 2 + (r - z) ** 2) + turned * movers.ball[a, 3]
    most = 0.0
    for i in range(first, last):
        x, y, z = _moved(from_a, movers.points[i])
        p, q, r = _moved(to_a, movers.points[i])
        most = max(most, (p - x) ** 2 + (q - y) ** 2 + (r - z) ** 2)
    return np.sqrt(most) + turned * movers.radius[a]


@nb.njit(cache=True, nogil=True, inline="always")
def _apart(a, b):
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return np.sqrt(x * x + y * y + z * z)


@nb.njit(cache=True, nogil=True)
def spheres(movers, T, out):
    """Spheres out (N, M, 4) around parts placed by T (N, M, 4, 4)."""
    for n in range(T.shape[0]):
        for m in range(T.shape[1]):
            x, y, z = _moved(T[n, m], movers.ball[m])
            out[n, m, 0], out[n, m, 1], out[n, m, 2], out[n, m, 3] = x, y, z, movers.ball[m, 3]


@nb.njit(cache=True, nogil=True, inline="always")
def _moved(T, p):
    """Transform the first three numbers of a row."""
    return (
        T[0, 0] * p[0] + T[0, 1] * p[1] + T[0, 2] * p[2] + T[0, 3],
        T[1, 0] * p[0] + T[1, 1] * p[1] + T[1, 2] * p[2] + T[1, 3],
        T[2, 0] * p[0] + T[2, 1] * p[1] + T[2, 2] * p[2] + T[2, 3],
    )


@inner()
def height(movers, m, T, floor):
    """Height of a part's lowest point above the floor."""
    low = np.inf
    for i in range(movers.first[m], movers.first[m + 1]):
        p = movers.points[i]
        low = min(low, T[2, 0] * p[0] + T[2, 1] * p[1] + T[2, 2] * p[2])
    return low + T[2, 3] - movers.radius[m] - floor


@inner()
def _support(movers, m, T, x, y, z):
    """The point of a part's hull that lies farthest along a direction, in the world."""
    u = T[0, 0] * x + T[1, 0] * y + T[2, 0] * z
    v = T[0, 1] * x + T[1, 1] * y + T[2, 1] * z
    w = T[0, 2] * x + T[1, 2] * y + T[2, 2] * z
    best, who = -np.inf, movers.first[m]
    for i in range(movers.first[m], movers.first[m + 1]):
        along = movers.points[i, 0] * u + movers.points[i, 1] * v + movers.points[i, 2] * w
        if along > best:
            best, who = along, i
    return _moved(T, movers.points[who])


@inner()
def apart(movers, a, A, b, B, need):
    """A distance that two parts placed by A and B certainly have; any that is not below `need` will do.

    Gilbert's search for the point of the hull of all differences that is nearest to the origin: every direction that it
    tries separates the hulls by what they leave free along it. Not positive where that proves nothing.
    """
    thick = movers.radius[a] + movers.radius[b]
    ax, ay, az = _moved(A, movers.ball[a])
    bx, by, bz = _moved(B, movers.ball[b])
    vx, vy, vz = bx - ax, by - ay, bz - az
    best = 0.0
    for _ in range(STEPS):
        size = np.sqrt(vx * vx + vy * vy + vz * vz)
        if size < CLOSE:
            break
        px, py, pz = _support(movers, a, A, vx, vy, vz)
        qx, qy, qz = _support(movers, b, B, -vx, -vy, -vz)
        wx, wy, wz = qx - px, qy - py, qz - pz
        best = max(best, (vx * wx + vy * wy + vz * wz) / size)
        if best - thick >= need or size - best < CLOSE:
            break
        dx, dy, dz = wx - vx, wy - vy, wz - vz
        step = dx * dx + dy * dy + dz * dz
        if step < 1e-18:
            break
        s = min(max(-(vx * dx + vy * dy + vz * dz) / step, 0.0), 1.0)
        vx, vy, vz = vx + s * dx, vy + s * dy, vz + s * dz
    return best - thick


@inner()
def from_field(movers, m, T, fields, f, need, room):
    """A distance that a part, placed by T in the frame of field f, certainly has from it; 0 or less says nothing."""
    best = np.inf
    for i in range(movers.cover_first[m], movers.cover_first[m + 1]):
        ball = movers.cover[i]
        x, y, z = _moved(T, ball)
        far = lower(fields, f, x, y, z)
        d = far - ball[3]
        if d < min(need, best):
            # a point that the field puts outside is outside; of others the way round them tells
            if far <= 0.0 and fields.solid_root[f] >= 0:
                far = -1.0 if winding(fields.solids, fields.solid_root[f], x, y, z, room.nodes) != 0 else 0.0
            if far < 0.0:
                return -1.0
            d = np.sqrt(max(within(fields, f, x, y, z, need + ball[3], 0.0, room), 0.0)) - ball[3]
        best = min(best, d)
        if best <= 0.0:
            break
    return best


@nb.njit(cache=True, nogil=True)
def bounds(movers, T, units, floor, static, has_static, hollow, unit, time, need, room, out):
    """Distances out (I,) that units (U, 2) certainly have at placings T (N, M, 4, 4); item i asks for unit[i], time[i].

    static: field of all that never moves; hollow: fields of movers that have one. Distances from the floor are exact
    and signed; others say nothing where they are not positive. need (I,): a larger one than that need not be told.
    """
    seen = np.zeros((3, 4))
    for i in range(unit.shape[0]):
        a, b = units[unit[i], 0], units[unit[i], 1]
        A = T[time[i], a]
        if b == FLOOR:
            out[i] = height(movers, a, A, floor)
        elif b == STATIC:
            out[i] = from_field(movers, a, A, static, 0, need[i], room) if has_static else np.inf
        else:
            B = T[time[i], b]
            ax, ay, az = _moved(A, movers.ball[a])
            bx, by, bz = _moved(B, movers.ball[b])
            gap = np.sqrt((bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2) - movers.ball[a, 3] - movers.ball[b, 3]
            if gap < need[i]:
                gap = apart(movers, a, A, b, B, need[i])
            if gap < need[i] and movers.field[b] >= 0:
                _seen_from(B, A, seen)
                gap = max(gap, from_field(movers, a, seen, hollow, movers.field[b], need[i], room))
            out[i] = gap


@inner()
def _seen_from(B, A, out):
    """The inverse of a rigid transform B times A, into (3, 4)."""
    for i in range(3):
        for j in range(4):
            out[i, j] = B[0, i] * A[0, j] + B[1, i] * A[1, j] + B[2, i] * A[2, j]
        out[i, 3] -= B[0, i] * B[0, 3] + B[1, i] * B[1, 3] + B[2, i] * B[2, 3]
