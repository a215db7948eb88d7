"""Derivatives of the rows of `kernels.whole_body_rows` by all variables.

They are exact for joints that are moved by numbers. Each limb with a target is bent seven times: for the six ways in
which what it hangs on may move, and for its turn about the line to the target; all variables share these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.limb_ik import Geometry
from elbowroom.kernels.limb_terms import put
from elbowroom.kernels.turns import (
    cross,
    minus,
    plus,
    product,
    reversed_turn,
    row_of,
    scaled,
    small,
    triple,
    turn_by,
    turned,
    write,
)
from elbowroom.kernels.whole_body import ROWS_OF_JOINT, ROWS_OF_LIMB, ROWS_OF_ROOT, STEP, Aims, Model, Scratch, above
from elbowroom.kernels.whole_body_ranges import NEAR_EDGE_M, edge_row, outward, range_rows
from elbowroom.kernels.whole_body_rows import bend_limb

Array = NDArray[np.float64]


@inner()
def _along(i: int) -> tuple[float, float, float]:
    """Small step along axis i."""
    return (STEP if i == 0 else 0.0), (STEP if i == 1 else 0.0), (STEP if i == 2 else 0.0)


@inner()
def move_pieces(model: Model, scratch: Scratch, state: int) -> None:
    """Turn and velocity (6) of the root and of moved joints for each variable, into `scratch.moves`."""
    moves, joints = scratch.moves, model.joints
    moves[:] = 0.0
    count = model.variable_piece.shape[0]
    for v in range(count):
        p, term = model.variable_piece[v], model.variable_term[v]
        if p == 0:
            moves[0, term - 3 if term >= 3 else 3 + term, v] = 1.0
    for p in range(1, model.moved + 1):
        up = model.above[p]
        way = minus(triple(scratch.place, p), triple(scratch.place, up))
        _carry(moves, up, p, count, way)
        over, _ = above(model, scratch, p)
        c = triple(scratch.terms[state], p)
        now = reversed_turn(row_of(joints.q, p))
        for v in range(count):
            if model.variable_piece[v] == p:
                x, y, z = plus(c, _along(model.variable_term[v]))
                put(joints, p, x, y, z)
                axis = turned(over, scaled(small(product(row_of(joints.q, p), now)), 1.0 / STEP))
                for k in range(3):
                    moves[p, k, v] = axis[k]
        write(reversed_turn(now), joints.q, p)


@inner()
def _carry(moves: Array, up: int, p: int, count: int, way: tuple[float, float, float]) -> None:
    """Pass on the motion of a piece for all variables to one that rides on it, that way off."""
    above, own = moves[up], moves[p]
    for v in range(count):
        w = above[0, v], above[1, v], above[2, v]
        around = cross(w, way)
        own[0, v], own[1, v], own[2, v] = w
        own[3, v], own[4, v], own[5, v] = above[3, v] + around[0], above[4, v] + around[1], above[5, v] + around[2]


@inner()
def _combined(slopes: Array, column: int, moves: Array, own: int, count: int, out: Array) -> None:
    """Sum over moves (6, V) of a limb's base, and its own turn, variable `own`, of slopes (7, S) in a column: (V,)."""
    for v in range(count):
        out[v] = 0.0
    for k in range(6):
        slope, move = slopes[k, column], moves[k]
        for v in range(count):
            out[v] += slope * move[v]
    out[own] += slopes[6, column]


