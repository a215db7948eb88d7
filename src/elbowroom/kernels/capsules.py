"""Capsules around points: how large one about a given line must be, and the line that makes it least.

A line is five numbers x: tilt of the axis from z (2), where it crosses z = 0 (2), and how much wider than needed the
capsule is made (1), which lets it be shorter.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# First steps of the search in tilt, place and width, for points within a unit ball.
_FIRST_STEPS = (0.05, 0.05, 0.05, 0.05, 0.05)


@nb.njit(cache=True, nogil=True)
def capsule_around(points: Array, x: Array) -> tuple[float, float, float, float]:
    """Volume, radius, and where it starts and ends along its axis, of the capsule about a line that holds points
    (N, 3)."""
    size = math.sqrt(x[0] * x[0] + x[1] * x[1] + 1.0)
    ax, ay, az = x[0] / size, x[1] / size, 1.0 / size
    widest = 0.0
    for n in range(points.shape[0]):
        px, py, pz = points[n, 0] - x[2], points[n, 1] - x[3], points[n, 2]
        along = px * ax + py * ay + pz * az
        widest = max(widest, px * px + py * py + pz * pz - along * along)
    radius = math.sqrt(widest) * (1.0 + abs(x[4]))
    top, bottom = -math.inf, math.inf
    for n in range(points.shape[0]):
        px, py, pz = points[n, 0] - x[2], points[n, 1] - x[3], points[n, 2]
        along = px * ax + py * ay + pz * az
        off = max(px * px + py * py + pz * pz - along * along, 0.0)
        reach = math.sqrt(max(radius * radius - off, 0.0))
        top = max(top, along - reach)
        bottom = min(bottom, along + reach)
    if top < bottom:  # one ball holds them all
        top = bottom = 0.5 * (top + bottom)
    return math.pi * radius * radius * ((top - bottom) + 4.0 / 3.0 * radius), radius, bottom, top


@nb.njit(cache=True, nogil=True)
def least_line(points: Array, start: Array, steps: int, x_tolerance: float, volume_tolerance: float) -> Array:
    """Line x (5,) of the capsule of least volume around points (N, 3), searched from `start` (Nelder and Mead 1965).

    It ends after `steps` evaluations, or when the simplex and its volumes span less than the tolerances.
    """
    dim = start.shape[0]
    simplex = np.empty((dim + 1, dim))
    value = np.empty(dim + 1)
    for k in range(dim + 1):
        simplex[k] = start
        if k:
            simplex[k, k - 1] += _FIRST_STEPS[k - 1]
        value[k] = capsule_around(points, simplex[k])[0]
    used = dim + 1
    while used < steps:
        order = np.argsort(value)
        simplex, value = simplex[order], value[order]
        if np.max(np.abs(simplex[1:] - simplex[0])) <= x_tolerance and value[dim] - value[0] <= volume_tolerance:
            break
        middle = np.zeros(dim)
        for k in range(dim):
            middle += simplex[k] / dim
        away = middle - simplex[dim]
        tried = middle + away
        volume = capsule_around(points, tried)[0]
        used += 1
        if volume < value[0]:
            farther = middle + 2.0 * away
            more = capsule_around(points, farther)[0]
            used += 1
            if more < volume:
                tried, volume = farther, more
        elif volume >= value[dim - 1]:
            inside = middle + 0.5 * away if volume < value[dim] else middle - 0.5 * away
            less = capsule_around(points, inside)[0]
            used += 1
            if less < volume and less < value[dim]:
                tried, volume = inside, less
            else:
                for k in range(1, dim + 1):
                    simplex[k] = simplex[0] + 0.5 * (simplex[k] - simplex[0])
                    value[k] = capsule_around(points, simplex[k])[0]
                used += dim
                continue
        simplex[dim], value[dim] = tried, volume
    return simplex[np.argmin(value)]
