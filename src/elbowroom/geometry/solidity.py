"""Faces of a mesh that bound solids: closed shells, turned the same way all over.

A part of a mesh is a set of triangles that are connected across edges. Where every edge of a part is used by two
triangles, once in each direction, the part bounds a solid as it is. In other parts (a block with an inner wall, two
blocks that share a face, panels glued along an edge) the two sides of each triangle are nodes of a graph, and at each
edge the sides that look at each other are joined. Sides that hang together bound one region of space. If a part has
more than one region, one of them is the outside, and the triangles between it and the others are a closed shell.
Everything inside the shell counts as solid, including rooms between inner walls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.kernels.connected import connected

# Radians: triangles at one edge with a smaller angle between them lie on each other.
_COINCIDENT_RAD = 1e-6

# Any direction that no plane of a model is likely to be parallel to: says which of two sheets in one plane is above.
_SKEW = np.array([0.3481, 0.5917, 0.7270])


@dataclass(frozen=True)
class Demoted:
    """Parts of a mesh that count as surfaces without an inside: a body wholly behind them is free.

    name of the mesh; how many parts and triangles (faces); why they are no solids, in words.
    """

    name: str
    parts: int
    faces: int
    why: str


def solid_faces(mesh: Mesh) -> NDArray[np.bool_]:
    """Faces (F,) that bound solids, turned alike within each; see `shell_signs` for those that are not yet.

    Vertices at the same place count as one (files split them for normals and colours). Degenerate faces belong to
    nothing and do not spoil their neighbours.
    """
    solid = np.zeros(len(mesh.faces), dtype=bool)
    same = _places(np.round(mesh.vertices, 7) + 0.0)
    faces = same[mesh.faces]
    real = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    index = np.flatnonzero(real)
    if not len(index):
        return solid
    edges = Edges(faces[index].astype(np.int64))
    solid[index] = edges.simple
    rest = index[~edges.simple]
    if len(rest):
        places = np.zeros((int(same.max()) + 1, 3))
        places[same] = mesh.vertices
        solid[rest] = _turned_alike(faces[rest], shell_signs(places, faces[rest]))
    return solid


def shell_signs(vertices: Array, faces: NDArray) -> NDArray[np.int8]:
    """Signs (F,) of faces in closed shells: 1 where they look out of the solid as they are turned, -1 where into it.

    0 for faces of no shell: open sheets, and walls inside solids. Of triangles given more than once, the first
    counts. The faces may be turned anyhow; vertices (V, 3) are different places.
    """
    signs = np.zeros(len(faces), np.int8)
    if not len(faces):
        return signs
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    first = np.sort(first)
    once = faces[first]
    edges = Edges(once)
    region = _regions(vertices, once, edges)
    a, b, c = np.moveaxis(vertices[once] - vertices[once].mean(axis=(0, 1)), 1, 0)
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    # the outside of a part is bounded by faces that look away from it all: the largest volume
    volumes = np.bincount(region[:, 0], volume, region.max() + 1) - np.bincount(region[:, 1], volume, region.max() + 1)
    part = np.zeros(region.max() + 1, np.int64)
    part[region] = edges.part[:, None]
    order = np.lexsort((volumes, part))
    outer = np.zeros(region.max() + 1, dtype=bool)
    outer[order[np.append(part[order][1:] != part[order][:-1], True)]] = True
    signs[first] = outer[region[:, 0]].astype(np.int8) - outer[region[:, 1]].astype(np.int8)
    return signs


def demoted_parts(mesh: Mesh, solid: NDArray[np.bool_], name: str) -> tuple[Demoted, ...]:
    """Parts of a cleaned mesh none of whose faces bound a solid, `solid` (F,), and sheets on solids, by reason."""
    if solid.all():
        return ()
    edges = Edges(mesh.faces.astype(np.int64))
    count = int(edges.part.max()) + 1
    surface = np.bincount(edges.part, solid, count) == 0
    open_edges = np.bincount(edges.part[edges.face], edges.uses[edges.edge] == 1, count)
    has_open = open_edges > 0
    size = np.bincount(edges.part, minlength=count)
    found = []
    for chosen, why in (
        (surface & has_open, "open: {} edges belong to a single triangle"),
        (surface & ~has_open, "closed, but they enclose nothing or have no two sides"),
    ):
        if chosen.any():
            reason = why.format(int(open_edges[chosen].sum()))
            found.append(Demoted(name, int(chosen.sum()), int(size[chosen].sum()), reason))
    hanging = ~solid & ~surface[edges.part]
    if hanging.any():
        sheets = len(np.unique(edges.sheet[hanging]))
        found.append(Demoted(name, sheets, int(hanging.sum()), "sheets attached to solids or dividing them"))
    return tuple(found)


class Edges:
    """Edges of faces (F, 3) of distinct vertices.

    face, edge, forward (3F,): face and edge of each side of a triangle, and whether it goes from the edge's lower
    vertex to the higher; uses (E,): triangles at each edge.
    """

    def __init__(self, faces: NDArray) -> None:
        self.faces = faces
        tail, head = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
        self.forward = tail < head
        self.face = np.repeat(np.arange(len(faces)), 3)
        key = np.minimum(tail, head) * (int(faces.max(initial=0)) + 1) + np.maximum(tail, head)
        _, self.edge, self.uses = np.unique(key, return_inverse=True, return_counts=True)

    @cached_property
    def part(self) -> NDArray[np.int64]:
        """Number (F,) of the part that each face belongs to."""
        return self.joined(np.ones(len(self.uses), dtype=bool))

    def joined(self, across: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Number (F,) of the piece that each face belongs to where only some edges (E,) join faces."""
        n = len(self.faces)
        use = across[self.edge]
        label = connected(n + len(self.uses), self.face[use], n + self.edge[use])
        _, number = np.unique(label[:n], return_inverse=True)
        return number.reshape(-1)

    @cached_property
    def sheet(self) -> NDArray[np.int64]:
        """Number (F,) of the sheet that each face belongs to: those that edges of just two triangles join."""
        return self.joined(self.uses == 2)

    @cached_property
    def simple(self) -> NDArray[np.bool_]:
        """Faces (F,) of sheets that are closed on their own: they use each of their edges once in each direction.

        Boards that touch along an edge are closed each for itself, however many triangles meet at the edge.
        """
        sheet = self.sheet[self.face]
        turn = np.where(self.forward, 1.0, -1.0)
        _, where, uses = np.unique(
            self.edge * (int(self.sheet.max(initial=0)) + 1) + sheet, return_inverse=True, return_counts=True
        )
        spoiled = np.zeros(int(self.sheet.max(initial=-1)) + 1, dtype=bool)
        spoiled[sheet[((np.bincount(where, turn) != 0) | (uses != 2))[where]]] = True
        # a sheet that is drawn from both sides is closed, and encloses nothing
        _, where, uses = np.unique(np.sort(self.faces, axis=1), axis=0, return_inverse=True, return_counts=True)
        spoiled[self.sheet[(uses > 1)[where.reshape(-1)]]] = True
        return ~spoiled[self.sheet]


