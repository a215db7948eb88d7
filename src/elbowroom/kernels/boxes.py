"""Boxes along the world's axes: around turned boxes, and how far pairs of them are apart."""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@nb.njit(cache=True, nogil=True)
def around(rows: NDArray[np.int64], T: Array, center: Array, half: Array, low: Array, high: Array) -> None:
    """Boxes low, high (N, 3) around the boxes center, half (N, 3) placed by T (N, 4, 4); only `rows` are filled."""
    for n in rows:
        for i in range(3):
            c = T[n, i, 3]
            h = 0.0
            for j in range(3):
                c += T[n, i, j] * center[n, j]
                h += abs(T[n, i, j]) * half[n, j]
            low[n, i] = c - h
            high[n, i] = c + h


@nb.njit(cache=True, nogil=True)
def gaps(pairs: NDArray[np.int32], low: Array, high: Array, out: Array) -> None:
    """Distances out (P,) of pairs (P, 2) of boxes low, high (N, 3); 0 where they overlap or are not finite."""
    for k in range(len(pairs)):
        a, b = pairs[k, 0], pairs[k, 1]
        total = 0.0
        for i in range(3):
            d = max(low[a, i] - high[b, i], low[b, i] - high[a, i])
            if d > 0.0:
                total += d * d
        out[k] = np.sqrt(total) if total > 0.0 else 0.0


@nb.njit(cache=True, nogil=True)
def meet(low: Array, high: Array, a: int, b: int) -> bool:
    """Return whether boxes a and b of low, high (N, 3) overlap."""
    apart = False
    for i in range(3):
        apart |= low[a, i] > high[b, i] or low[b, i] > high[a, i]
    return not apart


@nb.njit(cache=True, nogil=True)
def relative(T: Array, a: int, b: int) -> Array:
    """`T_b_a` (4, 4) of two rigid transforms of T (N, 4, 4)."""
    out = np.zeros((4, 4))
    for i in range(3):
        for j in range(4):
            for k in range(3):
                step = T[a, k, j] - T[b, k, 3] if j == 3 else T[a, k, j]
                out[i, j] += T[b, k, i] * step
    out[3, 3] = 1.0
    return out


@nb.njit(cache=True, nogil=True)
def close(ours: Array, theirs: Array, T_theirs_ours: Array, margin: float) -> tuple[Array, NDArray[np.int64]]:
    """Gaps (K,) and numbers (K, 2) of boxes (C, 2, 3) of two sets that are no farther apart than a margin.

    Each box of ours is taken as the box around it along the axes of theirs. Nearest first.
    """
    gaps = np.empty(len(ours) * len(theirs))
    pairs = np.empty((len(gaps), 2), np.int64)
    low, high = np.zeros(3), np.zeros(3)
    count = 0
    for m in range(len(ours)):
        for i in range(3):
            c = T_theirs_ours[i, 3]
            h = 0.0
            for j in range(3):
                c += T_theirs_ours[i, j] * 0.5 * (ours[m, 0, j] + ours[m, 1, j])
                h += abs(T_theirs_ours[i, j]) * 0.5 * (ours[m, 1, j] - ours[m, 0, j])
            low[i], high[i] = c - h, c + h
        for n in range(len(theirs)):
            total = 0.0
            for i in range(3):
                d = max(low[i] - theirs[n, 1, i], theirs[n, 0, i] - high[i])
                if d > 0.0:
                    total += d * d
            if total <= margin * margin:
                gaps[count] = np.sqrt(total)
                pairs[count, 0], pairs[count, 1] = m, n
                count += 1
    order = np.argsort(gaps[:count])
    return gaps[:count][order], pairs[:count][order]
