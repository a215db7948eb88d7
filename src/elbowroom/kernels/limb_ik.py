"""Arms and legs to a target in closed form (Tolani and Badler 1996), in the terms of `kernels.limits`.

The limb is a ball joint, a hinge that may also turn about the bone behind it, and a joint at the end. Its hinge frame
is the anatomical one of the middle joint before it moves: x is the hinge's axis, z points along the bone. The end is at

    place = upper + Rx(flexion) Ry(off-axis) Rz(twist) lower

in it, seen from the ball joint. The target's distance gives the flexion (`kernels.hinge`). The hinge frame is then
turned so that `place` points to the target and so that the middle joint lies at the orbit angle about that line. What
is left of the end's turn is Rz(twist) * between * swing, which has one solution in twist and swing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.hinge import TINY, bend_at, line_and_side, squared_distance, straight
from elbowroom.kernels.limits import ellipse_radius, flexion_and_twist, polygon_radius, swing_and_twist
from elbowroom.kernels.turns import (
    Turn,
    Vector,
    about_z,
    across,
    cross,
    dot,
    from_frame_to_frame,
    of_matrix,
    product,
    reversed_turn,
    row_of,
    scaled,
    turned,
    write,
)

Array = NDArray[np.float64]

# What is missing within this, metres, is rounding.
REACHED = 1e-9

# Limbs whose end lies off the line about which the lower bone turns: twist and flexion are found in turns.
_ROUNDS, _SETTLED = 60, 1e-13


class Geometry(NamedTuple):
    """A limb as the kernels take it: tuples of numbers, frames as above, metres and radians.

    Tuples and not arrays: whoever passes arrays on counts references to each of them, which costs more than the rest.
    """

    offset: Vector  # ball joint in its parent's frame
    upper: Vector
    lower: Vector
    hinge: Turn  # from the ball joint's frame to the hinge frame
    pre: tuple[Turn, Turn, Turn]
    post: tuple[Turn, Turn, Turn]
    between: Turn  # the end's anatomical frame at zero in the middle's
    zero: Vector  # direction of the middle joint at orbit 0, in the parent's frame
    zero_in_world: bool  # or in the world's
    spare: Vector  # the same in the parent's frame, where the limb points along `zero`
    sense: float  # +1 or -1, which way the orbit grows about the line to the target
    end_turns: bool  # the end joint takes up the roll, not the middle one
    coupled: bool  # turning the lower bone moves the end
    low: tuple[Vector, Vector, Vector]  # ranges as `kernels.limits` has them
    high: tuple[Vector, Vector, Vector]
    polygon: Array
    end_polygon: Array


@inner()
def _orbit_axes(limb: Geometry, parent: Turn, n: Vector) -> tuple[Vector, Vector]:
    """Directions of the middle joint at orbits 0 and 90 degrees about the line n, all in the parent's frame."""
    zero = limb.zero
    if limb.zero_in_world:
        zero = turned(reversed_turn(parent), zero)
    size, u = across(zero, n)
    if size < TINY:
        sign = 1.0 if dot(zero, n) >= 0.0 else -1.0
        size, u = across(scaled(limb.spare, sign), n)
        if size < TINY:
            size, u = across((1.0, 0.0, 0.0) if abs(n[0]) < 0.9 else (0.0, 1.0, 0.0), n)
    return u, scaled(cross(n, u), limb.sense)


@inner()
def _bent(limb: Geometry, off_axis: float, twist: float) -> Vector:
    """Lower bone in the hinge frame before flexion: Ry(off-axis) Rz(twist) lower."""
    x, y, z = limb.lower
    if limb.coupled:
        c, s = math.cos(twist), math.sin(twist)
        x, y = c * x - s * y, s * x + c * y
    c, s = math.cos(off_axis), math.sin(off_axis)
    return c * x + s * z, y, c * z - s * x


@inner()
def _flexion(limb: Geometry, b: Vector, distance: float, backwards: bool) -> tuple[float, float]:
    """Flexion at which the end is that far off, and by how much the distance is too far (+) or too near (-)."""
    farthest = straight(limb.upper, b)
    bend, gap = bend_at(limb.upper, b, distance)
    flexion = farthest - bend if backwards else farthest + bend
    if flexion > math.pi:
        flexion -= 2.0 * math.pi
    elif flexion < -math.pi:
        flexion += 2.0 * math.pi
    return flexion, gap


@inner()
def _roll(between: Turn, g: Turn) -> float:
    """Twist t such that Rz(t) * between * swing = g with a swing across z; in (-pi, pi]."""
    back = reversed_turn(between)
    whole = product(back, g)
    half = product(product(back, (0.0, 0.0, 0.0, 1.0)), g)
    t = 2.0 * math.atan2(whole[3], half[3])
    if t > math.pi:
        t -= 2.0 * math.pi
    elif t <= -math.pi:
        t += 2.0 * math.pi
    return t


