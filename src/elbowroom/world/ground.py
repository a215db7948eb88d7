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

# Square metres that a ground has at least; metres that a slab of it is thick at most; and the share of a scene's
# surface that may lie deeper than that.
_ROOM = 6.0
_THICK = 0.35
_BENEATH = 0.01


def on_floor(mesh: Mesh, solid: NDArray[np.bool_], floor: float) -> NDArray[np.bool_]:
    """Faces (F,) of a mended mesh that are nothing but its floor: the half-space stands for those.

    `solid` (F,) says which faces belong to solids. Parts that end less than `MATCH` above the floor are floor as a
    whole; of open parts that reach higher, such as a room with walls, the level triangles at the floor are. Solids that
    reach higher stay whole.
    """
    none = np.zeros(len(mesh.faces), dtype=bool)
    if not len(mesh.faces) or mesh.vertices[:, 2].min() > floor + MATCH:
        return none
    top = mesh.vertices[mesh.faces, 2].max(axis=1)
    low = top <= floor + MATCH
    if not low.any():
        return none
    part = components(mesh.faces)
    reaches = np.zeros(part.max() + 1, dtype=bool)
    reaches[part[~low]] = True
    level = ~solid & (np.abs(_tilt(mesh)) >= _LEVEL)
    return low & (level | ~reaches[part])


def without(mesh: Mesh, drop: NDArray[np.bool_]) -> Mesh:
    """A mesh without some of its faces (F,), and without vertices that only they used."""
    if not drop.any():
        return mesh
    kept, faces = np.unique(mesh.faces[~drop], return_inverse=True)
    return Mesh(mesh.vertices[kept], faces.reshape(-1, 3).astype(np.int32), mesh.color)


def estimate_scene_floor(static: Mapping[str, Mesh]) -> float:
    """Height of the ground of a scene in metres: its lowest large level with little beneath it, else its lowest point.

    Levels are areas of nearly horizontal triangles within `MATCH` of each other. What faces down on solids is neither
    a level nor something beneath. A single table stands on its feet, not under its top. 0 without meshes.
    """
    heights, areas, levels = [np.zeros(0)], [np.zeros(0)], [np.zeros(0, dtype=bool)]
    lowest = np.inf
    for name, raw in static.items():
        mesh = mended(raw, name)
        if not len(mesh.faces):
            continue
        lowest = min(lowest, float(mesh.vertices[:, 2].min()))
        tilt, solid = _tilt(mesh), solid_faces(mesh)
        counts = ~(solid & (tilt <= -_LEVEL))
        corners = mesh.vertices[mesh.faces[counts]]
        heights.append(corners[:, :, 2].mean(axis=1))
        areas.append(0.5 * np.linalg.norm(_normals(corners), axis=1))
        levels.append(np.abs(tilt[counts]) >= _LEVEL)
    if not np.isfinite(lowest):
        return 0.0
    height, area, level = np.concatenate(heights), np.concatenate(areas), np.concatenate(levels)
    order = np.argsort(height)
    height, area, level = height[order], area[order], level[order]
    total = np.concatenate([[0.0], np.cumsum(area)])
    flat = np.concatenate([[0.0], np.cumsum(area * level)])
    end = np.searchsorted(height, height + MATCH, side="right")
    extent = flat[end] - flat[:-1]  # area of the level that begins at each triangle's height
    beneath = total[np.searchsorted(height, height - _THICK)]
    ground = (extent >= max(_LARGE * extent.max(initial=0.0), _ROOM)) & (beneath <= _BENEATH * total[-1])
    if not ground.any():
        return lowest
    begin = int(np.argmax(ground))
    inside = slice(begin, int(end[begin]))
    return float(np.average(height[inside], weights=area[inside] * level[inside]))


def _tilt(mesh: Mesh) -> Array:
    """Upward part (F,) of the unit normals of faces."""
    normal = _normals(mesh.vertices[mesh.faces])
    return normal[:, 2] / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)


def _normals(corners: Array) -> Array:
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
