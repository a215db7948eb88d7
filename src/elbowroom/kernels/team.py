"""States of a team and its object (`spaces.team`): room, reach, clearance of the object, and cost, in compiled code.

Columns of a state: position of the object, its yaw, pitch and roll, then for each carrier metres behind the usual
place, metres to the left of it, and turn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.fields import squared

Array = NDArray[np.float64]

# Metres that carriers keep between each other, beyond their radii.
_APART_M = 0.02
# Radii of an elbow and of a hand, metres.
_ELBOW_M, _HAND_M = 0.07, 0.04
# Metres about places of the start and goal within which people may be nearer to things, and by how much.
_NEAR_M, _NEARER_M = 0.4, 0.1
# Weight of going backwards and of going sideways against going forwards, and of unusual places, in the cost of a metre.
_BACKWARDS, _SIDEWAYS, _UNUSUAL = 0.9, 0.35, 0.3
# Departures from the usual height (m), tilt (rad), place (m) and turn (rad) of which each costs one `_UNUSUAL` a metre.
_HEIGHT_M, _TILT_RAD, _PLACE_M, _TURN_RAD = 0.25, 0.4, 0.15, 0.6
# Share of the departures of carriers against those of the object.
_OWN_SHARE = 0.3
# Metres that a radian of tilt, and of a carrier's turn, count in distances.
_TILT_M, _OWN_TURN_M = 0.5, 0.3


class Team(NamedTuple):
    """Arrays of n carriers with up to H hands each, see `spaces.team.Bearer` and `TeamSpace`.

    stance (n, 3); size (n, 3): radius, elbows and depth, metres; walks (n,); hands and shoulders (n, H, 3); reach
    (n, H, 2); counts (n,): hands of each; rooms and elbow_rooms (n, ny, nx); floor (3,): origin and width of a cell;
    outline (4,); heights (3,); numbers (2,): metres that a radian of yaw counts, height of the ground; arms (1,):
    whether elbows keep off things; near (M, n, 2); closed (M, W + 1).
    """

    stance: Array
    size: Array
    walks: NDArray[np.bool_]
    hands: Array
    shoulders: Array
    reach: Array
    counts: NDArray[np.int64]
    rooms: Array
    elbow_rooms: Array
    floor: Array
    outline: Array
    upright: Array
    heights: Array
    numbers: Array
    arms: NDArray[np.bool_]
    near: Array
    closed: Array


@inner()
def _carrier(team, state, k):
    """Place and heading of carrier k."""
    x, y, heading = team.stance[k, 0], team.stance[k, 1], team.stance[k, 2]
    behind, left, turn = state[6 + 3 * k], state[7 + 3 * k], state[8 + 3 * k]
    s, c = math.sin(heading), math.cos(heading)
    px = x - behind * s + left * c
    py = y + behind * c + left * s
    cy, sy = math.cos(state[3]), math.sin(state[3])
    return state[0] + cy * px - sy * py, state[1] + sy * px + cy * py, state[3] + heading + turn


@inner()
def _rotation(team, state, out):
    """Fill out (3, 3) with the rotation of the object."""
    ca, sa, cb, sb = math.cos(state[3]), math.sin(state[3]), math.cos(state[4]), math.sin(state[4])
    cc, sc = math.cos(state[5]), math.sin(state[5])
    a = ca * cb, ca * sb * sc - sa * cc, ca * sb * cc + sa * sc
    b = sa * cb, sa * sb * sc + ca * cc, sa * sb * cc - ca * sc
    c = -sb, cb * sc, cb * cc
    u = team.upright
    for i in range(3):
        out[0, i] = a[0] * u[0, i] + a[1] * u[1, i] + a[2] * u[2, i]
        out[1, i] = b[0] * u[0, i] + b[1] * u[1, i] + b[2] * u[2, i]
        out[2, i] = c[0] * u[0, i] + c[1] * u[1, i] + c[2] * u[2, i]


@inner()
def _room(floor, room, x, y):
    """Metres of room by a map (ny, nx) at a place, -1 outside of it."""
    i, j = math.floor((x - floor[0]) / floor[2]), math.floor((y - floor[1]) / floor[2])
    if i < 0 or j < 0 or i >= room.shape[1] or j >= room.shape[0]:
        return -1.0
    return room[j, i]


@inner()
def _length(team, a, b):
    """Distance of two states, metres."""
    turn = (b[3] - a[3] + math.pi) % (2.0 * math.pi) - math.pi
    total = (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2 + (team.numbers[0] * turn) ** 2
    total += _TILT_M**2 * ((b[4] - a[4]) ** 2 + (b[5] - a[5]) ** 2)
    for k in range(team.stance.shape[0]):
        own = 6 + 3 * k
        total += (b[own] - a[own]) ** 2 + (b[own + 1] - a[own + 1]) ** 2
        total += (_OWN_TURN_M * (b[own + 2] - a[own + 2])) ** 2
    return math.sqrt(total)


@inner()
def _stands(team, state, k, x, y, heading):
    """Return whether there is room for carrier k, alone and beside those before."""
    near = False
    for m in range(team.near.shape[0]):
        if math.hypot(x - team.near[m, k, 0], y - team.near[m, k, 1]) < _NEAR_M:
            near = True
    room = _room(team.floor, team.rooms[k], x, y)
    if room + (_NEARER_M if near else 0.0) < team.size[k, 0]:
        return False
    if team.arms[0] and team.walks[k] and not near:
        dx, dy = team.size[k, 1] * math.cos(heading), team.size[k, 1] * math.sin(heading)
        if _room(team.floor, team.elbow_rooms[k], x + dx, y + dy) < _ELBOW_M:
            return False
        if _room(team.floor, team.elbow_rooms[k], x - dx, y - dy) < _ELBOW_M:
            return False
    for m in range(k):
        ox, oy, _ = _carrier(team, state, m)
        if math.hypot(x - ox, y - oy) <= team.size[k, 0] + team.size[m, 0] + _APART_M:
            return False
    return True


@inner()
def _holds(team, state, R, k, x, y, heading):
    """Return whether the object is off the body of carrier k, and within the shells of the arms with room for hands."""
    c, s, o = math.cos(state[3]), math.sin(state[3]), team.outline
    dx, dy = x - state[0], y - state[1]
    beside_x = max(abs(c * dx + s * dy - o[0]) - o[2], 0.0)
    beside_y = max(abs(c * dy - s * dx - o[1]) - o[3], 0.0)
    if math.hypot(beside_x, beside_y) < team.size[k, 2]:
        return False
    ahead_x, ahead_y = math.sin(heading), -math.cos(heading)
    left_x, left_y = math.cos(heading), math.sin(heading)
    for h in range(team.counts[k]):
        hand, shoulder = team.hands[k, h], team.shoulders[k, h]
        hx = state[0] + R[0, 0] * hand[0] + R[0, 1] * hand[1] + R[0, 2] * hand[2]
        hy = state[1] + R[1, 0] * hand[0] + R[1, 1] * hand[1] + R[1, 2] * hand[2]
        hz = state[2] + R[2, 0] * hand[0] + R[2, 1] * hand[1] + R[2, 2] * hand[2]
        wx = hx - (x + shoulder[0] * left_x - shoulder[1] * ahead_x)
        wy = hy - (y + shoulder[0] * left_y - shoulder[1] * ahead_y)
        wz = hz - team.numbers[1] - shoulder[2]
        far = math.sqrt(wx * wx + wy * wy + wz * wz)
        if far < team.reach[k, h, 0] or far > team.reach[k, h, 1]:
            return False
        if team.walks[k] and wx * ahead_x + wy * ahead_y <= 0.0:
            return False
        if team.arms[0] and _room(team.floor, team.elbow_rooms[k], hx, hy) < _HAND_M:
            return False
    return True


@njit_nogil()
def held(team, states, R, out):
    """Fill out (K,) with whether states (K, W) have room for everybody, with the object in everybody's reach.

    R (3, 3) is scratch.
    """
    for row in range(len(states)):
        state = states[row]
        good = team.heights[0] - 1e-9 <= state[2] <= team.heights[2] + 1e-9
        for m in range(team.closed.shape[0]):
            good = good and _length(team, state, team.closed[m]) > team.closed[m, -1]
        if good:
            _rotation(team, state, R)
            for k in range(team.stance.shape[0]):
                x, y, heading = _carrier(team, state, k)
                if not (_stands(team, state, k, x, y, heading) and _holds(team, state, R, k, x, y, heading)):
                    good = False
                    break
        out[row] = good


@inner()
def _clear(fields, x, y, z, radius, floor):
    """Return whether a ball is certainly free of the scene and above the floor."""
    if z - radius < floor:
        return False
    return squared(fields, 0, x, y, z) > radius * radius


@njit_nogil()
def object_free(fields, team, groups, first, balls, states, margin, R, out):
    """Clear out (K,) where the object of states (K, W) is not certainly free; only rows that are set are looked at.

    balls (B, 4) are centres and radii in the object's frame, cut at `first` (G + 1,) into groups, each within its ball
    of groups (G, 4). All keep `margin` metres from the scene of field 0, and from the floor below. R (3, 3) is
    scratch.
    """
    floor = team.numbers[1]
    for k in range(len(states)):
        if not out[k]:
            continue
        p = states[k]
        _rotation(team, p, R)
        free = True
        for g in range(len(groups)):
            c = groups[g]
            x = R[0, 0] * c[0] + R[0, 1] * c[1] + R[0, 2] * c[2] + p[0]
            y = R[1, 0] * c[0] + R[1, 1] * c[1] + R[1, 2] * c[2] + p[1]
            z = R[2, 0] * c[0] + R[2, 1] * c[1] + R[2, 2] * c[2] + p[2]
            if _clear(fields, x, y, z, c[3] + margin, floor):
                continue
            for b in range(first[g], first[g + 1]):
                c = balls[b]
                x = R[0, 0] * c[0] + R[0, 1] * c[1] + R[0, 2] * c[2] + p[0]
                y = R[1, 0] * c[0] + R[1, 1] * c[1] + R[1, 2] * c[2] + p[1]
                z = R[2, 0] * c[0] + R[2, 1] * c[1] + R[2, 2] * c[2] + p[2]
                if not _clear(fields, x, y, z, c[3] + margin, floor):
                    free = False
                    break
            if not free:
                break
        out[k] = free


@inner()
def _unusual(team, state):
    """Squared departure of a state from how the object and its carriers usually are."""
    n = team.stance.shape[0]
    total = ((state[2] - team.heights[1]) / _HEIGHT_M) ** 2 + (state[4] ** 2 + state[5] ** 2) / _TILT_RAD**2
    for k in range(n):
        own = 6 + 3 * k
        places = (state[own] ** 2 + state[own + 1] ** 2) / _PLACE_M**2 + (state[own + 2] / _TURN_RAD) ** 2
        total += _OWN_SHARE * places / n
    return total


@njit_nogil()
def way_cost(team, rows):
    """Metres of a path through states (K, W) that are close together, more where carriers go sideways or backwards or
    are not at their usual places."""
    n = team.stance.shape[0]
    total = 0.0
    for r in range(len(rows) - 1):
        a, b = rows[r], rows[r + 1]
        dear = 1.0 + 0.5 * _UNUSUAL * (_unusual(team, a) + _unusual(team, b))
        total += dear * _length(team, a, b)
        for k in range(n):
            ax, ay, first = _carrier(team, a, k)
            bx, by, last = _carrier(team, b, k)
            far, mean = math.hypot(bx - ax, by - ay), 0.5 * (first + last)
            ahead = ((bx - ax) * math.sin(mean) - (by - ay) * math.cos(mean)) / max(far, 1e-9)
            aside = math.sqrt(max(1.0 - ahead * ahead, 0.0))
            total += far * (0.5 * _BACKWARDS * (1.0 - ahead) + _SIDEWAYS * aside) / n
    return total
