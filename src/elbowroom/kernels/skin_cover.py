"""Distances of a posed skin from the rigid collision shapes of its body."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.triangles import away

Array = NDArray[np.float64]

# Height over a plane below which a point counts as being on it, metres: rounding may have a corner of one of two
# triangles in a plane outside of the other, which may be far from it.
_ON_M = 1e-9


class Cover(NamedTuple):
    """Convex shapes of a body in the frames of their joints, and the vertices of its skin that may leave them.

    Shapes: joint (S,); triangles (P, 3, 3) of hulls and their planes (P, 4), outwards: those of shape s start at
    `plane[s]`; a shape without planes is a capsule with axis (S, 2, 3) and radius (S,). Vertices: joints and weights
    (V, K), bound (V, K, 3) in the frames of those joints; near (V, C) are the shapes that may hold a vertex, the most
    likely first, -1 where there are fewer. Vertices with the same joints and first shape stand together, from each of
    group (G + 1,) to the next. parents (J,) of the joints.
    """

    joint: NDArray[np.int64]
    planes: Array
    plane: NDArray[np.int64]
    triangles: Array
    axis: Array
    radius: Array
    joints: NDArray[np.int64]
    weights: Array
    bound: Array
    near: NDArray[np.int64]
    group: NDArray[np.int64]
    parents: NDArray[np.int64]


@inner()
def _place(cover, T, v):
    """World position of a vertex for joint transforms T (J, 4, 4)."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(cover.joints.shape[1]):
        w = cover.weights[v, k]
        if w != 0.0:
            m, b = T[cover.joints[v, k]], cover.bound[v, k]
            x += w * (m[0, 0] * b[0] + m[0, 1] * b[1] + m[0, 2] * b[2] + m[0, 3])
            y += w * (m[1, 0] * b[0] + m[1, 1] * b[1] + m[1, 2] * b[2] + m[1, 3])
            z += w * (m[2, 0] * b[0] + m[2, 1] * b[1] + m[2, 2] * b[2] + m[2, 3])
    return x, y, z


@inner()
def _local(T, x, y, z):
    """Point of the world in the frame T (4, 4) of a joint."""
    a, b, c = x - T[0, 3], y - T[1, 3], z - T[2, 3]
    return (
        T[0, 0] * a + T[1, 0] * b + T[2, 0] * c,
        T[0, 1] * a + T[1, 1] * b + T[2, 1] * c,
        T[0, 2] * a + T[1, 2] * b + T[2, 2] * c,
    )


@inner()
def _outside(cover, s, x, y, z, limit):
    """Distance of a point from shape s, 0 or less inside, and the vector to it from the nearest point of the shape.

    The point is in the frame of the shape's joint. From `limit` metres on the distance is a lower bound, without a
    vector.
    """
    if cover.plane[s] == cover.plane[s + 1]:
        a, b = cover.axis[s, 0], cover.axis[s, 1]
        dx, dy, dz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        length = dx * dx + dy * dy + dz * dz
        u = (x - a[0]) * dx + (y - a[1]) * dy + (z - a[2]) * dz
        u = min(max(u / length, 0.0), 1.0) if length > 0.0 else 0.0
        dx, dy, dz = x - a[0] - u * dx, y - a[1] - u * dy, z - a[2] - u * dz
        far = np.sqrt(dx * dx + dy * dy + dz * dz)
        share = (far - cover.radius[s]) / far if far > 0.0 else 0.0
        return far - cover.radius[s], share * dx, share * dy, share * dz
    most, first = -np.inf, cover.plane[s]
    for k in range(first, cover.plane[s + 1]):
        n = cover.planes[k]
        most = max(most, n[0] * x + n[1] * y + n[2] * z + n[3])
    if most <= _ON_M or most >= limit:
        return most, 0.0, 0.0, 0.0
    best, bx, by, bz = np.inf, 0.0, 0.0, 0.0
    for k in range(first, cover.plane[s + 1]):
        n = cover.planes[k]
        if n[0] * x + n[1] * y + n[2] * z + n[3] > -_ON_M:  # the nearest triangle faces the point
            dx, dy, dz = away(x, y, z, cover.triangles, k)
            far = dx * dx + dy * dy + dz * dz
            if far < best:
                best, bx, by, bz = far, dx, dy, dz
    return np.sqrt(best), bx, by, bz


