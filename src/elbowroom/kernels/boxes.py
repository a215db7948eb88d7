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
def chunk_gaps(boxes: Array, T_chunk_part: Array, center: Array, half: Array, out: Array) -> None:
    """Distances out (C,) from boxes (C, 2, 3) to the box center, half (3,) placed among them by a transform (4, 4)."""
    c, h = np.zeros(3), np.zeros(3)
    for i in range(3):
        c[i] = T_chunk_part[i, 3]
        for j in range(3):
            c[i] += T_chunk_part[i, j] * center[j]
            h[i] += abs(T_chunk_part[i, j]) * half[j]
    for n in range(len(boxes)):
        total = 0.0
        for i in range(3):
            d = max(c[i] - h[i] - boxes[n, 1, i], boxes[n, 0, i] - c[i] - h[i])
            if d > 0.0:
                total += d * d
        out[n] = np.sqrt(total)
