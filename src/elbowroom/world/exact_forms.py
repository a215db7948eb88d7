"""What Coal and the inside tests need to know of a rigid shape or mesh, made once for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import coal
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from elbowroom.errors import BadValue
from elbowroom.geometry.mending import components, mended
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.solidity import solid_faces
from elbowroom.world.exact_solids import Solid
from elbowroom.world.ground import above_floor

# A capsule is probed for depth at points along its axis no farther apart than this share of its radius.
_PROBE = 0.25


@dataclass(frozen=True, eq=False)
class Form:
    """A rigid piece in its own frame.

    geometry: Coal's object; convex: whether it is a solid body of its own, else a surface of triangles. The piece is
    the hull of balls of `radius` about `points` (K, 3) where convex; a mesh has its vertices there. probes (L, 3) with
    the same radius are where depth inside of solids is measured; seeds (C, 3) are one point of each connected part.
    bounds (2, 3); solid: its closed parts, if any.
    """

    geometry: Any
    convex: bool
    points: Array
    radius: float
    probes: Array
    seeds: Array
    bounds: Array
    solid: Solid | None = None


_SHAPES: WeakKeyDictionary[Shape, Form] = WeakKeyDictionary()
_MESHES: WeakKeyDictionary[Mesh, dict[float | None, Form | None]] = WeakKeyDictionary()


def shape_form(shape: Shape) -> Form:
    """The form of a collision shape; a mesh counts as its convex hull."""
    if shape not in _SHAPES:
        _SHAPES[shape] = _shape_form(shape)
    return _SHAPES[shape]


def mesh_form(mesh: Mesh, name: str, floor: float | None = None) -> Form | None:
    """The form of a mesh, without what lies flat on a floor of that height; None where nothing is left."""
    kept = _MESHES.setdefault(mesh, {})
    if floor not in kept:
        kept[floor] = _mesh_form(above_floor(mended(mesh, name), floor))
    return kept[floor]


def _shape_form(shape: Shape) -> Form:
    radius = float(shape.size[0])
    if not np.all(np.isfinite(shape.size)) or not np.all(np.isfinite(shape.T_joint_shape)):
        raise BadValue(f"the collision shape '{shape.name}' has values that are not finite.")
    if shape.kind == "sphere":
        centre = np.zeros((1, 3))
        return _convex(coal.Sphere(radius), centre, radius, centre)
    if shape.kind == "capsule":
        half = float(shape.size[1])
        count = 2 * int(np.ceil(half / max(_PROBE * radius, 1e-3))) + 1
        z = np.linspace(-half, half, count)
        axis = np.stack([0 * z, 0 * z, z], axis=-1)
        ends = axis[[0, -1]]
        return _convex(coal.Capsule(radius, 2.0 * half), ends, radius, axis)
    if shape.kind == "box":
        signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=float)
        corners = signs * shape.size
        return _convex(
            coal.Box(*(2.0 * shape.size).tolist()), corners, 0.0, np.concatenate([corners, np.zeros((1, 3))])
        )
    assert shape.mesh is not None
    return _hull_form(shape.mesh, shape.name)


def _convex(geometry: Any, points: Array, radius: float, probes: Array) -> Form:
    bounds = np.stack([points.min(axis=0) - radius, points.max(axis=0) + radius])
    return Form(geometry, True, points, radius, probes, probes.mean(axis=0)[None], bounds)


def _hull_form(mesh: Mesh, name: str) -> Form:
    clean = mended(mesh, name)
    try:
        hull = ConvexHull(clean.vertices)
    except (QhullError, ValueError):
        form = _mesh_form(clean)
        if form is None:
            raise BadValue(f"the collision shape '{name}' has no triangles.") from None
        return form
    points = clean.vertices[hull.vertices]
    place = np.zeros(len(clean.vertices), dtype=np.int64)
    place[hull.vertices] = np.arange(len(points))
    faces = place[hull.simplices]
    a, b, c = np.moveaxis(points[faces], 1, 0)
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    corners, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for p in points:
        corners.append(p)
    for f in faces.tolist():
        triangles.append(coal.Triangle(*f))
    probes = np.concatenate([points, points.mean(axis=0)[None]])
    return _convex(coal.Convex(corners, triangles), points, 0.0, probes)


def _mesh_form(mesh: Mesh) -> Form | None:
    if not len(mesh.faces):
        return None
    label = components(mesh.faces)
    _, first = np.unique(label, return_index=True)
    closed = solid_faces(mesh)
    return Form(
        bvh(mesh.vertices, mesh.faces),
        False,
        mesh.vertices,
        0.0,
        mesh.vertices,
        mesh.vertices[mesh.faces[first, 0]],
        mesh.bounds,
        Solid(mesh.vertices[mesh.faces[closed]]) if closed.any() else None,
    )


def bvh(vertices: Array, faces: NDArray) -> Any:
    """Coal's tree of boxes over triangles."""
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(faces), len(vertices))
    model.addVertices(np.ascontiguousarray(vertices))
    model.addTriangles(np.ascontiguousarray(faces, dtype=np.int64))
    model.endModel()
    return model
