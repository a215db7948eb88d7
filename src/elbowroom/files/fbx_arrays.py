"""Arrays out of objects of an FBX scene; see `fbx_scene`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.files.glb_nodes import rigid
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array

# Joints that move one vertex; glTF is read with up to four sets of four.
_MOST_JOINTS = 16


def rows_of(values: Any, width: int) -> Array:
    """Vectors of a list as rows (N, width)."""
    return np.array([tuple(v) for v in values], dtype=float).reshape(-1, width)


def matrix_of(m: Any) -> Array:
    """A transform (4, 4) from its columns."""
    out = np.eye(4)
    out[:3] = np.stack([m.c0, m.c1, m.c2, m.c3], axis=1)
    return out


def flat(t: Any) -> tuple[float, ...]:
    """Translation, rotation (w, x, y, z) and scale in a row of ten."""
    q = t.rotation
    return (*t.translation, q.w, q.x, q.y, q.z, *t.scale)


def split(T: Array) -> Array:
    """The inverse of `flat` for a transform (4, 4)."""
    scale = np.linalg.norm(T[:3, :3], axis=0)
    return np.concatenate([T[:3, 3], rot.from_matrix(rigid(T)[:3, :3]), scale])


def color_of(material: Any) -> tuple[float, float, float] | None:
    """Diffuse colour of a material, linear RGB; None if it has none, or an image in its place."""
    shade = material.fbx.diffuse_color
    if not shade.has_value or (shade.texture_enabled and shade.texture is not None):
        return None
    value = shade.value_vec4
    return value.x, value.y, value.z


def triangles(mesh: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Faces as fans of triangles (F, 3), and their materials (F,)."""
    listed = np.array([(f.index_begin, f.num_indices) for f in mesh.faces], dtype=np.int64).reshape(-1, 2)
    corners = np.array(list(mesh.vertex_indices), dtype=np.int64)
    material = np.array(list(mesh.face_material), dtype=np.int64)
    material = material if len(material) == len(listed) else np.zeros(len(listed), np.int64)
    count = np.maximum(listed[:, 1] - 2, 0)
    face = np.repeat(np.arange(len(listed)), count)
    step = np.arange(len(face)) - np.repeat(np.cumsum(count) - count, count)
    first = listed[face, 0]
    fans = np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1)
    return fans, material[face]


def by_vertex(rows: NDArray, joints: NDArray, weights: Array, count: int) -> tuple[NDArray, Array]:
    """Joints and weights (V, K) by vertex, strongest first, from entries (E,); K is a multiple of four."""
    good = (weights > 0) & (rows >= 0) & (rows < count)
    rows, joints, weights = rows[good], joints[good], weights[good]
    order = np.lexsort((-weights, rows))
    rows, joints, weights = rows[order], joints[order], weights[order]
    start = np.searchsorted(rows, np.arange(count))
    column = np.arange(len(rows)) - start[rows] if len(rows) else rows
    column = column.astype(np.int64)
    kept = column < _MOST_JOINTS
    width = 4 * (int(column[kept].max(initial=0)) // 4 + 1)
    out_joints, out_weights = np.zeros((count, width), np.int64), np.zeros((count, width))
    out_joints[rows[kept], column[kept]] = joints[kept]
    out_weights[rows[kept], column[kept]] = weights[kept]
    return out_joints, out_weights
