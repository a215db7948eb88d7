"""Colours: inside they are linear RGB in 0..1; screens and many files want sRGB."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.rotations import Array


def srgb(linear: ArrayLike) -> Array:
    """sRGB in 0..1 of linear RGB (..., 3), clipped."""
    c = np.clip(np.asarray(linear, dtype=float), 0.0, 1.0)
    return np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1.0 / 2.4) - 0.055)


def srgb8(linear: ArrayLike) -> NDArray[np.uint8]:
    """sRGB as bytes of linear RGB (..., 3)."""
    return np.round(255.0 * srgb(linear)).astype(np.uint8)
