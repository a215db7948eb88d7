"""Cells of space that surfaces pass through: a coarse occlusion test for many lines at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array

SOLID, CUT = np.uint8(1), np.uint8(2)
_SIDE = 0.04  # metres
_MOST = 220  # cells across, at most


class Cells:
    """A box from low to high (3,) in metres, divided into cubes; points `apart` metres from each other fill them."""

    def __init__(self, low: Array, high: Array) -> None:
        self._side = max(_SIDE, float((high - low).max()) / _MOST)
        self.apart = 0.7 * self._side
        self._low = low
        self._shape = np.ceil((high - low) / self._side).astype(np.int64) + 1
        self._grid = np.zeros(int(self._shape.prod()), np.uint8)

    def mark(self, points: Array, kind: np.uint8 = SOLID) -> None:
        """Mark the cells of points (N, 3) as holding something SOLID, or something that is CUT open before a plane."""
        cells, inside = self._numbers(points)
        self._grid[cells[inside]] |= kind

    def with_points(self, clouds: list[Array]) -> Cells:
        """These cells and those of solid points (N, 3) besides."""
        if not clouds:
            return self
        other = Cells.__new__(Cells)
        other.__dict__.update(self.__dict__)
        other._grid = self._grid.copy()
        for points in clouds:
            other.mark(points)
        return other

    def hides(self, points: Array, ways: Array, reach: tuple[float, float], planes: Array) -> NDArray[np.bool_]:
        """Return whether lines from points (P, 3) in directions (D, 3) are occluded; (P, D).

        `reach` is where on the way to look, in metres. What is cut hides nothing where n·p > d, n being the level
        part of a direction and d its of `planes` (D,).
        """
        steps = np.arange(reach[0], reach[1], self._side)
        along = points[:, None, None] + steps[:, None] * ways[:, None]  # (P, D, S, 3)
        cells, inside = self._numbers(along)
        found = np.where(inside, self._grid[cells], np.uint8(0))
        if not np.any(found & CUT):
            return np.any(found & SOLID, axis=-1)
        kept = np.einsum("pdsi,di->pds", along[..., :2], ways[:, :2]) <= planes[:, None]
        return np.any((found & SOLID != 0) | ((found & CUT != 0) & kept), axis=-1)

    def _numbers(self, points: Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Number of the cell of each point (..., 3), 0 where it is in none, and whether it is in one."""
        place = np.floor((points - self._low) / self._side).astype(np.int64)
        inside = np.all((place >= 0) & (place < self._shape), axis=-1)
        number = (place[..., 0] * self._shape[1] + place[..., 1]) * self._shape[2] + place[..., 2]
        return np.where(inside, number, 0), inside


def samples(mesh: Mesh, apart: float) -> Array:
    """Points (N, 3) all over a mesh, hardly farther apart than so many metres."""
    corners = mesh.vertices[mesh.faces]
    lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=-1)  # of the edges 01, 12, 20
    longest = lengths.max(axis=-1)
    large = longest >= apart
    first = lengths[large].argmax(axis=-1)[:, None]
    a, b, c = (np.take_along_axis(corners[large], ((first + k) % 3)[..., None], axis=1)[:, 0] for k in range(3))
    height = np.linalg.norm(np.cross(b - a, c - a), axis=-1) / longest[large]
    across, up = (np.ceil(x / apart).astype(np.int64) for x in (longest[large], height))
    up = np.maximum(up, 1)
    count = (across + 1) * (up + 1)
    which = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    row, place = np.divmod(number, across[which] + 1)
    v = row / up[which]
    u = (1.0 - v) * place / across[which]
    spread = a[which] + u[:, None] * (b - a)[which] + v[:, None] * (c - a)[which]
    points = np.concatenate([corners[~large].mean(axis=1), spread])
    _, kept = np.unique(np.floor(points / (0.5 * apart)) @ [1.0, 1e5, 1e10], return_index=True)
    return points[kept]
