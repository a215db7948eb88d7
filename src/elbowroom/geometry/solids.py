"""Meshes of simple solids, for furniture and props; `tessellate` gives those of collision shapes.

`profiles` has solids drawn as outlines and tubes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import trimesh
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.paint import Material, Paint, joined
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


def lathe(profile: ArrayLike, at: ArrayLike = (0.0, 0.0, 0.0), color: Color = GREY, *, sections: int = 40) -> Mesh:
    """Solid of revolution about z from a profile of (radius, height) pairs, (N, 2), metres, drawn either way."""
    solid = trimesh.creation.revolve(np.asarray(profile, dtype=float), sections=sections)
    return outward(_mesh(solid, at, color))


def outward(mesh: Mesh) -> Mesh:
    """A closed mesh with its faces looking out of the solid, as mirrors and outlines drawn backwards leave them not."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] - mesh.vertices.mean(axis=0) for k in range(3))
    volume = float(np.sum(a * np.cross(b, c)))
    return replace(mesh, faces=mesh.faces[:, ::-1]) if volume < 0.0 else mesh


def rounded_box(
    size: ArrayLike,
    at: ArrayLike = (0.0, 0.0, 0.0),
    color: Color = GREY,
    *,
    radius: float = 0.004,
    steps: int = 2,
) -> Mesh:
    """Box of full extents `size` (3,) with edges and corners rounded to `radius`, each in `steps` flat strips."""
    half = 0.5 * np.asarray(size, dtype=float)
    radius = min(radius, 0.999 * float(half.min()))
    # a cube whose faces are grids: the outer strips of each grid are bent to the rounding, the middle stays flat
    bend = np.tan(np.linspace(0.0, np.pi / 4, steps + 1))
    ticks = np.concatenate([-bend[::-1], bend])
    n = len(ticks)
    u, v = (g.reshape(-1) for g in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    low = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).reshape(-1)
    grid = np.concatenate([np.stack([low, low + n, low + n + 1], 1), np.stack([low, low + n + 1, low + 1], 1)])
    corners: list[NDArray[np.int64]] = []
    faces: list[NDArray[np.int64]] = []
    for axis in range(3):
        for end in (0, n - 1):
            index = np.empty((n * n, 3), dtype=np.int64)
            index[:, axis], index[:, axis - 2], index[:, axis - 1] = end, u, v
            faces.append((grid if end else grid[:, ::-1]) + len(corners) * n * n)
            corners.append(index)
    index, number = np.unique(np.concatenate(corners), axis=0, return_inverse=True)
    out = ticks[index]
    core = np.where(index > steps, 1.0, -1.0) * (half - radius)
    points = core + radius * out / np.linalg.norm(out, axis=1, keepdims=True)
    return Mesh(points + np.asarray(at, dtype=float), number.reshape(-1)[np.concatenate(faces)].astype(np.int32), color)


def merge(meshes: Iterable[Mesh], color: Color | None = None) -> Mesh:
    """One mesh of several; its colour is the first one's unless given."""
    parts = list(meshes)
    starts = np.cumsum([0] + [len(m.vertices) for m in parts[:-1]])
    return Mesh(
        np.concatenate([m.vertices for m in parts]),
        np.concatenate([m.faces + s for m, s in zip(parts, starts, strict=True)]),
        color or parts[0].color,
    )


def assembled(meshes: Iterable[Mesh]) -> Mesh:
    """One mesh of several in which each keeps its own looks."""
    parts = list(meshes)
    colors = [np.tile(m.color, (len(m.vertices), 1)) if m.colors is None else m.colors for m in parts]
    paints = [Paint.plain(Material(color=m.color), len(m.vertices)) if m.paint is None else m.paint for m in parts]
    paint = joined(paints) if any(m.paint is not None for m in parts) else None
    return replace(merge(parts), colors=np.concatenate(colors), paint=paint)


def turned(mesh: Mesh, angle: float, at: ArrayLike = (0.0, 0.0, 0.0)) -> Mesh:
    """The mesh turned by `angle` (radians) about z and then moved to `at` (3,)."""
    return mesh.moved(transform(at, about([0.0, 0.0, 1.0], angle)))
