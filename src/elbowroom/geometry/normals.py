"""Vertex normals: averages of face normals weighted by area, across seams, with or without creases."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array, normalize

# A vertex shared by more faces than this is the hub of a fan: pairing all its faces would cost too much.
_FAN = 64


def welded(vertices: Array, group: NDArray[np.int32] | None = None, tolerance: float = 1e-6) -> NDArray[np.intp]:
    """For each vertex the number of its place, (V,): vertices split along texture seams share one.

    Vertices of different `group` (V,) are never joined.
    """
    keys = np.round(np.asarray(vertices, dtype=float) / tolerance).astype(np.int64)
    if group is not None:
        keys = np.column_stack([keys, group])
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)


class SmoothNormals:
    """Normals of one mesh in many poses; the sums over faces are prepared once."""

    def __init__(self, faces: NDArray[np.int32], place: NDArray[np.intp]) -> None:
        """`place` (V,) numbers the places of vertices, from `welded`, or `arange` to keep all apart."""
        self._faces = faces
        count = int(place.max()) + 1 if len(place) else 0
        back = _backs(place[faces])
        only_back = np.zeros(len(place), dtype=bool)
        only_back[faces[back]] = True
        only_back[faces[~back]] = False
        self._place = place + count * only_back
        corners = (place[faces] + count * back[:, None]).reshape(-1)
        rows = np.repeat(np.arange(len(faces)), 3)
        ones = np.ones(len(corners), dtype=np.float32)
        self._sum = scipy.sparse.csr_matrix((ones, (corners, rows)), shape=(2 * count, len(faces)))

    def __call__(self, vertices: Array) -> Array:
        """Unit normals (V, 3) for vertices (V, 3) of the same mesh, posed."""
        a, b, c = (vertices[self._faces[:, k]] for k in range(3))
        return normalize(self._sum @ np.cross(b - a, c - a))[self._place]


def _backs(corners: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Faces, as places (F, 3), that are the back of another one: in the same three places, facing the other way.

    Hair and cloth are often made so; in one sum the two sides would cancel.
    """
    if not len(corners):
        return np.zeros(0, dtype=bool)
    a, b, c = corners.T.astype(np.int64)
    turns_right = np.sign(a - b) * np.sign(b - c) * np.sign(c - a) > 0
    _, first, same = np.unique(np.sort(corners, axis=1), axis=0, return_index=True, return_inverse=True)
    return turns_right != turns_right[first[same.reshape(-1)]]


def creased(vertices: Array, faces: NDArray[np.int32], crease: float = np.radians(40.0)) -> Array:
    """Normals for each corner of each face, (F, 3, 3): smooth, except across edges sharper than `crease`."""
    if not len(faces):
        return np.zeros((0, 3, 3))
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    unit = normalize(area)
    place = welded(vertices)[faces].reshape(-1)
    face = np.repeat(np.arange(len(faces)), 3)
    fan = np.bincount(place)[place] > _FAN
    few = np.flatnonzero(~fan)
    few = few[np.argsort(place[few], kind="stable")]  # corners place by place, each to be paired with all at its place
    _, first, count = np.unique(place[few], return_index=True, return_counts=True)
    row = np.repeat(few, np.repeat(count, count))
    within = np.arange(len(row)) - np.repeat(np.cumsum(count**2) - count**2, count**2)
    col = few[np.repeat(first, count**2) + within % np.repeat(count, count**2)]
    alike = np.einsum("ij,ij->i", unit[face[row]], unit[face[col]]) > np.cos(crease)
    row, col = row[alike], col[alike]
    normals = np.stack([np.bincount(row, area[face[col], k], len(place)) for k in range(3)], axis=1)
    normals[fan] = unit[face[fan]]
    return normalize(normals).reshape(-1, 3, 3)


def split_at_creases(mesh: Mesh) -> tuple[Mesh, Array]:
    """The same triangles with vertices doubled along sharp edges, and the normals (V, 3) of these vertices.

    Programs that average normals over shared vertices come to the same ones.
    """
    if not len(mesh.faces):
        return mesh, np.zeros_like(mesh.vertices)
    seams = None
    if mesh.paint is not None:
        seams = mesh.paint.seams.astype(np.int32)
    elif mesh.colors is not None:
        seams = np.unique(mesh.colors, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)
    use, faces, normals = split_corners(mesh.vertices, mesh.faces, welded(mesh.vertices, seams))
    return mesh.taken(use, faces), normals


def split_corners(
    vertices: Array, faces: NDArray[np.int32], place: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.int32], Array]:
    """Vertices to use, some of them more than once (V',), faces (F, 3) along these, their normals (V', 3).

    `place` (V,) numbers vertices that count as one, from `welded`; without it all are kept apart.
    """
    normals = creased(vertices, faces).reshape(-1, 3)
    corners = faces.reshape(-1)
    at = (corners if place is None else place[corners]).astype(np.int64)
    x, y, z = np.round(normals.T * 1e3).astype(np.int64) + 1024  # eleven bits each
    _, first, index = np.unique((at << 33) | (x << 22) | (y << 11) | z, return_index=True, return_inverse=True)
    return corners[first].astype(np.intp), index.reshape(-1, 3).astype(np.int32), normals[first]
