"""Is a posture of a limb free at a time?

The limb is a handful of joints that the search moves, with pieces on them: capsules and covers of balls. Everything
else is a function of time alone and stands in tables: boxes with rounded edges (capsules among them) and meshes with
distance fields in their own frames.
"""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.fields import FREE, HIT, UNCERTAIN, squared
from elbowroom.kernels.limb_world import AWAY, BOX, FLOOR, IGNORED, LOOSE, SEVERAL, STATIC, THERE, TOLD
from elbowroom.kernels.meeting import (
    between,
    capsule_at_box,
    capsule_in_field,
    core_hits,
    cover_at_box,
    cover_at_floor,
    cover_in_field,
    point,
)


@inner(forceinline=True)
def place_limb(limb, around, q, t, buffers):
    """Joint frames for local rotations q (searched, 4) at time t; returns the table rows and the share between them."""
    rows = around.base.shape[0]
    s = min(max((t - around.start) * around.rate, 0.0), rows - 1.0)
    k = min(int(s), max(rows - 2, 0))
    s -= k
    if s < 1e-6:  # a row's own time, but for rounding
        s = 0.0
    elif s > 1.0 - 1e-6:
        k, s = min(k + 1, rows - 1), 0.0
    after = min(k + 1, rows - 1)
    frames = buffers.frames
    for j in range(limb.parent.shape[0]):
        p, source = limb.parent[j], limb.source[j]
        if source >= 0:
            w, x, y, z = q[source, 0], q[source, 1], q[source, 2], q[source, 3]
            r00, r01, r02 = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
            r10, r11, r12 = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
            r20, r21, r22 = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
            o0, o1, o2 = limb.offset[j, 0], limb.offset[j, 1], limb.offset[j, 2]
        else:
            a, b, i = limb.follow[k], limb.follow[after], -source - 1
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


# Metres that the exact test may find an overlap to be deeper than it is, and the share of a radius that may overlap.
EVEN_SO, SHARE = 2e-4, 0.9


@inner(forceinline=True)
def _thinner(radius, deep):
    """Radius of a capsule without what may overlap.

    Its depth in anything is the radius less the distance of its axis: a thinner capsule that is free tells all.
    """
    return radius - min(max(deep - EVEN_SO, 0.0), SHARE * radius)


@inner(forceinline=True)
def _at_item(limb, around, e, m, more, slack, deep, doubts_until, buffers):
    """Verdict of piece e against item m, whose frame buffers.to[0] maps the world to; they may overlap by `deep`.

    Covers are not made thinner: balls with gaps in between would prove nothing.
    """
    to, frame, both = buffers.to[0], buffers.frames[limb.joint[e]], buffers.to[1]
    for a in range(3):
        t0, t1, t2 = to[a, 0], to[a, 1], to[a, 2]
        for c in range(4):
            both[a, c] = t0 * frame[0, c] + t1 * frame[1, c] + t2 * frame[2, c]
        both[a, 3] += to[a, 3]
    f, radius = around.field[m], limb.capsule[e, 6]
    if radius >= 0.0:
        radius = _thinner(radius, deep)
        ax, ay, az = point(both, limb.capsule[e], 0)
        bx, by, bz = point(both, limb.capsule[e], 3)
        if f < 0:
            wide = radius + around.rounding[m]
            return capsule_at_box(ax, ay, az, bx, by, bz, wide, around.half, m, more, slack, buffers)
        return capsule_in_field(ax, ay, az, bx, by, bz, radius, around.meshes, f, more, slack, buffers)
    if f < 0 and limb.field[e] != SEVERAL and around.half[m, 0] == 0.0 and around.half[m, 1] == 0.0:
        return _capsule_at_piece(limb, around, e, m, both, more + slack, slack + slack, deep, buffers)
    if f < 0:
        root = limb.root[e]
        return cover_at_box(
            limb.balls, root, both, around.half, m, around.rounding[m], more, slack, doubts_until, buffers
        )[0]
    if core_hits(limb, e, both, around.meshes, f, slack, buffers.room) >= 0:
        return HIT
    return cover_in_field(limb.balls, limb.root[e], both, around.meshes, f, more, slack, doubts_until, buffers)[0]


@inner(forceinline=True)
def _capsule_at_piece(limb, around, e, m, both, more, slack, deep, buffers):
    """Verdict of a capsule, item m, in the frame of the box or mesh that cover e stands for.

    `both` maps the piece's joint to the item; where tables make it less than rigid, its transpose is off once more.
    """
    half, own = around.half[m, 2], limb.own
    bx, by, bz = -both[0, 3], -both[1, 3], -both[2, 3]
    ends = buffers.ends
    for i in range(2):
        z = bz + (half if i else -half)
        x0 = both[0, 0] * bx + both[1, 0] * by + both[2, 0] * z
        x1 = both[0, 1] * bx + both[1, 1] * by + both[2, 1] * z
        x2 = both[0, 2] * bx + both[1, 2] * by + both[2, 2] * z
        for a in range(3):
            ends[i, a] = own[e, a, 0] * x0 + own[e, a, 1] * x1 + own[e, a, 2] * x2 + own[e, a, 3]
    ax, ay, az, bx, by, bz = ends[0, 0], ends[0, 1], ends[0, 2], ends[1, 0], ends[1, 1], ends[1, 2]
    radius, f = _thinner(around.rounding[m], deep), limb.field[e]
    if f == BOX:
        return capsule_at_box(ax, ay, az, bx, by, bz, radius, limb.box, e, more, slack, buffers)
    return capsule_in_field(ax, ay, az, bx, by, bz, radius, around.meshes, f, more, slack, buffers)


