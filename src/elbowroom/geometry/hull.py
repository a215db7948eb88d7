"""Convex hulls of points and meshes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.kept import kept, remembered
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array


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
