"""Two motions one after another without a stop between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array


def joined(q: ArrayLike, at: int, reach: int) -> Array:
    """Rotations (T, n, 4), smoothed about frame `at`: each becomes a mean of its neighbours.

    The mean is taken over most neighbours at `at` itself and over none from `2 * reach` frames off: there, and at both
    ends, frames stay what they are.
    """
    q = rot.continuous(np.asarray(q, dtype=float))
    out = q.copy()
    for k in range(max(at - 2 * reach + 1, 1), min(at + 2 * reach, len(q) - 1)):
        half = min(reach, 2 * reach - abs(k - at), k, len(q) - 1 - k)
        if half < 1:
            continue
        near = np.arange(-half, half + 1)
        weight = 1.0 + np.cos(np.pi * near / (half + 1.0))
        out[k] = rot.normalize(np.tensordot(weight / weight.sum(), q[k + near], axes=1))
    return out
