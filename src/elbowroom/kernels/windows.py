"""Normal equations of a window of frames: what each frame asks of increments of joints and root.

Variables of a frame are rotation vectors of K joints, in the frame of each joint's parent, and, where the root may
move, its shift: n = 3 K or 3 K + 3 numbers. Every term is a row (n,) with a residual e and a weight w: A += w row row',
b += w row e, so that the increment that solves A x = b brings residuals to zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.fields import room as new_room
from elbowroom.kernels.signed import FAR_M, signed

Array = NDArray[np.float64]

# How far a ball is looked ahead for the way out of what it is in, metres, and in what steps.
WAY_M, STEP_M = 0.8, 0.02


class BallBody(NamedTuple):
    """A body as balls: what may move, and what may meet.

    joints (K,): those that turn; moves (J, K): whether one moves another; rooted: whether the root may move. ball
    (Q, 4) in the frame of joint owner (Q,), sorted by part; first (P + 1,): first ball of each part; around (P, 4): a
    ball around each part; holder (P,): its joint; live (P,): whether any joint moves it. pairs (N, 2): parts of the
    body that may meet, meet (N,) whether one moves against the other. mass (J,), center (J, 3): share of the body's
    mass, and its centre in the joint's frame.
    """

    joints: NDArray[np.int64]
    moves: NDArray[np.bool_]
    rooted: bool
    ball: Array
    owner: NDArray[np.int64]
    first: NDArray[np.int64]
    around: Array
    holder: NDArray[np.int64]
    live: NDArray[np.bool_]
    pairs: NDArray[np.int64]
    meet: NDArray[np.bool_]
    mass: Array
    center: Array
    parents: NDArray[np.int64]


class WindowScene(NamedTuple):
    """Surroundings of a body in F frames.

    place (F, G, 4, 4): from the world to the frame of each grid; there (F, G): whether it counts; others (F, M, 4):
    balls of other bodies, by part from first (C + 1,) on, and crowd (F, C, 4) around each part; need (F, Q):
    distance that each ball's centre must keep from all of it; floor (F, Q): height that its centre must have; room,
    height (F, P): the most of both beyond the balls' radii, by part; base (F, Q, 3): where balls were; apart (F,
    N): distance beyond touching that pairs of parts must keep, negative where they may be in each other, minus
    infinity where the one they had will do, not a number where one of them is not held.
    """

    place: Array
    there: NDArray[np.bool_]
    others: Array
    first: NDArray[np.int64]
    crowd: Array
    need: Array
    floor: Array
    room: Array
    height: Array
    base: Array
    apart: Array


class Pins(NamedTuple):
    """Points (E, 3) fixed to joints (E,), where they are to be, (F, E, 3), and weights (F, E), 1/(m² s).

    Of those that are `level` (E,) the height alone counts.
    """

    joint: NDArray[np.int64]
    at: Array
    target: Array
    weight: Array
    level: NDArray[np.bool_]


@inner()
def _place(T, p, q):
    """A point (x, y, z) of rows p in the frame T."""
    x, y, z = p[q, 0], p[q, 1], p[q, 2]
    return (
        T[0, 0] * x + T[0, 1] * y + T[0, 2] * z + T[0, 3],
        T[1, 0] * x + T[1, 1] * y + T[1, 2] * z + T[1, 3],
        T[2, 0] * x + T[2, 1] * y + T[2, 2] * z + T[2, 3],
    )


@inner()
def _place_balls(rig, T, p, P):
    """Put centres of the balls of a part into P (Q, 3)."""
    for q in range(rig.first[p], rig.first[p + 1]):
        P[q, 0], P[q, 1], P[q, 2] = _place(T[rig.owner[q]], rig.ball, q)


@inner()
def _distance(grids, scene, f, x, y, z, room):
    """Distance of a point to whatever is nearest around it, and the direction away from it, in the world."""
    best, gx, gy, gz = FAR_M, 0.0, 0.0, 0.0
    for g in range(scene.there.shape[1]):
        if not scene.there[f, g]:
            continue
        T = scene.place[f, g]
        u = T[0, 0] * x + T[0, 1] * y + T[0, 2] * z + T[0, 3]
        v = T[1, 0] * x + T[1, 1] * y + T[1, 2] * z + T[1, 3]
        w = T[2, 0] * x + T[2, 1] * y + T[2, 2] * z + T[2, 3]
        d, a, b, c = signed(grids, g, u, v, w, room)
        if d < best:
            best = d
            gx = T[0, 0] * a + T[1, 0] * b + T[2, 0] * c
            gy = T[0, 1] * a + T[1, 1] * b + T[2, 1] * c
            gz = T[0, 2] * a + T[1, 2] * b + T[2, 2] * c
    for c in range(scene.crowd.shape[1]):
        dx, dy, dz = x - scene.crowd[f, c, 0], y - scene.crowd[f, c, 1], z - scene.crowd[f, c, 2]
        limit = best + scene.crowd[f, c, 3]
        if limit <= 0.0 or dx * dx + dy * dy + dz * dz >= limit * limit:
            continue
        for m in range(scene.first[c], scene.first[c + 1]):
            dx, dy, dz = x - scene.others[f, m, 0], y - scene.others[f, m, 1], z - scene.others[f, m, 2]
            limit = best + scene.others[f, m, 3]
            s = dx * dx + dy * dy + dz * dz
            if limit > 0.0 and s < limit * limit and s > 0.0:
                size = np.sqrt(s)
                best, gx, gy, gz = size - scene.others[f, m, 3], dx / size, dy / size, dz / size
    size = np.sqrt(gx * gx + gy * gy + gz * gz)
    if size > 1e-9:
        gx, gy, gz = gx / size, gy / size, gz / size
    return best, gx, gy, gz


@nb.njit(cache=True, nogil=True)
def ball_places(rig, T, out):
    """Centres (F, Q, 3) of balls with joints at T (F, J, 4, 4)."""
    for f in range(len(T)):
        for q in range(len(rig.ball)):
            out[f, q, 0], out[f, q, 1], out[f, q, 2] = _place(T[f, rig.owner[q]], rig.ball, q)


@nb.njit(cache=True, nogil=True)
def distances(rig, grids, scene, T, margin, out):
    """Distances (F, Q) of the centres of balls to whatever is around them, where they were, with joints at T.

    Of parts that are farther from everything than a margin, metres, distances are too large to matter.
    """
    room = new_room()
    for f in range(len(out)):
        for p in range(len(rig.first) - 1):
            x, y, z = _place(T[f, rig.holder[p]], rig.around, p)
            far = rig.around[p, 3] + margin
            if far < FAR_M and _distance(grids, scene, f, x, y, z, room)[0] >= far:
                for q in range(rig.first[p], rig.first[p + 1]):
                    out[f, q] = FAR_M + rig.ball[q, 3]
                continue
            for q in range(rig.first[p], rig.first[p + 1]):
                x, y, z = scene.base[f, q, 0], scene.base[f, q, 1], scene.base[f, q, 2]
                out[f, q] = _distance(grids, scene, f, x, y, z, room)[0]


@inner()
def _row(row, rig, T, axes, joint, x, y, z, gx, gy, gz, share):
    """Add share times the change of a point of a joint along a direction, by each variable."""
    joints = rig.joints
    for k in range(len(joints)):
        if rig.moves[joint, k]:
            j = joints[k]
            rx, ry, rz = x - T[j, 0, 3], y - T[j, 1, 3], z - T[j, 2, 3]
            cx, cy, cz = ry * gz - rz * gy, rz * gx - rx * gz, rx * gy - ry * gx
            for a in range(3):
                row[3 * k + a] += share * (axes[k, 0, a] * cx + axes[k, 1, a] * cy + axes[k, 2, a] * cz)
    if rig.rooted:
        n = 3 * len(joints)
        row[n] += share * gx
        row[n + 1] += share * gy
        row[n + 2] += share * gz


@inner()
def _add(A, b, row, e, w):
    """Add a row to the lower half of A (n, n) and to b (n,), and clear it."""
    for i in range(len(row)):
        if row[i] != 0.0:
            wi = w * row[i]
            b[i] += wi * e
            for j in range(i + 1):
                A[i, j] += wi * row[j]
    row[:] = 0.0


@nb.njit(cache=True, nogil=True)
def terms(rig, scene, grids, pins, T, axes, hit_weight, own_weight, balance_weight, com, way, A, b, lack, costs):
    """Fill A (F, n, n), lower half, b (F, n) and costs (F,) with what balls, pins and balance ask.

    T (F, J, 4, 4) are joints, axes (F, K, 3, 3) the directions of their variables in columns. Weights are 1/(m² s), com
    (F, 2) is where the centre of mass was. `way` (3,), where it is not zero, is the direction in which all balls leave
    what they are in. lack (P,) takes what each part lacks at most of the distance it needs, metres.
    """
    room = new_room()
    n = A.shape[1]
    row = np.zeros(n)
    P, placed = np.zeros((len(rig.ball), 3)), np.zeros(len(rig.first) - 1, np.bool_)
    directed = way[0] != 0.0 or way[1] != 0.0 or way[2] != 0.0
    mass, middle = np.zeros(len(rig.mass)), np.zeros((len(rig.mass), 3))
    for f in range(len(T)):
        cost = 0.0
        for p in range(len(rig.first) - 1):
            placed[p] = False
            if not rig.live[p]:
                continue
            x, y, z = _place(T[f, rig.holder[p]], rig.around, p)
            low = z - rig.around[p, 3] < scene.height[f, p]
            near = scene.room[f, p] + rig.around[p, 3]
            near = near > FAR_M or (near > -np.inf and _distance(grids, scene, f, x, y, z, room)[0] < near)
            if not (low or near):
                continue
            _place_balls(rig, T[f], p, P)
            placed[p] = True
            for q in range(rig.first[p], rig.first[p + 1]):
                x, y, z = P[q, 0], P[q, 1], P[q, 2]
                short = scene.floor[f, q] - z
                if short > 0.0:
                    lack[p] = max(lack[p], short)
                    cost += hit_weight * short * short
                    _row(row, rig, T[f], axes[f], rig.owner[q], x, y, z, 0.0, 0.0, 1.0, 1.0)
                    _add(A[f], b[f], row, short, hit_weight)
                need = scene.need[f, q]
                if not near or need == -np.inf:
                    continue
                d, gx, gy, gz = _distance(grids, scene, f, x, y, z, room)
                short = need - d
                if short <= 0.0:
                    continue
                lack[p] = max(lack[p], short)
                if directed:
                    short = STEP_M
                    while short < WAY_M:
                        at = x + way[0] * short, y + way[1] * short, z + way[2] * short
                        if _distance(grids, scene, f, at[0], at[1], at[2], room)[0] >= need:
                            break
                        short += STEP_M
                    gx, gy, gz = way[0], way[1], way[2]
                elif gx == 0.0 and gy == 0.0 and gz == 0.0:
                    continue
                cost += hit_weight * short * short
                _row(row, rig, T[f], axes[f], rig.owner[q], x, y, z, gx, gy, gz, 1.0)
                _add(A[f], b[f], row, short, hit_weight)
        cost += _own_terms(rig, scene, f, T[f], axes[f], P, placed, own_weight, row, A[f], b[f], lack)
        for e in range(len(pins.joint)):
            weight = pins.weight[f, e]
            if weight <= 0.0:
                continue
            x, y, z = _place(T[f, pins.joint[e]], pins.at, e)
            for c in range(2 if pins.level[e] else 0, 3):
                off = pins.target[f, e, c] - (x if c == 0 else y if c == 1 else z)
                cost += weight * off * off
                _row(
                    row, rig, T[f], axes[f], pins.joint[e], x, y, z, 1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2), 1.0
                )
                _add(A[f], b[f], row, off, weight)
        if balance_weight > 0.0:
            x, y = _subtree_masses(rig, T[f], mass, middle)
            for c in range(2):
                for k in range(len(rig.joints)):
                    j = rig.joints[k]
                    rx, ry, rz = (
                        middle[j, 0] - T[f, j, 0, 3],
                        middle[j, 1] - T[f, j, 1, 3],
                        middle[j, 2] - T[f, j, 2, 3],
                    )
                    # direction x or y: r x g
                    cx, cy, cz = (0.0, rz, -ry) if c == 0 else (-rz, 0.0, rx)
                    for a in range(3):
                        slope = axes[f, k, 0, a] * cx + axes[f, k, 1, a] * cy + axes[f, k, 2, a] * cz
                        row[3 * k + a] = mass[j] * slope
                if rig.rooted:
                    row[3 * len(rig.joints) + c] = 1.0
                off = com[f, c] - (x if c == 0 else y)
                cost += balance_weight * off * off
                _add(A[f], b[f], row, off, balance_weight)
        costs[f] = cost


@inner()
def _own_terms(rig, scene, f, T, axes, P, placed, weight, row, A, b, lack):
    """Terms of parts of a body that come nearer to each other than they may; returns their cost."""
    cost = 0.0
    for n in range(len(rig.pairs)):
        if not rig.meet[n] or np.isnan(scene.apart[f, n]):
            continue
        p, o = rig.pairs[n, 0], rig.pairs[n, 1]
        if rig.first[o + 1] - rig.first[o] > rig.first[p + 1] - rig.first[p]:
            p, o = o, p  # most balls of the part that has more are far from the other one
        x, y, z = _place(T[rig.holder[p]], rig.around, p)
        u, v, w = _place(T[rig.holder[o]], rig.around, o)
        kept = scene.apart[f, n] == -np.inf
        more = 0.0 if kept else scene.apart[f, n]
        reach = rig.around[p, 3] + rig.around[o, 3] + more
        if not (x - u) ** 2 + (y - v) ** 2 + (z - w) ** 2 <= reach * reach or reach <= 0.0:  # not a number: not held
            continue
        for part in (p, o):
            if not placed[part]:
                _place_balls(rig, T, part, P)
                placed[part] = True
        for q in range(rig.first[p], rig.first[p + 1]):
            near = rig.ball[q, 3] + rig.around[o, 3] + more
            if near <= 0.0 or (P[q, 0] - u) ** 2 + (P[q, 1] - v) ** 2 + (P[q, 2] - w) ** 2 >= near * near:
                continue
            for r in range(rig.first[o], rig.first[o + 1]):
                dx, dy, dz = P[q, 0] - P[r, 0], P[q, 1] - P[r, 1], P[q, 2] - P[r, 2]
                need = rig.ball[q, 3] + rig.ball[r, 3] + more
                s = dx * dx + dy * dy + dz * dz
                if need <= 0.0 or s >= need * need or s < 1e-12:
                    continue
                if kept:
                    bx = scene.base[f, q, 0] - scene.base[f, r, 0]
                    by = scene.base[f, q, 1] - scene.base[f, r, 1]
                    bz = scene.base[f, q, 2] - scene.base[f, r, 2]
                    was = bx * bx + by * by + bz * bz
                    if was < need * need:
                        need = np.sqrt(was)
                size = np.sqrt(s)
                short = need - size
                if short <= 0.0:
                    continue
                lack[p], lack[o] = max(lack[p], short), max(lack[o], short)
                dx, dy, dz = dx / size, dy / size, dz / size
                _row(row, rig, T, axes, rig.owner[q], P[q, 0], P[q, 1], P[q, 2], dx, dy, dz, 1.0)
                _row(row, rig, T, axes, rig.owner[r], P[r, 0], P[r, 1], P[r, 2], dx, dy, dz, -1.0)
                cost += weight * short * short
                _add(A, b, row, short, weight)
    return cost


@inner()
def _subtree_masses(rig, T, mass, middle):
    """Share of the mass that each joint carries, and its centre in the world; returns where that of the body is."""
    for j in range(len(mass)):
        mass[j] = rig.mass[j]
        x, y, z = _place(T[j], rig.center, j)
        middle[j, 0], middle[j, 1], middle[j, 2] = mass[j] * x, mass[j] * y, mass[j] * z
    for j in range(len(mass) - 1, 0, -1):
        up = rig.parents[j]
        mass[up] += mass[j]
        for a in range(3):
            middle[up, a] += middle[j, a]
    for j in range(len(mass)):
        for a in range(3):
            middle[j, a] /= max(mass[j], 1e-12)
    return middle[0, 0], middle[0, 1]


@nb.njit(cache=True, nogil=True)
def gather(A, b, knot, weight, H, g):
    """Add what frames ask of their variables to what it asks of knots.

    A (F, n, n) lower half, b (F, n); knot (F,) is the first of four knots that move a frame, weight (F, 4) how much. H
    (C, 4, n, n) takes blocks (c + d, c), g (C, n).
    """
    F, n = b.shape
    C = len(g)
    for f in range(F):
        for i in range(n):
            for j in range(i):
                A[f, j, i] = A[f, i, j]
        for d in range(4):
            c = knot[f] + d
            if c < 0 or c >= C or weight[f, d] == 0.0:
                continue
            for i in range(n):
                g[c, i] += weight[f, d] * b[f, i]
            for e in range(d, 4):
                if knot[f] + e >= C:
                    break
                share = weight[f, d] * weight[f, e]
                if share != 0.0:
                    for i in range(n):
                        for j in range(n):
                            H[c, e - d, i, j] += share * A[f, i, j]
