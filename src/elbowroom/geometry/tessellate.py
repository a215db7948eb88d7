"""Triangles of simple solids, for pictures and for files that know nothing but meshes.

Round solids share their vertices, so normals averaged over faces come out smooth; solids with edges have
vertices of their own on every face, so they come out sharp.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import arc
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.transforms import transform

GREY: Color = (0.62, 0.64, 0.66)


def sphere(radius: float, *, segments: int = 16, color: Color = GREY) -> Mesh:
    """Ball about the origin, `segments` around and half as many from pole to pole."""
    return capsule_mesh(radius, 0.0, segments=segments, color=color)


def capsule_mesh(radius: float, half_length: float, *, segments: int = 16, color: Color = GREY) -> Mesh:
    """Capsule about the origin along z; `half_length` reaches to the centres of its end caps."""
    rings = max(2, segments // 4)
    up = np.linspace(0.0, np.pi / 2, rings + 1)[:-1]  # the poles are single vertices
    latitudes = np.concatenate([-up[::-1], up] if half_length > 0 else [-up[:0:-1], up])
    lifts = np.where(np.arange(len(latitudes)) < len(latitudes) // 2, -half_length, half_length)
    turn = np.linspace(0.0, 2 * np.pi, segments, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    body = np.concatenate(
        [
            np.concatenate(
                [radius * np.cos(a) * ring, np.full((segments, 1), radius * np.sin(a) + lift)], axis=-1
            )
            for a, lift in zip(latitudes, lifts, strict=True)
        ]
    )
    poles = np.array([[0.0, 0.0, -radius - half_length], [0.0, 0.0, radius + half_length]])
    return Mesh(np.concatenate([body, poles]), _ring_faces(len(latitudes), segments), color)


def _ring_faces(rings: int, segments: int) -> NDArray[np.int32]:
    """Faces of rings stacked along z, closed by two poles that follow the rings."""
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
    return np.concatenate(parts).astype(np.int32)


def box(half: ArrayLike, *, color: Color = GREY) -> Mesh:
    """Box about the origin with half extents (3,) in metres."""
    square = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], dtype=float)
    sides = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            side = np.roll(square * [1.0, 1.0, sign], axis + 1, axis=1)
            sides.append(side if sign > 0 else side[::-1])
    faces = np.concatenate([np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32) + 4 * i for i in range(6)])
    return Mesh(np.concatenate(sides) * np.asarray(half, dtype=float), faces, color)


def octahedron(a: ArrayLike, b: ArrayLike, width: float, *, color: Color = GREY) -> Mesh:
    """A bone as animation programs draw it, from `a` to `b` (3,), thickest (`width` across) near `a`."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    length = float(np.linalg.norm(b - a))
    w, waist = 0.5 * width, min(0.2 * length, width)
    corners = np.array(
        [[0, 0, 0], [w, 0, waist], [0, w, waist], [-w, 0, waist], [0, -w, waist], [0, 0, length]]
    )
    sides = [(0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 1, 4), (5, 1, 2), (5, 2, 3), (5, 3, 4), (5, 4, 1)]
    turn = arc([0.0, 0.0, 1.0], b - a) if length > 1e-9 else np.array([1.0, 0.0, 0.0, 0.0])
    return Mesh(
        corners[np.array(sides).reshape(-1)], np.arange(24, dtype=np.int32).reshape(8, 3), color
    ).moved(transform(a, turn))


def shape_mesh(shape: Shape, *, segments: int = 20, color: Color = GREY) -> Mesh:
    """Surface of a collision shape in the frame of its joint."""
    if shape.kind == "capsule":
        mesh = capsule_mesh(shape.size[0], shape.size[1], segments=segments, color=color)
    elif shape.kind == "sphere":
        mesh = sphere(shape.size[0], segments=segments, color=color)
    elif shape.kind == "box":
        mesh = box(shape.size, color=color)
    else:
        mesh = shape.mesh if shape.mesh is not None else merged([])
    return mesh.moved(shape.T_joint_shape)


def merged(meshes: Sequence[Mesh]) -> Mesh:
    """One mesh of all triangles, in the colour of the first."""
    if not meshes:
        return Mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32))
    starts = np.cumsum([0, *(len(m.vertices) for m in meshes[:-1])], dtype=np.int32)
    faces = np.concatenate([m.faces + start for m, start in zip(meshes, starts, strict=True)])
    return Mesh(np.concatenate([m.vertices for m in meshes]), faces, meshes[0].color)
