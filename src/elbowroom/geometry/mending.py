"""Meshes as files bring them, made fit for collision: nothing degenerate, nothing twice, closed parts turned alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Mesh

# Metres: vertices nearer than this are the same place; files split them for normals and colours.
WELD = 1e-7

# Square metres, relative to the square of a triangle's longest side: flatter ones have no area to speak of.
_SLIVER = 1e-12


def mended(mesh: Mesh, name: str = "mesh") -> Mesh:
    """The same surface, with vertices at one place merged and each real triangle once.

    Triangles without area and second copies of a triangle, whichever way they are turned, are dropped, and so are
    vertices that no triangle uses. Where every edge joins two triangles, neighbours are turned alike. Vertices that
    are not finite raise `BadValue` with the mesh's name.
    """
    vertices, faces = mesh.vertices, mesh.faces
    if not len(faces):
        return Mesh(np.zeros((0, 3)), np.zeros((0, 3), np.int32), mesh.color)
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise BadValue(f"mesh '{name}' has triangles with vertices that do not exist.")
    used = np.unique(faces)
    bad = int(np.sum(~np.isfinite(vertices[used]).all(axis=1)))
    if bad:
        raise BadValue(f"mesh '{name}' has {bad} vertices that are not finite; repair or leave out the mesh.")
    cells, first, same = np.unique(np.round(vertices[used] / WELD), axis=0, return_index=True, return_inverse=True)
    welded = np.zeros(len(vertices), dtype=np.int64)
    welded[used] = same.reshape(-1)
    points = vertices[used][first]
    f = welded[faces]
    corners = points[f]
    sides = np.roll(corners, -1, axis=1) - corners
    longest = np.max(np.sum(sides**2, axis=-1), axis=-1)
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=-1)
    f = f[area > np.maximum(_SLIVER * longest, 0.0)]
    _, once = np.unique(np.sort(f, axis=1), axis=0, return_index=True)
    f = _turned_alike(f[np.sort(once)])
    kept, f = np.unique(f, return_inverse=True)
    return Mesh(points[kept], f.reshape(-1, 3), mesh.color)


def components(faces: NDArray) -> NDArray[np.int32]:
    """Label (F,) of the connected part that each face belongs to; faces are connected where they share a vertex."""
    if not len(faces):
        return np.zeros(0, np.int32)
    count, n = len(faces), int(faces.max()) + 1
    face = np.repeat(np.arange(count), 3)
    graph = coo_matrix((np.ones(3 * count), (face, count + faces.ravel())), shape=(count + n, count + n))
    _, label = connected_components(graph, directed=False)
    _, dense = np.unique(label[:count], return_inverse=True)
    return dense.reshape(-1).astype(np.int32)


def _turned_alike(faces: NDArray) -> NDArray:
    """Faces (F, 3), some flipped so that neighbours across edges of two triangles agree where that can be.

    Every face stands twice in a graph, as it is and flipped; an edge joins what goes together. A part that meets its
    own flipped side (a Möbius strip) is left as it was.
    """
    n = len(faces)
    if not n:
        return faces
    tail, head = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    face = np.repeat(np.arange(n), 3)
    key = np.minimum(tail, head) * (int(faces.max()) + 1) + np.maximum(tail, head)
    order = np.argsort(key, kind="stable")
    _, start, uses = np.unique(key[order], return_index=True, return_counts=True)
    pairs = start[uses == 2]
    one, two = order[pairs], order[pairs + 1]
    agree = (tail[one] < head[one]) != (tail[two] < head[two])
    if agree.all():
        return faces
    a, b = face[one], face[two]
    rows = np.concatenate([a, a + n])
    columns = np.concatenate([np.where(agree, b, b + n), np.where(agree, b + n, b)])
    graph = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(2 * n, 2 * n))
    _, label = connected_components(graph, directed=False)
    flip = label[n:] < label[:n]
    out = faces.copy()
    out[flip] = out[flip][:, ::-1]
    return out
