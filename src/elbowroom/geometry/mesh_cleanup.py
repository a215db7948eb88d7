"""Cleanup of imported meshes for collision checks: no duplicates, consistent orientation of closed parts.

Cracks are closed: open edges that lie on each other but for rounding become one. Files in single precision hold a place
100 m from their origin to 8 µm; parts that were computed apart agree no better.
A shell with such a crack would count as open, and a body inside it as free.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solidity import Edges, shell_signs
from elbowroom.kernels.connected import connected
from elbowroom.kernels.insides import contained
from elbowroom.kernels.triangles import tree_of

# Metres: the widest crack that is closed, see above; no vertex is moved farther.
CRACK_M = 1e-5

# A triangle is cut along one edge in each round: one for each of its edges, and one for what those leave.
_ROUNDS = 4

# Pairs of an edge and a vertex near it that are checked in one go.
_AT_ONCE = 2_000_000


def stitched(points: Array, faces: NDArray) -> tuple[Array, NDArray]:
    """Vertices (V, 3) and faces (F, 3) with vertices of open edges merged where they are within `CRACK_M`.

    Where such a vertex lies on an open edge, between its ends (a T-junction), the edge's triangle is cut there. All
    else stays as it is. Triangles that shrink to an edge are dropped.
    """
    if not len(faces):
        return points, faces
    rim = _open_edges(faces)
    if not len(rim[0]):
        return points, faces
    corners = np.unique(rim[0])
    pairs = scipy.spatial.cKDTree(points[corners]).query_pairs(CRACK_M, output_type="ndarray")
    if len(pairs):
        goes_to = np.arange(len(points))
        np.minimum.at(goes_to, corners[pairs.max(axis=1)], corners[pairs.min(axis=1)])
        stays = goes_to[goes_to] == goes_to  # each vertex moves once: a row of near ones does not shrink to a point
        faces = np.where(stays, goes_to, np.arange(len(points)))[faces]
        faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    for _ in range(_ROUNDS):
        cut = _cut_once(points, faces)
        if len(cut) == len(faces):
            break
        faces = cut
    return points, faces


def _open_edges(faces: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Edges (E, 2) of one triangle alone, that triangle's number (E,), and its third vertex (E,)."""
    edges = Edges(faces)
    side = np.flatnonzero(edges.uses[edges.edge] == 1)
    face, k = side // 3, side % 3
    ends = np.stack([faces[face, k], faces[face, (k + 1) % 3]], axis=1)
    return ends, face, faces[face, (k + 2) % 3]


def _cut_once(points: Array, faces: NDArray) -> NDArray:
    """Faces, of which those with vertices of other open edges on their own open edge are cut there.

    Each triangle is cut along one edge; if another is to be cut, that is for the next round.
    """
    ends, face, third = _open_edges(faces)
    if not len(ends):
        return faces
    on_edge, vertex, share = _on_edges(points, ends)
    other = vertex != third[on_edge]  # a sliver's own corner cuts nothing
    on_edge, vertex, share = on_edge[other], vertex[other], share[other]
    has_cut = np.zeros(len(ends), dtype=bool)
    has_cut[on_edge] = True
    # of a triangle's open edges the first that has something to cut
    order = np.lexsort((~has_cut, face))
    chosen = np.zeros(len(ends), dtype=bool)
    chosen[order[np.append(True, face[order][1:] != face[order][:-1])]] = True
    use = chosen[on_edge]
    on_edge, vertex, share = on_edge[use], vertex[use], share[use]
    if not len(on_edge):
        return faces
    order = np.lexsort((share, on_edge))
    on_edge, vertex = on_edge[order], vertex[order]
    begins = np.append(True, on_edge[1:] != on_edge[:-1])
    closes = np.append(begins[1:], True)
    before = np.where(begins, ends[on_edge, 0], np.roll(vertex, 1))
    pieces = np.stack([before, vertex, third[on_edge]], axis=1)
    tails = np.stack([vertex, ends[on_edge, 1], third[on_edge]], axis=1)[closes]
    keep = np.ones(len(faces), dtype=bool)
    keep[face[on_edge]] = False
    return np.concatenate([faces[keep], pieces, tails])


def _on_edges(points: Array, ends: NDArray) -> tuple[NDArray, NDArray, Array]:
    """Edge (N,), vertex (N,) and place (N,) from 0 to 1 of each end of an open edge that lies on another one."""
    a, b = points[ends[:, 0]], points[ends[:, 1]]
    length = np.linalg.norm(b - a, axis=1)
    corners = np.unique(ends)
    tree = scipy.spatial.cKDTree(points[corners])
    counts = tree.query_ball_point(0.5 * (a + b), 0.5 * length + CRACK_M, return_length=True)
    found: list[tuple[NDArray, NDArray, Array]] = []
    # ends are two of those near: only edges with more need to be checked
    todo = np.flatnonzero(counts > 2)
    for chunk in np.split(todo, np.flatnonzero(np.diff(np.cumsum(counts[todo]) // _AT_ONCE)) + 1):
        near = tree.query_ball_point(0.5 * (a + b)[chunk], 0.5 * length[chunk] + CRACK_M)
        edge = np.repeat(chunk, counts[chunk])
        vertex = corners[np.concatenate([np.asarray(n, dtype=np.int64) for n in near] or [np.zeros(0, np.int64)])]
        along = (b - a)[edge]
        out = points[vertex] - a[edge]
        share = np.einsum("ij,ij->i", out, along) / np.maximum(length[edge] ** 2, 1e-300)
        away = np.linalg.norm(out - share[:, None] * along, axis=1)
        margin = CRACK_M / np.maximum(length[edge], 1e-300)
        on = (
            (away <= CRACK_M)
            & (share > margin)
            & (share < 1.0 - margin)
            & np.all(vertex[:, None] != ends[edge], axis=1)
        )
        found.append((edge[on], vertex[on], share[on]))
    edge, vertex, share = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return edge, vertex, share


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
    """Mask (F,) of faces that are more than a line."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    b, c = b - a, c - a
    longest = np.maximum(np.einsum("ij,ij->i", b, b), np.einsum("ij,ij->i", c, c))
    return np.linalg.norm(np.cross(b, c), axis=-1) > _SLIVER * longest


def components(faces: NDArray) -> NDArray[np.int32]:
    """Label (F,) of the connected part that each face belongs to; faces are connected where they share a vertex."""
    if not len(faces):
        return np.zeros(0, np.int32)
    a, b = (faces[:, k].astype(np.int64).ravel() for k in ([0, 0], [1, 2]))
    n = int(faces.max()) + 1
    _, dense = np.unique(connected(n, a, b)[faces[:, 0]], return_inverse=True)
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
    label = connected(2 * n, rows, columns)
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
