"""Data for Coal and the inside tests of a rigid shape or mesh, computed lazily and once for each.

A mesh is cut into chunks, each with a tree of its own: most of a large scene is never near anyone, and Coal takes
8 µs and half a kilobyte for each triangle.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import coal
import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.mesh_cleanup import check_finite, cleaned_solids, components, has_area
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape, stored_hull
from elbowroom.geometry.solidity import Demoted, demoted_parts
from elbowroom.kernels import insides
from elbowroom.kernels.triangles import tree_of
from elbowroom.world.scene_floor import FLUSH_M, Dropped, dropped_faces, on_floor, without


class Solid:
    """Closed surfaces given by their triangles (N, 3, 3), turned alike within each."""

    def __init__(self, triangles: Array) -> None:
        self._tree = tree_of(triangles)

    def contains_any(self, T_solid_points: Array, points: Array) -> bool:
        """Return whether one of points (N, 3), placed by a transform (4, 4), is inside."""
        return bool(insides.contains_any(self._tree, T_solid_points, points))

    def depth(self, points: Array) -> Array:
        """Depths of points (N, 3) below the surface, metres (N,); 0 outside."""
        return insides.depths(self._tree, np.ascontiguousarray(points))


# A capsule is probed for depth at points along its axis no farther apart than this share of its radius.
_PROBE = 0.25

# Triangles in a chunk, at most, and those that are checked together.
_CHUNK = 4096
_BLOCK = 1 << 18


class Convex:
    """A convex body in its own frame: the hull of balls of `radius` about `points` (K, 3).

    `probes` (L, 3), with the same radius, are where depth inside solids is measured.
    """

    convex = True
    solid: Solid | None = None

    def __init__(self, geometry: Any, points: Array, radius: float, probes: Array) -> None:
        self.geometry = geometry
        self.points = points
        self.radius = radius
        self.probes = probes
        self.seeds = probes.mean(axis=0)[None]
        self.bounds = np.stack([points.min(axis=0) - radius, points.max(axis=0) + radius])
        self.boxes = self.bounds[None]

    @cached_property
    def thickness(self) -> float:
        """Radius of a ball that lies in the body, metres."""
        hull = stored_hull(self.points) if len(self.points) > 3 else None
        if hull is None:
            return self.radius
        inside = self.points.mean(axis=0)
        return self.radius + float(-(hull.planes[:, :3] @ inside + hull.planes[:, 3]).max())

    def chunk(self, c: int) -> Any:
        """Coal's geometry of the only chunk."""
        return self.geometry


class Surface:
    """Triangles in their own frame, some of which may close to solids; worked out when first asked for.

    bounds (2, 3); boxes (C, 2, 3) of its chunks; seeds (S, 3): one point of each connected part; points (K, 3): corners
    of its hull; probes: all vertices; solid: its closed parts, if any.
    """

    convex = False
    radius = 0.0
    thickness = 0.0

    def __init__(self, mesh: Mesh, name: str, floor: float | None = None) -> None:
        check_finite(mesh, name)
        self._raw, self._name, self._floor = mesh, name, floor
        self._chunks: dict[int, Any] = {}

    @cached_property
    def empty(self) -> bool:
        """Return whether there is nothing to hit: no triangle with an area, or none that is more than the floor."""
        if self.flat == len(self._raw.faces):
            return True
        low = self._floor is not None and bool(self.bounds[1, 2] <= self._floor + FLUSH_M)
        return low and not len(self.mesh.faces)

    @cached_property
    def flat(self) -> int:
        """Triangles of the mesh that have no area."""
        faces = self._raw.faces
        blocks = (faces[k : k + _BLOCK] for k in range(0, len(faces), _BLOCK))
        return sum(int((~has_area(self._raw.vertices, block)).sum()) for block in blocks)

    @cached_property
    def bounds(self) -> Array:
        used = np.zeros(len(self._raw.vertices), dtype=bool)
        used[self._raw.faces.ravel()] = True
        corners = self._raw.vertices if used.all() else self._raw.vertices[used]
        return np.stack([corners.min(axis=0), corners.max(axis=0)])

    @cached_property
    def _cleaned(self) -> tuple[Mesh, NDArray[np.bool_], Dropped | None]:
        mesh, closed = cleaned_solids(self._raw, self._name)
        if self._floor is None:
            return mesh, closed, None
        drop = on_floor(mesh, closed, self._floor)
        return without(mesh, drop), closed[~drop], dropped_faces(mesh, drop, self._floor, self._name)

    @property
    def mesh(self) -> Mesh:
        """Cleaned mesh without triangles flat on the floor."""
        return self._cleaned[0]

    @property
    def dropped(self) -> Dropped | None:
        """Triangles that were left out of `mesh` since the floor stands for them."""
        return self._cleaned[2]

    @cached_property
    def demoted(self) -> tuple[Demoted, ...]:
        """Parts of `mesh` that are surfaces without an inside."""
        return demoted_parts(self.mesh, self.closed, self._name)

    @property
    def closed(self) -> NDArray[np.bool_]:
        """Mask (F,) of faces of `mesh` that bound solids."""
        return self._cleaned[1]

    @property
    def probes(self) -> Array:
        return self.mesh.vertices

    @cached_property
    def points(self) -> Array:
        hull = stored_hull(self.mesh.vertices)
        return self.mesh.vertices if hull is None else self.mesh.vertices[hull.corners]

    @cached_property
    def seeds(self) -> Array:
        _, first = np.unique(components(self.mesh.faces), return_index=True)
        return self.mesh.vertices[self.mesh.faces[first, 0]]

    @cached_property
    def solid(self) -> Solid | None:
        mesh, closed = self.mesh, self.closed
        return Solid(mesh.vertices[mesh.faces[closed]]) if closed.any() else None

    @cached_property
    def _cut(self) -> tuple[list[NDArray], Array]:
        """Faces of each chunk, and boxes (C, 2, 3) around them."""
        faces = self.mesh.faces[has_area(self.mesh.vertices, self.mesh.faces)]
        corners = self.mesh.vertices[faces]
        chunks = list(_split(corners.mean(axis=1), np.arange(len(faces))))
        boxes = [np.stack([corners[c].min(axis=(0, 1)), corners[c].max(axis=(0, 1))]) for c in chunks]
        return [faces[c] for c in chunks], np.array(boxes).reshape(-1, 2, 3)

    @property
    def boxes(self) -> Array:
        return self._cut[1]

    def chunk(self, c: int) -> Any:
        """Coal's tree over the triangles of a chunk."""
        if c not in self._chunks:
            used, faces = np.unique(self._cut[0][c], return_inverse=True)
            model = coal.BVHModelOBBRSS()
            model.beginModel(len(self._cut[0][c]), len(used))
            model.addVertices(np.ascontiguousarray(self.mesh.vertices[used]))
            model.addTriangles(np.ascontiguousarray(faces.reshape(-1, 3), dtype=np.int64))
            model.endModel()
            self._chunks[c] = model
        return self._chunks[c]


