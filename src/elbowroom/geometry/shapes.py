"""Collision shapes that ride on a joint: capsule, sphere, box, or a convex mesh; their triangles, for pictures; and
convex hulls of points and meshes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.kept import kept, remembered
from elbowroom.geometry.mesh import Mesh, frozen
from elbowroom.geometry.rotations import Array, arc
from elbowroom.geometry.transforms import apply, inverse, transform

ShapeKind = Literal["capsule", "sphere", "box", "mesh"]


@dataclass(frozen=True, eq=False)
class Shape:
    """One rigid collision shape.

    `size` by kind: capsule (radius, half length along z, 0); sphere (radius, 0, 0); box half extents;
    mesh (0, 0, 0) with the triangles in `mesh`, in the shape's frame. `own` is a slimmer shape on the same joint that
    takes its place in tests of a body against itself.
    """

    name: str
    joint: int
    kind: ShapeKind
    size: Array  # (3,)
    T_joint_shape: Array = field(default_factory=lambda: np.eye(4))
    mesh: Mesh | None = None
    own: Shape | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", frozen(self.size))
        object.__setattr__(self, "T_joint_shape", frozen(self.T_joint_shape))

    def signed_distance(self, points: ArrayLike) -> Array:
        """Distance of points (N, 3), given in the joint's frame, to the surface; negative inside. Not for meshes."""
        p = apply(inverse(self.T_joint_shape), points)
        if self.kind == "sphere":
            return np.linalg.norm(p, axis=-1) - self.size[0]
        if self.kind == "capsule":
            z = np.clip(p[..., 2], -self.size[1], self.size[1])
            return np.linalg.norm(p - np.stack([0 * z, 0 * z, z], axis=-1), axis=-1) - self.size[0]
        if self.kind == "box":
            d = np.abs(p) - self.size
            return np.linalg.norm(np.maximum(d, 0.0), axis=-1) + np.minimum(d.max(axis=-1), 0.0)
        raise ValueError("the signed distance of a mesh shape is computed by the world")


def unfolded(shapes: Sequence[Shape]) -> tuple[list[Shape], NDArray[np.int32]]:
    """Shapes, each before its slimmer one for tests of a body against itself; the row of that (N,), -1 without."""
    rows = [one for shape in shapes for one in (shape, shape.own) if one is not None]
    own = [k + 1 if shape.own is not None else -1 for k, shape in enumerate(rows)]
    return rows, np.array(own, np.int32)


def folded(rows: Sequence[Shape], own: NDArray) -> tuple[Shape, ...]:
    """Shapes of which `unfolded` makes these rows."""
    slim = set(own[own >= 0].tolist())
    return tuple(
        replace(shape, own=rows[k]) if (k := int(own[n])) >= 0 else shape
        for n, shape in enumerate(rows)
        if n not in slim
    )


def capsule(name: str, joint: int, a: ArrayLike, b: ArrayLike, radius: float) -> Shape:
    """Capsule around the segment from `a` to `b`, both (3,) in the joint's frame, in metres."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    axis = b - a
    length = float(np.linalg.norm(axis))
    turn = arc([0.0, 0.0, 1.0], axis) if length > 1e-9 else np.array([1.0, 0, 0, 0])
    size = np.array([radius, 0.5 * length, 0.0])
    return Shape(name, joint, "capsule", size, transform(0.5 * (a + b), turn))


def capsule_mesh(radius: float, half_length: float, *, segments: int = 16) -> Mesh:
    """Capsule about the origin along z; `half_length` reaches to the middle of its caps; 0 gives a ball."""
    rings = max(2, segments // 4)
    up = np.linspace(0.0, np.pi / 2, rings + 1)[:-1]  # the poles are single vertices
    latitudes = np.concatenate([-up[::-1], up] if half_length > 0 else [-up[:0:-1], up])
    lifts = np.where(np.arange(len(latitudes)) < len(latitudes) // 2, -half_length, half_length)
    turn = np.linspace(0.0, 2 * np.pi, segments, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    body = np.concatenate(
        [
            np.concatenate([radius * np.cos(a) * ring, np.full((segments, 1), radius * np.sin(a) + lift)], axis=-1)
            for a, lift in zip(latitudes, lifts, strict=True)
        ]
    )
    poles = np.array([[0.0, 0.0, -radius - half_length], [0.0, 0.0, radius + half_length]])
    # faces of rings stacked along z, closed by two poles that follow the rings
    rings = len(latitudes)
    k = np.arange(segments)
    following = (k + 1) % segments
    below, above = rings * segments, rings * segments + 1
    parts = [np.stack([np.full(segments, below), following, k], axis=-1)]
    for r in range(rings - 1):
        a, b = r * segments + k, r * segments + following
        c, d = a + segments, b + segments
        parts += [np.stack([a, b, d], axis=-1), np.stack([a, d, c], axis=-1)]
    last = (rings - 1) * segments
    parts.append(np.stack([last + k, last + following, np.full(segments, above)], axis=-1))
    return Mesh(np.concatenate([body, poles]), np.concatenate(parts).astype(np.int32))


def octahedron(a: ArrayLike, b: ArrayLike, width: float) -> Mesh:
    """A bone as animation programs draw it, from `a` to `b` (3,), thickest (`width` across) near `a`."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    length = float(np.linalg.norm(b - a))
    w, waist = 0.5 * width, min(0.2 * length, width)
    corners = np.array([[0, 0, 0], [w, 0, waist], [0, w, waist], [-w, 0, waist], [0, -w, waist], [0, 0, length]])
    sides = [(0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 1, 4), (5, 1, 2), (5, 2, 3), (5, 3, 4), (5, 4, 1)]
    turn = arc([0.0, 0.0, 1.0], b - a) if length > 1e-9 else np.array([1.0, 0.0, 0.0, 0.0])
    return Mesh(corners[np.array(sides).reshape(-1)], np.arange(24, dtype=np.int32).reshape(8, 3)).moved(
        transform(a, turn)
    )


