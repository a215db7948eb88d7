"""Which parts of a mesh are solids: connected, closed, and turned the same way all over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from elbowroom.geometry.mesh import Mesh


def solid_faces(mesh: Mesh) -> NDArray[np.bool_]:
    """Faces (F,) that belong to a watertight component; every edge of one is used once in each direction.

    Vertices at the same place count as one (files split them for normals and colours). Degenerate faces belong to
    nothing and do not spoil their neighbours.
    """
    if not len(mesh.faces):
        return np.zeros(0, dtype=bool)
    same = _places(np.round(mesh.vertices, 7) + 0.0)
    faces = same[mesh.faces]
    real = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    index = np.flatnonzero(real)
    solid = np.zeros(len(faces), dtype=bool)
    if not len(index):
        return solid
    f = faces[index].astype(np.int64)
    tail = f.ravel()
    head = np.roll(f, -1, axis=1).ravel()
    face = np.repeat(np.arange(len(f)), 3)
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    count = int(same.max()) + 1
    _, edge, uses = np.unique(low * count + high, return_inverse=True, return_counts=True)
    turn = np.bincount(edge, np.where(tail < head, 1.0, -1.0))
    good = (uses % 2 == 0) & (turn == 0)
    n = len(f)
    touch = coo_matrix((np.ones(len(face)), (face, n + edge)), shape=(n + len(uses), n + len(uses)))
    _, label = connected_components(touch, directed=False)
    spoiled = np.unique(label[n:][~good])
    solid[index] = ~np.isin(label[:n], spoiled)
    return solid


def _places(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number (N,) of the place that each point (N, 3) is at."""
    order = np.lexsort(points.T)
    ranked = points[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any(ranked[1:] != ranked[:-1], axis=1)
    same = np.empty(len(order), dtype=np.int64)
    same[order] = np.cumsum(new) - 1
    return same
