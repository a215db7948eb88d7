"""Closed solids in metres: boxes, cylinders and the like, prisms from outlines, tubes along a line.

`profiles` has solids drawn as outlines and tubes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.paint import Material, Paint, joined
from elbowroom.geometry.rotations import Array, about
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


def prism(outline: ArrayLike, height: float, at: ArrayLike = (0.0, 0.0, 0.0), color: Color = GREY) -> Mesh:
    """An outline (N, 2) in x and y, simple but not need be convex, pulled from z = 0 up to `height`, moved by `at`."""
    flat = np.asarray(outline, dtype=float).reshape(-1, 2)
    x, y = flat.T
    if 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) < 0:
        flat = flat[::-1]
    n = len(flat)
    k = np.arange(n)
    following = (k + 1) % n
    cap = _triangles(flat)
    sides = np.concatenate([np.stack([k, following, following + n], 1), np.stack([k, following + n, k + n], 1)])
    points = np.concatenate([np.c_[flat, np.zeros(n)], np.c_[flat, np.full(n, height)]])
    return Mesh(points + np.asarray(at, dtype=float), np.concatenate([sides, cap[:, ::-1], cap + n]), color)


def tube(line: ArrayLike, radius: ArrayLike, color: Color = GREY, *, sections: int = 16, ring: bool = False) -> Mesh:
    """A round bar along a line (N, 3) with a radius for all or for each point (N,), flat at its ends.

    A `ring` lies in a plane and goes from its last point to its first.
    """
    points = np.asarray(line, dtype=float).reshape(-1, 3)
    n = len(points)
    radii = np.broadcast_to(np.asarray(radius, dtype=float), n)
    along = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0) if ring else np.gradient(points, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.tile(np.asarray(np.linalg.svd(points - points.mean(axis=0))[2][2]), (n, 1)) if ring else _carried(along)
    other = np.cross(along, side)
    turn = np.linspace(0.0, 2 * np.pi, sections, endpoint=False)
    circle = np.cos(turn)[:, None] * side[:, None] + np.sin(turn)[:, None] * other[:, None]
    rings = (points[:, None] + radii[:, None, None] * circle).reshape(-1, 3)
    k = np.arange(sections)
    following = (k + 1) % sections
    faces = []
    for r in range(n if ring else n - 1):
        a, b = r * sections + k, r * sections + following
        c, d = (r + 1) % n * sections + k, (r + 1) % n * sections + following
        faces += [np.stack([a, b, d], 1), np.stack([a, d, c], 1)]
    if ring:
        return Mesh(rings, np.concatenate(faces), color)
    first, last, end = len(rings), len(rings) + 1, (n - 1) * sections
    faces.append(np.stack([np.full(sections, first), following, k], 1))
    faces.append(np.stack([np.full(sections, last), end + k, end + following], 1))
    return Mesh(np.concatenate([rings, points[:1], points[-1:]]), np.concatenate(faces), color)


def arc_line(middle: ArrayLike, radius: float, start: float, end: float, steps: int) -> Array:
    """Points (steps + 1, 2) on a circle from one angle to another, radians."""
    angles = np.linspace(start, end, steps + 1)
    return np.asarray(middle, dtype=float) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def rounded_line(corners: ArrayLike, radius: float, steps: int = 4) -> Array:
    """A line (N, 3) through corners, each of the inner ones rounded by a curve that begins `radius` before it."""
    at = np.asarray(corners, dtype=float).reshape(-1, 3)
    out = [at[:1]]
    s = np.linspace(0.0, 1.0, steps + 1)[:, None]
    for before, corner, after in zip(at[:-2], at[1:-1], at[2:], strict=True):
        begin = corner + radius * (before - corner) / np.linalg.norm(before - corner)
        end = corner + radius * (after - corner) / np.linalg.norm(after - corner)
        out.append((1 - s) ** 2 * begin + 2 * s * (1 - s) * corner + s**2 * end)
    return np.concatenate([*out, at[-1:]])


def _carried(along: Array) -> Array:
    """A unit vector across each direction (N, 3), turned no more than the line itself turns."""
    start = np.eye(3)[int(np.argmin(np.abs(along[0])))]
    side = np.empty_like(along)
    for k, way in enumerate(along):
        across = (start if k == 0 else side[k - 1]) - way * float((start if k == 0 else side[k - 1]) @ way)
        side[k] = across / np.linalg.norm(across)
    return side


def _triangles(flat: Array) -> NDArray[np.int64]:
    """Triangles (N - 2, 3) of an outline that goes round to the left, by cutting off its ears."""
    left = list(range(len(flat)))
    out: list[tuple[int, int, int]] = []
    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            if _turn(flat[a], flat[b], flat[c]) <= 1e-15:
                continue
            rest = flat[[p for p in left if p not in (a, b, c)]]
            corners = flat[[a, b, c]]
            within = np.all([_turn(corners[i], corners[(i + 1) % 3], rest.T) >= 0 for i in range(3)], axis=0)
            if not within.any():
                out.append((a, b, c))
                del left[k]
                break
        else:
            raise BadValue("the outline of a prism crosses itself.")
    return np.array([*out, left])


def _turn(a: Array, b: Array, c: Array) -> Array:
    """Twice the area of the triangle a, b, c, positive where it goes round to the left."""
    return np.asarray((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
