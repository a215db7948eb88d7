"""The world: characters with their motions, static meshes and moving objects, placed by time alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Motion


@dataclass(frozen=True, eq=False)
class MovingObject:
    """A rigid mesh whose place is a function of time: `path(t)` gives `T_world_object` (4, 4)."""

    mesh: Mesh
    path: Callable[[float], Array]


@dataclass(frozen=True, eq=False)
class World:
    """Everything that exists. `with_…()` gives a new world; nothing is changed in place.

    `floor` is the height of the ground in metres, or None where there is none.
    """

    characters: Mapping[str, Motion] = field(default_factory=dict)
    static: Mapping[str, Mesh] = field(default_factory=dict)
    objects: Mapping[str, MovingObject] = field(default_factory=dict)
    floor: float | None = 0.0

    @property
    def span(self) -> tuple[float, float]:
        """From the earliest start to the latest end of all motions, seconds; (0, 0) without any."""
        spans = [m.span for m in self.characters.values()]
        return (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else (0.0, 0.0)

    @property
    def triangles(self) -> int:
        """Triangles of static meshes and objects."""
        meshes = [*self.static.values(), *(o.mesh for o in self.objects.values())]
        return sum(len(m.faces) for m in meshes)

    def body(self, name: str) -> Character:
        """The character of that name."""
        body = self.characters[name].body
        assert isinstance(body, Character)
        return body

    def with_character(self, name: str, motion: Motion) -> World:
        """A world in which a character moves so."""
        return replace(self, characters={**self.characters, name: motion})

    def with_static(self, name: str, mesh: Mesh, at: ArrayLike = (0.0, 0.0, 0.0)) -> World:
        """A world with one more mesh that never moves, placed at `at` (3,)."""
        T = np.eye(4)
        T[:3, 3] = at
        return replace(self, static={**self.static, name: mesh.moved(T)})

    def with_object(self, name: str, mesh: Mesh, path: Callable[[float], Array]) -> World:
        """A world with one more moving object."""
        return replace(self, objects={**self.objects, name: MovingObject(mesh, path)})
