"""Postures of a whole body by damped least squares (Levenberg 1944, Marquardt 1963) over `kernels.whole_body`.

Derivatives are exact for joints that are moved by numbers. Each limb with a target is bent seven times: for the six
ways in which what it hangs on may move, and for its turn about the line to the target; all variables share these.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.limb_ik import REACHED, Geometry
from elbowroom.kernels.limb_terms import put
from elbowroom.kernels.turns import cross, product, reversed_turn, row_of, scaled, turned, write
from elbowroom.kernels.whole_body import (
    NEAR_EDGE_M,
    ROWS_OF_JOINT,
    ROWS_OF_LIMB,
    ROWS_OF_ROOT,
    STEP,
    Aims,
    Model,
    Scratch,
    above,
    begin,
    bend_limb,
    clamped,
    edge_row,
    evaluate,
    minus,
    outward,
    plus,
    put_triple,
    range_rows,
    small,
    triple,
    turn_by,
)

Array = NDArray[np.float64]

# What `solve` says: all targets met in range and in balance, or the first that fails.
FOUND, OUT_OF_REACH, OUT_OF_RANGE, OFF_BALANCE = 0, 1, 2, 3

# Places in the row of numbers that `solve` gives back.
STATUS, ITERATIONS, MARGIN, EXCESS, TURN, COST, GAPS = 0, 1, 2, 3, 4, 5, 6
NUMBERS = 10

# Joints this far out of range are within it, radians: rounding, as `character.limits` has it.
_IN_RANGE_RAD = 1e-9
# Damping at the start, after a good and after a bad step, and where steps are given up.
_DAMPING, _LOWER, _HIGHER, _MOST_DAMPING = 1e-3, 0.3, 6.0, 1e7
# Damping of a variable that nothing depends on, against 1 for a metre of a marker.
_FLOOR = 1e-2
# Longest step, radians and metres.
_LONGEST_RAD, _LONGEST_M = 0.6, 0.3
# A step that lowers the cost by less than this share, or moves less than this (radians, metres), is the last; the first
# share is for postures that meet what is hard, the second for others.
_GAIN, _LEAST_GAIN, _SHORT = 1e-3, 1e-6, 1e-5
# Soft rows give way to hard ones by these shares, one after another.
_SOFTER, _ROUNDS = 0.1, 3


@inner()
def _cells(model: Model) -> int:
    return model.variable_piece.shape[0]


@inner()
def _along(i: int) -> tuple[float, float, float]:
    """Small step along axis i."""
    return (STEP if i == 0 else 0.0), (STEP if i == 1 else 0.0), (STEP if i == 2 else 0.0)


@inner()
def move_pieces(model: Model, scratch: Scratch, state: int) -> None:
    """Turn and velocity (6) of the root and of moved joints for each variable, into `scratch.moves`."""
    moves, joints = scratch.moves, model.joints
    moves[:] = 0.0
    count = _cells(model)
    for v in range(count):
        p, term = model.variable_piece[v], model.variable_term[v]
        if p == 0:
            moves[0, v, term - 3 if term >= 3 else 3 + term] = 1.0
    for p in range(1, model.moved + 1):
        up = model.above[p]
        way = minus(triple(scratch.place, p), triple(scratch.place, up))
        for v in range(count):
            _carry(moves, up, p, v, way)
        over, _ = above(model, scratch, p)
        c = triple(scratch.terms[state], p)
        now = reversed_turn(row_of(joints.q, p))
        for v in range(count):
            if model.variable_piece[v] == p:
                x, y, z = plus(c, _along(model.variable_term[v]))
                put(joints, p, x, y, z)
                axis = turned(over, scaled(small(product(row_of(joints.q, p), now)), 1.0 / STEP))
                for k in range(3):
                    moves[p, v, k] = axis[k]
        write(reversed_turn(now), joints.q, p)


@inner()
def _carry(moves: Array, up: int, p: int, v: int, way: tuple[float, float, float]) -> None:
    """Pass on the motion of a piece to one that rides on it, that way off."""
    w = moves[up, v, 0], moves[up, v, 1], moves[up, v, 2]
    around = cross(w, way)
    for i in range(3):
        moves[p, v, i] = w[i]
        moves[p, v, 3 + i] = moves[up, v, 3 + i] + around[i]


@inner()
def move_limb(
    limb: Geometry, model: Model, scratch: Scratch, end: Array, state: int, number: int, row: int, soft: float
) -> None:
    """Derivatives of a limb's rows, into the jacobian from `row` on, and of its pieces' motion."""
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
        for i in range(3):
            w = small(product(row_of(tried, i), reversed_turn(row_of(scratch.turn, p + i))))
            for a in range(3):
                slopes[k, 16 + 6 * i + a] = w[a] / STEP
                slopes[k, 19 + 6 * i + a] = (tried[3 + i, a] - scratch.place[p + i, a]) / STEP
    scratch.twist[number] = 0.0
    scratch.gap[number], scratch.excess[number] = gap, excess
    way = minus(ball, triple(scratch.place, up))
    for v in range(_cells(model)):
        _carry(scratch.moves, up, p, v, way)
        own = model.variable_piece[v] == p
        m = scratch.moves[p, v]
        c = m[0], m[1], m[2], m[3], m[4], m[5], (1.0 if own else 0.0)
        for i in range(ROWS_OF_LIMB):
            total = 0.0
            for k in range(7):
                total += slopes[k, i] * c[k]
            scratch.jacobian[row + i, v] = total
        for i in range(18):
            total = 0.0
            for k in range(7):
                total += slopes[k, 16 + i] * c[k]
            scratch.moves[p + i // 6, v, i % 6] = total


@inner()
def linearise(model: Model, limbs: tuple[Geometry, ...], scratch: Scratch, aims: Aims, state: int) -> int:
    """Fill the jacobian of all rows of a state that was just evaluated; returns how many rows there are."""
    jacobian, soft = scratch.jacobian, aims.soft[0]
    count = _cells(model)
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
        move_limb(limbs[k], model, scratch, aims.ends[k], state, k, at, soft)
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
    for v in range(_cells(model)):
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
    around = cross((moves[p, v, 0], moves[p, v, 1], moves[p, v, 2]), arm)
    return moves[p, v, 3] + around[0], moves[p, v, 4] + around[1], moves[p, v, 5] + around[2]


@inner()
def _balance_slopes(model: Model, scratch: Scratch, aims: Aims, at: int) -> int:
    count = aims.corners.shape[0]
    for k in range(count):
        scratch.jacobian[at + k] = 0.0
    if count == 0 or scratch.margin[0] >= NEAR_EDGE_M:
        return at + count
    for v in range(_cells(model)):
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


@inner()
def normal_equations(scratch: Scratch, rows: int, count: int) -> None:
    """Fill the upper half of J^T J, and J^T r."""
    normal, pull, jacobian = scratch.normal, scratch.pull, scratch.jacobian
    normal[:] = 0.0
    pull[:] = 0.0
    for r in range(rows):
        row, value = jacobian[r], scratch.rows[r]
        for i in range(count):
            a = row[i]
            if a != 0.0:
                pull[i] += a * value
                out = normal[i]
                for j in range(i, count):
                    out[j] += a * row[j]


@inner()
def damped_step(scratch: Scratch, count: int, damping: float) -> bool:
    """Solve (J^T J + damping) step = -J^T r by Cholesky's method; False where that fails."""
    normal, pivot, step = scratch.normal, scratch.pivot, scratch.step
    for i in range(count):
        for j in range(i):
            total = normal[j, i]
            for k in range(j):
                total -= normal[i, k] * normal[j, k]
            normal[i, j] = total / pivot[j]
        total = normal[i, i] * (1.0 + damping) + damping * _FLOOR
        for k in range(i):
            total -= normal[i, k] * normal[i, k]
        if not total > 0.0:
            return False
        pivot[i] = math.sqrt(total)
    for i in range(count):
        total = -scratch.pull[i]
        for k in range(i):
            total -= normal[i, k] * step[k]
        step[i] = total / pivot[i]
    for i in range(count - 1, -1, -1):
        total = step[i]
        for k in range(i + 1, count):
            total -= normal[k, i] * step[k]
        step[i] = total / pivot[i]
    return True


