"""Landing places of new objects: upright on the selected surface, else beside everything on the floor."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Mesh, highest
from elbowroom.studio.studio import Studio

# New objects snap to multiples of this, metres, beside others; heights are exact.
_SNAP_M = 0.05
_DIGITS = 4


def landing(studio: Studio) -> list[float]:
    """Position (3,) for the bottom of a new object, metres: the middle of what is selected, on top of it."""
    surface = _selected(studio)
    if surface is None:
        return free_spot(studio)
    low, high = surface.bounds
    middle = 0.5 * (low + high)
    top = highest(surface.vertices[surface.faces], middle[None, :2])
    return [round(float(middle[0]), _DIGITS), round(float(middle[1]), _DIGITS), round(max(top, float(low[2])), _DIGITS)]


def free_spot(studio: Studio) -> list[float]:
    """Free position (3,) on the floor beside everything else, metres."""
    places = [p.T[:3, 3] for p in studio.places.values()]
    x = max((float(p[0]) for p in places), default=0.0) + 1.0 if places else 0.0
    y = float(np.mean([p[1] for p in places])) if places else 0.0
    snapped = [round(round(v / _SNAP_M) * _SNAP_M, 2) for v in (x, y)]
    return [*snapped, round(studio.original.floor or 0.0, _DIGITS)]


def _selected(studio: Studio) -> Mesh | None:
    """Mesh of the selected obstacle or object where it is at the start, in the world; None for anything else."""
    name, world = studio.selected, studio.original
    if name is None:
        return None
    if name in world.static:
        return world.static[name]
    if name in world.objects:
        return world.objects[name].mesh.moved(world.objects[name].path(world.span[0]))
    return None