@nb.njit(cache=True, nogil=True)
def outliers(cover: Cover, T: Array, enough: float, which: NDArray[np.int64], place: Array, way: Array) -> int:
    """Vertices more than `enough` metres outside of all shapes in a pose T (J, 4, 4); their number n.

    Of the first n rows: which (V,) is the nearest shape, place (V, 3) the vertex in the frame of that shape's joint,
    and way (V, 3) the vector to it from the nearest point of the shape.
    """
    n = 0
    for v in range(cover.joints.shape[0]):
        x, y, z = _place(cover, T, v)
        best = np.inf
        for c in range(cover.near.shape[1]):
            s = cover.near[v, c]
            if s < 0:
                break
            a, b, d = _local(T[cover.joint[s]], x, y, z)
            far, dx, dy, dz = _outside(cover, s, a, b, d, best)
            if far < best:
                best = far
                which[n] = s
                place[n, 0], place[n, 1], place[n, 2] = a, b, d
                way[n, 0], way[n, 1], way[n, 2] = dx, dy, dz
            if best <= enough:
                break
        if best > enough:
            n += 1
    return n


@inner()
def _turned(parents, length, turn, a, b):
    """Sums of the turns (J,) of the joints and of the bones' lengths (J,) on the way from joint a to joint b."""
    angle, bones = 0.0, 0.0
    while a != b:
        if a > b:
            angle += turn[a]
            bones += length[a]
            a = parents[a]
        else:
            angle += turn[b]
            bones += length[b]
            b = parents[b]
    return angle, bones


@inner()
def _sag(cover, length, turn, v, s):
    """Bound on how far a vertex leaves the straight line between two frames in the frame of shape s, metres.

    Joints turn at a constant rate between frames, so a lever of length r on turns that add up to w accelerates by at
    most r w² per squared interval, and the arc rises by an eighth of that above its chord.
    """
    out = 0.0
    for k in range(cover.joints.shape[1]):
        w = cover.weights[v, k]
        j = cover.joints[v, k]
        if w != 0.0 and j != cover.joint[s]:
            angle, bones = _turned(cover.parents, length, turn, j, cover.joint[s])
            b = cover.bound[v, k]
            out += w * angle * angle * (np.sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]) + bones) / 8.0
    return out


@inner()
def _relative(cover, T, pair, out):
    """Transforms out (Q, 3, 4) of joints in the frames of shapes' joints, of the numbered pairs (S, J)."""
    for s in range(pair.shape[0]):
        a = cover.joint[s]
        for j in range(pair.shape[1]):
            q = pair[s, j]
            if q >= 0:
                for i in range(3):
                    for c in range(3):
                        out[q, i, c] = T[a, 0, i] * T[j, 0, c] + T[a, 1, i] * T[j, 1, c] + T[a, 2, i] * T[j, 2, c]
                    dx, dy, dz = T[j, 0, 3] - T[a, 0, 3], T[j, 1, 3] - T[a, 1, 3], T[j, 2, 3] - T[a, 2, 3]
                    out[q, i, 3] = T[a, 0, i] * dx + T[a, 1, i] * dy + T[a, 2, i] * dz


@inner()
def _steps(now, before, out):
    """Shifts, metres, and lengths of the chords of turns, of transforms (Q, 3, 4) since those before; out (Q, 2)."""
    for q in range(now.shape[0]):
        turned, shifted = 0.0, 0.0
        for i in range(3):
            for c in range(3):
                turned += (now[q, i, c] - before[q, i, c]) ** 2
            shifted += (now[q, i, 3] - before[q, i, 3]) ** 2
        # the difference of two rotations has two equal singular values, and 0
        out[q, 0], out[q, 1] = np.sqrt(shifted), np.sqrt(0.5 * turned)


