"""Paths over a grid pulled straight and bent: turns are made where there is room, narrow places are passed straight.

A path is an elastic band (Quinlan and Khatib 1993) with tension by the cost of going and stiffness against turns.
Turning swings feet and elbows wider than walking straight, so the band is stiffer in narrow places.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.kernels.grid_path import line_cost

# Relative extra cost of a shortcut over the cells that it replaces: those zigzag.
_AS_GOOD = 1.02
# Metres between points of a straight stretch.
_SPACED_M = 0.25
# Rounds of relaxation.
_ROUNDS = 60
# Stiffness in the open, metres, and the factor on it per unit of narrowness; tuned on walks through doors that are open
# by 61 and 90 degrees.
_STIFF_M, _STIFFER = 0.06, 20.0
# Inertia of a point and of one that stays where it is, per metre.
_INERTIA, _FIXED = 80.0, 1e7
# Metres before and after a narrow place that are walked straight, since hands swing ahead of the body.
_AHEAD_M = 0.4
# Metres over which gradients are measured.
_PROBE_M = 0.05


def pulled(run: Array, cost: Array) -> list[int]:
    """Indices of the cells of a run (N, 2) that remain when equally good straight lines replace the others."""
    steps = [line_cost(cost, a, b) for a, b in pairwise(run)]
    total = np.concatenate([[0.0], np.cumsum(steps)])
    kept = [0]
    while kept[-1] < len(run) - 1:
        a, low, high = kept[-1], kept[-1] + 1, len(run) - 1
        if _as_good(cost, run, total, a, high):
            kept.append(high)
            continue
        far = low
        stride = 2
        while low + stride < high and _as_good(cost, run, total, a, low + stride):
            far, stride = low + stride, 2 * stride
        for b in range(min(low + stride, high), far, -max((stride // 8), 1)):
            if _as_good(cost, run, total, a, b):
                far = b
                break
        kept.append(far)
    return kept


def _as_good(cost: Array, run: Array, total: Array, a: int, b: int) -> bool:
    return bool(line_cost(cost, run[a], run[b]) <= _AS_GOOD * (total[b] - total[a]) + 1e-9)


def spaced_along(corners: Array) -> Array:
    """Points (N, 2) along a polyline, evenly spaced on each segment."""
    out = [corners[:1]]
    for p, q in pairwise(corners):
        n = max(int(np.ceil(np.linalg.norm(q - p) / _SPACED_M)), 1)
        out.append(p + (np.arange(1, n + 1) / n)[:, None] * (q - p))
    return np.concatenate(out)


def bent(points: Array, fixed: NDArray[np.bool_], cost: Callable[[Array], Array]) -> Array:
    """Evenly spaced points (N, 2) of a polyline relaxed; its ends and those that are `fixed` (N,) stay.

    cost: per metre at points (N, 2), 1 in the open.
    """
    count = len(points)
    step = float(np.linalg.norm(np.diff(points, axis=0), axis=1).mean())
    if count < 4 or step < 1e-6:
        return points
    fixed = fixed | np.isin(np.arange(count), [0, count - 1])
    heavy = step * np.where(fixed, _FIXED, _INERTIA)
    band = points
    for _ in range(_ROUNDS):
        around = [cost(band + d) for d in _PROBE_M * np.concatenate([np.eye(2), -np.eye(2)])]
        push = (np.stack(around[:2], axis=-1) - np.stack(around[2:], axis=-1)) / (2.0 * _PROBE_M)
        matrix = _stiffness(np.mean(around, axis=0), step)
        matrix[2] += heavy
        band = scipy.linalg.solveh_banded(matrix, heavy[:, None] * band - step * push, check_finite=False)
    return np.where(fixed[:, None], points, band)


def _stiffness(cost: Array, step: float) -> Array:
    """Upper diagonals (3, N) of the stiffness of a band with points `step` metres apart, by cost per metre (N,)."""
    upper = np.zeros((3, len(cost)))
    tension = 0.5 * (cost[1:] + cost[:-1]) / step
    upper[2, :-1] += tension
    upper[2, 1:] += tension
    upper[1, 1:] -= tension
    narrow = scipy.ndimage.maximum_filter1d(cost, 2 * round(_AHEAD_M / step) + 1)[1:-1] - 1.0
    stiff = _STIFF_M * (1.0 + _STIFFER * narrow) / step**3
    upper[2, :-2] += stiff
    upper[2, 1:-1] += 4.0 * stiff
    upper[2, 2:] += stiff
    upper[1, 1:-1] -= 2.0 * stiff
    upper[1, 2:] -= 2.0 * stiff
    upper[0, 2:] += stiff
    return upper
