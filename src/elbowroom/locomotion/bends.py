"""Smooth curves by least squares: near what is wanted, with a law for how they bend."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solveh_banded

from elbowroom.geometry.rotations import Array


def bent(pull: Array, weight: Array, law: Array, stiff: Array, middle: ArrayLike = -2.0) -> Array:
    """The curve x (N, ...) with the least sum of weight (x - want)² and stiff (x[k-1] + middle x[k] + x[k+1] - law)².

    pull: weight times want; weight, stiff (N,): of each frame; law, of the shape of pull; middle, (N,) or a number:
    with -2 the law is the second difference. The first and the last frame have no law.
    """
    n = len(pull)
    centre = np.broadcast_to(np.asarray(middle, dtype=float), (n,))[1:-1]
    factors = (np.ones(n - 2), centre, np.ones(n - 2))
    hold = stiff[1:-1]
    bands = np.zeros((3, n))  # upper form: bands[2] diagonal, bands[1] first, bands[0] second
    across = (slice(None),) + (None,) * (pull.ndim - 1)
    right = np.array(pull, dtype=float)
    bands[2] = weight
    for k, c in enumerate(factors):
        right[k : n - 2 + k] += (hold * c)[across] * law[1:-1]
        bands[2, k : n - 2 + k] += hold * c * c
    bands[1, 1 : n - 1] += hold * centre
    bands[1, 2:n] += hold * centre
    bands[0, 2:n] += hold
    return solveh_banded(bands, right)
