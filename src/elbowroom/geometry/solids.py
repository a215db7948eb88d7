"""Meshes of simple solids, for furniture and props; `tessellate` gives those of collision shapes.

`profiles` has solids drawn as outlines and tubes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.paint import Material, Paint, joined
from elbowroom.geometry.rotations import about
from elbowroom.geometry.transforms import transform

GREY: Color = (0.62, 0.64, 0.66)


# Corners of a box, in its size from its middle, and its triangles.
_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_TRIANGLES = (
    (1, 3, 0), (4, 1, 0), (0, 3, 2), (2, 4, 0), (1, 7, 3), (5, 1, 4),
    (5, 7, 1), (3, 7, 2), (6, 4, 2), (2, 7, 6), (6, 5, 4), (7, 5, 6),
)  # fmt: skip

# Metres: vertices of a solid of revolution that are nearer than this are one; triangles of less square metres go.
_SAME = 1e-8


def box(size: ArrayLike, at: ArrayLike = (0.0, 0.0, 0.0), color: Color = GREY) -> Mesh:
    """Box of full extents `size` (3,) centred at `at` (3,), metres."""
    corners = _CORNERS * np.asarray(size, dtype=float)
    return Mesh(corners + np.asarray(at, dtype=float), np.array(_TRIANGLES), color)


def cylinder(radius: float, height: float, at: ArrayLike = (0.0, 0.0, 0.0), color: Color = GREY) -> Mesh:
    """Upright cylinder centred at `at` (3,), metres."""
    half = 0.5 * abs(height)
    return _revolved([[0.0, -half], [radius, -half], [radius, half], [0.0, half]], at, color, 32)


def sphere(radius: float, at: ArrayLike = (0.0, 0.0, 0.0), color: Color = GREY) -> Mesh:
    """Ball centred at `at` (3,), metres."""
    angle = np.linspace(0.0, np.pi, 16)
    return _revolved(radius * np.column_stack([np.sin(angle), -np.cos(angle)]), at, color, 48)


def lathe(profile: ArrayLike, at: ArrayLike = (0.0, 0.0, 0.0), color: Color = GREY, *, sections: int = 40) -> Mesh:
    """Solid of revolution about z from a profile of (radius, height) pairs, (N, 2), metres, drawn either way."""
    return outward(_revolved(profile, at, color, sections))


def _revolved(profile: ArrayLike, at: ArrayLike, color: Color, sections: int) -> Mesh:
    """A profile (N, 2) revolved about z in some sections; ends on the axis become one vertex each."""
    radius, height = np.asarray(profile, dtype=float).T
    per, angle = len(radius), np.linspace(0.0, 2.0 * np.pi, sections + 1)[:-1]
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rings = (around[:, None] * radius[:, None]).reshape(-1, 2)
    points = np.column_stack([rings, np.tile(height, sections)])
    slice_ = (np.array([[0, per, 1], [1, per, per + 1]]) + np.arange(per - 1)[:, None, None]).reshape(-1, 3)
    a, b, c = np.moveaxis(points[slice_], 1, 0)
    slice_ = slice_[0.5 * np.linalg.norm(np.cross(b - a, c - b), axis=1) > _SAME]
    faces = (slice_ + per * np.arange(sections)[:, None, None]).reshape(-1, 3) % len(points)
    used = np.unique(faces)
    cells = np.round(points[used] / _SAME).astype(np.int64)
    _, first, which = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.zeros(len(points), np.int64)
    number[used] = np.argsort(order)[which.reshape(-1)]
    return Mesh(points[used[first[order]]] + np.asarray(at, dtype=float), number[faces], color)


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
