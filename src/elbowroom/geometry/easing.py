"""Curves over time: fades, blends, and the keys around a time."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.rotations import Array


def smoothstep(s: ArrayLike) -> Array:
    """0 below 0, 1 above 1, and a smooth rise between with no slope at either end (3 s² - 2 s³)."""
    x = np.clip(np.asarray(s, dtype=float), 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def smootherstep(s: ArrayLike) -> Array:
    """0 below 0, 1 above 1, and a rise between with neither slope nor bend at either end (10 s³ - 15 s⁴ + 6 s⁵)."""
    x = np.clip(np.asarray(s, dtype=float), 0.0, 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


def covering(need: Array, width: int) -> Array:
    """A smooth curve nowhere below `need` (T,), made over `width` frames, an odd number."""
    window = np.hanning(width + 2)[1:-1]
    return scipy.ndimage.convolve1d(
        scipy.ndimage.maximum_filter1d(need, width, mode="nearest"), window / window.sum(), mode="nearest"
    )


def averaged(rows: Array, reach: ArrayLike) -> Array:
    """Rows (N, ...) averaged over neighbours, so many to either side, one number or (N,); fewer near the ends, which
    stay.
    """
    out, wide = np.array(rows), np.broadcast_to(np.asarray(reach), len(rows))
    for k in range(1, len(rows) - 1):
        half = min(int(wide[k]), k, len(rows) - 1 - k)
        weight = np.hanning(2 * half + 3)[1:-1]
        out[k] = np.tensordot(weight / weight.sum(), rows[k - half : k + half + 1], axes=1)
    return out


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
