"""Floor of a scene: its height, by one rule for all commands, and the triangles that it replaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.mesh_cleanup import cleaned_solids, components
from elbowroom.geometry.rotations import Array
from elbowroom.kernels.triangles import distances, tree_of
from elbowroom.motion.clip import Clip, Motion

# Height above the floor up to which a sheet without thickness counts as the floor, metres. Sheets of measured real
# scenes lie within 1 mm of the floor, or 2 mm and more above it, as carpets and boards do.
FLUSH_M = 0.002

# Cosine of the steepest level slope, 5 degrees.
LEVEL = 0.996

# A face with no more height than this from lowest to highest vertex is level, however narrow, metres.
_FLAT_M = 1e-6


@dataclass(frozen=True)
class Dropped:
    """Triangles of a static mesh that are left out, since the floor's half-space replaces them.

    name of the mesh; number of triangles (faces) and their area; above_floor_m: height of the highest above the floor,
    metres, at most `FLUSH_M`: up to there the half-space does not cover what was left out.
    """

    name: str
    faces: int
    area_m2: float
    above_floor_m: float


def on_floor(mesh: Mesh, solid: NDArray[np.bool_], floor: float) -> NDArray[np.bool_]:
    """Mask (F,) of faces of a cleaned mesh that duplicate the floor: the half-space replaces those.

    `solid` (F,) marks faces of solids. A connected part that ends at the floor goes as a whole: what lies below the
    floor, a level sheet, or a slab that is sunk into the floor and rises no more than `FLUSH_M` over it. Of open parts
    that reach higher, such as a room with walls, the level triangles at the floor go. Whatever stands on the floor and
    has a thickness stays, however low; and so do solids that reach higher.
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


# Metres: level triangles within this of each other in height are one level. Rooms of a real house model differ by
# 3 mm, floor and carpets of a shop by 20.
_BAND_M = 0.02

# Share of a level's area at or below its height: feet stand on its sheets, and low edges do not count.
_AT_OR_BELOW = 0.9

# Smallest area of a floor, square metres; larger than any table.
_LARGE_M2 = 6.0

# A level with this share of the largest one's area is large enough to be the floor.
_LARGE_SHARE = 0.4

# Largest thickness of a floor, metres, and the share of a scene's surface that may lie deeper below its top.
_THICK_M = 0.35
_BENEATH_SHARE = 0.01

# Height above 0 from which on a floor must carry something, metres: a lone slab up there is a roof or a gallery. The
# objects on it have this share of its area, more than this far above it, metres.
_LONE_M = 0.5
# Height above 0 from which no level is taken for a roof, metres: a scene up there is on a map, on ground of its own.
_MAP_M = 50.0
_CARRIED_SHARE = 0.05
_CARRIED_M = 0.1

# Distance of a foot beyond the edge of a floor, or over a gap in it, metres: about the length of a foot.
_BEYOND_M = 0.3

# Most positions of feet that are sampled, and seconds between them.
_MOST_FEET = 400
_FEET_S = 0.1


@dataclass(frozen=True)
class FloorFound:
    """The height of a floor in metres, whether the scene has one there (else it is 0), and a sentence on it.

    `note` is empty without meshes.
    """

    height: float
    found: bool
    note: str


@dataclass(frozen=True)
class _Level:
    """Level triangles (F, 3, 3) of about one height, metres, with their area, and whether too much lies beneath."""

    height: float
    area: float
    triangles: Array
    deep: bool
    bare: bool


def scene_floor(static: Mapping[str, Mesh], feet: Array | None = None) -> FloorFound:
    """Find the floor of a scene from its static meshes and, if known, places of feet (N, 2) over time, metres.

    A floor is a level: nearly horizontal triangles (within 5°) whose heights differ by no more than 20 mm. It
    - has 6 m² or more, and 40 % or more of the area of the largest level;
    - lies under the feet: every place of a foot is over it, or within 0.3 m of it;
    - is the lowest: no more than 1 % of the scene's surface lies more than 0.35 m below it;
    - carries something if it is 0.5 to 50 m above 0, since it may be a roof otherwise.
    What faces down on solids is neither a level nor something beneath. The lowest level that is all this is the floor;
    90 % of its area lies at or below its height. Without one the floor is at 0, and the note says why.
    """
    levels = _levels(static)
    if levels is None:
        return FloorFound(0.0, False, "")
    why = "it has no horizontal surface of 6 m² or more"
    under = []
    for level in levels:
        beyond = 0.0 if feet is None or not len(feet) else _beyond(level, feet)
        if beyond <= _BEYOND_M:
            under.append(level)
        else:
            why = f"its level at {level.height:.3f} m ends {beyond:.1f} m short of the feet"
    largest = max((level.area for level in under), default=0.0)
    for level in under:
        if level.area < _LARGE_SHARE * largest:
            continue
        if level.deep:
            why = f"other geometry is below its level at {level.height:.3f} m"
        elif _LONE_M < level.height < _MAP_M and level.bare:
            why = f"its level at {level.height:.3f} m carries no objects and may be a roof"
        else:
            what = f"Floor assumed at {level.height:.3f} m, a level of {level.area:.0f} m²"
            return FloorFound(level.height, True, f"{what}; set the floor to override it.")
    what = f"No floor found in the scene ({why}): assumed at 0"
    return FloorFound(0.0, False, f"{what}; set the floor to override it.")


