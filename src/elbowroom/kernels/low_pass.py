"""A filter of second order, run over columns forwards and backwards so that nothing is delayed."""

from __future__ import annotations

from numpy.typing import NDArray

from elbowroom.kernels.compiled import njit_nogil


@njit_nogil()
def filter_both_ways(x: NDArray, b0: float, a1: float, a2: float) -> None:
    """Filter columns (T, M) in place by b0 (1 + z)² / (1 + a1 z + a2 z²), which keeps constants, and then backwards.

    Either run begins as if its first value had been there for ever.
    """
    b1, rows = 2.0 * b0, x.shape[0]
    for m in range(x.shape[1]):
        for backwards in range(2):
            first = x[rows - 1, m] if backwards else x[0, m]
            z2 = (b0 - a2) * first
            z1 = (b1 - a1) * first + z2
            for k in range(rows):
                row = rows - 1 - k if backwards else k
                value = x[row, m]
                y = b0 * value + z1
                z1 = b1 * value - a1 * y + z2
                z2 = b0 * value - a2 * y
                x[row, m] = y
