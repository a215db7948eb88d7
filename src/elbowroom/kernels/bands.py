"""Positive definite systems of equations whose matrix is a band of blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def solve(H: Array, g: Array) -> Array:
    """The x (C, n) of H x = g (C, n): H (C, B, n, n) holds blocks (c + d, c) of a symmetric matrix, d < B.

    A Cholesky factorisation by blocks, in time C B² n³; raises `LinAlgError` where the matrix is not positive definite.
    """
    L, (C, B) = np.array(H), H.shape[:2]
    inverse = np.empty_like(L[:, 0])
    x = np.array(g)
    for c in range(C):
        inverse[c] = np.linalg.inv(np.linalg.cholesky(L[c, 0]))
        x[c] = inverse[c] @ x[c]
        below = min(B, C - c)
        L[c, 1:below] = L[c, 1:below] @ inverse[c].T
        for d in range(1, below):
            x[c + d] -= L[c, d] @ x[c]
            for e in range(d, below):
                L[c + d, e - d] -= L[c, e] @ L[c, d].T
    for c in range(C - 1, -1, -1):
        for d in range(1, min(B, C - c)):
            x[c] -= L[c, d].T @ x[c + d]
        x[c] = inverse[c].T @ x[c]
    return x
