"""The world: people with their motions, walls, things and what holds them, all placed by time alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Motion
from elbowroom.world.contacts import Contact
from elbowroom.world.paths import Path
from elbowroom.world.things import Fixture, Hold, Thing


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Where everything is at one time: joints of each character (J, 4, 4), each thing (4, 4), in the world."""

    time: float
    joints: Mapping[str, Array]
    things: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class World:
    """Everything that exists. `with_…()` gives a new world; nothing is changed in place.

    `objects` are things as they would move by themselves; `things` has them where hands take them. `floor` is the
    height of the ground in metres, or None where there is none.
    """

    characters: Mapping[str, Motion] = field(default_factory=dict)
    static: Mapping[str, Mesh] = field(default_factory=dict)
    objects: Mapping[str, Thing] = field(default_factory=dict)
    floor: float | None = 0.0
    holds: tuple[Hold, ...] = ()
    contacts: tuple[Contact, ...] = ()

    @property
    def span(self) -> tuple[float, float]:
        """From the earliest start to the latest end of all motions, seconds; (0, 0) without any."""
        spans = [m.span for m in self.characters.values()]
        return (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else (0.0, 0.0)

    @property
    def triangles(self) -> int:
        """Triangles of static meshes and things."""
        meshes = [*self.static.values(), *(o.mesh for o in self.objects.values())]
        return sum(len(m.faces) for m in meshes)

    @cached_property
    def things(self) -> Mapping[str, Thing]:
        """All objects and fixtures, with paths that follow the hands that hold them."""
        held = {
            name: sorted((h for h in self.holds if h.object == name), key=lambda h: h.during)
            for name in self.objects
        }
        return {
            name: replace(thing, path=_Carried(thing.path, tuple(held[name]), self)) if held[name] else thing
            for name, thing in self.objects.items()
        }

    def motion(self, name: str) -> Motion:
        """The motion of the character of that name."""
        if name not in self.characters:
            raise UnknownName("character", name, self.characters)
        return self.characters[name]

    def body(self, name: str) -> Character:
        """The character of that name."""
        body = self.motion(name).body
        assert isinstance(body, Character)
        return body

    def at(self, t: float) -> Snapshot:
        """Where everything is at a time in seconds."""
        joints = {}
        for name, motion in self.characters.items():
            root, q = motion.sample([t])
            joints[name] = self.body(name).skeleton.forward(root[0], q[0])
        return Snapshot(t, joints, {name: np.asarray(o.path(t)) for name, o in self.things.items()})

    def hand(self, name: str, hand: str, t: float) -> Array:
        """`T_world_hand` (4, 4) of a character's left or right hand."""
        body = self.body(name)
        root, q = self.motion(name).sample([t])
        return body.skeleton.forward(root[0], q[0])[body.role(f"{hand}_hand")]

    def frame(self, name: str, t: float) -> Array:
        """`T_world_frame` (4, 4) of 'thing', 'thing.frame', 'character' or 'character.part' at a time."""
        owner, _, part = name.partition(".")
        if owner in self.objects:
            thing = self.things[owner]
            return np.asarray(thing.path(t)) @ (thing.frame(part) if part else np.eye(4))
        if owner in self.characters:
            root, q = self.characters[owner].sample([t])
            body = self.body(owner)
            return body.skeleton.forward(root[0], q[0])[body.role(part) if part else 0]
        raise UnknownName("thing or character", owner, [*self.objects, *self.characters])

    def with_character(self, name: str, motion: Motion) -> World:
        """A world in which a character moves so."""
        return replace(self, characters={**self.characters, name: motion})

    def with_static(self, name: str, mesh: Mesh, at: ArrayLike = (0.0, 0.0, 0.0)) -> World:
        """A world with one more mesh that never moves, placed at `at` (3,)."""
        T = np.eye(4)
        T[:3, 3] = at
        return replace(self, static={**self.static, name: mesh.moved(T)})

    def with_object(self, name: str, mesh: Mesh, path: Path, **more: object) -> World:
        """A world with one more thing that moves along a path; `more` are fields of `Thing`."""
        return replace(self, objects={**self.objects, name: Thing(mesh=mesh, path=path, **more)})  # type: ignore[arg-type]

    def with_fixture(self, name: str, fixture: Fixture) -> World:
        """A world with one more drawer, door or switch."""
        return replace(self, objects={**self.objects, name: fixture})

    def with_hold(
        self,
        object: str,
        by: str,
        hand: str,
        during: tuple[float, float] | None = None,
        T_hand_object: ArrayLike | None = None,
    ) -> World:
        """A world in which a hand holds an object, by default all the time.

        Without `T_hand_object` the object stays in the hand as it lies when the hold begins.
        """
        if object not in self.objects:
            raise UnknownName("object", object, self.objects)
        if isinstance(self.objects[object], Fixture):
            raise BadValue(
                f"'{object}' is a fixture: a hand moves it along its joint and cannot carry it away."
            )
        self.body(by).role(f"{hand}_hand")
        T = None if T_hand_object is None else np.asarray(T_hand_object, dtype=float)
        hold = Hold(object, by, hand, during or self.motion(by).span, T)  # type: ignore[arg-type]
        for other in self.holds:
            meet = max(other.during[0], hold.during[0]) < min(other.during[1], hold.during[1])
            if meet and other.object == object:
                raise BadValue(
                    f"'{object}' is held by {other.by} already during {other.during[0]:g}–{other.during[1]:g} s."
                )
            if meet and (other.by, other.hand) == (by, hand):
                raise BadValue(f"the {hand} hand of {by} holds '{other.object}' already at that time.")
        return replace(self, holds=(*self.holds, hold))

    def with_contact(self, contact: Contact) -> World:
        """A world in which two things may touch."""
        return replace(self, contacts=(*self.contacts, contact))


@dataclass(frozen=True, eq=False)
class _Carried:
    """Path of an object that hands take: its own until the first hold, with the hand, and where it was left."""

    own: Path
    holds: tuple[Hold, ...]
    world: World

    def __call__(self, t: float) -> Array:
        k = sum(h.during[0] <= t for h in self.holds) - 1
        if k < 0:
            return self.own(t)
        hold = self.holds[k]
        hand = self.world.hand(hold.by, hold.hand, min(t, hold.during[1]))
        return hand @ self._grips[k]

    @cached_property
    def _grips(self) -> list[Array]:
        grips: list[Array] = []
        for k, hold in enumerate(self.holds):
            if hold.T_hand_object is not None:
                grips.append(hold.T_hand_object)
                continue
            begin = hold.during[0]
            if k == 0:
                before = np.asarray(self.own(begin))
            else:
                last = self.holds[k - 1]
                before = self.world.hand(last.by, last.hand, min(begin, last.during[1])) @ grips[k - 1]
            grips.append(inverse(self.world.hand(hold.by, hold.hand, begin)) @ before)
        return grips
