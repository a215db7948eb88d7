"""Check of one piece of a limb against a distance field, a rounded box, or the ground.

A piece is a capsule or a cover of balls; an obstacle is a field or a box with rounded edges (a capsule is a box without
width). Every answer is FREE for sure, HIT for sure, or UNCERTAIN. `more` is the requested clearance plus the error of
places; `slack` is the latter alone, and taken from radii before a hit counts as sure.
"""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.fields import FREE, HIT, UNCERTAIN, nearer, squared, winding, within

# Metres: capsules nearer than this to a surface are left in doubt, so that no walk along an axis takes tiny steps.
CLOSE = 2e-4


@inner(forceinline=True)
def between(near, far, i, s):
    """Row i of a transform between two rows of a table."""
    r = 1.0 - s
    return (
        near[i, 0] * r + far[i, 0] * s,
        near[i, 1] * r + far[i, 1] * s,
        near[i, 2] * r + far[i, 2] * s,
        near[i, 3] * r + far[i, 3] * s,
    )


@inner(forceinline=True)
def point(m, c, o):
    """Map three numbers of a row, from place `o` on, by (3, 4)."""
    x, y, z = c[o], c[o + 1], c[o + 2]
    return (
        m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + m[0, 3],
        m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + m[1, 3],
        m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + m[2, 3],
    )


@inner(forceinline=True)
def box_core(half, m, x, y, z):
    """Squared distance of a point, in the box's frame, to box m of half extents half (M, 3)."""
    dx, dy, dz = abs(x) - half[m, 0], abs(y) - half[m, 1], abs(z) - half[m, 2]
    d2 = dx * dx if dx > 0.0 else 0.0
    d2 += dy * dy if dy > 0.0 else 0.0
    return d2 + (dz * dz if dz > 0.0 else 0.0)


@inner(forceinline=True)
def _seen(fields, f, x, y, z, outer, inner, half, room):
    """Squared distance that a point certainly has from field f, -1 for a sure hit of a ball of radius `inner`.

    Where the field's bound is not above outer², it is exact up to (outer + CLOSE)² + half².
    """
    d2 = squared(fields, f, x, y, z)
    if d2 < 0.0 or d2 > outer * outer:
        return d2
    if nearer(fields, f, x, y, z, inner):
        return -1.0
    c2 = (outer + CLOSE) * (outer + CLOSE)
    r2 = c2 + half * half
    d2 = within(fields, f, x, y, z, np.sqrt(r2), inner, room)
    if d2 < inner * inner:
        return -1.0
    # a point that sees a surface beyond the capsule's may still be inside of a solid
    unsure = c2 < d2 < r2 and fields.solid_root[f] >= 0
    if unsure and winding(fields.solids, fields.solid_root[f], x, y, z, room.nodes) != 0:
        return -1.0
    return d2


@inner(forceinline=True)
def capsule_in_field(ax, ay, az, bx, by, bz, radius, fields, f, more, slack, buffers):
    """A capsule from a to b, in the frame of field f.

    A point of the axis at distance d from the surface clears the discs of the capsule sqrt(d² - radius²) to either
    side, but of the round ends only what lies within d - radius. So the middle is looked at, then the ends, and then
    the middle of what is open until nothing is.
    """
    outer, inner = radius + more, max(radius - slack, 0.0)
    o2, c2 = outer * outer, (outer + CLOSE) * (outer + CLOSE)
    ux, uy, uz = bx - ax, by - ay, bz - az
    length = np.sqrt(ux * ux + uy * uy + uz * uz)
    unit = 1.0 / length if length > 0.0 else 0.0
    ux, uy, uz = ux * unit, uy * unit, uz * unit
    half = 0.5 * length
    d2 = _seen(fields, f, ax + ux * half, ay + uy * half, az + uz * half, outer, inner, half, buffers.room)
    if d2 < 0.0:
        return HIT
    if d2 > (half + outer) * (half + outer):
        return FREE
    if d2 <= c2:
        return UNCERTAIN
    middle = np.sqrt(d2 - o2)
    d2 = _seen(fields, f, bx, by, bz, outer, inner, half, buffers.room)
    if d2 < 0.0:
        return HIT
    if d2 <= c2:
        return UNCERTAIN
    last = length - np.sqrt(d2 - o2)
    d2 = _seen(fields, f, ax, ay, az, outer, inner, half, buffers.room)
    if d2 < 0.0:
        return HIT
    if d2 <= c2:
        return UNCERTAIN
    first = np.sqrt(d2 - o2)
    open_, top = buffers.open, 0
    if first < half - middle:
        open_[0], open_[1] = first, half - middle
        top = 1
    if half + middle < last:
        open_[2 * top], open_[2 * top + 1] = half + middle, last
        top += 1
    while top > 0:
        top -= 1
        low, high = open_[2 * top], open_[2 * top + 1]
        at, wide = 0.5 * (low + high), 0.5 * (high - low)
        d2 = _seen(fields, f, ax + ux * at, ay + uy * at, az + uz * at, outer, inner, wide, buffers.room)
        if d2 < 0.0:
            return HIT
        if d2 <= c2:
            return UNCERTAIN
        clear = np.sqrt(d2 - o2)
        if clear < wide:
            open_[2 * top], open_[2 * top + 1] = at + clear, high
            open_[2 * top + 2], open_[2 * top + 3] = low, at - clear
            top += 2
    return FREE


