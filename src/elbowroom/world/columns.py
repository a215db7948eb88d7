"""Columns of a scene over a grid on the floor: which heights are taken, where people want to walk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.kernels.columns import above_ground, mark_columns, reached_ground
from elbowroom.world.world import World

# Metres: width of a cell and height of a layer; a column has 64 layers.
CELL_M, LAYER_M = 0.05, 0.04
# Metres of the highest step, and in layers with what rounding adds to it.
STEP_M = 0.2
_STEP = round(STEP_M / LAYER_M) + 1
# Layers that are free above ground, and cells of a side that one can stand on.
_HEAD, _WIDE = 30, 4
# Columns that stand on each other where a person climbs, 2.56 m each.
_STOREYS = 3
# Metres of open floor around all that is there.
_AROUND_M = 1.5
# Square metres at most; larger scenes are cut to what is near the places that are asked for.
_MOST_M2 = 6400.0
# Cells of a side of one mesh at most.
_MOST_CELLS = 6400


@dataclass(frozen=True, eq=False)
class Columns:
    """Layers that are taken, (ny, nx) of 64 bits each; cell (0, 0) begins at `origin` (2,), layers at the ground."""

    origin: Array
    floor: float
    taken: NDArray[np.uint64]
    ground: Array | None = None  # (ny, nx): heights above the floor from which layers count, where some are climbed

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

    def joined(self, start: Array, goal: Array, reach: float, about: float) -> bool:
        """Return whether air leads from a point (3,) to within `about` metres of another, never farther than `reach`
        metres from the first: through holes that are wider than two cells, at least."""
        count = int(np.ceil(reach / CELL_M))
        j, i = self.cell(start)
        rows, columns = (
            np.arange(max(k - count, 0), min(k + count + 1, n)) for k, n in zip((j, i), self.taken.shape, strict=True)
        )
        bits = (self.taken[np.ix_(rows, columns)][..., None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        x, y = self.origin[0] + CELL_M * (columns + 0.5), self.origin[1] + CELL_M * (rows + 0.5)
        z = self.floor + LAYER_M * (np.arange(64) + 0.5)
        places = np.stack(np.meshgrid(y, x, z, indexing="ij"), axis=-1)[..., [1, 0, 2]]
        far = np.linalg.norm(places - start, axis=-1)
        parts, _ = scipy.ndimage.label((bits == 0) & (far <= reach))
        ends = [set(parts[np.linalg.norm(places - p, axis=-1) <= about].tolist()) - {0} for p in (start, goal)]
        return bool(ends[0] & ends[1])

    def in_view(self, start: Array, goal: Array, about: float) -> bool:
        """Return whether nothing is on the straight line from a point (3,) to within `about` metres of another."""
        way = np.asarray(goal) - start
        length = float(np.linalg.norm(way))
        shares = np.arange(0.0, max(length - about, 0.0), 0.5 * min(CELL_M, LAYER_M)) / max(length, 1e-9)
        for x, y, z in start + shares[:, None] * way:
            layer = int((z - self.floor) / LAYER_M)
            if 0 <= layer < 64 and (int(self.taken[self.cell(np.array([x, y]))]) >> layer) & 1:
                return False
        return True

    def with_disc(self, centre: Array, radius: float) -> Columns:
        """The columns with all heights taken around a point (2,), metres."""
        return replace(self, taken=np.where(self.within(centre, radius), ~np.uint64(0), self.taken))

    def with_mesh(self, mesh: Mesh) -> Columns:
        """The columns with the layers of another mesh taken, above the floor."""
        return replace(self, taken=self.taken | _marked([mesh], self.origin, self.taken.shape, self.floor))

    def room(self, low: float, high: float) -> Array:
        """Distance (ny, nx) of each cell to the nearest one that is taken between two heights above the floor, metres.

        It is 0 where the cell itself is taken.
        """
        free = self._free(low, high)
        if free.all():
            return np.full(free.shape, np.inf)
        return np.asarray(scipy.ndimage.distance_transform_edt(free) * CELL_M)

    def ceiling(self, low: float, high: float) -> Array:
        """Height (ny, nx) of the lowest layer that is taken between two heights above the floor, metres, inf where none
        is."""
        out = np.full(self.taken.shape, np.inf)
        for layer in reversed(range(max(int(low / LAYER_M), 0), min(int(np.ceil(high / LAYER_M)), 64))):
            out[(self.taken & np.uint64(1 << layer)) != 0] = LAYER_M * layer
        return out

    def depth(self, low: float, high: float) -> Array:
        """Distance (ny, nx) of each cell to the nearest one that is free between two heights, metres; 0 where it is."""
        return np.asarray(scipy.ndimage.distance_transform_edt(~self._free(low, high)) * CELL_M)

    def _free(self, low: float, high: float) -> NDArray[np.bool_]:
        """Cells (ny, nx) in which nothing is taken between two heights above the ground, metres."""
        first, last = max(int(low / LAYER_M), 0), min(int(np.ceil(high / LAYER_M)), 64)
        bits = ((1 << last) - 1) ^ ((1 << first) - 1)
        return (self.taken & np.uint64(bits)) == 0


def columns_of(
    world: World, t: float, around: Iterable[Array], without: Iterable[str] = (), climbing: float | None = None
) -> Columns:
    """Columns of all meshes and objects of a world at a time, over their extent and the points (2,) around.

    Objects and meshes of the names in `without` are left out. Of a large scene it is what is near the points, and
    `BadValue` is raised where these are too far apart for a map of their surroundings. With `climbing`, the height
    above the floor at the first of the points, the ground is what is reached from there by steps of at most `STEP_M`
    over meshes that do not move: stairs, ramps, landings.
    """
    floor = 0.0 if world.floor is None else world.floor
    out = set(without)
    fixed = [mesh for name, mesh in world.static.items() if name not in out]
    moved = [thing.mesh.moved(np.asarray(thing.path(t))) for name, thing in world.things.items() if name not in out]
    fixed, moved = ([m for m in meshes if len(m.faces) and m.bounds[1, 2] > floor] for meshes in (fixed, moved))
    points = np.array([np.asarray(p, dtype=float)[:2] for p in around])
    corners = [points.min(axis=0), points.max(axis=0)]
    corners += [corner[:2] for mesh in (*fixed, *moved) for corner in mesh.bounds]
    low, high = _cut(np.min(corners, axis=0) - _AROUND_M, np.max(corners, axis=0) + _AROUND_M, points)
    # cells of all scenes begin at whole multiples of their width, so that those of a mesh are the same in each
    origin = CELL_M * np.floor(low / CELL_M)
    nx, ny = np.maximum(np.ceil((high - origin) / CELL_M).astype(int), 1)
    shape = (int(ny), int(nx))
    if climbing is None:
        return Columns(origin, floor, _marked([*fixed, *moved], origin, shape, floor))
    floors = [floor + 64 * LAYER_M * k for k in range(_STOREYS)]
    words = np.stack([_marked(fixed, origin, shape, z) for z in floors])
    here = np.array(Columns(origin, floor, words[0]).cell(points[0]))
    level, ledge = _ground(reached_ground(words, here, round(climbing / LAYER_M), _STEP, _HEAD))
    all_ = words | np.stack([_marked(moved, origin, shape, z) for z in floors])
    taken = np.zeros(shape, np.uint64)
    above_ground(all_, level, taken)
    return Columns(origin, floor, np.where(ledge, ~np.uint64(0), taken), LAYER_M * level.astype(float))


def _cut(low: Array, high: Array, points: Array) -> tuple[Array, Array]:
    """Corners (2,) of what is kept of a scene between two corners (2,): as much around points (N, 2) on each side."""
    if np.prod(high - low) <= _MOST_M2:
        return low, high
    first, last = points.min(axis=0), points.max(axis=0)
    wide, deep = last - first
    # the solution of (wide + 2 around) (deep + 2 around) = _MOST_M2
    around = 0.25 * (np.sqrt((wide - deep) ** 2 + 4.0 * _MOST_M2) - wide - deep)
    if around < _AROUND_M:
        raise BadValue(
            f"places {wide:.0f} m by {deep:.0f} m apart are too far for one walk; walks are planned on maps of up to "
            f"{_MOST_M2:.0f} m², so go to a place between them first."
        )
    return np.maximum(low, first - around), np.minimum(high, last + around)


def _ground(level: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Layers (ny, nx) of the ground from those that are reached, -1 where none is, and cells at which one would fall.

    What is too small to stand on is none; where there is no ground it is that of the nearest cell that has.
    """
    wide = np.zeros(level.shape, bool)
    for layer in np.unique(level[level >= 0]):
        wide |= scipy.ndimage.binary_opening(np.abs(level - layer) <= 1, np.ones((_WIDE, _WIDE))) & (level == layer)
    # an opening loses cells at the rim of the grid
    wide |= level == 0
    at = scipy.ndimage.distance_transform_edt(~wide, return_distances=False, return_indices=True)
    filled = level[at[0], at[1]]
    ledge = np.zeros(level.shape, bool)
    for axis in (0, 1):
        falls = np.abs(np.diff(filled, axis=axis)) > _STEP
        ledge |= np.pad(falls, [(0, 1) if k == axis else (0, 0) for k in (0, 1)])
        ledge |= np.pad(falls, [(1, 0) if k == axis else (0, 0) for k in (0, 1)])
    return filled, ledge


def _marked(meshes: list[Mesh], origin: Array, shape: tuple[int, int], floor: float) -> NDArray[np.uint64]:
    """Layers (ny, nx) above a floor that meshes take."""
    taken = np.zeros(shape, np.uint64)
    for mesh in meshes:
        _add(taken, origin, *kept(mesh, ("columns", floor), partial(_of_mesh, mesh, floor)))
    return taken


def _of_mesh(mesh: Mesh, floor: float) -> tuple[Array, NDArray[np.uint64]]:
    """Columns of one mesh, and where they begin."""
    low, high = mesh.bounds[:, :2]
    origin = CELL_M * np.floor(low / CELL_M)
    # a wall on a border may be rounded to lie before the first cell
    nx, ny = np.clip(np.floor((high - origin) / CELL_M).astype(int) + 1, 1, _MOST_CELLS)
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
