"""Two bones with a hinge between them: how far it bends for a target, and how it is turned to it.

Vectors are in the hinge frame, whose x is the hinge's axis: `upper` leads from the root to the hinge, `lower` from the
hinge to the end at flexion 0. Seen from the root the end is at

    place = upper + Rx(flexion) lower

and its squared distance is a constant plus a cosine, whatever offsets the bones have: constant + size * cos(bend), with
the bend counted from where the limb is straight.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.turns import Vector, across, cross, dot, from_frame_to_frame, scaled, write

Array = NDArray[np.float64]

# Below this, metres or sine of an angle, a direction is taken from elsewhere.
TINY = 1e-9


@nb.njit(cache=True, nogil=True)
def straight(upper: Vector, lower: Vector) -> float:
    """Flexion at which the end is farthest away."""
    a, b = upper, lower
    return math.atan2(a[2] * b[1] - a[1] * b[2], a[1] * b[1] + a[2] * b[2])


@nb.njit(cache=True, nogil=True)
def squared_distance(upper: Vector, lower: Vector) -> tuple[float, float]:
    """Constant and size of the end's squared distance from the root."""
    a, b = upper, lower
    size = 2.0 * math.sqrt((a[1] * a[1] + a[2] * a[2]) * (b[1] * b[1] + b[2] * b[2]))
    return dot(a, a) + dot(b, b) + 2.0 * a[0] * b[0], size


@inner()
def bend_at(upper: Vector, lower: Vector, distance: float) -> tuple[float, float]:
    """Bend at which the end is that far off, and by how much the distance is too far (+) or too near (-)."""
    constant, size = squared_distance(upper, lower)
    cosine = (distance * distance - constant) / size
    gap = 0.0
    if cosine > 1.0:
        gap = distance - math.sqrt(constant + size)
    elif cosine < -1.0:
        gap = distance - math.sqrt(max(constant - size, 0.0))
    return math.acos(min(max(cosine, -1.0), 1.0)), gap


@inner()
def line_and_side(upper: Vector, lower: Vector, flexion: float) -> tuple[Vector, Vector]:
    """Unit directions from the root to the end, and of the hinge beside that line: across it and the hinge's axis."""
    c, s = math.cos(flexion), math.sin(flexion)
    b = lower[0], c * lower[1] - s * lower[2], s * lower[1] + c * lower[2]
    v = upper[0] + b[0], upper[1] + b[1], upper[2] + b[2]
    size = math.sqrt(dot(v, v))
    if size < TINY:  # folded onto itself: where it comes from
        v = 0.0, b[2], -b[1]
        size = math.sqrt(dot(v, v))
    v = scaled(v, 1.0 / size)
    side = 0.0, v[2], -v[1]
    return v, scaled(side, 1.0 / math.sqrt(dot(side, side)))


@nb.njit(cache=True, nogil=True)
def turn_to(
    upper: Vector, lower: Vector, ends: Array, axes: Array, least: float, turns: Array, flexions: Array
) -> None:
    """Turns (N, 4) of the hinge frame, and flexions (N,), that bring the end to `ends` (N, 3), seen from the root.

    The hinge's axis comes as near to the directions `axes` (N, 3) as it can. A limb that would bend less than `least`
    points to its end without getting there.
    """
    first = straight(upper, lower)
    for i in range(len(ends)):
        away = ends[i, 0], ends[i, 1], ends[i, 2]
        distance = math.sqrt(dot(away, away))
        bend, _ = bend_at(upper, lower, distance)
        flexions[i] = first + max(bend, least)
        v, side = line_and_side(upper, lower, flexions[i])
        n = scaled(away, 1.0 / distance) if distance > 0.0 else (0.0, 0.0, 1.0)
        _, x = across((axes[i, 0], axes[i, 1], axes[i, 2]), n)
        write(from_frame_to_frame((cross(side, v), side, v), (x, cross(n, x), n)), turns, i)
