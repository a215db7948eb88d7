"""Headings on the floor: 0 faces -Y, positive to the left, radians."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry.rotations import Array


def facing(heading: ArrayLike) -> Array:
    """Unit direction (..., 2) of a heading."""
    h = np.asarray(heading, dtype=float)
    return np.stack([np.sin(h), -np.cos(h)], axis=-1)


def heading_of(direction: ArrayLike) -> Array:
    """Heading (...,) of directions (..., 2), radians."""
    d = np.asarray(direction, dtype=float)
    return np.arctan2(d[..., 0], -d[..., 1])


def leftwards(heading: ArrayLike) -> Array:
    """Unit direction (..., 2) to the left of a heading."""
    h = np.asarray(heading, dtype=float)
    return np.stack([np.cos(h), np.sin(h)], axis=-1)
