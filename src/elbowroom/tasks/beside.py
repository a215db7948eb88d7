"""What a thing touches where it lies, or would touch elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Keyed, Still
from elbowroom.world.world import Snapshot, World

# A thing rests on what is nearer than this, metres, and may press into it so deep.
_RESTS, _PRESS = 0.003, 0.002

# Heights at which a thing would have to be free if it is to be lifted, metres.
_HEADROOM = (0.06, 0.15, 0.25)


def resting(world: World, thing: str, t: float, T_world_thing: Array | None = None) -> list[str]:
    """Names of what a thing rests on or leans against at a time, where it is or would be placed, (4, 4)."""
    return _beside(world, thing, t, T_world_thing, _RESTS)


def under_cover(world: World, thing: str, t: float, T_world_thing: Array) -> bool:
    """Whether a thing at a place would meet something if it was lifted, as on a shelf."""
    lifts = [transform([0.0, 0.0, z]) @ T_world_thing for z in _HEADROOM]
    return any(_beside(world, thing, t, T, 0.0) for T in lifts)


def supported(thing: str, on: Iterable[str], during: tuple[float, float]) -> list[Contact]:
    """Contacts of a thing with what it rests on."""
    return [Contact(thing, other, during, "support", _PRESS, "rests on it") for other in on]


def _beside(world: World, thing: str, t: float, T_world_thing: Array | None, within: float) -> list[str]:
    """Names of walls and things that a thing would touch, or come near to by some metres."""
    exact, places = alone(world, thing, t)
    if T_world_thing is not None:
        places[thing] = T_world_thing
    exact.place_snapshot(Snapshot(t, {}, places))
    limit = max(within, 1e-6)
    near = [exact.distance(int(k), limit) for k in exact.near(within) if thing in exact.pairs[k]]
    touching = [d.pair for d in near if d.value is None or d.value < limit]
    return list(dict.fromkeys(pair.b if pair.a == thing else pair.a for pair in touching))


def alone(world: World, thing: str, t: float) -> tuple[ExactWorld, dict[str, Array]]:
    """Walls and things at a time without any people, for one thing that is moved about; and where things are then."""
    places = dict(world.at(t).things)
    objects = {name: replace(o, path=Still(places[name])) for name, o in world.objects.items()}
    # What never moves is not looked at: this one does.
    objects[thing] = replace(objects[thing], path=Keyed.along([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    return ExactWorld(World(static=world.static, objects=objects, floor=world.floor)), places
