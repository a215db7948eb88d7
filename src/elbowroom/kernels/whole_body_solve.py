"""Postures of a whole body by damped least squares (Levenberg 1944, Marquardt 1963) over `kernels.whole_body`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.limb_ik import REACHED, Geometry, line_of
from elbowroom.kernels.turns import product, put_triple, row_of, scaled, triple, turn_by, write
from elbowroom.kernels.whole_body import Aims, Model, Scratch, begin
from elbowroom.kernels.whole_body_ranges import clamped, coordinates
from elbowroom.kernels.whole_body_rows import evaluate
from elbowroom.kernels.whole_body_slopes import linearise

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
# Frames that follow each other are near from the start: damping there, and the longest step after which derivatives
# serve once more. Tuned on carriers, who move as smoothly as without in three quarters of the time.
_NEXT_DAMPING = 1e-4
_ONCE_MORE_RAD = 0.1
# Soft rows give way to hard ones by these shares, one after another.
_SOFTER, _ROUNDS = 0.1, 3


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
def pulls(scratch: Scratch, rows: int, count: int) -> None:
    """Fill J^T r alone."""
    pull, jacobian = scratch.pull, scratch.jacobian
    pull[:] = 0.0
    for r in range(rows):
        row, value = jacobian[r], scratch.rows[r]
        if value != 0.0:
            for i in range(count):
                pull[i] += row[i] * value


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
    count, step = model.variable_piece.shape[0], scratch.step
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
    descent = iterations, _DAMPING, 0.0
    _descend(model, limbs, scratch, aims, root, rotations, descent, out_root, out_rotations, numbers)


@inner()
def _descend(
    model: Model, limbs: tuple[Geometry, ...], scratch: Scratch, aims: Aims, root: Array, rotations: Array,
    descent: tuple[int, float, float], out_root: Array, out_rotations: Array, numbers: Array,
) -> None:  # fmt: skip
    """Do as `solve` says; descent: iterations, damping at the start, and length of a step after which derivatives
    serve once more.
    """
    iterations, least_damping, once_more = descent
    count = model.variable_piece.shape[0]
    begin(model, limbs, scratch, aims, root, rotations)
    wished, used, state, rows = aims.soft[0], 0, 0, 0
    for turn in range(_ROUNDS + 1):
        scratch.twist[:] = 0.0
        cost = evaluate(model, limbs, scratch, aims, state, state)
        if turn > 0 and (turn == _ROUNDS or _fails(model, scratch, aims) == FOUND):
            break
        damping, fresh, reused = least_damping, True, False
        while used < iterations:
            if fresh and reused:
                pulls(scratch, rows, count)
            elif fresh:
                rows = linearise(model, limbs, scratch, aims, state)
                normal_equations(scratch, rows, count)
                used += 1
            if not damped_step(scratch, count, damping):
                break
            moved = take_step(model, scratch, state)
            new = evaluate(model, limbs, scratch, aims, 1 - state, state)
            fresh = new < cost
            if reused and not fresh:
                # derivatives have changed too much
                scratch.twist[:] = 0.0
                cost = evaluate(model, limbs, scratch, aims, state, state)
                fresh, reused = True, False
                continue
            damping *= _LOWER if fresh else _HIGHER
            exact, reused = not reused, not reused and fresh and moved < once_more
            if fresh:
                gain, cost, state = cost - new, new, 1 - state
                if exact and gain < (_GAIN if _fails(model, scratch, aims) == FOUND else _LEAST_GAIN) * cost:
                    break
            if moved < _SHORT or damping > _MOST_DAMPING:
                break
        aims.soft[0] *= _SOFTER
    aims.soft[0] = wished
    _write(model, scratch, aims, state, used, cost, rotations, out_root, out_rotations, numbers)


@inner()
def _swivel(model: Model, limbs: tuple[Geometry, ...], swivels: Array, rotations: Array) -> None:
    """Turn the middle joints of limbs about the line between their ends, swivels (LIMBS,) in radians; in place."""
    for k in range(model.limbs):
        if swivels[k] != 0.0:
            p = model.moved + 1 + 3 * k
            first = row_of(rotations, model.joint[p])
            n, _ = line_of(limbs[k], first, coordinates(model.joints, p + 1, row_of(rotations, model.joint[p + 1])))
            write(product(turn_by(scaled(n, swivels[k])), first), rotations, model.joint[p])


@njit_nogil()
def follow(
    model: Model,
    limbs: tuple[Geometry, ...],
    scratch: Scratch,
    aims: Aims,
    ends: Array,
    swivels: Array,
    carried: NDArray[np.int64],
    iterations: int,
    roots: Array,
    rotations: Array,
    numbers: Array,
    root: Array,
    start: Array,
    first: int,
) -> int:
    """Solve frames one after another, in place; return the first that fails, or their number.

    Frame k from `first` on begins as roots (N, 3) and rotations (N, J, 4) have it, but with the joints `carried` as in
    frame k - 1, and limbs turned by swivels (N, LIMBS), see `_swivel`. ends (N, LIMBS, 4, 4): targets; numbers
    (N, NUMBERS): see `STATUS`; root (1, 3) and start (1, J, 4) are scratch.
    """
    for k in range(first, len(roots)):
        put_triple(triple(roots, k), root, 0)
        for j in range(rotations.shape[1]):
            write(row_of(rotations[k], j), start[0], j)
        for i in range(len(carried)):
            write(row_of(rotations[k - 1], carried[i]), start[0], carried[i])
        _swivel(model, limbs, swivels[k], start[0])
        for m in range(model.limbs):
            for i in range(4):
                write(row_of(ends[k, m], i), aims.ends[m], i)
        descent = iterations, _NEXT_DAMPING, _ONCE_MORE_RAD
        _descend(model, limbs, scratch, aims, root, start, descent, roots[k], rotations[k], numbers[k])
        if numbers[k, STATUS] != FOUND:
            return k
    return len(roots)


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