@inner(forceinline=True)
def _far_from(limb, around, e, x, y, z, reach, buffers):
    """Return whether a point of the world is certainly farther than `reach` from the mesh that cover e stands for.

    One look into the mesh's own field spares those at many balls of a cover, such as that of an umbrella over a head.
    `reach` includes the error of places twice: where tables make a frame less than rigid, its transpose is off, too.
    """
    frame, own = buffers.frames[limb.joint[e]], limb.own
    x, y, z = x - frame[0, 3], y - frame[1, 3], z - frame[2, 3]
    x0 = frame[0, 0] * x + frame[1, 0] * y + frame[2, 0] * z
    x1 = frame[0, 1] * x + frame[1, 1] * y + frame[2, 1] * z
    x2 = frame[0, 2] * x + frame[1, 2] * y + frame[2, 2] * z
    ax = own[e, 0, 0] * x0 + own[e, 0, 1] * x1 + own[e, 0, 2] * x2 + own[e, 0, 3]
    ay = own[e, 1, 0] * x0 + own[e, 1, 1] * x1 + own[e, 1, 2] * x2 + own[e, 1, 3]
    az = own[e, 2, 0] * x0 + own[e, 2, 1] * x1 + own[e, 2, 2] * x2 + own[e, 2, 3]
    return squared(around.meshes, limb.field[e], ax, ay, az) > reach * reach


@inner(forceinline=True)
def _at_static(limb, around, e, more, slack, doubts_until, buffers):
    """Verdict of piece e against all that never moves."""
    frame, radius = buffers.frames[limb.joint[e]], limb.capsule[e, 6]
    if radius >= 0.0:
        ax, ay, az = point(frame, limb.capsule[e], 0)
        bx, by, bz = point(frame, limb.capsule[e], 3)
        return capsule_in_field(ax, ay, az, bx, by, bz, radius, around.static, 0, more, slack, buffers)
    reach = limb.sphere[e, 3] + more
    if squared(around.static, 0, buffers.middle[e, 0], buffers.middle[e, 1], buffers.middle[e, 2]) > reach * reach:
        return FREE
    if core_hits(limb, e, frame, around.static, 0, slack, buffers.room) >= 0:
        return HIT
    return cover_in_field(limb.balls, limb.root[e], frame, around.static, 0, more, slack, doubts_until, buffers)[0]


@inner(forceinline=True)
def _at_floor(limb, around, e, more, slack, deep, doubts_until, buffers):
    """Verdict of piece e against the ground, which it may press into by `deep`."""
    floor = around.floor - max(deep - EVEN_SO, 0.0)
    if buffers.middle[e, 2] - floor > limb.sphere[e, 3] + more:
        return FREE
    frame, radius = buffers.frames[limb.joint[e]], limb.capsule[e, 6]
    if radius >= 0.0:
        az, bz = point(frame, limb.capsule[e], 0)[2], point(frame, limb.capsule[e], 3)[2]
        low = min(az, bz) - radius - floor
        return FREE if low > more else (HIT if low < -slack else UNCERTAIN)
    return cover_at_floor(limb.balls, limb.root[e], frame, floor, more, slack, doubts_until, buffers)[0]


@inner(forceinline=True)
def _told(around, k, mode):
    """Allowance of a pair from row k to the next: negative where it counts, else the allowed depth, metres."""
    return -1.0 if mode < TOLD else around.told[k, mode - TOLD]


