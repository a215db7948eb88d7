"""How a ball cover stands to a distance field or to the ground: surely free, surely in it, or in doubt."""

from __future__ import annotations

import numba as nb

from elbowroom.kernels.fields import BAND, FREE, HIT, farther, nearer, within


@nb.njit(cache=True, nogil=True, forceinline=True)
def between(near, far, i, s):
    """Row i of a transform between two rows of a table."""
    r = 1.0 - s
    return (
        near[i, 0] * r + far[i, 0] * s,
        near[i, 1] * r + far[i, 1] * s,
        near[i, 2] * r + far[i, 2] * s,
        near[i, 3] * r + far[i, 3] * s,
    )


@nb.njit(cache=True, nogil=True, forceinline=True)
def point(m, c):
    """Where a map (3, 4) takes the first three numbers of a row."""
    return (
        m[0, 0] * c[0] + m[0, 1] * c[1] + m[0, 2] * c[2] + m[0, 3],
        m[1, 0] * c[0] + m[1, 1] * c[1] + m[1, 2] * c[2] + m[1, 3],
        m[2, 0] * c[0] + m[2, 1] * c[1] + m[2, 2] * c[2] + m[2, 3],
    )


@nb.njit(cache=True, nogil=True, forceinline=True)
def core_hits(limb, e, place, fields, f, slack, room):
    """The first of a cover's core balls that surely meets field f, or -1. `place` (3, 4) maps to the field's frame."""
    for i in range(limb.core.shape[1]):
        b = limb.core[e, i]
        ball = limb.balls.ball[b]
        inner = max(ball[4] - slack, 0.0)
        x, y, z = point(place, ball)
        far = farther(fields, f, x, y, z, inner)
        if far < 0:
            return b
        if far == 0 and (
            nearer(fields, f, x, y, z, inner) or within(fields, f, x, y, z, inner, inner, room) < inner * inner
        ):
            return b
    return -1


@nb.njit(cache=True, nogil=True, forceinline=True)
def cover_in_field(balls, root, place, fields, f, more, slack, bench):
    """(verdict, ball) of a cover whose frame `place` (3, 4) maps to the frame of field f; the first doubt ends it.

    `more` is added to outer radii (margin and slack), `slack` is taken from inner ones.
    """
    visit = bench.visit
    visit[0] = root
    top = 1
    while top > 0:
        top -= 1
        n = visit[top]
        x, y, z = point(place, balls.node[n])
        if farther(fields, f, x, y, z, balls.node[n, 3] + more) > 0:
            continue
        first = balls.kids[n, 0]
        if first >= 0:
            visit[top] = first
            visit[top + 1] = balls.kids[n, 1]
            top += 2
            continue
        first = -first - 1
        for b in range(first, first + balls.kids[n, 1]):
            x, y, z = point(place, balls.ball[b])
            outer, inner = balls.ball[b, 3] + more, max(balls.ball[b, 4] - slack, 0.0)
            far = farther(fields, f, x, y, z, outer)
            if far < 0:
                return HIT, b
            if far == 0:
                d2 = within(fields, f, x, y, z, outer, outer, bench.room)
                if d2 < inner * inner:
                    return HIT, b
                if d2 < outer * outer:
                    return BAND, b
    return FREE, -1


@nb.njit(cache=True, nogil=True, forceinline=True)
def above_floor(balls, root, place, floor, more, slack, bench):
    """(verdict, ball) of a cover against the ground: a hit where there is one, else a doubt."""
    visit = bench.visit
    visit[0] = root
    top, verdict, who = 1, FREE, -1
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
                verdict, who = BAND, b
    return verdict, who
