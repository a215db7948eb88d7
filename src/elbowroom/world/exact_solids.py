"""Insides of closed surfaces: whether points are in them, and how deep."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array


class Solid:
    """Closed surfaces given by their triangles (N, 3, 3), turned alike within each."""

    def __init__(self, triangles: Array) -> None:
        self.triangles = triangles
        self.low = triangles.min(axis=(0, 1))
        self.high = triangles.max(axis=(0, 1))

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """Whether points (N, 3) are inside, (N,)."""
        return np.array([self._winding(p) != 0 for p in points], dtype=bool)

    def depth(self, points: Array) -> Array:
        """How far points (N, 3) are below the surface, metres (N,); 0 outside."""
        out = np.zeros(len(points))
        for i in np.flatnonzero(self.contains(points)):
            out[i] = _distance(self.triangles, points[i])
        return out

    def _winding(self, p: Array) -> int:
        if np.any(p < self.low) or np.any(p > self.high):
            return 0
        xy = p[:2] + [1.2379e-7, 0.8713e-7]
        a, b, c = np.moveaxis(self.triangles, 1, 0)
        u, v, w = _side(b, c, xy), _side(c, a, xy), _side(a, b, xy)
        up = (u > 0) & (v > 0) & (w > 0)
        down = (u < 0) & (v < 0) & (w < 0)
        crossed = np.flatnonzero(up | down)
        u, v, w = u[crossed], v[crossed], w[crossed]
        height = (u * a[crossed, 2] + v * b[crossed, 2] + w * c[crossed, 2]) / (u + v + w)
        return int(np.sum(np.where(u > 0, 1, -1)[height > p[2]]))


def _side(a: Array, b: Array, xy: Array) -> Array:
    return (b[:, 0] - a[:, 0]) * (xy[1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (xy[0] - a[:, 0])


def _distance(triangles: Array, p: Array) -> float:
    import trimesh

    near = trimesh.triangles.closest_point(triangles, np.tile(p, (len(triangles), 1)))
    return float(np.linalg.norm(near - p, axis=1).min())
