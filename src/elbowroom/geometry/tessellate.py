"""Triangles of collision shapes and bones, for pictures and for files that know nothing but meshes.

Round solids share their vertices, so normals averaged over faces come out smooth; solids with edges have
vertices of their own on every face, so they come out sharp.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import arc
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.solids import GREY, box
from elbowroom.geometry.transforms import transform


def capsule_mesh(radius: float, half_length: float, *, segments: int = 16, color: Color = GREY) -> Mesh:
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


def octahedron(a: ArrayLike, b: ArrayLike, width: float, *, color: Color = GREY) -> Mesh:
    """A bone as animation programs draw it, from `a` to `b` (3,), thickest (`width` across) near `a`."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    length = float(np.linalg.norm(b - a))
    w, waist = 0.5 * width, min(0.2 * length, width)
    corners = np.array([[0, 0, 0], [w, 0, waist], [0, w, waist], [-w, 0, waist], [0, -w, waist], [0, 0, length]])
    sides = [(0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 1, 4), (5, 1, 2), (5, 2, 3), (5, 3, 4), (5, 4, 1)]
    turn = arc([0.0, 0.0, 1.0], b - a) if length > 1e-9 else np.array([1.0, 0.0, 0.0, 0.0])
    return Mesh(corners[np.array(sides).reshape(-1)], np.arange(24, dtype=np.int32).reshape(8, 3), color).moved(
        transform(a, turn)
    )


def faceted(mesh: Mesh) -> Mesh:
    """The same triangles without shared vertices, so that every face keeps a normal of its own."""
    corners = mesh.vertices[mesh.faces].reshape(-1, 3)
    return Mesh(corners, np.arange(len(corners), dtype=np.int32).reshape(-1, 3), mesh.color)


def shape_mesh(shape: Shape, *, segments: int = 20, color: Color = GREY) -> Mesh:
    """Surface of a collision shape in the frame of its joint."""
    if shape.kind in ("capsule", "sphere"):
        half_length = shape.size[1] if shape.kind == "capsule" else 0.0
        mesh = capsule_mesh(shape.size[0], half_length, segments=segments, color=color)
    elif shape.kind == "box":
        mesh = faceted(box(2.0 * shape.size, color=color))
    else:
        assert shape.mesh is not None
        mesh = faceted(Mesh(shape.mesh.vertices, shape.mesh.faces, color))
    return mesh.moved(shape.T_joint_shape)
