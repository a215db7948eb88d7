"""Cleanup of imported meshes for collision checks: no duplicates, consistent orientation of closed parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from elbowroom.errors import BadValue
from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solidity import Edges, shell_signs
from elbowroom.geometry.stitching import stitched
from elbowroom.kernels.insides import contained
from elbowroom.kernels.triangles import tree_of

# Metres: vertices nearer than this are the same place; files split them for normals and colours.
WELD = 1e-7

# Large odd numbers that spread small ones over all 64 bits.
_MIX = (0x1E3779B97F4A7C15, 0x3F58476D1CE4E5B9, 0x14D049BB133111EB)

# Height of a triangle in shares of its longest side: flatter ones have no area to speak of.
_SLIVER = 1e-9


def cleaned(mesh: Mesh, name: str = "mesh") -> Mesh:
    """Mesh of `cleaned_solids`: the same surface, prepared for collision checks."""
    return cleaned_solids(mesh, name)[0]


def cleaned_solids(mesh: Mesh, name: str = "mesh") -> tuple[Mesh, NDArray[np.bool_]]:
    """Clean a mesh: duplicate vertices merged, cracks closed, and each triangle once.

    Triangles that shrink to an edge or a point and second copies of a triangle, be they turned over, are dropped, and
    so are vertices that no triangle uses. Where an edge joins two triangles, they are turned alike; closed shells are
    turned outwards, but for cavities. Slivers stay, since closed surfaces may need them: see `has_area`. Vertices that
    are not finite raise `BadValue` with the mesh's name. Comes with which faces (F,) bound solids, as `solid_faces`
    finds them. The result is cached with the mesh.
    """
    return kept(mesh, "cleaned", lambda: _cleaned_solids(mesh, name))


def _cleaned_solids(mesh: Mesh, name: str) -> tuple[Mesh, NDArray[np.bool_]]:
    check_finite(mesh, name)
    if not len(mesh.faces):
        return Mesh(np.zeros((0, 3)), np.zeros((0, 3), np.int32), mesh.color), np.zeros(0, dtype=bool)
    points, faces = stitched(*_welded(mesh))
    faces = _once(faces)
    faces, solid = _shells_turned(points, faces, _turned_alike(faces))
    faces = _outward(points, faces, solid)
    used = np.zeros(len(points), dtype=bool)
    used[faces] = True
    return Mesh(points[used], (np.cumsum(used) - 1)[faces], mesh.color), solid


def check_finite(mesh: Mesh, name: str) -> None:
    """Raise `BadValue` with the mesh's name where triangles use vertices that are not finite or do not exist."""
    if not len(mesh.faces):
        return
    if mesh.faces.min() < 0 or mesh.faces.max() >= len(mesh.vertices):
        raise BadValue(f"mesh '{name}' has triangles with vertices that do not exist.")
    bad = ~np.all(np.isfinite(mesh.vertices), axis=1, keepdims=True)[:, 0]
    if bad.any() and bad[mesh.faces].any():
        count = len(np.intersect1d(np.flatnonzero(bad), mesh.faces))
        raise BadValue(f"mesh '{name}' has {count} vertices that are not finite: repair it or leave it out.")


