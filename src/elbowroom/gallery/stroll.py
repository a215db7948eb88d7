"""The first scene of the gallery: a person walks a curved path past furniture."""

from __future__ import annotations

import numpy as np

from elbowroom.character.human import human
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import turned
from elbowroom.locomotion.walk import walk_along
from elbowroom.props import furniture
from elbowroom.world.world import World

# Waypoints on the floor, metres: between sofa and shelf, round the table, out past the plant.
PATH: Array = np.array([(-0.2, 3.4), (0.1, 2.2), (0.5, 1.0), (0.4, -0.3), (-0.6, -1.2), (-1.9, -1.6), (-3.2, -1.7)])


def stroll(seed: int = 0) -> World:
    """A furnished room and a person who walks through it, facing where they go."""
    world = World(static=_room(), floor=0.0)
    person = human(height=1.72)
    return world.with_character("ann", walk_along(person, PATH, speed=1.2, fps=60.0, seed=seed))


def _room() -> dict[str, Mesh]:
    shelf, books = furniture.bookshelf()
    pot, leaves = furniture.plant()
    placed = {
        "sofa": (furniture.sofa(), -90, (-1.5, 2.1)),
        "table": (furniture.table(), 90, (-0.95, 0.2)),
        "chair": (furniture.chair(), 80, (-1.7, 0.35)),
        "bookshelf": (shelf, 90, (-3.1, 0.4)),
        "books": (books, 90, (-3.1, 0.4)),
        "lamp": (furniture.floor_lamp(), 0, (-1.4, 3.4)),
        "pot": (pot, 0, (0.9, -1.2)),
        "leaves": (leaves, 0, (0.9, -1.2)),
    }
    return {name: turned(mesh, np.radians(deg), (*at, 0.0)) for name, (mesh, deg, at) in placed.items()}