def foot_places(motions: Iterable[Motion]) -> Array:
    """Positions (N, 2) of feet over time, metres; of the root if a body has no feet."""
    found = [np.zeros((0, 2))]
    for motion in motions:
        begin, end = motion.span
        if isinstance(motion, Clip):
            begin += min(motion.source.lead, len(motion) - 1) / motion.fps  # artificial frames are nowhere
        count = int(np.clip(np.ceil((end - begin) / _FEET_S) + 1, 1, _MOST_FEET))
        root, q = motion.sample(np.linspace(begin, end, count))
        roles = motion.body.roles if isinstance(motion.body, Character) else {}
        joints = [roles[name] for name in ("left_foot", "right_foot") if name in roles]
        places = motion.body.transforms(root, q)[:, joints, :2, 3].reshape(-1, 2) if joints else root[:, :2]
        found.append(places)
    return np.concatenate(found)


def _levels(static: Mapping[str, Mesh]) -> list[_Level] | None:
    """Large levels of a scene, the lowest first; None where there are no triangles."""
    heights, tops, areas, flat, corners = [], [], [], [], []
    for name, raw in static.items():
        mesh, solid = cleaned_solids(raw, name)
        if not len(mesh.faces):
            continue
        steep = tilt(mesh)
        counts = ~(solid & (steep <= -LEVEL))
        triangles = mesh.vertices[mesh.faces[counts]]
        corners.append(triangles)
        heights.append(triangles[:, :, 2].mean(axis=1))
        tops.append(triangles[:, :, 2].max(axis=1))
        areas.append(0.5 * np.linalg.norm(normals(triangles), axis=1))
        flat.append(np.abs(steep[counts]) >= LEVEL)
    if not heights:
        return None
    order = np.argsort(np.concatenate(heights))
    height, area, level = (np.concatenate(a)[order] for a in (heights, areas, flat))
    top, triangles = np.concatenate(tops)[order], np.concatenate(corners)[order]
    total = np.append(0.0, np.cumsum(area))
    spread = np.append(0.0, np.cumsum(area * level))
    end = np.searchsorted(height, height + _BAND_M, side="right")
    extent = spread[end] - spread[:-1]  # area of the level that begins at each triangle's height
    found: list[_Level] = []
    after = 0
    for begin in np.flatnonzero(extent >= _LARGE_M2).tolist():
        if begin < after or not level[begin]:
            continue
        after = int(end[begin])
        inside = begin + np.flatnonzero(level[begin:after])
        at = _height_at(top[inside], area[inside])
        beneath = total[np.searchsorted(height, at - _THICK_M)]
        above = total[-1] - total[np.searchsorted(height, at + _CARRIED_M)]
        deep, bare = beneath > _BENEATH_SHARE * total[-1], above < _CARRIED_SHARE * extent[begin]
        found.append(_Level(at, float(extent[begin]), triangles[inside], bool(deep), bool(bare)))
    return found


def _height_at(top: Array, area: NDArray) -> float:
    """The height that most of an area lies at or below, from the tops (F,) of its triangles."""
    order = np.argsort(top)
    share = np.cumsum(area[order]) / area.sum()
    return float(top[order[min(int(np.searchsorted(share, _AT_OR_BELOW)), len(order) - 1)]])


def _beyond(level: _Level, feet: Array) -> float:
    """Horizontal distance of the farthest foot position beyond a level, metres; 0 if all are over it."""
    flat = level.triangles * [1.0, 1.0, 0.0]
    some = np.asarray(feet, dtype=float)[:: max(1, len(feet) // _MOST_FEET), :2]
    places = np.concatenate([some, np.zeros((len(some), 1))], axis=1)
    return float(distances(tree_of(flat), places).max())
