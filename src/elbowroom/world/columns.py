"""Columns of a scene over a grid on the floor: which heights are taken, where people want to walk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.kernels.columns import mark_columns
from elbowroom.world.world import World

# Metres: width of a cell and height of a layer; a column has 64 layers.
CELL_M, LAYER_M = 0.05, 0.04
# Metres of open floor around all that is there.
_AROUND_M = 1.5
# Cells of a side at most; larger scenes are cut to what is near the places that are asked for.
_MOST = 1600


@dataclass(frozen=True, eq=False)
class Columns:
    """Layers that are taken, (ny, nx) of 64 bits each; cell (0, 0) begins at `origin` (2,), layers at `floor`."""

    origin: Array
    floor: float
    taken: NDArray[np.uint64]

    def cell(self, point: Array) -> tuple[int, int]:
        """Row and column of the cell of a point (2,), the nearest one for points outside."""
        i, j = np.floor((np.asarray(point)[:2] - self.origin) / CELL_M).astype(int)
        ny, nx = self.taken.shape
        return int(np.clip(j, 0, ny - 1)), int(np.clip(i, 0, nx - 1))

    def point(self, cells: Array) -> Array:
        """Middles (N, 2) of cells (N, 2), row and column."""
        return self.origin + CELL_M * (np.asarray(cells, dtype=float)[..., ::-1] + 0.5)

    def within(self, centre: Array, radius: float) -> NDArray[np.bool_]:
        """Cells (ny, nx) whose middles are no farther than a radius from a point (2,), metres."""
        ny, nx = self.taken.shape
        x = self.origin[0] + CELL_M * (np.arange(nx) + 0.5) - float(centre[0])
        y = self.origin[1] + CELL_M * (np.arange(ny) + 0.5) - float(centre[1])
        return np.asarray(x[None] ** 2 + y[:, None] ** 2 <= radius**2)

    def with_disc(self, centre: Array, radius: float) -> Columns:
        """The columns with all heights taken around a point (2,), metres."""
        return replace(self, taken=np.where(self.within(centre, radius), ~np.uint64(0), self.taken))

    def room(self, low: float, high: float) -> Array:
        """Distance (ny, nx) of each cell to the nearest one that is taken between two heights above the floor, metres.

        It is 0 where the cell itself is taken.
        """
        first, last = max(int(low / LAYER_M), 0), min(int(np.ceil(high / LAYER_M)), 64)
        bits = ((1 << last) - 1) ^ ((1 << first) - 1)
        free = (self.taken & np.uint64(bits)) == 0
        if free.all():
            return np.full(free.shape, np.inf)
        return np.asarray(distance_transform_edt(free) * CELL_M)


def columns_of(world: World, t: float, around: Iterable[Array], without: Iterable[str] = ()) -> Columns:
    """Columns of all meshes and objects of a world at a time, over their extent and the points (2,) around.

    Objects and meshes of the names in `without` are left out. Of a large scene it is what is near the points.
    """
    floor = 0.0 if world.floor is None else world.floor
    out = set(without)
    meshes = [mesh for name, mesh in world.static.items() if name not in out]
    meshes += [thing.mesh.moved(np.asarray(thing.path(t))) for name, thing in world.things.items() if name not in out]
    points = np.array([np.asarray(p, dtype=float)[:2] for p in around])
    corners = [points.min(axis=0), points.max(axis=0)]
    solid = [mesh for mesh in meshes if len(mesh.faces) and mesh.bounds[1, 2] > floor]
    corners += [corner[:2] for mesh in solid for corner in mesh.bounds]
    half = 0.5 * _MOST * CELL_M
    low = np.maximum(np.min(corners, axis=0) - _AROUND_M, points.mean(axis=0) - half)
    high = np.minimum(np.max(corners, axis=0) + _AROUND_M, points.mean(axis=0) + half)
    # cells of all scenes begin at whole multiples of their width, so that those of a mesh are the same in each
    origin = CELL_M * np.floor(low / CELL_M)
    nx, ny = np.maximum(np.ceil((high - origin) / CELL_M).astype(int), 1)
    taken = np.zeros((ny, nx), np.uint64)
    for mesh in solid:
        _add(taken, origin, *kept(mesh, ("columns", floor), partial(_of_mesh, mesh, floor)))
    return Columns(origin, floor, taken)


def _of_mesh(mesh: Mesh, floor: float) -> tuple[Array, NDArray[np.uint64]]:
    """Columns of one mesh, and where they begin."""
    low, high = mesh.bounds[:, :2]
    origin = CELL_M * np.floor(low / CELL_M)
    nx, ny = np.minimum(np.floor((high - origin) / CELL_M).astype(int) + 1, 4 * _MOST)
    taken = np.zeros((ny, nx), np.uint64)
    triangles = np.ascontiguousarray(mesh.vertices[mesh.faces], dtype=float)
    mark_columns(triangles, float(origin[0]), float(origin[1]), CELL_M, floor, LAYER_M, taken)
    return origin, taken


def _add(taken: NDArray[np.uint64], origin: Array, own: Array, columns: NDArray[np.uint64]) -> None:
    """Mark columns that begin elsewhere, as far as they lie within."""
    i, j = np.rint((own - origin) / CELL_M).astype(int)
    (ny, nx), (my, mx) = taken.shape, columns.shape
    a, b, c, d = max(j, 0), min(j + my, ny), max(i, 0), min(i + mx, nx)
    if a < b and c < d:
        taken[a:b, c:d] |= columns[a - j : b - j, c - i : d - i]
