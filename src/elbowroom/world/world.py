"""World: characters with their motions, static meshes, objects and their holds, as functions of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Body, Character
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import Mesh, known
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import placing, transform
from elbowroom.motion.clip import Clip, Motion, still_clip
from elbowroom.motion.retarget import retarget
from elbowroom.world.contacts import Caps, Contact
from elbowroom.world.paths import Keyed, KeyedState, PlacementPath, Riding, Still, places
from elbowroom.world.things import Carried, Fixture, Freedom, GraspMark, Hold, Linked, Thing, hands


@dataclass(frozen=True, eq=False)
class Snapshot:
    """State of a world at one time: joints of each character (J, 4, 4), each object (4, 4), in the world."""

    time: float
    joints: Mapping[str, Array]
    things: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Record:
    """States of a world at many times (N,): joints of each character (N, J, 4, 4), each object (N, 4, 4)."""

    times: Array
    joints: Mapping[str, Array]
    things: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, k: int) -> Snapshot:
        joints = {name: T[k] for name, T in self.joints.items()}
        return Snapshot(float(self.times[k]), joints, {name: T[k] for name, T in self.things.items()})


@dataclass(frozen=True, eq=False)
class World:
    """Everything that exists. `with_…()` gives a new world; nothing is changed in place.

    `objects` follow their own paths; `things` are the same as moved by hands. `floor` is the
    height of the ground in metres, or None where there is none. `notes` are sentences on what was assumed of the files
    that it was read from. `caps` are the deepest overlaps that certificates allow. `linked` are pairs of objects that
    are joined during an interval and do not collide then: links of a robot, and what its gripper holds.
    """

    characters: Mapping[str, Motion] = field(default_factory=dict)
    static: Mapping[str, Mesh] = field(default_factory=dict)
    objects: Mapping[str, Thing] = field(default_factory=dict)
    floor: float | None = 0.0
    holds: tuple[Hold, ...] = ()
    contacts: tuple[Contact, ...] = ()
    notes: tuple[str, ...] = ()
    caps: Caps = field(default_factory=Caps)
    linked: tuple[Linked, ...] = ()

    @property
    def span(self) -> tuple[float, float]:
        """Earliest start and latest end of all motions, seconds.

        Without characters it is that of all keyed paths and states, and (0, 0) where nothing moves.
        """
        spans = [m.span for m in self.characters.values()] or [
            (float(keys[0]), float(keys[-1])) for o in self.objects.values() if (keys := key_times(o)) is not None
        ]
        return (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else (0.0, 0.0)

    @property
    def triangles(self) -> int:
        """Number of triangles of static meshes and objects."""
        meshes = [*self.static.values(), *(o.mesh for o in self.objects.values())]
        return sum(len(m.faces) for m in meshes)

    @cached_property
    def things(self) -> Mapping[str, Thing]:
        """All objects and fixtures, with paths that follow the hands that hold them."""
        held = {
            name: sorted((h for h in self.holds if h.object == name), key=lambda h: h.during) for name in self.objects
        }
        return {
            name: replace(thing, path=Carried(thing.path, tuple(held[name]), self.characters)) if held[name] else thing
            for name, thing in self.objects.items()
        }

    def held_during(self, hold: Hold) -> tuple[float, float] | None:
        """The seconds during which an object does not collide with the hand that holds it; None: it counts."""
        return hold.during

    def motion(self, name: str) -> Motion:
        """The motion of the character of that name."""
        if name not in self.characters:
            raise UnknownName("character", name, self.characters)
        return self.characters[name]

    def body(self, name: str) -> Body:
        """The body of the character of that name, a person's or a robot's."""
        return self.motion(name).body

    def at(self, t: float) -> Snapshot:
        """State at a time in seconds."""
        return self.record([t])[0]

    def record(self, times: ArrayLike) -> Record:
        """States at times (N,) in seconds; each body is posed once for each."""
        t = np.atleast_1d(np.asarray(times, dtype=float))
        joints = {name: m.body.transforms(*m.sample(t)) for name, m in self.characters.items()}
        things = {
            name: o.path.with_joints(t, joints) if isinstance(o.path, Carried) else places(o.path, t)
            for name, o in self.things.items()
        }
        return Record(t, joints, things)

    def hand(self, name: str, hand: str, t: float) -> Array:
        """`T_world_hand` (4, 4) of a character's left or right hand, or of a robot's gripper."""
        return hands(self.motion(name), hand, [t])[0]

    def frame(self, name: str, t: float) -> Array:
        """Transform `T_world_frame` (4, 4) of 'object', 'object.frame', 'character' or 'character.part' at a time."""
        owner, part = self.split(name)
        if owner in self.objects:
            thing = self.things[owner]
            return np.asarray(thing.path(t)) @ (thing.frame(part) if part else np.eye(4))
        if owner in self.characters:
            motion = self.characters[owner]
            joint, T = motion.body.frame(part) if part else (0, np.eye(4))
            return motion.body.transforms(*motion.sample([t]))[0, joint] @ T
        if owner in self.static:
            return np.eye(4)
        raise UnknownName("object or character", owner, [*self.objects, *self.characters])

    def split(self, name: str) -> tuple[str, str]:
        """Owner and part of 'owner.part'; owners may have dots in their own names."""
        owners = {**self.objects, **self.characters, **self.static}
        known = [n for n in owners if name == n or name.startswith(n + ".")]
        owner = max(known, key=len) if known else name.partition(".")[0]
        return owner, name[len(owner) + 1 :]

    def with_character(self, name: str, body: Body | Motion, motion: Motion | None = None) -> World:
        """A world in which a character moves so: a motion, or a body and a motion that it is to do.

        A clip of another person is retargeted onto the body; a body without a motion stands at rest.
        """
        if isinstance(body, Body):
            body = _moved_by(body, motion)
        elif motion is not None:
            raise BadValue(f"'{name}' takes a motion, or a body and a motion, not two motions.")
        self._check_free(name, self.characters)
        return replace(self, characters={**self.characters, name: body})

    def with_static(
        self,
        name: str,
        mesh: Mesh,
        at: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        scale: float = 1.0,
    ) -> World:
        """A world with one more mesh that never moves: scaled, turned by a quaternion (4,), and moved to `at` (3,)."""
        self._check_free(name, self.static)
        return replace(self, static={**self.static, name: known(mesh.moved(placing(at, rotation, scale)))})

    def with_object(
        self,
        name: str,
        mesh: Mesh,
        path: PlacementPath,
        *,
        mass: float | None = None,
        frames: Mapping[str, Array] | None = None,
        freedom: Freedom = "free",
        grasps: Mapping[str, GraspMark] | None = None,
    ) -> World:
        """World with another object that moves along a path; other arguments as in `Thing`."""
        self._check_free(name, self.objects)
        thing = Thing(mesh=known(mesh), path=path, mass=mass, frames=frames or {}, freedom=freedom, grasps=grasps or {})
        return replace(self, objects={**self.objects, name: thing})

    def with_loose(self, name: str, *, mass: float | None = None) -> World:
        """A world in which a static mesh is an object that can be taken; its frame lies in its middle."""
        if name not in self.static:
            raise UnknownName("static mesh", name, self.static)
        mesh = self.static[name]
        middle = mesh.bounds.mean(axis=0)
        fixed = {n: m for n, m in self.static.items() if n != name}
        loose = replace(self, static=fixed)
        return loose.with_object(name, mesh.moved(transform(-middle)), Still(transform(middle)), mass=mass)

    def with_fixture(self, name: str, fixture: Fixture) -> World:
        """A world with one more drawer, door or switch."""
        self._check_free(name, self.objects)
        return replace(self, objects={**self.objects, name: replace(fixture, mesh=known(fixture.mesh))})

    def with_fixture_as(self, name: str, fixture: Fixture) -> World:
        """A world with a replaced fixture and the objects that ride on it."""
        old = self.objects[name].path
        objects = {**self.objects, name: fixture}
        for other, thing in self.objects.items():
            if isinstance(thing.path, Riding) and thing.path.base is old:
                objects[other] = replace(thing, path=Riding(fixture.path, thing.path.T))
        holds = []
        for hold in self.holds:
            if hold.onto is not None and hold.onto.base is old:
                hold = replace(hold, onto=Riding(fixture.path, hold.onto.T))
            holds.append(hold)
        return self.with_(objects=objects, holds=tuple(holds))

    def with_hold(
        self,
        object: str,
        by: str,
        hand: str,
        during: tuple[float, float] | None = None,
        T_hand_object: ArrayLike | None = None,
        *,
        leads: bool = True,
        at_ease: Array | None = None,
    ) -> World:
        """A world in which a hand holds an object, by default all the time; other hands may hold it, too.

        A static mesh that is held becomes an object. Without `T_hand_object` the object stays in the hand as it lies
        when the hold begins. With `leads=False` the hand goes along with the object and never moves it. See `Hold` for
        `at_ease`.
        """
        if object in self.static and object not in self.objects:
            own = self.with_loose(object)
            return own.with_hold(object, by, hand, during, T_hand_object, leads=leads, at_ease=at_ease)
        if object not in self.objects:
            raise UnknownName("object", object, [*self.objects, *self.static])
        if isinstance(self.objects[object], Fixture):
            raise BadValue(f"'{object}' is a fixture: a hand can move it along its joint, but not carry it.")
        self.body(by).hand(hand)
        T = None if T_hand_object is None else np.asarray(T_hand_object, dtype=float)
        hold = Hold(object, by, hand, during or self.motion(by).span, T, leads=leads, at_ease=at_ease)
        for other in self.holds:
            meet = max(other.during[0], hold.during[0]) < min(other.during[1], hold.during[1])
            if meet and (other.by, other.hand) == (by, hand):
                raise BadValue(f"the {hand} hand of {by} already holds '{other.object}' at that time.")
        return replace(self, holds=(*self.holds, hold))

    def with_(self, **changes: object) -> World:
        """A copy with some fields replaced."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def with_contact(self, contact: Contact) -> World:
        """World in which two bodies may touch."""
        return replace(self, contacts=(*self.contacts, contact))

    def check_part(self, name: str) -> None:
        """Raise `UnknownName` where nothing in collision pairs is named so: 'ann', 'ann.left_foot', 'post', 'floor'."""
        owner, part = self.split(name)
        if name == "floor" or owner in self.static or (owner in self.objects and not part):
            return
        if owner not in self.characters:
            raise UnknownName("part", name, [*self.characters, *self.objects, *self.static, "floor"])
        shapes = list(dict.fromkeys(shape.name for shape in self.body(owner).shapes))
        if part and part not in shapes:
            raise UnknownName(f"part of {owner}", part, shapes)

    def _check_free(self, name: str, own: Mapping[str, object]) -> None:
        """Reject a name in use by another kind; the same kind is replaced."""
        kinds = {"a character": self.characters, "an object": self.objects, "a static mesh": self.static}
        for kind, names in kinds.items():
            if name in names and names is not own:
                raise BadValue(f"'{name}' is already the name of {kind}.")
        if not name or name == "floor":
            raise BadValue(f"the name '{name}' is reserved for the floor.")


def _moved_by(body: Body, motion: Motion | None) -> Motion:
    if motion is None:
        if not isinstance(body, Character):
            raise BadValue(f"{body.name} needs a motion.")
        return still_clip(body)
    if motion.body is body:
        return motion
    if not (isinstance(body, Character) and isinstance(motion, Clip)):
        raise BadValue(f"the motion does not belong to {body.name}, and only clips of people can be retargeted.")
    return retarget(motion, body)


def key_times(thing: Thing) -> Array | None:
    """Times of an object's path or state, if it has keyframes."""
    if isinstance(thing, Fixture):
        return thing.state.times if isinstance(thing.state, KeyedState) else None
    return thing.path.times if isinstance(thing.path, Keyed) else None
