"""Cracks of meshes closed: open edges that lie on each other, but for rounding, made into one.

Files in single precision hold a place 100 m from their origin to 8 µm; parts that were computed apart agree no better.
A shell with such a crack would count as open, and a body inside of it as free.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solidity import Edges

# Metres: the widest crack that is closed, see above; no vertex is moved farther.
CRACK_M = 1e-5

# A triangle is cut along one edge in each round: one for each of its edges, and one for what those leave.
_ROUNDS = 4

# Pairs of an edge and a vertex near it that are looked at in one go.
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
    pairs = cKDTree(points[corners]).query_pairs(CRACK_M, output_type="ndarray")
    if len(pairs):
        goes_to = np.arange(len(points))
        np.minimum.at(goes_to, corners[pairs.max(axis=1)], corners[pairs.min(axis=1)])
        stays = goes_to[goes_to] == goes_to  # each vertex moves once: a row of near ones does not shrink to a point
        faces = np.where(stays, goes_to, np.arange(len(points)))[faces]
        faces = faces[_real(faces)]
    for _ in range(_ROUNDS):
        cut = _cut_once(points, faces)
        if len(cut) == len(faces):
            break
        faces = cut
    return points, faces


def _real(faces: NDArray) -> NDArray[np.bool_]:
    """Faces (F,) of three different vertices."""
    return (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])


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
    tree = cKDTree(points[corners])
    counts = tree.query_ball_point(0.5 * (a + b), 0.5 * length + CRACK_M, return_length=True)
    found: list[tuple[NDArray, NDArray, Array]] = []
    # ends are two of those near: only edges with more need to be looked at
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
