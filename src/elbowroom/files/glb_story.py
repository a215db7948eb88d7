"""What glTF has no words for and elbowroom leaves in a file's extras: who holds what, what may touch, what weighs.

Times are those of the file. What does not make sense is left out: extras are anybody's to write.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, TypeGuard, cast, get_args

from elbowroom.errors import ElbowroomError
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip, Motion
from elbowroom.world.contacts import Contact, Kind
from elbowroom.world.world import World

# Entries of a list that are read at most.
_MOST = 10_000


def story_of(world: World, start: float) -> dict[str, Any]:
    """Holds, contacts and masses of a world as plain data; the file's time 0 is `start` seconds of the world's."""

    def during(interval: tuple[float, float]) -> list[float | None]:
        return [t - start if math.isfinite(t) else None for t in interval]

    return {
        "holds": [{"object": h.object, "by": h.by, "hand": h.hand, "during": during(h.during)} for h in world.holds],
        "contacts": [
            {"who": c.who, "on": c.on, "during": during(c.during), "kind": c.kind, "depth": c.depth, "why": c.why}
            for c in world.contacts
        ],
        "masses": {name: thing.mass for name, thing in world.objects.items() if thing.mass is not None},
    }


def with_story(world: World, story: dict[str, Any]) -> World:
    """A world with what a file's extras say of it."""
    floor = story_floor(story)
    world = world if floor == "auto" else world.with_(floor=floor)
    masses = story.get("masses")
    for name, mass in masses.items() if isinstance(masses, dict) else ():
        if name in world.objects and _number(mass) and mass >= 0.0:
            world = world.with_(objects={**world.objects, name: replace(world.objects[name], mass=float(mass))})
    for entry in _entries(story.get("contacts")):
        world = _with_contact(world, entry)
    for entry in _entries(story.get("holds")):
        world = _with_hold(world, entry)
    return world


def story_floor(story: dict[str, Any]) -> float | Literal["auto"] | None:
    """Height of the floor that a file's extras tell, metres, None for no floor; 'auto' where they say nothing."""
    floor = story.get("floor", "auto")
    return float(floor) if _number(floor) else None if floor is None else "auto"


def _entries(listed: object) -> Iterator[dict[str, Any]]:
    for entry in listed[:_MOST] if isinstance(listed, list) else ():
        if isinstance(entry, dict) and _during(entry) is not None:
            yield entry


def _during(entry: dict[str, Any]) -> tuple[float, float] | None:
    """The interval of an entry; None stands for no end."""
    told = entry.get("during")
    if not (isinstance(told, list) and len(told) == 2 and all(t is None or _number(t) for t in told)):
        return None
    begin = -math.inf if told[0] is None else float(told[0])
    end = math.inf if told[1] is None else float(told[1])
    return (begin, end) if begin <= end else None


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _words(entry: dict[str, Any], *keys: str) -> list[str] | None:
    found = [entry.get(key) for key in keys]
    return [str(word) for word in found] if all(isinstance(word, str) for word in found) else None


def _with_contact(world: World, entry: dict[str, Any]) -> World:
    words, during, depth = _words(entry, "who", "on", "kind", "why"), _during(entry), entry.get("depth")
    if words is None or during is None or not _number(depth) or depth < 0.0 or words[2] not in get_args(Kind):
        return world
    return world.with_contact(Contact(words[0], words[1], during, cast(Kind, words[2]), float(depth), words[3]))


def _frame_near(motion: Motion, t: float) -> float:
    """The time of the frame that is nearest to a time in seconds."""
    return motion.start + round((t - motion.start) * motion.fps) / motion.fps if isinstance(motion, Clip) else t


def _with_hold(world: World, entry: dict[str, Any]) -> World:
    words, during = _words(entry, "object", "by", "hand"), _during(entry)
    if words is None or during is None:
        return world
    thing, by, hand = words
    try:
        begin, end = world.motion(by).span
        interval = (max(during[0], begin), min(during[1], end))
        if thing not in world.objects or not interval[0] < interval[1]:
            return world
        # the grip is where the file has the thing at one of its frames: between them hand and thing part by a hair
        middle = _frame_near(world.motion(by), 0.5 * (interval[0] + interval[1]))
        grip = inverse(world.hand(by, hand, middle)) @ world.objects[thing].path(middle)
        return world.with_hold(thing, by, hand, interval, grip)
    except ElbowroomError:
        return world