def has_area(vertices: Array, faces: NDArray) -> NDArray[np.bool_]:
    """Which faces (F,) are more than a line."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    b, c = b - a, c - a
    longest = np.maximum(np.einsum("ij,ij->i", b, b), np.einsum("ij,ij->i", c, c))
    return np.linalg.norm(np.cross(b, c), axis=-1) > _SLIVER * longest


def components(faces: NDArray) -> NDArray[np.int32]:
    """Label (F,) of the connected part that each face belongs to; faces are connected where they share a vertex."""
    if not len(faces):
        return np.zeros(0, np.int32)
    a, b = faces[:, [0, 0]].ravel(), faces[:, [1, 2]].ravel()
    n = int(faces.max()) + 1
    _, label = connected_components(coo_matrix((np.ones(len(a), np.int8), (a, b)), shape=(n, n)), directed=False)
    _, dense = np.unique(label[faces[:, 0]], return_inverse=True)
    return dense.reshape(-1).astype(np.int32)


def _welded(mesh: Mesh) -> tuple[Array, NDArray]:
    """Vertices, each place once, and faces of three different ones."""
    faces = mesh.faces.astype(np.int64)
    cells = np.round(mesh.vertices / WELD)
    order = np.lexsort(cells.T)
    ranked = cells[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any(ranked[1:] != ranked[:-1], axis=1)
    same = np.empty(len(order), dtype=np.int64)
    same[order] = np.cumsum(new) - 1
    faces = same[faces]
    real = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return mesh.vertices[order[new]], faces[real]


def _once(faces: NDArray) -> NDArray:
    """Faces without later copies, be they turned over."""
    rows = np.sort(faces, axis=1)
    # one number for each triangle that sorts faster than three; where two agree by chance, all three are compared
    key = (rows[:, 0] * _MIX[0] + rows[:, 1] * _MIX[1]) ^ (rows[:, 2] * _MIX[2])
    ranked = np.sort(key)
    if np.all(ranked[1:] != ranked[:-1]):
        return faces
    order = np.lexsort(rows.T)
    ranked = rows[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any(ranked[1:] != ranked[:-1], axis=1)
    return faces if new.all() else faces[np.sort(order[new])]


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
    order = np.argsort(key)
    start = np.flatnonzero(np.diff(key[order], prepend=-1))
    pairs = start[np.diff(start, append=len(key)) == 2]
    one, two = order[pairs], order[pairs + 1]
    agree = (tail[one] < head[one]) != (tail[two] < head[two])
    if agree.all():
        return faces
    a, b = face[one], face[two]
    rows = np.concatenate([a, a + n])
    columns = np.concatenate([np.where(agree, b, b + n), np.where(agree, b + n, b)])
    graph = coo_matrix((np.ones(len(rows), np.int8), (rows, columns)), shape=(2 * n, 2 * n))
    _, label = connected_components(graph, directed=False)
    flip = label[n:] < label[:n]
    out = faces.copy()
    out[flip] = out[flip][:, ::-1]
    return out


def _shells_turned(points: Array, faces: NDArray, turned: NDArray) -> tuple[NDArray, NDArray[np.bool_]]:
    """`turned` (F, 3) with the shells of parts that are not simply closed turned as most of their area is in `faces`.

    Comes with which faces (F,) bound solids.
    """
    solid = Edges(turned).simple
    rest = np.flatnonzero(~solid)
    signs = shell_signs(points, faces[rest])
    rest, signs = rest[signs != 0], signs[signs != 0]
    if not len(rest):
        return turned, solid
    part = Edges(faces[rest]).part
    a, b, c = np.moveaxis(points[faces[rest]], 1, 0)
    look = np.bincount(part, signs * np.linalg.norm(np.cross(b - a, c - a), axis=1))
    wrong = signs != np.where(look[part] < 0.0, -1, 1)
    out, solid = turned.copy(), solid.copy()
    out[rest] = np.where(wrong[:, None], faces[rest][:, ::-1], faces[rest])
    solid[rest] = True
    return out, solid


def _outward(points: Array, faces: NDArray, bounds_solid: NDArray[np.bool_]) -> NDArray:
    """Faces, of which closed shells (F,) look outwards; those that lie in another shell and look inwards are cavities.

    Shells that overlap and are turned differently would cancel each other, and their common inside count as free.
    """
    solid = np.flatnonzero(bounds_solid)
    if not len(solid):
        return faces
    part = Edges(faces[solid]).part
    corners = points[faces[solid]]
    a, b, c = np.moveaxis(corners - corners.mean(axis=(0, 1)), 1, 0)
    inwards = np.bincount(part, np.einsum("ij,ij->i", a, np.cross(b, c))) < 0.0
    if not inwards.any():
        return faces
    if not inwards.all():
        within = contained(tree_of(corners[~inwards[part]]), corners[inwards[part]].reshape(-1, 3))
        lone = np.zeros(len(inwards), dtype=bool)
        lone[np.repeat(part[inwards[part]], 3)[~within]] = True
        inwards = lone
    out = faces.copy()
    flip = solid[inwards[part]]
    out[flip] = out[flip][:, ::-1]
    return out