Form = Convex | Surface


def shape_form(shape: Shape) -> Form:
    """The form of a collision shape; a mesh counts as its convex hull."""
    return kept(shape, "form", lambda: _shape_form(shape))


def mesh_form(mesh: Mesh, name: str, floor: float | None = None) -> Surface | None:
    """The form of a mesh, without what lies flat on a floor of that height; None where nothing is left."""
    form = mesh_surface(mesh, name, floor)
    return None if form.empty else form


def mesh_surface(mesh: Mesh, name: str, floor: float | None = None) -> Surface:
    """The form of a mesh, also where nothing is left of it."""
    return kept(mesh, ("form", floor), lambda: Surface(mesh, name, floor))


def _shape_form(shape: Shape) -> Form:
    if not np.all(np.isfinite(shape.size)) or not np.all(np.isfinite(shape.T_joint_shape)):
        raise BadValue(f"the collision shape '{shape.name}' has values that are not finite.")
    radius = float(shape.size[0])
    if shape.kind == "sphere":
        return Convex(coal.Sphere(radius), np.zeros((1, 3)), radius, np.zeros((1, 3)))
    if shape.kind == "capsule":
        half = float(shape.size[1])
        count = 2 * int(np.ceil(half / max(_PROBE * radius, 1e-3))) + 1
        axis = np.zeros((count, 3))
        axis[:, 2] = np.linspace(-half, half, count)
        return Convex(coal.Capsule(radius, 2.0 * half), axis[[0, -1]], radius, axis)
    if shape.kind == "box":
        signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=float)
        corners = signs * shape.size
        box = coal.Box(*(2.0 * shape.size).tolist())
        return Convex(box, corners, 0.0, np.concatenate([corners, np.zeros((1, 3))]))
    assert shape.mesh is not None
    return _hull_form(shape.mesh, shape.name)


def _hull_form(mesh: Mesh, name: str) -> Form:
    check_finite(mesh, name)
    used = mesh.vertices[np.unique(mesh.faces)]
    hull = stored_hull(used)
    if hull is None:
        flat = Surface(mesh, name)
        if flat.empty:
            raise BadValue(f"the collision shape '{name}' has no triangles with an area.")
        return flat
    points = used[hull.corners]
    place = np.zeros(len(used), dtype=np.int64)
    place[hull.corners] = np.arange(len(points))
    faces = place[hull.faces]
    corners, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for p in points:
        corners.append(p)
    for f in faces.tolist():
        triangles.append(coal.Triangle(*f))
    probes = np.concatenate([points, points.mean(axis=0)[None]])
    return Convex(coal.Convex(corners, triangles), points, 0.0, probes)


def _split(centers: Array, members: NDArray) -> list[NDArray]:
    """Members in chunks that are halved across their longest side until they are small enough."""
    if len(members) <= _CHUNK:
        return [members] if len(members) else []
    c = centers[members]
    axis = int(np.argmax(np.ptp(c, axis=0)))
    order = np.argpartition(c[:, axis], len(members) // 2)
    half = len(members) // 2
    return _split(centers, members[order[:half]]) + _split(centers, members[order[half:]])
