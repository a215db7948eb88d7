"""Meshes of simple solids, for furniture and props; `tessellate` gives those of collision shapes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import trimesh
from numpy.typing import ArrayLike

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import about
from elbowroom.geometry.transforms import transform

GREY: Color = (0.62, 0.64, 0.66)


def _mesh(solid: trimesh.Trimesh, at: ArrayLike, color: Color) -> Mesh:
    return Mesh(np.asarray(solid.vertices) + np.asarray(at, dtype=float), np.asarray(solid.faces), color)


def box(size: ArrayLike, at: ArrayLike = (0.0, 0.0, 0.0), color: Color = GREY) -> Mesh:
    """Box of full extents `size` (3,) centred at `at` (3,), metres."""
    return _mesh(trimesh.creation.box(np.asarray(size, dtype=float)), at, color)


def cylinder(radius: float, height: float, at: ArrayLike = (0.0, 0.0, 0.0), color: Color = GREY) -> Mesh:
    """Upright cylinder centred at `at` (3,), metres."""
    return _mesh(trimesh.creation.cylinder(radius, height, sections=32), at, color)


def sphere(radius: float, at: ArrayLike = (0.0, 0.0, 0.0), color: Color = GREY) -> Mesh:
    """Ball centred at `at` (3,), metres."""
    return _mesh(trimesh.creation.uv_sphere(radius, count=[16, 24]), at, color)


def lathe(profile: ArrayLike, at: ArrayLike = (0.0, 0.0, 0.0), color: Color = GREY) -> Mesh:
    """Solid of revolution about z from a profile of (radius, height) pairs, (N, 2), metres."""
    return _mesh(trimesh.creation.revolve(np.asarray(profile, dtype=float), sections=40), at, color)


def merge(meshes: Iterable[Mesh], color: Color | None = None) -> Mesh:
    """One mesh of several; its colour is the first one's unless given."""
    parts = list(meshes)
    starts = np.cumsum([0] + [len(m.vertices) for m in parts[:-1]])
    return Mesh(
        np.concatenate([m.vertices for m in parts]),
        np.concatenate([m.faces + s for m, s in zip(parts, starts, strict=True)]),
        color or parts[0].color,
    )


def turned(mesh: Mesh, angle: float, at: ArrayLike = (0.0, 0.0, 0.0)) -> Mesh:
    """The mesh turned by `angle` (radians) about z and then moved to `at` (3,)."""
    return mesh.moved(transform(at, about([0.0, 0.0, 1.0], angle)))
