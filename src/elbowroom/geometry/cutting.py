"""Meshes cut open by a plane, so that what is behind them is seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array

Indices = NDArray[np.integer]


def cut_open(mesh: Mesh, normal: Array, limit: float, foot: float = -np.inf) -> Mesh:
    """The part of a mesh with `normal` (3,) · p ≤ `limit`; triangles wholly below the height `foot` stay whole."""
    side = mesh.vertices @ normal - limit
    beyond = side[mesh.faces] > 0.0
    count = np.where(mesh.vertices[mesh.faces, 2].max(axis=1) < foot, 0, beyond.sum(axis=1))
    if not count.any():
        return mesh
    # triangles that the plane goes through, the corner that is alone on its side first
    one = _led(mesh.faces[count == 2], np.argmin(beyond[count == 2], axis=1))
    two = _led(mesh.faces[count == 1], np.argmax(beyond[count == 1], axis=1))
    rows = mesh.vertices if mesh.colors is None else np.concatenate([mesh.vertices, mesh.colors], axis=1)
    tips = [rows[one[:, 0]], _between(rows, side, one, 1), _between(rows, side, one, 2)]
    first, last = _between(rows, side, two, 1), _between(rows, side, two, 2)
    quads = [[first, rows[two[:, 1]], rows[two[:, 2]]], [first, rows[two[:, 2]], last]]
    new = np.concatenate([np.stack(corners, axis=1) for corners in (tips, *quads)]).reshape(-1, rows.shape[1])
    faces = np.concatenate([mesh.faces[count == 0], len(rows) + np.arange(len(new)).reshape(-1, 3)])
    every = np.concatenate([rows, new])
    return Mesh(every[:, :3], faces, mesh.color, None if mesh.colors is None else every[:, 3:])


def _led(faces: Indices, first: Indices) -> Indices:
    """Triangles (F, 3) turned so that corner number `first` (F,) leads."""
    return np.take_along_axis(faces, (first[:, None] + np.arange(3)) % 3, axis=1)


def _between(rows: Array, side: Array, faces: Indices, other: int) -> Array:
    """Intersections of the plane with the edges from the leading corner of each triangle to another, (F, C)."""
    a, b = faces[:, 0], faces[:, other]
    s = (side[a] / (side[a] - side[b]))[:, None]
    return np.asarray(rows[a] + s * (rows[b] - rows[a]))
