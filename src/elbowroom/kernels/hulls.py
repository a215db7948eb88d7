"""Separation of two hulls of balls, frame by frame, by directions sampled around the best one, ever closer."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.turns import Vector, cross, dot, put_triple, scaled, triple

Array = NDArray[np.float64]


@inner()
def _unit(v: Vector) -> Vector:
    size = math.sqrt(dot(v, v))
    return scaled(v, 1.0 / size) if size > 0.0 else v


@inner()
def _extent(centers: Array, radii: Array, d: Vector) -> float:
    """Extent of balls with centres (3, P) and radii (P,) along a direction."""
    most = -math.inf
    for p in range(radii.shape[0]):
        most = max(most, d[0] * centers[0, p] + d[1] * centers[1, p] + d[2] * centers[2, p] + radii[p])
    return most


@inner()
def _apart(a: Array, a_radii: Array, b: Array, b_radii: Array, d: Vector) -> float:
    """Separation of two hulls along a direction from the first to the second."""
    return -_extent(b, b_radii, (-d[0], -d[1], -d[2])) - _extent(a, a_radii, d)


@inner()
def _across(d: Vector) -> tuple[Vector, Vector]:
    """Two unit directions square to one and to each other."""
    u = _unit((d[1], -d[0], 0.0) if abs(d[2]) < 0.9 else (0.0, d[2], -d[1]))
    return u, cross(d, u)


@njit_nogil()
def separate(
    a: Array, a_radii: Array, b: Array, b_radii: Array, spreads: Array, fan: Array, enough: float, value: Array,
    best: Array,
) -> None:  # fmt: skip
    """Raise lower bounds (N,) of the distance of two hulls, with their directions (N, 3) from the first to the second.

    a, b (N, 3, P) and radii (P,): balls. Bounds of at least `enough` are left as they are; others are tried along
    their direction, then along a fan of angles around it for each of the spreads, tangents.
    """
    for n in range(value.shape[0]):
        if value[n] >= enough:
            continue
        d = triple(best, n)
        most = _apart(a[n], a_radii, b[n], b_radii, d)
        for turn in range(spreads.shape[0]):
            if most >= enough:
                break
            u, v = _across(d)
            start = d
            for k in range(fan.shape[0]):
                c, s = spreads[turn] * math.cos(fan[k] + turn + 1), spreads[turn] * math.sin(fan[k] + turn + 1)
                tried = _unit((start[0] + c * u[0] + s * v[0], start[1] + c * u[1] + s * v[1],
                               start[2] + c * u[2] + s * v[2]))  # fmt: skip
                far = _apart(a[n], a_radii, b[n], b_radii, tried)
                if far > most:
                    most, d = far, tried
            # another step the same way
            on = _unit((2.0 * d[0] - start[0], 2.0 * d[1] - start[1], 2.0 * d[2] - start[2]))
            far = _apart(a[n], a_radii, b[n], b_radii, on)
            if far > most:
                most, d = far, on
        value[n] = most
        put_triple(d, best, n)
