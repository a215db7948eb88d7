"""Ground under feet: carpets, boards and sills that are walked on rather than round."""

from __future__ import annotations

from functools import partial

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import Mesh, highest
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import facing, leftwards
from elbowroom.locomotion.figure import SIDES, figure
from elbowroom.locomotion.standing import idle
from elbowroom.motion.edit import place as set_down
from elbowroom.world.contacts import Contact
from elbowroom.world.world import World

# Metres above the floor up to which things are stood on as if they were the floor.
LOW_M = 0.06
# Metres of a foot before and behind the ankle and to its sides at which the ground is felt, for a leg of 0.92 m.
_ALONG_M, _ACROSS_M = np.linspace(-0.08, 0.2, 8), np.linspace(-0.055, 0.055, 4)
# Metres that soles may press into what they stand on, and that they stay above it.
_PRESS_M, _ABOVE_M = 0.004, 0.0005
# Seconds that somebody stands before anything is asked.
_MOMENT_S = 0.3


class Ground:
    """Heights of what somebody may stand on above a floor; `under` are the names of all that a foot was put on."""

    def __init__(self, world: World, t: float, scale: float = 1.0) -> None:
        self._floor = 0.0 if world.floor is None else world.floor
        self._scale = scale
        self._low: dict[str, Array] = {}
        self.under: set[str] = set()
        moved = {name: thing.mesh.moved(np.asarray(thing.path(t))) for name, thing in world.things.items()}
        for name, mesh in (*world.static.items(), *moved.items()):
            triangles = kept(mesh, ("low", self._floor), partial(_low_triangles, mesh, self._floor))
            if len(triangles):
                self._low[name] = triangles

    def __call__(self, place: Array, heading: float) -> float:
        """Height of the ground above the floor, metres, under a foot with its ankle at a place (2,)."""
        along, across = (a.ravel() * self._scale for a in np.meshgrid(_ALONG_M, _ACROSS_M))
        points = place + along[:, None] * facing(heading) + across[:, None] * leftwards(heading)
        best = 0.0
        for name, triangles in self._low.items():
            high = highest(triangles, points) - self._floor
            if high > 0.0:
                self.under.add(name)
                best = max(best, high + _ABOVE_M)
        return best

    def contacts(self, who: str, body: Character, during: tuple[float, float]) -> list[Contact]:
        """Contacts of somebody's feet with what they stand on during an interval."""
        joints = {j for side in SIDES for j in body.subtree(body.role(f"{side}_foot"))}
        feet = dict.fromkeys(shape.name for shape in body.shapes if shape.joint in joints)
        return [
            Contact(f"{who}.{foot}", name, during, "support", _PRESS_M, "stands on it")
            for name in sorted(self.under)
            for foot in feet
        ]


def _low_triangles(mesh: Mesh, floor: float) -> Array:
    """Triangles (F, 3, 3) of a mesh that lie low above the floor."""
    if not len(mesh.faces) or mesh.bounds[0, 2] > floor + LOW_M:
        return np.zeros((0, 3, 3))
    corners = mesh.vertices[mesh.faces]
    high = corners[..., 2].max(axis=1)
    return np.ascontiguousarray(corners[(high > floor + 1e-4) & (high <= floor + LOW_M)])


def standing_at(
    world: World, who: str, character: Character, place: tuple[float, float], heading: float, fps: float
) -> World:
    """The world with somebody more, who stands at ease at a place for a moment, on what lies there.

    heading: radians counter-clockwise from -Y.
    """
    ground = Ground(world, 0.0, figure(character).scale)
    clip = set_down(idle(character, _MOMENT_S, fps), place, heading)
    T = clip.world()[0]
    high = max(ground(T[character.role(f"{side}_foot"), :2, 3], heading) for side in SIDES)
    floor = 0.0 if world.floor is None else world.floor
    placed = world.with_character(who, set_down(clip, lift=floor + high))
    return placed.with_(contacts=(*world.contacts, *ground.contacts(who, character, (0.0, np.inf))))