@inner()
def take_step(model: Model, scratch: Scratch, state: int) -> float:
    """Make the other state: this one moved by `scratch.step`, no farther than is sensible; returns the longest move."""
    count, step = _cells(model), scratch.step
    share, longest = 1.0, 0.0
    for v in range(count):
        size = abs(step[v])
        most = _LONGEST_M if model.variable_piece[v] == 0 and model.variable_term[v] < 3 else _LONGEST_RAD
        longest = max(longest, size)
        if size * share > most:
            share = most / size
    other = 1 - state
    for i in range(7):
        scratch.root[other, i] = scratch.root[state, i]
    for p in range(1, model.moved + 1):
        put_triple(triple(scratch.terms[state], p), scratch.terms[other], p)
    root, moved = scratch.root[other], scratch.terms[other]
    wx, wy, wz = 0.0, 0.0, 0.0
    for v in range(count):
        p, term, by = model.variable_piece[v], model.variable_term[v], share * step[v]
        if p == 0:
            if term < 3:
                root[term] += by
            elif term == 3:
                wx = by
            elif term == 4:
                wy = by
            else:
                wz = by
        elif term < 0:
            scratch.twist[(p - model.moved - 1) // 3] = by
        else:
            moved[p, term] += by
    q = product(turn_by((wx, wy, wz)), (root[3], root[4], root[5], root[6]))
    size = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    for i in range(4):
        root[3 + i] = q[i] / size
    for p in range(1, model.moved + 1):
        put_triple(clamped(model.joints, p, triple(moved, p)), moved, p)
    return longest * share


@inner()
def _fails(model: Model, scratch: Scratch, aims: Aims) -> int:
    """First hard wish that the state which was evaluated last does not meet."""
    for k in range(model.limbs):
        if abs(scratch.gap[k]) > REACHED:
            return OUT_OF_REACH
    for k in range(model.limbs):
        if scratch.excess[k] > _IN_RANGE_RAD:
            return OUT_OF_RANGE
    if aims.corners.shape[0] > 0 and not scratch.margin[0] >= 0.0:
        return OFF_BALANCE
    return FOUND


@njit_nogil()
def solve(
    model: Model,
    limbs: tuple[Geometry, ...],
    scratch: Scratch,
    aims: Aims,
    root: Array,
    rotations: Array,
    iterations: int,
    out_root: Array,
    out_rotations: Array,
    numbers: Array,
) -> None:
    """Posture near the one at the start, root (1, 3) and rotations (1, J, 4), that does what is asked for.

    At most so many `iterations`. Written: out_root (3,), out_rotations (J, 4), and numbers (NUMBERS,): see `STATUS`.
    """
    count = _cells(model)
    begin(model, limbs, scratch, aims, root, rotations)
    wished, used, state = aims.soft[0], 0, 0
    for turn in range(_ROUNDS + 1):
        scratch.twist[:] = 0.0
        cost = evaluate(model, limbs, scratch, aims, state, state)
        if turn > 0 and (turn == _ROUNDS or _fails(model, scratch, aims) == FOUND):
            break
        damping, fresh = _DAMPING, True
        while used < iterations:
            if fresh:
                normal_equations(scratch, linearise(model, limbs, scratch, aims, state), count)
                used += 1
            if not damped_step(scratch, count, damping):
                break
            moved = take_step(model, scratch, state)
            new = evaluate(model, limbs, scratch, aims, 1 - state, state)
            fresh = new < cost
            damping *= _LOWER if fresh else _HIGHER
            if fresh:
                gain, cost, state = cost - new, new, 1 - state
                if gain < (_GAIN if _fails(model, scratch, aims) == FOUND else _LEAST_GAIN) * cost:
                    break
            if moved < _SHORT or damping > _MOST_DAMPING:
                break
        aims.soft[0] *= _SOFTER
    aims.soft[0] = wished
    _write(model, scratch, aims, state, used, cost, rotations, out_root, out_rotations, numbers)


@inner()
def _write(
    model: Model, scratch: Scratch, aims: Aims, state: int, used: int, cost: float, rotations: Array, out_root: Array,
    out_rotations: Array, numbers: Array,
) -> None:  # fmt: skip
    """Write the posture that was evaluated last, and what is to be said of it."""
    for j in range(rotations.shape[1]):
        write(row_of(rotations[0], j), out_rotations, j)
    for i in range(3):
        out_root[i] = scratch.root[state, i]
    write(row_of(scratch.turn, 0), out_rotations, 0)
    most = 0.0
    for p in range(model.joint.shape[0]):
        if p > 0:
            write(row_of(model.joints.q, p), out_rotations, model.joint[p])
            before, after = row_of(scratch.before, p), row_of(model.joints.q, p)
            d = before[0] * after[0] + before[1] * after[1] + before[2] * after[2] + before[3] * after[3]
            most = max(most, 2.0 * math.acos(min(abs(d), 1.0)))
    numbers[STATUS], numbers[ITERATIONS] = _fails(model, scratch, aims), used
    numbers[MARGIN], numbers[TURN], numbers[COST] = scratch.margin[0], most, cost
    numbers[EXCESS] = 0.0
    for k in range(4):
        numbers[GAPS + k] = scratch.gap[k] if k < model.limbs else 0.0
        if k < model.limbs:
            numbers[EXCESS] = max(numbers[EXCESS], scratch.excess[k])