@inner(forceinline=True)
def capsule_at_box(ax, ay, az, bx, by, bz, radius, half, m, more, slack, buffers):
    """A capsule from a to b, in the frame of box m; `radius` includes that of the box's edges.

    As in a field, but the distance is at hand.
    """
    outer, inner = radius + more, max(radius - slack, 0.0)
    o2, i2, c2 = outer * outer, inner * inner, (outer + CLOSE) * (outer + CLOSE)
    if half[m, 0] == 0.0 and half[m, 1] == 0.0:
        d2 = segments(ax, ay, az, bx, by, bz, half[m, 2])
        return FREE if d2 > o2 else (HIT if d2 < i2 else UNCERTAIN)
    ux, uy, uz = bx - ax, by - ay, bz - az
    length = np.sqrt(ux * ux + uy * uy + uz * uz)
    unit = 1.0 / length if length > 0.0 else 0.0
    ux, uy, uz = ux * unit, uy * unit, uz * unit
    da, db = box_core(half, m, ax, ay, az), box_core(half, m, bx, by, bz)
    if da < i2 or db < i2:
        return HIT
    if da <= c2 or db <= c2:
        return UNCERTAIN
    open_, top = buffers.open, 0
    low, high = np.sqrt(da - o2), length - np.sqrt(db - o2)
    if low < high:
        open_[0], open_[1] = low, high
        top = 1
    while top > 0:
        top -= 1
        low, high = open_[2 * top], open_[2 * top + 1]
        at = 0.5 * (low + high)
        d2 = box_core(half, m, ax + ux * at, ay + uy * at, az + uz * at)
        if d2 < i2:
            return HIT
        if d2 <= c2:
            return UNCERTAIN
        clear = np.sqrt(d2 - o2)
        if at + clear < high:
            open_[2 * top], open_[2 * top + 1] = at + clear, high
            open_[2 * top + 2], open_[2 * top + 3] = low, at - clear
            top += 2
    return FREE