def faceted(mesh: Mesh) -> Mesh:
    """The same triangles without shared vertices, so that every face keeps a normal of its own."""
    corners = mesh.vertices[mesh.faces].reshape(-1, 3)
    return Mesh(corners, np.arange(len(corners), dtype=np.int32).reshape(-1, 3), mesh.color)


def shape_mesh(shape: Shape, *, segments: int = 20) -> Mesh:
    """Surface of a collision shape in the frame of its joint."""
    if shape.kind in ("capsule", "sphere"):
        half_length = shape.size[1] if shape.kind == "capsule" else 0.0
        mesh = capsule_mesh(shape.size[0], half_length, segments=segments)
    elif shape.kind == "box":
        from elbowroom.geometry.solids import box  # trimesh takes a while to load

        mesh = faceted(box(2.0 * shape.size))
    else:
        assert shape.mesh is not None
        mesh = faceted(Mesh(shape.mesh.vertices, shape.mesh.faces))
    return mesh.moved(shape.T_joint_shape)


class Hull(NamedTuple):
    """A hull: indices of its corners (K,), its faces (F, 3) turned outwards, their planes (F, 4), its volume, m³ ()."""

    corners: NDArray
    faces: NDArray
    planes: Array
    volume: Array

    def mesh(self, points: Array) -> Mesh:
        """The hull of `points` (N, 3), of which it was made, as a mesh of its own corners."""
        used, faces = np.unique(self.faces, return_inverse=True)
        return Mesh(points[used], faces.reshape(-1, 3).astype(np.int32))


def convex_hull(points: Array) -> Hull | None:
    """Hull of points (N, 3), None where they lie in a plane."""
    try:
        made = scipy.spatial.ConvexHull(points)
    except (scipy.spatial.QhullError, ValueError):
        return None
    faces = made.simplices.astype(np.int64)
    a, b, c = np.moveaxis(points[faces], 1, 0)
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), made.equations[:, :3]) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    return Hull(made.vertices.astype(np.int64), faces, made.equations, np.array(made.volume))


def stored_hull(points: Array) -> Hull | None:
    """The same from the disk, if it was made before: scipy's hulls take a quarter of a second to import."""
    found = remembered("hulls", (_source(), np.asarray(points, dtype=float)), lambda: _arrays(convex_hull(points)))
    return Hull(**found) if found else None


def hull_of(mesh: Mesh) -> Mesh:
    """The convex hull of a mesh; the mesh itself where it is flat. Always the same one for the same mesh."""
    return kept(mesh, "hull", lambda: _hull_of(mesh))


def _hull_of(mesh: Mesh) -> Mesh:
    points = mesh.vertices[np.unique(mesh.faces)]
    hull = stored_hull(points)
    return mesh if hull is None else replace(hull.mesh(points), color=mesh.color)


@cache
def _source() -> bytes:
    """This file: what others made is not trusted."""
    return Path(__file__).read_bytes()


def _arrays(hull: Hull | None) -> dict[str, NDArray]:
    return {} if hull is None else hull._asdict()
