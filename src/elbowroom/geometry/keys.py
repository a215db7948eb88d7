"""Values at given times: which keys lie around a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.rotations import Array


def between(keys: Array, times: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Keys before and after each time (N,), and how far it is from one to the other, 0 to 1, held at the ends.

    keys (K,) are rising times.
    """
    t = np.atleast_1d(np.asarray(times, dtype=float))
    k = np.clip(np.searchsorted(keys, t, side="right") - 1, 0, max(len(keys) - 2, 0))
    after = np.minimum(k + 1, len(keys) - 1)
    width = keys[after] - keys[k]
    s = np.clip((t - keys[k]) / np.where(width > 0, width, 1.0), 0.0, 1.0) * (width > 0)
    return k, after, s