@inner()
def check(limb, around, q, t, doubts_until, buffers):
    """(verdict, doubts) of one posture q (searched, 4). A sure hit ends it, so does a doubt; with `doubts_until` > 1
    a doubt is one more row (piece, item) of buffers.doubt. A hit's pair is the first row.

    What costs least comes first: the ground, then items, then the scene. Pairs whose hit would be no end, such as those
    that may touch, are in doubt as soon as one of their balls is.
    """
    k, after, s = place_limb(limb, around, q, t, buffers)
    pieces = limb.joint.shape[0]
    loose = 1e-7 + (around.base_slack[k] if s > 0.0 else 0.0)
    more = around.margin + loose
    sure = loose < LOOSE
    doubts = 0
    lx, ly, lz, hx, hy, hz = np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf  # box around all pieces
    for e in range(pieces):
        x, y, z = point(buffers.frames[limb.joint[e]], limb.sphere[e], 0)
        buffers.middle[e, 0], buffers.middle[e, 1], buffers.middle[e, 2] = x, y, z
        if around.on[k, e] != AWAY:
            wide = limb.sphere[e, 3]
            lx, ly, lz = min(lx, x - wide), min(ly, y - wide), min(lz, z - wide)
            hx, hy, hz = max(hx, x + wide), max(hy, y + wide), max(hz, z + wide)
        mode = around.floor_mode[e]
        deep = _told(around, k, mode)
        if mode != IGNORED and deep < np.inf and around.on[k, e]:
            ends = sure and deep < 0.0 and around.on[k, e] == THERE
            until = doubts_until if ends else 1
            v = _at_floor(limb, around, e, loose if deep > 0.0 else more, loose, deep, until, buffers)
            if v == HIT and ends:
                buffers.doubt[0, 0], buffers.doubt[0, 1] = e, FLOOR
                return HIT, 0
            if v != FREE:
                if doubts_until <= 1:
                    return UNCERTAIN, 1
                buffers.doubt[doubts, 0], buffers.doubt[doubts, 1] = e, FLOOR
                doubts += 1
    moving = around.placed.shape[1]
    r = 1.0 - s
    to = buffers.to
    for i in range(around.near_count[k] + around.own_joint.shape[0]):
        own = i - around.near_count[k]
        there = True
        if own < 0:
            m = around.near[k, i]
            off = loose + (around.slack[k, m] if s > 0.0 else 0.0)
            cx = around.center[k, m, 0] * r + around.center[after, m, 0] * s
            cy = around.center[k, m, 1] * r + around.center[after, m, 1] * s
            cz = around.center[k, m, 2] * r + around.center[after, m, 2] * s
        else:
            if around.own_on[k, own] == AWAY:
                continue
            m = moving + own
            there = around.own_on[k, own] == THERE
            off = loose + loose
            cx, cy, cz = point(buffers.frames[around.own_joint[own]], around.own_center[own], 0)
        wide = around.bound[m] + around.margin + off
        if lx - cx > wide or cx - hx > wide or ly - cy > wide or cy - hy > wide or lz - cz > wide or cz - hz > wide:
            continue
        placed = False
        for e in range(pieces):
            mode = around.mode[e, m]
            if mode == IGNORED:
                continue
            dx, dy, dz = buffers.middle[e, 0] - cx, buffers.middle[e, 1] - cy, buffers.middle[e, 2] - cz
            reach = wide + limb.sphere[e, 3]
            if dx * dx + dy * dy + dz * dz > reach * reach or not around.on[k, e]:
                continue
            deep = _told(around, k, mode)
            if deep == np.inf:
                continue
            meshed = limb.field[e] >= 0 and limb.capsule[e, 6] < 0.0
            if meshed and _far_from(limb, around, e, cx, cy, cz, wide + off, buffers):
                continue
            if not placed:
                placed = True
                if own < 0:
                    for a in range(3):
                        t0, t1, t2, t3 = between(around.placed[k, m], around.placed[after, m], a, s)
                        to[0, a, 0], to[0, a, 1], to[0, a, 2], to[0, a, 3] = t0, t1, t2, t3
                else:  # the inverse of a rigid frame, then the item's own place
                    f = buffers.frames[around.own_joint[own]]
                    for a in range(3):
                        m0, m1, m2 = around.own_map[own, a, 0], around.own_map[own, a, 1], around.own_map[own, a, 2]
                        back = around.own_map[own, a, 3]
                        for c in range(3):
                            to[0, a, c] = m0 * f[c, 0] + m1 * f[c, 1] + m2 * f[c, 2]
                            back -= to[0, a, c] * f[c, 3]
                        to[0, a, 3] = back
            asked = 0.0 if deep > 0.0 else around.margin  # what may overlap may come near, too
            ends = off < LOOSE and deep < 0.0 and there and around.on[k, e] == THERE
            v = _at_item(limb, around, e, m, asked + off, off, deep, doubts_until if ends else 1, buffers)
            if v == HIT and ends:
                buffers.doubt[0, 0], buffers.doubt[0, 1] = e, m
                return HIT, 0
            if v != FREE:
                if doubts_until <= 1:
                    return UNCERTAIN, 1
                buffers.doubt[doubts, 0], buffers.doubt[doubts, 1] = e, m
                doubts += 1
    if around.has_static:
        for i in range(pieces):
            e = pieces - 1 - i  # hands and what they hold meet things first
            mode = around.static_mode[e]
            if mode == IGNORED or not around.on[k, e]:
                continue
            ends = sure and _told(around, k, mode) < 0.0 and around.on[k, e] == THERE
            v = _at_static(limb, around, e, more, loose, doubts_until if ends else 1, buffers)
            if v == HIT and ends:
                buffers.doubt[0, 0], buffers.doubt[0, 1] = e, STATIC
                return HIT, 0
            if v != FREE:
                if doubts_until <= 1:
                    return UNCERTAIN, 1
                buffers.doubt[doubts, 0], buffers.doubt[doubts, 1] = e, STATIC
                doubts += 1
    return (UNCERTAIN if doubts else FREE), doubts