@inner()
def _within(cover, relative, pair, scaled, count, v, s):
    """Place of a vertex in the frame of the joint of shape s; scaled (V, K, 4) is w times (place, 1)."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(count[v]):
        q = pair[s, cover.joints[v, k]]
        a, b, c, w = scaled[v, k, 0], scaled[v, k, 1], scaled[v, k, 2], scaled[v, k, 3]
        x += relative[q, 0, 0] * a + relative[q, 0, 1] * b + relative[q, 0, 2] * c + relative[q, 0, 3] * w
        y += relative[q, 1, 0] * a + relative[q, 1, 1] * b + relative[q, 1, 2] * c + relative[q, 1, 3] * w
        z += relative[q, 2, 0] * a + relative[q, 2, 1] * b + relative[q, 2, 2] * c + relative[q, 2, 3] * w
    return x, y, z


@inner()
def _beyond(cover, T, before, length, turn, enough, v, moves):
    """Bound on how far a vertex stands out of all shapes at joint transforms T, metres; within `enough`, any bound.

    Where it `moves`, from those before on, too: at the ends of a chord, and where its arc rises the most above that.
    """
    x, y, z = _place(cover, T, v)
    u, r, w = _place(cover, before, v)
    best = np.inf
    for most in (enough, np.inf):  # planes tell of a shape that holds it; distances from others cost far more
        for k in range(cover.near.shape[1]):
            s = cover.near[v, k]
            if s < 0 or best <= enough:
                break
            a, b, c = _local(T[cover.joint[s]], x, y, z)
            far, _, _, _ = _outside(cover, s, a, b, c, min(best, most))
            if moves and far < min(best, most):
                a, b, c = _local(before[cover.joint[s]], u, r, w)
                last, _, _, _ = _outside(cover, s, a, b, c, min(best, most))
                far = max(far, last)
                if far < min(best, most):
                    far = max(far, 0.0) + _sag(cover, length, turn, v, s)
            if far < most:
                best = min(best, far)
    return best


class _Watch(NamedTuple):
    """Vertices under watch: what is known of their places against the first shape that may hold them.

    pair (S, J): numbers of the Q transforms of joints in the frames of those shapes' joints, -1 where none is needed;
    scaled (V, K, 4): weights times (place, 1), movers (V,): number of joints, pull (V,): weight of those that move a
    vertex against its shape; reach (G, K): longest lever of a group on each of its joints, metres. known (V, 4): place
    and distance when it was last worked out; held (V,): whether it was near enough. passed (G,): how far the joints of
    a group have moved any point; due (V,): where that may have a vertex leave its shape; soon (G,): the least of them.
    """

    pair: NDArray[np.int64]
    scaled: Array
    movers: NDArray[np.int64]
    pull: Array
    reach: Array
    known: Array
    held: NDArray[np.bool_]
    due: Array
    passed: Array
    soon: Array


def excess(
    cover: Cover,
    T: Array,
    turn: Array,
    length: Array,
    arc: Array,
    slack: float,
    limit: float,
    worst: Array,
    many: Array,
) -> None:
    """Bound how far vertices stand out of all shapes at and between frames T (N, J, 4, 4).

    turn (N - 1, J): angles of the joints from frame to frame, radians; length (J,) of the bones that end in the joints;
    arc (N - 1,): how far any vertex leaves its chord in the frame of the first shape that may hold it, at most. Within
    `slack` metres of that shape a vertex counts as held, without a figure. worst (N, S): the largest bound of the
    vertices of each shape, the first that may hold them, from a frame until the next, metres; many (N, S): how many of
    them have a bound above `limit`. A distance from a convex shape is a convex function of place: along a chord it is
    no more than at the worse end.
    """
    (vertices, widest), groups = cover.joints.shape, len(cover.group) - 1
    watch = _Watch(
        np.full((len(cover.joint), T.shape[1]), -1),
        np.zeros((vertices, widest, 4)),
        np.zeros(vertices, np.int64),
        np.zeros(vertices),
        np.zeros((groups, widest)),
        np.zeros((vertices, 4)),
        np.zeros(vertices, np.bool_),
        np.full(vertices, -np.inf),
        np.zeros(groups),
        np.full(groups, -np.inf),
    )
    pairs = _begin(cover, watch)
    rooms = np.zeros((2, pairs, 3, 4)), np.zeros((pairs, 2))
    _follow(cover, watch, *rooms, T, turn, length, arc, slack, limit, worst, many)


@njit_nogil()
def _begin(cover, watch):
    """Fill what never changes of a watch; the number of transforms that it needs."""
    pairs, widest = 0, cover.joints.shape[1]
    for g in range(watch.reach.shape[0]):
        first = cover.group[g]
        for v in range(first, cover.group[g + 1]):
            s = cover.near[v, 0]
            for k in range(widest):
                w, j = cover.weights[v, k], cover.joints[v, k]
                if w == 0.0:
                    break
                watch.movers[v] = k + 1
                b = cover.bound[v, k]
                for i in range(3):
                    watch.scaled[v, k, i] = w * b[i]
                watch.scaled[v, k, 3] = w
                if watch.pair[s, j] < 0:
                    watch.pair[s, j] = pairs
                    pairs += 1
                if j != cover.joint[s]:
                    watch.pull[v] += w
                for c in range(watch.movers[first]):  # the same joints, in another order
                    if cover.joints[first, c] == j:
                        lever = np.sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2])
                        watch.reach[g, c] = max(watch.reach[g, c], lever)
    return pairs


@njit_nogil()
def _follow(cover, watch, relative, steps, T, turn, length, arc, slack, limit, worst, many):
    """`excess` with relative (2, Q, 3, 4) and steps (Q, 2) to work in.

    A vertex that its first shape holds is looked at again only after its joints may have moved it out of there.
    """
    above = slack + 1e-9  # beyond, no distance is worked out
    pair, known, held, due, passed, soon = watch.pair, watch.known, watch.held, watch.due, watch.passed, watch.soon
    for n in range(T.shape[0]):
        now = relative[n % 2]
        _relative(cover, T[n], pair, now)
        if n > 0:
            _steps(now, relative[(n + 1) % 2], steps)
        flat = n == 0 or slack + arc[n - 1] <= limit
        for g in range(passed.shape[0]):
            first, step = cover.group[g], 0.0
            if n > 0:
                for k in range(watch.movers[first]):
                    q = pair[cover.near[first, 0], cover.joints[first, k]]
                    step = max(step, steps[q, 0] + steps[q, 1] * watch.reach[g, k])
            passed[g] += step
            if flat and passed[g] <= soon[g]:
                continue
            soon[g] = np.inf
            for v in range(first, cover.group[g + 1]):
                mine = cover.near[v, 0]
                if held[v] and passed[g] <= due[v] and flat:
                    soon[g] = min(soon[g], due[v])
                    continue
                a, b, c = _within(cover, now, pair, watch.scaled, watch.movers, v, mine)
                far, was = known[v, 3], held[v]
                if was:
                    far += np.sqrt((a - known[v, 0]) ** 2 + (b - known[v, 1]) ** 2 + (c - known[v, 2]) ** 2)
                if far > slack or not was:
                    far, _, _, _ = _outside(cover, mine, a, b, c, above)
                    known[v, 0], known[v, 1], known[v, 2], known[v, 3] = a, b, c, far
                held[v] = far <= slack
                # rounding of what adds up stays far below a thousandth of what is left
                due[v] = passed[g] + 0.999 * (slack - far) / max(watch.pull[v], 1e-9) if held[v] else -np.inf
                soon[g] = min(soon[g], due[v])
                if n > 0:
                    bound = slack
                    if not (was and held[v]):
                        bound = _beyond(cover, T[n], T[n - 1], length, turn[n - 1], limit, v, True)
                    elif not flat:
                        bound += _sag(cover, length, turn[n - 1], v, mine)
                    worst[n - 1, mine] = max(worst[n - 1, mine], bound)
                    many[n - 1, mine] += bound > limit
                if n == T.shape[0] - 1 and not held[v]:
                    bound = _beyond(cover, T[n], T[n], length, length, limit, v, False)
                    worst[n, mine] = max(worst[n, mine], bound)
                    many[n, mine] += bound > limit
