"""Tables of what a search does not move: places at rows of time, and how far they are off in between.

Times are rows with `step` - 1 looks between each and the next; T (N, J, 4, 4) has joints at all of them.
"""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def relative(T, above, below, out):
    """Places out (N, K, 3, 4) of joints below (K,) in the frames of joints above (K,)."""
    for n in range(T.shape[0]):
        for i in range(above.shape[0]):
            A, B = T[n, above[i]], T[n, below[i]]
            for r in range(3):
                for c in range(4):
                    out[n, i, r, c] = A[0, r] * B[0, c] + A[1, r] * B[1, c] + A[2, r] * B[2, c]
                out[n, i, r, 3] -= A[0, r] * A[0, 3] + A[1, r] * A[1, 3] + A[2, r] * A[2, 3]


@nb.njit(cache=True, nogil=True)
def spread(places, out):
    """Largest change over time of the numbers of each place (N, K, 3, 4): out (K,)."""
    for i in range(places.shape[1]):
        for r in range(3):
            for c in range(4):
                low, high = np.inf, -np.inf
                for n in range(places.shape[0]):
                    low, high = min(low, places[n, i, r, c]), max(high, places[n, i, r, c])
                out[i] = max(out[i], high - low)


@nb.njit(cache=True, nogil=True)
def drift(base, follow, step, reach, slack, way):
    """Errors of points within a reach of frames between rows, slack (S,), and their travel, way (S - 1,), metres.

    base (N, 4, 4) and follow (N, F, 3, 4) are what carries the points, one on the other.
    """
    for k in range(slack.shape[0] - 1):
        a, b = k * step, (k + 1) * step
        for look in range(1, step):
            s = look / step
            off = _off(base[a], base[b], base[a + look], s, reach)
            for i in range(follow.shape[1]):
                off += _off(follow[a, i], follow[b, i], follow[a + look, i], s, reach)
            slack[k] = max(slack[k], off)
        way[k] = _off(base[a], base[a], base[b], 0.0, reach)
        for i in range(follow.shape[1]):
            way[k] += _off(follow[a, i], follow[a, i], follow[b, i], 0.0, reach)


@nb.njit(cache=True, nogil=True, inline="always")
def _off(before, after, true, s, reach):
    """Error of points within a reach of a lerped frame, metres."""
    place, turn = 0.0, 0.0
    for r in range(3):
        for c in range(4):
            wrong = before[r, c] * (1.0 - s) + after[r, c] * s - true[r, c]
            if c == 3:
                place += wrong * wrong
            else:
                turn += wrong * wrong
    return np.sqrt(place) + np.sqrt(turn) * reach


@nb.njit(cache=True, nogil=True)
def place_items(T, step, joint, local, ball, wide, column, placed, center, slack):
    """Items on joints, joint (I,), local (I, 4, 4), with balls (I, 4) around them, into columns (I,) of tables.

    placed (S, M, 3, 4): maps from the world to items; center (S, M, 3): middles of balls; slack (S, M): how far
    lerped ones are off before the next row, for points that are no farther than `wide` from the ball.
    """
    here, true = np.zeros((3, 4)), np.zeros((3, 4))
    for i in range(joint.shape[0]):
        m, j = column[i], joint[i]
        x, y, z, radius = ball[i, 0], ball[i, 1], ball[i, 2], ball[i, 3]
        rows = placed.shape[0]
        for k in range(rows):
            _times(T[k * step, j], local[i], true)
            for r in range(3):
                center[k, m, r] = true[r, 0] * x + true[r, 1] * y + true[r, 2] * z + true[r, 3]
                for c in range(3):
                    placed[k, m, r, c] = true[c, r]
                placed[k, m, r, 3] = -(true[0, r] * true[0, 3] + true[1, r] * true[1, 3] + true[2, r] * true[2, 3])
        for k in range(rows - 1):
            for look in range(1, step):
                s = look / step
                _times(T[k * step + look, j], local[i], true)
                turn, drawn = 0.0, 0.0
                for r in range(3):
                    for c in range(4):
                        here[r, c] = placed[k, m, r, c] * (1.0 - s) + placed[k + 1, m, r, c] * s
                    for c in range(3):
                        turn += (here[r, c] - true[c, r]) ** 2
                x0 = true[0, 0] * x + true[0, 1] * y + true[0, 2] * z + true[0, 3]
                x1 = true[1, 0] * x + true[1, 1] * y + true[1, 2] * z + true[1, 3]
                x2 = true[2, 0] * x + true[2, 1] * y + true[2, 2] * z + true[2, 3]
                drawn += (center[k, m, 0] * (1.0 - s) + center[k + 1, m, 0] * s - x0) ** 2
                drawn += (center[k, m, 1] * (1.0 - s) + center[k + 1, m, 1] * s - x1) ** 2
                drawn += (center[k, m, 2] * (1.0 - s) + center[k + 1, m, 2] * s - x2) ** 2
                wrong = (here[0, 0] * x0 + here[0, 1] * x1 + here[0, 2] * x2 + here[0, 3] - x) ** 2
                wrong += (here[1, 0] * x0 + here[1, 1] * x1 + here[1, 2] * x2 + here[1, 3] - y) ** 2
                wrong += (here[2, 0] * x0 + here[2, 1] * x1 + here[2, 2] * x2 + here[2, 3] - z) ** 2
                off = np.sqrt(wrong) + np.sqrt(turn) * (radius + wide)
                slack[k, m] = max(slack[k, m], off, np.sqrt(drawn))


@nb.njit(cache=True, nogil=True, inline="always")
def _times(A, B, out):
    """A transform (4, 4) after another, into (3, 4)."""
    for r in range(3):
        for c in range(4):
            out[r, c] = A[r, 0] * B[0, c] + A[r, 1] * B[1, c] + A[r, 2] * B[2, c]
        out[r, 3] += A[r, 3]


@nb.njit(cache=True, nogil=True)
def within_reach(base, center, reach, gone, near, count):
    """Items near (S, M), and how many, that come within a reach (S, M) of a base (S, 3, 4) before the next row.

    Those that are gone (S, M) do not count.
    """
    rows = base.shape[0]
    for k in range(rows):
        after = min(k + 1, rows - 1)
        for m in range(center.shape[1]):
            if gone[k, m]:
                continue
            far, step = 0.0, 0.0
            for a in range(3):
                here = center[k, m, a] - base[k, a, 3]
                far += here * here
                step += (center[after, m, a] - base[after, a, 3] - here) ** 2
            if np.sqrt(far) - np.sqrt(step) <= reach[k, m]:
                near[k, count[k]] = m
                count[k] += 1
