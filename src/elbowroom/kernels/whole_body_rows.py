"""Rows of which least squares are taken, for a state of the whole body: see `kernels.whole_body`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.limb_ik import Geometry, bend_to, reaches
from elbowroom.kernels.limb_terms import put
from elbowroom.kernels.turns import (
    Turn,
    Vector,
    across,
    cross,
    dot,
    minus,
    of_matrix,
    plus,
    product,
    put_triple,
    reversed_turn,
    row_of,
    scaled,
    small,
    triple,
    turned,
    write,
)
from elbowroom.kernels.whole_body import ROWS_OF_JOINT, ROWS_OF_LIMB, ROWS_OF_ROOT, Aims, Model, Scratch, above
from elbowroom.kernels.whole_body_ranges import beyond, edge_row, outward, range_rows

Array = NDArray[np.float64]

# Metres of reach that a limb keeps to itself, as a share of its length: a knee bent by 5 degrees.
_SPARE_REACH = 0.001
# Weight of a metre that a limb is too short, against 1 for a metre of a marker.
_REACH_WEIGHT = 100.0


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
    if angle != 0.0:
        y = plus(scaled(y, math.cos(angle)), scaled(cross(n, y), math.sin(angle)))
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