@inner()
def move_limb(
    limb: Geometry, model: Model, scratch: Scratch, end: Array, state: int, number: int, row: int, soft: float,
    places: bool,
) -> None:  # fmt: skip
    """Derivatives of a limb's rows, into the jacobian from `row` on; of its pieces' motion where `places` matter."""
    p = model.moved + 1 + 3 * number
    up = model.above[p]
    over, ball = above(model, scratch, p)
    slopes, tried, line = scratch.slopes[number], scratch.spare, scratch.lines[state, number]
    gap, excess = scratch.gap[number], scratch.excess[number]
    scratch.twist[number] = 0.0
    new = scratch.spare_line
    for k in range(7):
        base, place = over, ball
        if k < 3:
            base = product(turn_by(_along(k)), over)
        elif k < 6:
            place = plus(ball, _along(k - 3))
        else:
            scratch.twist[number] = STEP
        bend_limb(limb, model, scratch, number, base, place, end, tried, scratch.spare_rows, line, new)
        for i in range(ROWS_OF_LIMB):
            now = scratch.rows[row + i]
            slopes[k, i] = (scratch.spare_rows[i] * (soft if i > 6 else 1.0) - now) / STEP
        for i in range(3 if places else 0):
            w = small(product(row_of(tried, i), reversed_turn(row_of(scratch.turn, p + i))))
            for a in range(3):
                slopes[k, 16 + 6 * i + a] = w[a] / STEP
                slopes[k, 19 + 6 * i + a] = (tried[3 + i, a] - scratch.place[p + i, a]) / STEP
    scratch.twist[number] = 0.0
    scratch.gap[number], scratch.excess[number] = gap, excess
    way = minus(ball, triple(scratch.place, up))
    count = model.variable_piece.shape[0]
    _carry(scratch.moves, up, p, count, way)
    own, base = 0, scratch.base_moves
    for v in range(count):
        own = v if model.variable_piece[v] == p else own
        for k in range(6):
            base[k, v] = scratch.moves[p, k, v]
    for i in range(ROWS_OF_LIMB):
        _combined(slopes, i, base, own, count, scratch.jacobian[row + i])
    if places:
        for i in range(18):
            _combined(slopes, 16 + i, base, own, count, scratch.moves[p + i // 6, i % 6])


@inner()
def linearise(model: Model, limbs: tuple[Geometry, ...], scratch: Scratch, aims: Aims, state: int) -> int:
    """Fill the jacobian of all rows of a state that was just evaluated; returns how many rows there are."""
    jacobian, soft = scratch.jacobian, aims.soft[0]
    count = model.variable_piece.shape[0]
    places = aims.corners.shape[0] > 0
    for m in range(model.point_joint.shape[0]):
        places = places or aims.weights[m] > 0.0
    move_pieces(model, scratch, state)
    jacobian[: ROWS_OF_ROOT + ROWS_OF_JOINT * model.moved] = 0.0
    for v in range(count):
        if model.variable_piece[v] == 0:
            term = model.variable_term[v]
            jacobian[term, v] = soft * (model.stay_root if term < 3 else model.stay[0])
    at = ROWS_OF_ROOT
    for p in range(1, model.moved + 1):
        _range_slopes(model, scratch, state, p, at, soft)
        at += ROWS_OF_JOINT
    for k in range(model.limbs):
        move_limb(limbs[k], model, scratch, aims.ends[k], state, k, at, soft, places)
        at += ROWS_OF_LIMB
    at = _balance_slopes(model, scratch, aims, at)
    for m in range(model.point_joint.shape[0]):
        weight = soft * aims.weights[m]
        if weight > 0.0:
            p = model.piece_of[model.point_joint[m]]
            arm = turned(row_of(scratch.turn, p), triple(scratch.point, m))
            for v in range(count):
                speed = _speed(scratch.moves, p, v, arm)
                for i in range(3):
                    jacobian[at + i, v] = weight * speed[i]
            at += 3
    return at


@inner()
def _range_slopes(model: Model, scratch: Scratch, state: int, p: int, at: int, soft: float) -> None:
    """Derivatives of the rows of moved joint p, by its own coordinates."""
    c = triple(scratch.terms[state], p)
    for v in range(model.variable_piece.shape[0]):
        if model.variable_piece[v] == p:
            i = model.variable_term[v]
            scratch.jacobian[at + 2 + i, v] = soft * model.stay[p]
            if scratch.rows[at] != 0.0 or scratch.rows[at + 1] != 0.0:
                a, b = range_rows(model.joints, p, plus(c, _along(i)))
                scratch.jacobian[at, v] = (a - scratch.rows[at]) / STEP
                scratch.jacobian[at + 1, v] = (b - scratch.rows[at + 1]) / STEP


@inner()
def _speed(moves: Array, p: int, v: int, arm: tuple[float, float, float]) -> tuple[float, float, float]:
    """Velocity of a point of piece p, `arm` off its place, for a variable."""
    around = cross((moves[p, 0, v], moves[p, 1, v], moves[p, 2, v]), arm)
    return moves[p, 3, v] + around[0], moves[p, 4, v] + around[1], moves[p, 5, v] + around[2]


@inner()
def _balance_slopes(model: Model, scratch: Scratch, aims: Aims, at: int) -> int:
    count = aims.corners.shape[0]
    for k in range(count):
        scratch.jacobian[at + k] = 0.0
    if count == 0 or scratch.margin[0] >= NEAR_EDGE_M:
        return at + count
    for v in range(model.variable_piece.shape[0]):
        x, y = 0.0, 0.0
        for p in range(model.joint.shape[0]):
            if scratch.mass[p] > 0.0:
                speed = _speed(scratch.moves, p, v, turned(row_of(scratch.turn, p), triple(scratch.center, p)))
                x += scratch.mass[p] * speed[0]
                y += scratch.mass[p] * speed[1]
        for k in range(count):
            if scratch.rows[at + k] > 0.0:
                nx, ny = outward(aims.corners, k)
                inside = nx * (aims.corners[k, 0] - scratch.com[0]) + ny * (aims.corners[k, 1] - scratch.com[1])
                slope = (edge_row(inside - STEP) - scratch.rows[at + k]) / STEP
                scratch.jacobian[at + k, v] = slope * (nx * x + ny * y)
    return at + count