@inner(forceinline=True)
def segments(ax, ay, az, bx, by, bz, half):
    """Squared distance of the segment a-b to the one from (0, 0, -half) to (0, 0, half)."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    across = ux * ux + uy * uy
    # nearest to the whole z axis first; then each side follows the other's clamp, which is exact for two segments
    t = min(max(-(ax * ux + ay * uy) / across, 0.0), 1.0) if across > 1e-18 else 0.5
    h = min(max(az + t * uz, -half), half)
    whole = across + uz * uz
    t = min(max(-(ax * ux + ay * uy + (az - h) * uz) / whole, 0.0), 1.0) if whole > 1e-18 else 0.0
    h = min(max(az + t * uz, -half), half)
    x, y, z = ax + t * ux, ay + t * uy, az + t * uz - h
    return x * x + y * y + z * z


@inner(forceinline=True)
def core_hits(limb, e, place, fields, f, slack, room):
    """The first of a cover's core balls that surely meets field f, or -1. `place` (3, 4) maps to the field's frame."""
    for i in range(limb.core.shape[1]):
        b = limb.core[e, i]
        ball = limb.balls.ball[b]
        inner = ball[4] - slack
        x, y, z = point(place, ball, 0)
        if inner > 0.0 and nearer(fields, f, x, y, z, inner):
            return b
    return -1


@inner(forceinline=True)
def cover_in_field(balls, root, place, fields, f, more, slack, doubts_until, buffers):
    """(verdict, ball) of a cover whose frame `place` (3, 4) maps to that of field f; ends at `doubts_until`."""
    visit = buffers.visit
    visit[0] = root
    top, verdict, who, seen = 1, FREE, -1, 0
    while top > 0:
        top -= 1
        n = visit[top]
        x, y, z = point(place, balls.node[n], 0)
        reach = balls.node[n, 3] + more
        if squared(fields, f, x, y, z) > reach * reach:
            continue
        first = balls.kids[n, 0]
        if first >= 0:
            # a cell that is wider than the part tells little: one exact look spares those at all of its balls
            blunt = reach * fields.n[f] < fields.edge[f]
            if blunt and within(fields, f, x, y, z, reach, reach, buffers.room) >= reach * reach:
                continue
            visit[top] = first
            visit[top + 1] = balls.kids[n, 1]
            top += 2
            continue
        first = -first - 1
        for b in range(first, first + balls.kids[n, 1]):
            x, y, z = point(place, balls.ball[b], 0)
            outer, inner = balls.ball[b, 3] + more, balls.ball[b, 4] - slack
            d2 = squared(fields, f, x, y, z)
            if d2 <= outer * outer:
                if d2 >= 0.0:
                    d2 = within(fields, f, x, y, z, outer, max(inner, 0.0), buffers.room)
                if inner >= 0.0 and d2 < inner * inner:
                    return HIT, b
                if d2 < outer * outer:
                    seen += 1
                    if seen >= doubts_until:
                        return UNCERTAIN, b
                    verdict, who = UNCERTAIN, b
    return verdict, who


@inner(forceinline=True)
def cover_at_box(balls, root, place, half, m, radius, more, slack, doubts_until, buffers):
    """(verdict, ball) of a cover whose frame `place` (3, 4) maps to that of box m with edges of a radius."""
    visit = buffers.visit
    visit[0] = root
    top, verdict, who, seen = 1, FREE, -1, 0
    while top > 0:
        top -= 1
        n = visit[top]
        x, y, z = point(place, balls.node[n], 0)
        reach = balls.node[n, 3] + more + radius
        if box_core(half, m, x, y, z) > reach * reach:
            continue
        first = balls.kids[n, 0]
        if first >= 0:
            visit[top] = first
            visit[top + 1] = balls.kids[n, 1]
            top += 2
            continue
        first = -first - 1
        for b in range(first, first + balls.kids[n, 1]):
            x, y, z = point(place, balls.ball[b], 0)
            outer, inner = balls.ball[b, 3] + radius + more, balls.ball[b, 4] + radius - slack
            d2 = box_core(half, m, x, y, z)
            if inner > 0.0 and d2 < inner * inner:
                return HIT, b
            if d2 <= outer * outer:
                seen += 1
                if seen >= doubts_until:
                    return UNCERTAIN, b
                verdict, who = UNCERTAIN, b
    return verdict, who


@inner(forceinline=True)
def cover_at_floor(balls, root, place, floor, more, slack, doubts_until, buffers):
    """(verdict, ball) of a cover against the ground."""
    visit = buffers.visit
    visit[0] = root
    top, verdict, who, seen = 1, FREE, -1, 0
    while top > 0:
        top -= 1
        n = visit[top]
        node = balls.node[n]
        z = place[2, 0] * node[0] + place[2, 1] * node[1] + place[2, 2] * node[2] + place[2, 3] - floor
        if z > node[3] + more:
            continue
        first = balls.kids[n, 0]
        if first >= 0:
            visit[top] = first
            visit[top + 1] = balls.kids[n, 1]
            top += 2
            continue
        first = -first - 1
        for b in range(first, first + balls.kids[n, 1]):
            c = balls.ball[b]
            z = place[2, 0] * c[0] + place[2, 1] * c[1] + place[2, 2] * c[2] + place[2, 3] - floor
            if z < c[4] - slack:
                return HIT, b
            if z <= c[3] + more:
                seen += 1
                if seen >= doubts_until:
                    return UNCERTAIN, b
                verdict, who = UNCERTAIN, b
    return verdict, who
