"""Signed distances with gradients on grids that are measured where they are asked.

Space around meshes is cut into blocks of 8 x 8 x 8 cells. A block is measured when the first point in it is asked for:
exact distances at its corners, negative inside of solids, blended in between. The gradient is that of the blend, so
inside of a solid it leads out of it, and slopes agree with the distances to the last digit.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner
from elbowroom.kernels.fields import Room, winding
from elbowroom.kernels.triangles import Tree, box_distance, nearest

Array = NDArray[np.float64]

# Cells along the edge of a block, and corners.
CELLS = 8
CORNERS = CELLS + 1
# Distances beyond this are all the same, metres: nothing is to be done about what is so far away.
FAR_M = 0.3
# States of a block.
UNKNOWN, FAR, MEASURED = 0, 1, 2


class Grids(NamedTuple):
    """Grids over meshes, each grid in a frame of its own.

    tree, root (F,), solids, solid_root (F,): triangles of all meshes and of those that are closed, -1 where none is;
    mesh (G + 1,): first mesh of each grid. origin (G, 3), cell (G,): low corner and edge of a cell, metres; shape
    (G, 3): blocks along each axis; first (G,): first block. state (B,), corner (B, 729): distances once measured.
    """

    tree: Tree
    root: NDArray[np.int64]
    solids: Tree
    solid_root: NDArray[np.int64]
    mesh: NDArray[np.int64]
    origin: Array
    cell: Array
    shape: NDArray[np.int64]
    first: NDArray[np.int64]
    state: NDArray[np.uint8]
    corner: NDArray[np.float32]


@nb.njit(cache=True, nogil=True)
def _measure(grids, g, block, i0, j0, k0, room):
    """Measure a block: distances to the nearest mesh at its corners, negative inside of solids."""
    cell = grids.cell[g]
    edge = CELLS * cell
    ox = grids.origin[g, 0] + i0 * edge
    oy = grids.origin[g, 1] + j0 * edge
    oz = grids.origin[g, 2] + k0 * edge
    reach = 0.5 * np.sqrt(3.0) * edge + FAR_M
    cx, cy, cz = ox + 0.5 * edge, oy + 0.5 * edge, oz + 0.5 * edge
    out = grids.corner[block]
    state = FAR
    for f in range(grids.mesh[g], grids.mesh[g + 1]):
        root, solid = grids.root[f], grids.solid_root[f]
        if box_distance(grids.tree.boxes, root, cx, cy, cz) > reach * reach:
            continue
        _, who = nearest(grids.tree, root, cx, cy, cz, reach * reach, 0.0, room.nodes, room.bounds)
        if who < 0 and (solid < 0 or winding(grids.solids, solid, cx, cy, cz, room.nodes) == 0):
            continue
        if state == FAR:
            out[:] = FAR_M
            state = MEASURED
        was, near = False, -np.inf
        for n in range(CORNERS**3):
            i, jj, kk = n // CORNERS**2, (n // CORNERS) % CORNERS, n % CORNERS
            # corners are visited so that each is next to the one before
            j = jj if i % 2 == 0 else CELLS - jj
            k = kk if (i * CORNERS + jj) % 2 == 0 else CELLS - kk
            x, y, z = ox + i * cell, oy + j * cell, oz + k * cell
            best, _ = nearest(grids.tree, root, x, y, z, np.inf, 0.0, room.nodes, room.bounds)
            here = np.sqrt(best)
            # nothing lies between two points whose distances add up to more than what is between them
            if solid >= 0 and near + here <= cell * 1.0001:
                was = winding(grids.solids, solid, x, y, z, room.nodes) != 0
            near = here
            at = (i * CORNERS + j) * CORNERS + k
            out[at] = min(out[at], -here if was else here)
    grids.state[block] = state


@inner()
def signed(grids, g, x, y, z, room):
    """Distance of a point to the meshes of a grid, and its gradient (d, gx, gy, gz), in the grid's frame."""
    edge = CELLS * grids.cell[g]
    u, v, w = (x - grids.origin[g, 0]) / edge, (y - grids.origin[g, 1]) / edge, (z - grids.origin[g, 2]) / edge
    nx, ny, nz = grids.shape[g, 0], grids.shape[g, 1], grids.shape[g, 2]
    if not (u >= 0.0 and v >= 0.0 and w >= 0.0 and u < nx and v < ny and w < nz):
        return FAR_M, 0.0, 0.0, 0.0
    i, j, k = int(u), int(v), int(w)
    block = grids.first[g] + (i * ny + j) * nz + k
    if grids.state[block] == UNKNOWN:
        _measure(grids, g, block, i, j, k, room)
    if grids.state[block] == FAR:
        return FAR_M, 0.0, 0.0, 0.0
    u, v, w = (u - i) * CELLS, (v - j) * CELLS, (w - k) * CELLS
    a, b, c = min(int(u), CELLS - 1), min(int(v), CELLS - 1), min(int(w), CELLS - 1)
    u, v, w = u - a, v - b, w - c
    o = (a * CORNERS + b) * CORNERS + c
    at = grids.corner[block]
    p = o + CORNERS * CORNERS
    x00, x01 = at[o] + (at[p] - at[o]) * u, at[o + 1] + (at[p + 1] - at[o + 1]) * u
    x10 = at[o + CORNERS] + (at[p + CORNERS] - at[o + CORNERS]) * u
    x11 = at[o + CORNERS + 1] + (at[p + CORNERS + 1] - at[o + CORNERS + 1]) * u
    y0, y1 = x00 + (x10 - x00) * v, x01 + (x11 - x01) * v
    near = (at[p] - at[o]) * (1 - v) + (at[p + CORNERS] - at[o + CORNERS]) * v
    far = (at[p + 1] - at[o + 1]) * (1 - v) + (at[p + CORNERS + 1] - at[o + CORNERS + 1]) * v
    cell = grids.cell[g]
    gx = (near * (1 - w) + far * w) / cell
    gy = ((x10 - x00) * (1 - w) + (x11 - x01) * w) / cell
    return y0 + (y1 - y0) * w, gx, gy, (y1 - y0) / cell


@nb.njit(cache=True, nogil=True)
def signed_distances(grids, g, points, room, out):
    """Distances and gradients (N, 4) of points (N, 3) in the frame of a grid."""
    for n in range(len(points)):
        d, gx, gy, gz = signed(grids, g, points[n, 0], points[n, 1], points[n, 2], room)
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = d, gx, gy, gz


__all__ = ["CELLS", "FAR_M", "Grids", "Room", "signed", "signed_distances"]
