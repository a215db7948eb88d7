"""Solids from drawn lines: outlines pulled up into prisms, tubes along a line. All are closed, in metres."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import GREY


def prism(outline: ArrayLike, height: float, at: ArrayLike = (0.0, 0.0, 0.0), color: Color = GREY) -> Mesh:
    """An outline (N, 2) in x and y, simple but not need be convex, pulled from z = 0 up to `height`, moved by `at`."""
    flat = np.asarray(outline, dtype=float).reshape(-1, 2)
    if _area(flat) < 0:
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
    side = np.tile(_normal(points), (n, 1)) if ring else _carried(along)
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


def _normal(points: Array) -> Array:
    """Unit normal (3,) of the plane in which points lie."""
    return np.asarray(np.linalg.svd(points - points.mean(axis=0))[2][2])


def _carried(along: Array) -> Array:
    """A unit vector across each direction (N, 3), turned no more than the line itself turns."""
    start = np.eye(3)[int(np.argmin(np.abs(along[0])))]
    side = np.empty_like(along)
    for k, way in enumerate(along):
        across = (start if k == 0 else side[k - 1]) - way * float((start if k == 0 else side[k - 1]) @ way)
        side[k] = across / np.linalg.norm(across)
    return side


def _area(flat: Array) -> float:
    x, y = flat.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


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
