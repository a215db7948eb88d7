"""Is a posture of a limb free at a time? One posture, a batch, or a whole edge in space and time.

The limb is a handful of joints that the search moves, with ball covers on them; everything else is a function of time
alone and stands in tables: meshes with distance fields in their own frames.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.cover import Balls
from elbowroom.kernels.fields import BAND, FREE, HIT, Fields, Room, farther
from elbowroom.kernels.meeting import above_floor, between, core_hits, cover_in_field, point

Array = NDArray[np.float64]

# What was met, beside its index.
NOTHING, STATIC, MOVING, FLOOR, OWN = 0, 1, 2, 3, 4


class Limb(NamedTuple):
    """What the search moves: n joints, and E covers that ride on them.

    parent (n,): joint before it in the limb, -1 for the base; offset (n, 3) in the parent's frame. Joints from
    `moved` on are not searched: `follow` (S, n - moved, 3, 4) is their place in their parent's frame over time.
    balls, root (E,), joint (E,): the covers, and which joint each rides on; core (E, C): balls that meet things first.
    """

    parent: NDArray[np.int64]
    offset: Array
    moved: int
    follow: Array
    balls: Balls
    root: NDArray[np.int64]
    joint: NDArray[np.int64]
    core: NDArray[np.int64]


class Around(NamedTuple):
    """Everything else, at S times from `start` on, `rate` a second.

    base (S, 3, 4): frame that the limb hangs on; static: field of all that never moves, where has_static; moving,
    placed (S, M, 3, 4): fields, and the maps from the world to their frames; own, own_joint (O,): fields that ride on
    the limb's own joints; floor: height of the ground, -inf without one. skip_static, skip_floor (E,),
    skip_moving (E, M), skip_own (E, O): pairs that may touch. slack: how far interpolation between table rows may be
    off; margin: clearance that is asked for; both in metres.
    """

    start: float
    rate: float
    base: Array
    static: Fields
    has_static: bool
    moving: Fields
    placed: Array
    own: Fields
    own_joint: NDArray[np.int64]
    floor: float
    skip_static: NDArray[np.bool_]
    skip_floor: NDArray[np.bool_]
    skip_moving: NDArray[np.bool_]
    skip_own: NDArray[np.bool_]
    slack: float
    margin: float


class Bench(NamedTuple):
    """Room to work in for one thread.

    frames (n, 3, 4): joints; pair (P, 3), maps (P, 3, 4): near pairs; visit: nodes of a cover's tree yet to see.
    """

    frames: Array
    pair: NDArray[np.int64]
    maps: Array
    visit: NDArray[np.int64]
    room: Room


@nb.njit(cache=True, nogil=True, forceinline=True)
def place_limb(limb, around, q, t, bench):
    """Joint frames for local rotations q (moved, 4) at time t; returns the table rows and the share between them."""
    rows = around.base.shape[0]
    s = min(max((t - around.start) * around.rate, 0.0), rows - 1.0)
    k = min(int(s), max(rows - 2, 0))
    s -= k
    after = min(k + 1, rows - 1)
    frames = bench.frames
    for j in range(limb.parent.shape[0]):
        p = limb.parent[j]
        if j < limb.moved:
            w, x, y, z = q[j, 0], q[j, 1], q[j, 2], q[j, 3]
            r00, r01, r02 = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
            r10, r11, r12 = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
            r20, r21, r22 = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
            o0, o1, o2 = limb.offset[j, 0], limb.offset[j, 1], limb.offset[j, 2]
        else:
            a, b = limb.follow[min(k, limb.follow.shape[0] - 1)], limb.follow[min(after, limb.follow.shape[0] - 1)]
            i = j - limb.moved
            r00, r01, r02, o0 = between(a[i], b[i], 0, s)
            r10, r11, r12, o1 = between(a[i], b[i], 1, s)
            r20, r21, r22, o2 = between(a[i], b[i], 2, s)
        for i in range(3):
            if p >= 0:
                b0, b1, b2, b3 = frames[p, i, 0], frames[p, i, 1], frames[p, i, 2], frames[p, i, 3]
            else:
                b0, b1, b2, b3 = between(around.base[k], around.base[after], i, s)
            frames[j, i, 0] = b0 * r00 + b1 * r10 + b2 * r20
            frames[j, i, 1] = b0 * r01 + b1 * r11 + b2 * r21
            frames[j, i, 2] = b0 * r02 + b1 * r12 + b2 * r22
            frames[j, i, 3] = b0 * o0 + b1 * o1 + b2 * o2 + b3
    return k, after, s


@nb.njit(cache=True, nogil=True, forceinline=True)
def _gather(limb, around, bench, k, after, s):
    """Pairs of covers and fields near each other: bench.pair rows (cover, kind, index), bench.maps; their number."""
    count = 0
    more = around.margin + around.slack
    covers = limb.root.shape[0]
    for i in range(covers):
        e = covers - 1 - i  # hands and what they hold meet things first
        frame, node = bench.frames[limb.joint[e]], limb.balls.node[limb.root[e]]
        cx, cy, cz = point(frame, node)
        radius = node[3] + more
        if around.has_static and not around.skip_static[e] and farther(around.static, 0, cx, cy, cz, radius) <= 0:
            bench.maps[count] = frame
            bench.pair[count, 0], bench.pair[count, 1], bench.pair[count, 2] = e, STATIC, 0
            count += 1
        for m in range(around.placed.shape[1]):
            if around.skip_moving[e, m]:
                continue
            near, far = around.placed[k, m], around.placed[after, m]
            reach, r, d2 = around.moving.ball[m, 3] + radius, 1.0 - s, 0.0
            for a in range(3):
                here = (near[a, 0] * r + far[a, 0] * s) * cx + (near[a, 1] * r + far[a, 1] * s) * cy
                here += (near[a, 2] * r + far[a, 2] * s) * cz + near[a, 3] * r + far[a, 3] * s
                here -= around.moving.ball[m, a]
                d2 += here * here
            if d2 > reach * reach:
                continue
            to = bench.maps[count]
            for a in range(3):
                t0, t1, t2, t3 = between(near, far, a, s)
                for c in range(4):
                    to[a, c] = t0 * frame[0, c] + t1 * frame[1, c] + t2 * frame[2, c]
                to[a, 3] += t3
            bench.pair[count, 0], bench.pair[count, 1], bench.pair[count, 2] = e, MOVING, m
            count += 1
        for o in range(around.own_joint.shape[0]):
            if around.skip_own[e, o]:
                continue
            f, to = bench.frames[around.own_joint[o]], bench.maps[count]
            for a in range(3):  # the inverse of a rigid frame, row by row
                for c in range(4):
                    to[a, c] = f[0, a] * frame[0, c] + f[1, a] * frame[1, c] + f[2, a] * frame[2, c]
                to[a, 3] -= f[0, a] * f[0, 3] + f[1, a] * f[1, 3] + f[2, a] * f[2, 3]
            bench.pair[count, 0], bench.pair[count, 1], bench.pair[count, 2] = e, OWN, o
            count += 1
    return count


@nb.njit(cache=True, nogil=True)
def check(limb, around, q, t, bench):
    """(verdict, ball, kind, index) of one posture.

    Likely hits first: the core of each part against all that is near. Then the whole cover, and the first doubt ends
    the check: what it leaves open, the exact test decides.
    """
    verdict, ball, kind, index, count = _surely(limb, around, q, t, bench)
    if verdict == FREE:
        for i in range(count):
            verdict, ball = _pair(limb, around, bench, i)
            if verdict != FREE:
                return verdict, ball, bench.pair[i, 1], bench.pair[i, 2]
    return verdict, ball, kind, index


@nb.njit(cache=True, nogil=True)
def doubts(limb, around, q, t, bench):
    """(verdict, count): HIT or FREE for sure, or BAND with the pairs in doubt in the first rows of bench.pair."""
    verdict, _, _, _, count = _surely(limb, around, q, t, bench)
    if verdict == HIT:
        return HIT, 0
    found = 0
    for i in range(count):
        v, _ = _pair(limb, around, bench, i)
        if v == HIT:
            return HIT, 0
        if v == BAND:
            bench.pair[found] = bench.pair[i]
            found += 1
    if verdict == BAND:  # the floor, which is not among the pairs
        for e in range(limb.root.shape[0]):
            if not around.skip_floor[e]:
                bench.pair[found, 0], bench.pair[found, 1], bench.pair[found, 2] = e, FLOOR, 0
                found += 1
    return (BAND if found else FREE), found


@nb.njit(cache=True, nogil=True, forceinline=True)
def _surely(limb, around, q, t, bench):
    """(verdict, ball, kind, index, pairs near): the floor for good, and what the cores of all parts surely hit."""
    k, after, s = place_limb(limb, around, q, t, bench)
    more = around.margin + around.slack
    doubt, who, where = FREE, -1, NOTHING
    if around.floor > -1e9:
        for e in range(limb.root.shape[0]):
            if not around.skip_floor[e]:
                frame = bench.frames[limb.joint[e]]
                v, b = above_floor(limb.balls, limb.root[e], frame, around.floor, more, around.slack, bench)
                if v == HIT:
                    return HIT, b, FLOOR, 0, 0
                if v == BAND:
                    doubt, who, where = BAND, b, FLOOR
    count = _gather(limb, around, bench, k, after, s)
    for i in range(count):
        e, kind, m = bench.pair[i, 0], bench.pair[i, 1], bench.pair[i, 2]
        if kind == STATIC:
            b = core_hits(limb, e, bench.maps[i], around.static, 0, around.slack, bench.room)
        elif kind == MOVING:
            b = core_hits(limb, e, bench.maps[i], around.moving, m, around.slack, bench.room)
        else:
            b = core_hits(limb, e, bench.maps[i], around.own, m, around.slack, bench.room)
        if b >= 0:
            return HIT, b, kind, m, count
    return doubt, who, where, 0, count


@nb.njit(cache=True, nogil=True, forceinline=True)
def _pair(limb, around, bench, i):
    """(verdict, ball) of the whole cover of near pair i."""
    root, kind, m = limb.root[bench.pair[i, 0]], bench.pair[i, 1], bench.pair[i, 2]
    more = around.margin + around.slack
    if kind == STATIC:
        return cover_in_field(limb.balls, root, bench.maps[i], around.static, 0, more, around.slack, bench)
    if kind == MOVING:
        return cover_in_field(limb.balls, root, bench.maps[i], around.moving, m, more, around.slack, bench)
    return cover_in_field(limb.balls, root, bench.maps[i], around.own, m, more, around.slack, bench)
