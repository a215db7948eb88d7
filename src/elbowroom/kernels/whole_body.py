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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.limb_ik import Geometry, line_of
from elbowroom.kernels.limb_terms import Joints
from elbowroom.kernels.pose import forward
from elbowroom.kernels.turns import (
    Turn,
    Vector,
    of_matrix,
    plus,
    product,
    put_triple,
    reversed_turn,
    row_of,
    scaled,
    triple,
    turned,
    write,
)
from elbowroom.kernels.whole_body_ranges import clamped, coordinates

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# Limbs that a model has room for; those that it lacks are copies of the first and not used.
LIMBS = 4

# Rows of a limb: reach; swing or flexion, and twist, of three joints near the ends of their ranges; turns of the three
# joints from where they were (9). Rows of a moved joint: two near the ends of its range, three from where it was.
ROWS_OF_LIMB, ROWS_OF_JOINT, ROWS_OF_ROOT = 16, 5, 6

# Corners that a support may have.
MOST_CORNERS = 64

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
    moves: Array  # (B, 6, V): turn and velocity of each piece, for each variable
    base_moves: Array  # (6, V): those of what a limb hangs on
    jacobian: Array  # (R, V)
    normal: Array  # (V, V): the jacobian's square in the upper half, its damped root in the lower one
    pivot: Array  # (V,): diagonal of that root
    pull: Array  # (V,)
    step: Array  # (V,)
    spare: Array  # (3, 4) world turns, (3, 4) places of a limb that is tried: (6, 4)
    spare_rows: Array  # (16,)
    spare_line: Array  # (6,)


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
def above(model: Model, scratch: Scratch, p: int) -> tuple[Turn, Vector]:
    """World turn before piece p's own, and its place."""
    up = model.above[p]
    turn = row_of(scratch.turn, up)
    place = plus(triple(scratch.place, up), turned(turn, triple(scratch.offset, p)))
    return product(turn, row_of(scratch.lead, p)), place
