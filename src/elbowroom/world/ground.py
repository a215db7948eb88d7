"""Triangles that are nothing but the floor: the half-space below the floor's height stands for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.mesh_cleanup import components
from elbowroom.geometry.rotations import Array

# Metres above the floor up to which a sheet without thickness is still the floor. Sheets of the real scenes that were
# measured lie within 1 mm of the floor, or 2 mm and more above it, as carpets and boards do.
FLUSH_M = 0.002

# Cosine of a slope that still is level, 5 degrees.
LEVEL = 0.996

# Metres: a face that is no higher than this from its lowest to its highest corner is level, however narrow.
_FLAT_M = 1e-6


@dataclass(frozen=True)
class Dropped:
    """Triangles of a static mesh that are left out, since the floor's half-space stands for them.

    name of the mesh; how many triangles (faces) and their area; above_floor_m: how far the highest of them is above the
    floor, metres, at most `FLUSH_M`: up to there the half-space does not cover what was left out.
    """

    name: str
    faces: int
    area_m2: float
    above_floor_m: float


def on_floor(mesh: Mesh, solid: NDArray[np.bool_], floor: float) -> NDArray[np.bool_]:
    """Faces (F,) of a cleaned mesh that are nothing but its floor: the half-space stands for those.

    `solid` (F,) says which faces belong to solids. A connected part that ends at the floor goes as a whole: what lies
    below the floor, a sheet that is level, or a slab that is sunk into the floor and rises no more than `FLUSH_M` over
    it. Of open parts that reach higher, such as a room with walls, the level triangles at the floor go. Whatever stands
    on the floor and has a thickness stays, however low; and so do solids that reach higher.
    """
    none = np.zeros(len(mesh.faces), dtype=bool)
    if not len(mesh.faces) or mesh.vertices[:, 2].min() > floor + FLUSH_M:
        return none
    heights = mesh.vertices[mesh.faces, 2]
    top, bottom = heights.max(axis=1), heights.min(axis=1)
    low = top <= floor + FLUSH_M
    if not low.any():
        return none
    part = components(mesh.faces)
    reaches, sunk, upright = (np.zeros(part.max() + 1, dtype=bool) for _ in range(3))
    level = (np.abs(tilt(mesh)) >= LEVEL) | (top - bottom <= _FLAT_M)
    reaches[part[~low]] = True
    sunk[part[bottom < floor - FLUSH_M]] = True
    upright[part[~level & (top > floor)]] = True
    whole = ~reaches & (sunk | ~upright)
    return whole[part] | (reaches[part] & low & level & ~solid)


def dropped_faces(mesh: Mesh, drop: NDArray[np.bool_], floor: float, name: str) -> Dropped | None:
    """The account of faces (F,) that `on_floor` found; None where there are none."""
    if not drop.any():
        return None
    corners = mesh.vertices[mesh.faces[drop]]
    area = 0.5 * float(np.linalg.norm(normals(corners), axis=1).sum())
    return Dropped(name, int(drop.sum()), area, max(float(corners[:, :, 2].max()) - floor, 0.0))


def without(mesh: Mesh, drop: NDArray[np.bool_]) -> Mesh:
    """A mesh without some of its faces (F,), and without vertices that only they used."""
    if not drop.any():
        return mesh
    kept, faces = np.unique(mesh.faces[~drop], return_inverse=True)
    return mesh.taken(kept, faces.reshape(-1, 3).astype(np.int32))


def tilt(mesh: Mesh) -> Array:
    """Upward part (F,) of the unit normals of faces."""
    normal = normals(mesh.vertices[mesh.faces])
    return normal[:, 2] / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)


def normals(corners: Array) -> Array:
    """Normals (F, 3) of triangles (F, 3, 3), twice as long as their areas."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