def _turned_alike(faces: NDArray, signs: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Faces (F,) of shells whose signs (F,) agree."""
    shell = np.flatnonzero(signs)
    out = np.zeros(len(faces), dtype=bool)
    if len(shell):
        part = Edges(faces[shell]).part
        out[shell] = np.abs(np.bincount(part, signs[shell]))[part] == np.bincount(part)[part]
    return out


def _regions(vertices: Array, faces: NDArray, edges: Edges) -> NDArray[np.int64]:
    """Number (F, 2) of the region of space that lies before and behind each face, by part."""
    n = len(faces)
    order, last = _around(vertices, faces, edges)
    # turning about an edge from its lower to its higher vertex, one comes upon a face from behind, if it goes that way
    ahead = 2 * edges.face + ~edges.forward
    behind = 2 * edges.face + edges.forward
    first = np.append(0, np.flatnonzero(last)[:-1] + 1)
    following = np.append(order[1:], order[:1])
    following[last] = order[first]
    _, label = np.unique(connected(2 * n, ahead[order], behind[following]), return_inverse=True)
    return label.reshape(n, 2)


def _around(vertices: Array, faces: NDArray, edges: Edges) -> tuple[NDArray, NDArray[np.bool_]]:
    """Sides of triangles (3F,) edge by edge, as one turns about it, and which (3F,) are the last of their edge."""
    tail, head, opposite = faces.ravel(), np.roll(faces, -1, axis=1).ravel(), np.roll(faces, -2, axis=1).ravel()
    low = vertices[np.minimum(tail, head)]
    along = vertices[np.maximum(tail, head)] - low
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    one = np.cross(along, np.eye(3)[np.argmin(np.abs(along), axis=1)])
    one /= np.maximum(np.linalg.norm(one, axis=1, keepdims=True), 1e-300)
    other = np.cross(along, one)
    out = vertices[opposite] - low
    angle = np.arctan2(np.einsum("ij,ij->i", out, other), np.einsum("ij,ij->i", out, one))
    order = np.lexsort((angle, edges.edge))
    edge = edges.edge[order]
    last = np.append(edge[1:] != edge[:-1], True)
    close = ~last & (np.diff(angle[order], append=0.0) < _COINCIDENT_RAD)
    # faces that lie on each other have no order of their own: sheet by sheet they get one
    first = np.append(0, np.flatnonzero(last)[:-1] + 1)
    ends = np.flatnonzero(last)
    wraps = (angle[order[first]] + 2.0 * np.pi - angle[order[ends]] < _COINCIDENT_RAD) & (first < ends)
    if not (close.any() or wraps.any()):
        return order, last
    for a, b in zip(first[wraps].tolist(), ends[wraps].tolist(), strict=True):
        k = b
        while k > a and close[k - 1]:
            k -= 1
        angle[order[k : b + 1]] -= 2.0 * np.pi
    order = np.lexsort((angle, edges.edge))
    far = np.diff(angle[order], prepend=-np.inf) >= _COINCIDENT_RAD
    group = np.cumsum(far | np.append(True, edge[1:] != edge[:-1]))
    sheet = edges.sheet[edges.face]
    upwards = np.einsum("ij,j->i", np.cross(along, out), _SKEW) > 0.0
    rank = np.where(upwards, sheet, -sheet)
    return order[np.lexsort((rank[order], group))], last


def _places(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number (N,) of the place that each point (N, 3) is at."""
    order = np.lexsort(points.T)
    ranked = points[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any(ranked[1:] != ranked[:-1], axis=1)
    same = np.empty(len(order), dtype=np.int64)
    same[order] = np.cumsum(new) - 1
    return same
