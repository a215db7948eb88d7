"""The ground of a scene: how high it is, and which triangles are nothing but it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.mending import components, mended
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solidity import solid_faces

# Metres: sheets that lie flat this near to the ground are the ground.
MATCH = 0.02

# Cosine of a slope that still is level, 5 degrees.
_LEVEL = 0.996

# A level with this share of the largest one's area is large enough to be the ground.
_LARGE = 0.4


def above_floor(mesh: Mesh, floor: float | None) -> Mesh:
    """What is left of a mended mesh without its floor: the half-space stands for that.

    Parts that end less than `MATCH` above the floor go as a whole; of open parts that reach higher, such as a room
    with walls, the level triangles at the floor go. Solids that reach higher stay whole.
    """
    if floor is None or not len(mesh.faces) or mesh.vertices[:, 2].min() > floor + MATCH:
        return mesh
    top = mesh.vertices[mesh.faces, 2].max(axis=1)
    part = components(mesh.faces)
    reach = np.full(part.max() + 1, -np.inf)
    np.maximum.at(reach, part, top)
    drop = reach[part] <= floor + MATCH
    low = (top <= floor + MATCH) & (np.abs(_tilt(mesh)) >= _LEVEL) & ~drop
    if low.any():
        drop |= low & ~solid_faces(mesh)
    if not drop.any():
        return mesh
    kept, faces = np.unique(mesh.faces[~drop], return_inverse=True)
    return Mesh(mesh.vertices[kept], faces.reshape(-1, 3), mesh.color)


def estimate_scene_floor(static: Mapping[str, Mesh]) -> float:
    """Height of the ground of a scene in metres: its lowest large level, else its lowest point; 0 without meshes.

    Levels are areas of nearly horizontal triangles within `MATCH` of each other. Of solids only what faces up counts.
    """
    heights, areas = [], []
    lowest = np.inf
    for name, raw in static.items():
        mesh = mended(raw, name)
        if not len(mesh.faces):
            continue
        lowest = min(lowest, float(mesh.vertices[:, 2].min()))
        tilt = _tilt(mesh)
        level = np.where(solid_faces(mesh), tilt, np.abs(tilt)) >= _LEVEL
        corners = mesh.vertices[mesh.faces[level]]
        heights.append(corners[:, :, 2].mean(axis=1))
        areas.append(_area(corners))
    if not np.isfinite(lowest):
        return 0.0
    height, area = np.concatenate(heights), np.concatenate(areas)
    if not len(height):
        return lowest
    order = np.argsort(height)
    height, area = height[order], np.concatenate([[0.0], np.cumsum(area[order])])
    # area of the level that begins at each triangle's height
    end = np.searchsorted(height, height + MATCH, side="right")
    level_area = area[end] - area[:-1]
    begin = int(np.argmax(level_area >= _LARGE * level_area.max()))
    weight = np.diff(area)[begin : end[begin]]
    return float(np.average(height[begin : end[begin]], weights=weight))


def _tilt(mesh: Mesh) -> Array:
    """Upward part (F,) of the unit normals of faces."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    normal = np.cross(b - a, c - a)
    return normal[:, 2] / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)


def _area(corners: NDArray) -> Array:
    return 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