@inner()
def solve(
    limb: Geometry,
    parent: Array,
    end: Array,
    orbit: float,
    off_axis: float,
    held: float,
    backwards: bool,
    rotations: Array,
    excess: Array,
) -> float:
    """Local rotations (3, 4) that bring the end to T_world_end (4, 4) at an orbit angle.

    parent: T_world_parent (4, 4) of the ball joint; off_axis: angle of the hinge that is kept; held: twist of that of
    the two outer joints that does not take up the roll; backwards: bent past straight. excess (3,) is how far the
    joints are out of range, radians. Returns what is missing, metres: + too far, - too near.
    """
    base, away = _seen(limb, parent, end[0, 3], end[1, 3], end[2, 3])
    distance = math.sqrt(dot(away, away))
    n = scaled(away, 1.0 / distance) if distance > 0.0 else (0.0, 0.0, 1.0)
    u, w = _orbit_axes(limb, base, n)
    c, s = math.cos(orbit), math.sin(orbit)
    y = c * u[0] + s * w[0], c * u[1] + s * w[1], c * u[2] + s * w[2]
    towards = product(reversed_turn(base), of_matrix(end))
    gap, first, middle, last = bend_to(limb, distance, (n, y), towards, (off_axis, held, backwards), rotations, 0)
    excess[0] = _swung_past(first, limb.low[0], limb.high[0], limb.polygon)
    excess[1] = _bent_past(middle, limb.low[1], limb.high[1])
    excess[2] = _swung_past(last, limb.low[2], limb.high[2], limb.end_polygon)
    return gap


@inner()
def bend_to(
    limb: Geometry,
    distance: float,
    line_and_middle: tuple[Vector, Vector],
    towards: Turn,
    kept: tuple[float, float, bool],
    rotations: Array,
    row: int,
) -> tuple[float, Vector, Vector, Vector]:
    """Local rotations, rows `row` to `row + 2` of (N, 4), of a limb whose end is that far off along a line.

    line_and_middle: unit directions to the end, and across it to the middle joint, in the parent's frame; towards: the
    end's turn in that frame; kept: off-axis angle, twist and whether bent past straight, as `solve` has them. Returns
    what is missing, metres, and the coordinates of the three joints.
    """
    off_axis, held, backwards = kept
    n, y = line_and_middle
    wanted_axes = cross(y, n), y, n
    between = limb.between
    # the end's turn in the parent's frame, without what comes after the twist and the swing
    goal = product(towards, reversed_turn(limb.post[2]))
    roll = about_z(held)
    if not limb.end_turns:
        goal = product(goal, reversed_turn(roll))
    twist = held if limb.end_turns else 0.0
    for k in range(_ROUNDS):
        b = _bent(limb, off_axis, twist)
        flexion, gap = _flexion(limb, b, distance, backwards)
        v, side = line_and_side(limb.upper, b, flexion)
        hinge = from_frame_to_frame((cross(side, v), side, v), wanted_axes)
        flexed = _flexed(flexion, off_axis)
        rest = product(reversed_turn(product(hinge, flexed)), goal)
        # The last round keeps its twist, so that the end is where it should be even if the swing then shows a twist.
        if limb.end_turns or (limb.coupled and k == _ROUNDS - 1):
            break
        before, twist = twist, _roll(between, rest)
        if not limb.coupled or abs(twist - before) < _SETTLED:
            break
    twisted = about_z(twist)
    last = product(reversed_turn(between), product(reversed_turn(twisted), rest))
    if not limb.end_turns:
        last = product(last, roll)
    first = product(hinge, reversed_turn(limb.hinge))
    write(first, rotations, row)
    write(_joined(limb, 1, product(flexed, twisted)), rotations, row + 1)
    write(_joined(limb, 2, last), rotations, row + 2)
    first_terms = swing_and_twist(*_parted(limb, 0, first))
    return gap, first_terms, (flexion, off_axis, twist), swing_and_twist(*last)


@inner()
def line_of(limb: Geometry, first: Turn, middle: Vector) -> tuple[Vector, Vector]:
    """Unit directions to the end and across it to the middle joint, in the parent's frame, of a posture.

    first: local rotation of the ball joint; middle: flexion, off-axis and twist of the middle joint.
    """
    v, side = line_and_side(limb.upper, _bent(limb, middle[1], middle[2]), middle[0])
    hinge = product(first, limb.hinge)
    return turned(hinge, v), turned(hinge, side)


@inner()
def reaches(limb: Geometry, off_axis: float, twist: float) -> tuple[float, float]:
    """Nearest and farthest distance of the end from the ball joint, whatever the range of the middle joint."""
    constant, size = squared_distance(limb.upper, _bent(limb, off_axis, twist))
    return math.sqrt(max(constant - size, 0.0)), math.sqrt(constant + size)


