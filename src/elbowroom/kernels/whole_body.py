"""Postures of a whole body with hands and feet at their targets: pieces, and what is asked of them.

A body is a tree of B pieces: the root, joints that are moved by numbers (spine, clavicles, neck, limbs without a
target), and the three joints of each limb that has a target. What hangs on a piece without being one rides on it as in
the posture at the start. Limbs with targets follow from the rest in closed form (`kernels.limb_ik`), up to a turn about
the line from shoulder to hand. The elbow is carried along that line from posture to posture by the least turn, as the
trunk sees it: an angle against the vertical would leap where the arm hangs.

Variables, V in all: place (3) and turn (3) of the root, free coordinates of the moved joints, one turn for each limb.
Rows, R in all, are what least squares are taken of: see `ROWS_OF_LIMB` and below.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.limb_ik import Geometry, bend_to, line_of, reaches
from elbowroom.kernels.limb_terms import HINGE, Joints, ball_terms, put
from elbowroom.kernels.limits import flexion_and_twist, swing_radius
from elbowroom.kernels.pose import forward
from elbowroom.kernels.turns import (
    Turn,
    Vector,
    across,
    cross,
    dot,
    of_matrix,
    product,
    reversed_turn,
    row_of,
    scaled,
    turned,
    write,
)

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# Limbs that a model has room for; those that it lacks are copies of the first and not used.
LIMBS = 4

# Rows of a limb: reach; swing or flexion, and twist, of three joints near the ends of their ranges; turns of the three
# joints from where they were (9). Rows of a moved joint: two near the ends of its range, three from where it was.
ROWS_OF_LIMB, ROWS_OF_JOINT, ROWS_OF_ROOT = 16, 5, 6

# Corners that a support may have.
MOST_CORNERS = 64

# Metres of reach that a limb keeps to itself, as a share of its length: a knee bent by 5 degrees.
_SPARE_REACH = 0.001
# Angle from the end of a range at which a joint is pushed back, radians, and at most this share of the range.
_NEAR_END_RAD, _NEAR_END_SHARE = 0.07, 0.15
# Distance inside the edge of the support at which the centre of mass is pushed back, metres; tuned on boxes.
NEAR_EDGE_M = 0.02

# Weights of rows, against 1 for a metre of a marker; tuned so that hard rows hold against 41 markers 10 cm off, and
# gentle ones do not throw the body about from one posture to the next. A hard push begins at this share of the margin.
_REACH_WEIGHT = 100.0
_GENTLE, _HARD, _HARD_SHARE = 1.0, 30.0, 0.15
# A metre of the centre of mass counts as so many radians.
_BALANCE = 3.0

# Step of numeric derivatives, radians and metres.
STEP = 1e-6


class Model(NamedTuple):
    """Parts of a character that move, with J joints and M points.

    skeleton: parents (J,), offsets (J, 3). joint (B,): joint of each piece; above (B,): piece that it hangs on, -1 for
    the root; piece_of (J,): piece that a joint rides on. joints: ranges of the B pieces; that of the root is not used.
    Pieces 1 to moved are moved by numbers, those of limb l begin at moved + 1 + 3 l; limbs: how many have targets.
    variable_piece (V,), variable_term (V,): see the file; terms of the root are 0 to 5, that of a limb is -1.
    stay (B,): weight of staying near the posture at the start, a radian; the root's place counts as stay_root a metre.
    point_joint (M,), point (M, 3): markers on joints. mass (J,), kg, center (J, 3), metres.
    """

    parents: NDArray[np.int32]
    offsets: Array
    joint: Ints
    above: Ints
    piece_of: Ints
    joints: Joints
    moved: int
    limbs: int
    variable_piece: Ints
    variable_term: Ints
    stay: Array
    stay_root: float
    point_joint: Ints
    point: Array
    mass: Array
    center: Array


class Aims(NamedTuple):
    """Wishes of one call.

    ends (LIMBS, 4, 4): targets; places (M, 3) and weights (M,) of markers; load (4,): kg and where it is in the world;
    corners (K, 2): of the support, counter-clockwise, none where balance does not matter; soft: weight of markers and
    of staying, from 0 to 1.
    """

    ends: Array
    places: Array
    weights: Array
    load: Array
    corners: Array
    soft: Array  # (1,)


class Scratch(NamedTuple):
    """Room to work in; one for each thread. Two states, of which each has a root (7), coordinates and limb lines."""

    T: Array  # (1, J, 4, 4)
    root: Array  # (2, 7): place and turn
    terms: Array  # (2, B, 3)
    lines: Array  # (2, LIMBS, 6): directions to the end and to the middle joint, in the parent's frame
    kept: Array  # (LIMBS, 2): off-axis angle and twist
    twist: Array  # (LIMBS,): turn about the line, of the step at hand
    lead: Array  # (B, 4): turn before the joint's own, in the frame of the piece above
    offset: Array  # (B, 3)
    mass: Array  # (B,), shares of all, with the load
    center: Array  # (B, 3)
    point: Array  # (M, 3), in the frames of pieces
    turn: Array  # (B, 4), world
    place: Array  # (B, 3)
    before: Array  # (B, 4): local rotations at the start
    origin: Array  # (7,): root at the start
    first: Array  # (B, 3): coordinates at the start
    gap: Array  # (LIMBS,): metres
    excess: Array  # (LIMBS,): radians out of range
    com: Array  # (3,)
    margin: Array  # (1,)
    rows: Array  # (R,)
    slopes: Array  # (LIMBS, 7, 34): of the rows of a limb and of twists of its pieces
    moves: Array  # (B, V, 6): turn and velocity of each piece, for each variable
    jacobian: Array  # (R, V)
    normal: Array  # (V, V): the jacobian's square in the upper half, its damped root in the lower one
    pivot: Array  # (V,): diagonal of that root
    pull: Array  # (V,)
    step: Array  # (V,)
    spare: Array  # (3, 4) world turns, (3, 4) places of a limb that is tried: (6, 4)
    spare_rows: Array  # (16,)
    spare_line: Array  # (6,)


@inner()
def triple(rows: Array, i: int) -> Vector:
    """Row i of (N, 3) as a tuple."""
    return rows[i, 0], rows[i, 1], rows[i, 2]


@inner()
def put_triple(v: Vector, rows: Array, i: int) -> None:
    """Write a tuple into row i of (N, 3)."""
    rows[i, 0], rows[i, 1], rows[i, 2] = v[0], v[1], v[2]


@inner()
def plus(a: Vector, b: Vector) -> Vector:
    """Sum."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inner()
