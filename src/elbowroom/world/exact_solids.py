"""Insides of closed surfaces: whether points are in them, and how deep."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.kernels import insides
from elbowroom.kernels.triangles import tree_of


class Solid:
    """Closed surfaces given by their triangles (N, 3, 3), turned alike within each; bounds (2, 3)."""

    def __init__(self, triangles: Array) -> None:
        self.bounds = np.stack([triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))])
        self._tree = tree_of(triangles)

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """Whether points (N, 3) are inside, (N,)."""
        return insides.contains(self._tree, np.ascontiguousarray(points))

    def depth(self, points: Array) -> Array:
        """How far points (N, 3) are below the surface, metres (N,); 0 outside."""
        return insides.depths(self._tree, np.ascontiguousarray(points))