@inner()
def _seen(limb: Geometry, parent: Array, x: float, y: float, z: float) -> tuple[Turn, Vector]:
    """Turn of the parent in the world, and a world point from the ball joint in the parent's frame."""
    base = of_matrix(parent)
    away = turned(reversed_turn(base), (x - parent[0, 3], y - parent[1, 3], z - parent[2, 3]))
    return base, (away[0] - limb.offset[0], away[1] - limb.offset[1], away[2] - limb.offset[2])


@inner()
def _flexed(flexion: float, off_axis: float) -> Turn:
    """Rx(flexion) Ry(off-axis)."""
    cx, sx = math.cos(0.5 * flexion), math.sin(0.5 * flexion)
    cy, sy = math.cos(0.5 * off_axis), math.sin(0.5 * off_axis)
    return cx * cy, sx * cy, cx * sy, sx * sy


@inner()
def _joined(limb: Geometry, joint: int, q: Turn) -> Turn:
    """Local rotation of a joint from the one in its anatomical frame."""
    return product(product(limb.pre[joint], q), limb.post[joint])


@inner()
def _parted(limb: Geometry, joint: int, q: Turn) -> Turn:
    """Rotation in a joint's anatomical frame from the local one."""
    before, after = limb.pre[joint], limb.post[joint]
    return product(product(reversed_turn(before), q), reversed_turn(after))


@inner()
def _past(value: float, low: float, high: float) -> float:
    """Distance of a value beyond its bounds, 0 within."""
    return max(value - high, low - value, 0.0)


@inner()
def _swung_past(terms: Vector, low: Vector, high: Vector, polygon: Array) -> float:
    """Angle by which swing and twist are out of range, radians."""
    x, y, twist = terms
    past = 0.0
    size = math.sqrt(x * x + y * y)
    if size > 0.0:
        x, y = x / size, y / size
        if len(polygon):
            most = polygon_radius(polygon, x, y)
        else:
            most = ellipse_radius(high[0] if x >= 0 else -low[0], high[1] if y >= 0 else -low[1], x, y)
        past = max(size - most, 0.0)
    turned_past = _past(twist, low[2], high[2])
    return math.sqrt(past * past + turned_past * turned_past)


@inner()
def _bent_past(terms: Vector, low: Vector, high: Vector) -> float:
    """Angle by which flexion, off-axis and twist are out of range, radians."""
    x, y, z = (_past(terms[0], low[0], high[0]), _past(terms[1], low[1], high[1]), _past(terms[2], low[2], high[2]))
    return math.sqrt(x * x + y * y + z * z)


@nb.njit(cache=True, nogil=True)
def solve_batch(
    limb: Geometry,
    parents: Array,
    ends: Array,
    orbits: Array,
    off_axis: Array,
    held: Array,
    backwards: NDArray[np.bool_],
    rotations: Array,
    gaps: Array,
    excess: Array,
) -> None:
    """`solve` for N targets: rotations (N, 3, 4), gaps (N,), excess (N, 3).

    parents, ends (N, 4, 4), orbits, off_axis, held, backwards (N,); each may have one row that counts for all.
    """
    for i in range(len(gaps)):
        gaps[i] = solve(
            limb, parents[min(i, len(parents) - 1)], ends[min(i, len(ends) - 1)], orbits[min(i, len(orbits) - 1)],
            off_axis[min(i, len(off_axis) - 1)], held[min(i, len(held) - 1)], backwards[min(i, len(backwards) - 1)],
            rotations[i], excess[i],
        )  # fmt: skip


@nb.njit(cache=True, nogil=True)
def describe(limb: Geometry, parents: Array, rotations: Array, out: Array) -> None:
    """Orbit, off-axis, held twist and whether bent backwards (1.0) of postures: out (N, 4).

    parents (N, 4, 4) or (1, 4, 4): T_world_parent; rotations (N, 3, 4): local, of the three joints.
    """
    for i in range(rotations.shape[0]):
        middle = _parted(limb, 1, row_of(rotations[i], 1))
        flexion, off_axis, twist = flexion_and_twist(*middle)
        last = _parted(limb, 2, row_of(rotations[i], 2))
        n, y = line_of(limb, row_of(rotations[i], 0), (flexion, off_axis, twist))
        base = of_matrix(parents[min(i, len(parents) - 1)])
        u, w = _orbit_axes(limb, base, n)
        out[i, 0] = math.atan2(dot(y, w), dot(y, u))
        out[i, 1] = off_axis
        out[i, 2] = twist if limb.end_turns else swing_and_twist(*last)[2]
        out[i, 3] = 1.0 if math.sin(flexion - straight(limb.upper, _bent(limb, off_axis, twist))) < 0.0 else 0.0