def minus(a: Vector, b: Vector) -> Vector:
    """Difference."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inner()
def turn_by(v: Vector) -> Turn:
    """Turn of an axis times an angle."""
    size = math.sqrt(dot(v, v))
    s = math.sin(0.5 * size) / size if size > 1e-9 else 0.5
    return math.cos(0.5 * size), s * v[0], s * v[1], s * v[2]


@inner()
def small(q: Turn) -> Vector:
    """Axis times angle of a small turn: twice its vector part, of the shorter way round."""
    s = 2.0 if q[0] >= 0.0 else -2.0
    return s * q[1], s * q[2], s * q[3]


@inner()
def coordinates(joints: Joints, j: int, q: Turn) -> Vector:
    """Coordinates of a local rotation of piece j."""
    if joints.kind[j] == HINGE:
        w, x, y, z = product(product(reversed_turn(row_of(joints.pre, j)), q), reversed_turn(row_of(joints.post, j)))
        return flexion_and_twist(w, x, y, z)
    return ball_terms(joints, j, q)


@inner()
def beyond(joints: Joints, j: int, c: Vector) -> tuple[float, float, float, float]:
    """Distances of coordinates beyond the range of piece j, radians, negative inside, and sizes of these ranges.

    The first is that of swing or flexion, the second that of the twist; sizes likewise.
    """
    low, high = joints.low[j], joints.high[j]
    twisted, span = max(c[2] - high[2], low[2] - c[2]), high[2] - low[2]
    if joints.kind[j] == HINGE:
        return max(c[0] - high[0], low[0] - c[0]), twisted, high[0] - low[0], span
    size = math.sqrt(c[0] * c[0] + c[1] * c[1])
    if size < 1e-9:
        return -1.0, twisted, 1.0, span
    polygon = joints.corners[joints.corner[j] : joints.corner[j + 1]]
    most = swing_radius(low, high, polygon, c[0] / size, c[1] / size)
    return size - most, twisted, most, span


@inner()
def _pushed(past: float, inset: float) -> float:
    """Row of something that is so far beyond a bound: gentle from `inset` before it on, hard shortly before it."""
    return _GENTLE * max(past + inset, 0.0) + _HARD * max(past + _HARD_SHARE * inset, 0.0)


@inner()
def range_rows(joints: Joints, j: int, c: Vector) -> tuple[float, float]:
    """Rows of piece j near the ends of its range."""
    a, b, first, second = beyond(joints, j, c)
    return (
        _pushed(a, min(_NEAR_END_RAD, _NEAR_END_SHARE * first)),
        _pushed(b, min(_NEAR_END_RAD, _NEAR_END_SHARE * second)),
    )


@inner()
def edge_row(inside: float) -> float:
    """Row of the centre of mass, that far inside an edge of the support."""
    return _BALANCE * _pushed(-inside, NEAR_EDGE_M)


@inner()
def clamped(joints: Joints, j: int, c: Vector) -> Vector:
    """Coordinates moved into the range of piece j."""
    low, high = joints.low[j], joints.high[j]
    x, y, z = c[0], c[1], min(max(c[2], low[2]), high[2])
    if joints.kind[j] == HINGE:
        return min(max(x, low[0]), high[0]), min(max(y, low[1]), high[1]), z
    past = beyond(joints, j, c)[0]
    if past > 0.0:
        size = math.sqrt(x * x + y * y)
        x, y = x * (size - past) / size, y * (size - past) / size
    return x, y, z


@inner()
def carried(line: Vector, side: Vector, to: Vector) -> Vector:
    """Direction `side`, across the unit direction `line`, carried by the least turn to another unit direction."""
    k, c = cross(line, to), dot(line, to)
    if c > -0.999:
        around = cross(k, side)
        side = plus(side, plus(around, scaled(cross(k, around), 1.0 / (1.0 + c))))
    size, out = across(side, to)
    if size < 1e-6:
        size, out = across((1.0, 0.0, 0.0) if abs(to[0]) < 0.9 else (0.0, 1.0, 0.0), to)
    return out


@inner()
def bend_limb(
    limb: Geometry, model: Model, scratch: Scratch, number: int, base: Turn, ball: Vector, end: Array, turns: Array,
    rows: Array, line: Array, new_line: Array,
) -> float:  # fmt: skip
    """Bend limb `number` to its target (4, 4) and measure it; returns what is missing, metres.

    base, ball: world turn of what it hangs on and place of its ball joint. turns (6, 4): world turns of its pieces and
    their places. rows (16,): as the file has them. line (6,) is carried over, new_line (6,) is where it is then.
    """
    joints, p = model.joints, model.moved + 1 + 3 * number
    back = reversed_turn(base)
    away = turned(back, minus((end[0, 3], end[1, 3], end[2, 3]), ball))
    distance = math.sqrt(dot(away, away))
    n = scaled(away, 1.0 / distance) if distance > 0.0 else (0.0, 0.0, 1.0)
    y = carried((line[0], line[1], line[2]), (line[3], line[4], line[5]), n)
    angle = scratch.twist[number]
    c, s = math.cos(angle), math.sin(angle)
    y = plus(scaled(y, c), scaled(cross(n, y), s))
    new_line[0], new_line[1], new_line[2] = n
    new_line[3], new_line[4], new_line[5] = y
    off_axis, held = scratch.kept[number, 0], scratch.kept[number, 1]
    gap, first, middle, last = bend_to(
        limb, distance, (n, y), product(back, of_matrix(end)), (off_axis, held, False), joints.q, p
    )
    near, far = reaches(limb, off_axis, middle[2])
    spare = _SPARE_REACH * far
    rows[0] = _REACH_WEIGHT * (max(distance - far + spare, 0.0) - max(near + spare - distance, 0.0))
    over, place = base, ball
    excess = 0.0
    for k in range(3):
        terms = first if k == 0 else (middle if k == 1 else last)
        rows[1 + 2 * k], rows[2 + 2 * k] = a, b = range_rows(joints, p + k, terms)
        if a != 0.0 or b != 0.0:
            a, b, _, _ = beyond(joints, p + k, terms)
            excess = max(excess, a, b)
        q = row_of(joints.q, p + k)
        moved = small(product(reversed_turn(row_of(scratch.before, p + k)), q))
        for i in range(3):
            rows[7 + 3 * k + i] = model.stay[p + k] * moved[i]
        over, place = _next(scratch, k, p, over, place, q)
        write(over, turns, k)
        turns[3 + k, 0], turns[3 + k, 1], turns[3 + k, 2] = place
    scratch.excess[number] = excess
    return gap


@inner()
def _next(scratch: Scratch, k: int, p: int, over: Turn, place: Vector, q: Turn) -> tuple[Turn, Vector]:
    """World turn and place of joint k of a limb whose first piece is p, from those of the joint before it."""
    if k == 0:
        return product(over, q), place
    place = plus(place, turned(over, triple(scratch.offset, p + k)))
    return product(over, product(row_of(scratch.lead, p + k), q)), place


@inner()
def begin(
    model: Model, limbs: tuple[Geometry, ...], scratch: Scratch, aims: Aims, root: Array, rotations: Array
) -> None:
    """Measure the posture at the start, root (1, 3) and rotations (1, J, 4), and make it state 0, within ranges."""
    forward(model.parents, model.offsets, root, rotations, scratch.T)
    T = scratch.T[0]
    joints = model.joints
    for p in range(model.joint.shape[0]):
        j = model.joint[p]
        q = row_of(rotations[0], j)
        write(q, scratch.before, p)
        if p == 0:
            for i in range(3):
                scratch.origin[i] = scratch.root[0, i] = root[0, i]
            for i in range(4):
                scratch.origin[3 + i] = scratch.root[0, 3 + i] = q[i]
            continue
        above = T[model.joint[model.above[p]]]
        back = reversed_turn(of_matrix(above))
        write(product(back, of_matrix(T[model.parents[j]])), scratch.lead, p)
        away = T[j, 0, 3] - above[0, 3], T[j, 1, 3] - above[1, 3], T[j, 2, 3] - above[2, 3]
        put_triple(turned(back, away), scratch.offset, p)
        terms = coordinates(joints, p, q)
        put_triple(terms, scratch.first, p)
        put_triple(clamped(joints, p, terms), scratch.terms[0], p)
    _hang(model, scratch, aims, T)
    for k in range(model.limbs):
        limb, p = limbs[k], model.moved + 1 + 3 * k
        n, y = line_of(limb, row_of(scratch.before, p), triple(scratch.first, p + 1))
        for i in range(3):
            scratch.lines[0, k, i], scratch.lines[0, k, 3 + i] = n[i], y[i]
        joint = p + 1 if limb.end_turns else p + 2
        scratch.kept[k, 0] = scratch.terms[0, p + 1, 1]
        scratch.kept[k, 1] = scratch.terms[0, joint, 2]


@inner()
def _hang(model: Model, scratch: Scratch, aims: Aims, T: Array) -> None:
    """Put masses and markers on the pieces that carry them."""
    total = aims.load[0]
    scratch.mass[:] = 0.0
    scratch.center[:] = 0.0
    for j in range(model.mass.shape[0]):
        total += model.mass[j]
        if model.mass[j] > 0.0:
            p = model.piece_of[j]
            c = _ridden(T, j, triple(model.center, j), T[model.joint[p]])
            scratch.mass[p] += model.mass[j]
            put_triple(plus(triple(scratch.center, p), scaled(c, model.mass[j])), scratch.center, p)
    for p in range(model.joint.shape[0]):
        if scratch.mass[p] > 0.0:
            put_triple(scaled(triple(scratch.center, p), 1.0 / scratch.mass[p]), scratch.center, p)
            scratch.mass[p] /= total
    for m in range(model.point_joint.shape[0]):
        j = model.point_joint[m]
        put_triple(_ridden(T, j, triple(model.point, m), T[model.joint[model.piece_of[j]]]), scratch.point, m)


@inner()
def _ridden(T: Array, j: int, point: Vector, carrier: Array) -> Vector:
    """A point in the frame of joint j, in that of its carrier (4, 4)."""
    x = T[j, 0, 0] * point[0] + T[j, 0, 1] * point[1] + T[j, 0, 2] * point[2] + T[j, 0, 3] - carrier[0, 3]
    y = T[j, 1, 0] * point[0] + T[j, 1, 1] * point[1] + T[j, 1, 2] * point[2] + T[j, 1, 3] - carrier[1, 3]
    z = T[j, 2, 0] * point[0] + T[j, 2, 1] * point[1] + T[j, 2, 2] * point[2] + T[j, 2, 3] - carrier[2, 3]
    return (
        carrier[0, 0] * x + carrier[1, 0] * y + carrier[2, 0] * z,
        carrier[0, 1] * x + carrier[1, 1] * y + carrier[2, 1] * z,
        carrier[0, 2] * x + carrier[1, 2] * y + carrier[2, 2] * z,
    )


@inner()
def evaluate(model: Model, limbs: tuple[Geometry, ...], scratch: Scratch, aims: Aims, state: int, source: int) -> float:
    """Place all pieces of a state, fill the rows, and return half their squared sum.

    Limb lines are carried over from the state `source`, turned by `scratch.twist`, and stored with this one.
    """
    joints, rows, soft = model.joints, scratch.rows, aims.soft[0]
    root = scratch.root[state]
    write((root[3], root[4], root[5], root[6]), scratch.turn, 0)
    put_triple((root[0], root[1], root[2]), scratch.place, 0)
    moved = small(product((root[3], root[4], root[5], root[6]), reversed_turn(_origin(scratch))))
    for i in range(3):
        rows[i] = soft * model.stay_root * (root[i] - scratch.origin[i])
        rows[3 + i] = soft * model.stay[0] * moved[i]
    at = ROWS_OF_ROOT
    for p in range(1, model.moved + 1):
        c = triple(scratch.terms[state], p)
        put(joints, p, c[0], c[1], c[2])
        over, place = above(model, scratch, p)
        write(product(over, row_of(joints.q, p)), scratch.turn, p)
        put_triple(place, scratch.place, p)
        rows[at], rows[at + 1] = range_rows(joints, p, c)
        for i in range(3):
            rows[at + 2 + i] = soft * model.stay[p] * (c[i] - scratch.first[p, i])
        at += ROWS_OF_JOINT
    for k in range(model.limbs):
        p = model.moved + 1 + 3 * k
        over, place = above(model, scratch, p)
        scratch.gap[k] = bend_limb(
            limbs[k], model, scratch, k, over, place, aims.ends[k], scratch.spare, scratch.spare_rows,
            scratch.lines[source, k], scratch.lines[state, k],
        )  # fmt: skip
        for i in range(ROWS_OF_LIMB):
            rows[at + i] = scratch.spare_rows[i] * (soft if i > 6 else 1.0)
        for i in range(3):
            write(row_of(scratch.spare, i), scratch.turn, p + i)
            put_triple(triple(scratch.spare, 3 + i), scratch.place, p + i)
        at += ROWS_OF_LIMB
    at = _balance(model, scratch, aims, at)
    for m in range(model.point_joint.shape[0]):
        weight = soft * aims.weights[m]
        if weight > 0.0:
            p = model.piece_of[model.point_joint[m]]
            place = plus(triple(scratch.place, p), turned(row_of(scratch.turn, p), triple(scratch.point, m)))
            for i in range(3):
                rows[at + i] = weight * (place[i] - aims.places[m, i])
            at += 3
    cost = 0.0
    for i in range(at):
        cost += rows[i] * rows[i]
    return 0.5 * cost


@inner()
def _origin(scratch: Scratch) -> Turn:
    """Turn of the root at the start."""
    return scratch.origin[3], scratch.origin[4], scratch.origin[5], scratch.origin[6]


@inner()
def above(model: Model, scratch: Scratch, p: int) -> tuple[Turn, Vector]:
    """World turn before piece p's own, and its place."""
    up = model.above[p]
    turn = row_of(scratch.turn, up)
    place = plus(triple(scratch.place, up), turned(turn, triple(scratch.offset, p)))
    return product(turn, row_of(scratch.lead, p)), place


