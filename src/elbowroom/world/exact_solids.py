"""Insides of closed surfaces: whether points are in them, and how deep."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.kernels import insides
from elbowroom.kernels.triangles import tree_of


class Solid:
    """Closed surfaces given by their triangles (N, 3, 3), turned alike within each."""

    def __init__(self, triangles: Array) -> None:
        self._tree = tree_of(triangles)

    def contains_any(self, T_solid_points: Array, points: Array) -> bool:
        """Return whether one of points (N, 3), placed by a transform (4, 4), is inside."""
        return bool(insides.contains_any(self._tree, T_solid_points, points))

    def depth(self, points: Array) -> Array:
        """Depths of points (N, 3) below the surface, metres (N,); 0 outside."""
        return insides.depths(self._tree, np.ascontiguousarray(points))
