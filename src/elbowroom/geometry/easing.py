"""The curves by which things are faded and blended."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import convolve1d, maximum_filter1d

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
    return convolve1d(maximum_filter1d(need, width, mode="nearest"), window / window.sum(), mode="nearest")