@inner()
def _balance(model: Model, scratch: Scratch, aims: Aims, at: int) -> int:
    """Fill rows of the centre of mass against the edges of the support; returns the next row."""
    com = scratch.com
    total = 0.0
    com[:] = 0.0
    for p in range(model.joint.shape[0]):
        if scratch.mass[p] > 0.0:
            c = plus(triple(scratch.place, p), turned(row_of(scratch.turn, p), triple(scratch.center, p)))
            total += scratch.mass[p]
            for i in range(3):
                com[i] += scratch.mass[p] * c[i]
    for i in range(3):
        com[i] += (1.0 - total) * aims.load[1 + i]
    count = aims.corners.shape[0]
    margin = math.inf
    for k in range(count):
        nx, ny = outward(aims.corners, k)
        inside = nx * (aims.corners[k, 0] - com[0]) + ny * (aims.corners[k, 1] - com[1])
        margin = min(margin, inside)
        scratch.rows[at + k] = edge_row(inside)
    scratch.margin[0] = margin
    return at + count


@inner()
def outward(corners: Array, k: int) -> tuple[float, float]:
    """Unit direction out of edge k of a polygon (K, 2) that runs counter-clockwise."""
    other = k + 1 if k + 1 < corners.shape[0] else 0
    ex, ey = corners[other, 0] - corners[k, 0], corners[other, 1] - corners[k, 1]
    size = math.sqrt(ex * ex + ey * ey)
    size = size if size > 0.0 else 1.0
    return ey / size, -ex / size
