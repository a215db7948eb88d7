"""What a form asks for each verb, and how its answers become a task; free of any page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.plan.hands import holder_of
from elbowroom.studio.studio import Studio
from elbowroom.world.things import Fixture
from elbowroom.world.world import World

POINT = "a point in the scene"
EITHER = "either"


@dataclass(frozen=True)
class Asked:
    """What a verb needs: a hand or not, the key of a thing or fixture, and the key of a place.

    `onto` is the key of the place where it is given by a name; empty where that is the same as `where`.
    """

    hand: bool = True
    what: str = ""
    where: str = ""
    onto: str = ""


VERBS: Mapping[str, Asked] = {
    "repair": Asked(hand=False),
    "reach": Asked(where="to"),
    "touch": Asked(where="target"),
    "grab": Asked(what="object"),
    "put": Asked(hand=False, what="object", where="to", onto="onto"),
    "drop": Asked(hand=False, what="object", where="over"),
    "handover": Asked(hand=False, what="object", where="to"),
    "press": Asked(what="fixture"),
    "open": Asked(what="fixture"),
    "close": Asked(what="fixture"),
    "rest": Asked(),
}


def whats(verb: str, world: World) -> tuple[str, ...]:
    """Things that a verb can be about."""
    fixtures = {name for name, thing in world.objects.items() if isinstance(thing, Fixture)}
    asked = VERBS[verb].what
    if not asked:
        return ()
    return tuple(name for name in world.objects if (name in fixtures) == (asked == "fixture"))


def wheres(verb: str, world: World, who: str) -> tuple[str, ...]:
    """Places that a verb can go to."""
    if not VERBS[verb].where:
        return ()
    if verb == "handover":
        return tuple(name for name in world.characters if name != who)
    if verb == "put":
        ground = () if world.floor is None else ("floor",)
        return (POINT, *ground, *world.static, *world.objects)
    people = tuple(f"{name}.head" for name in world.characters if name != who)
    return (POINT, *world.objects, *people)


def answers(verb: str, told: Mapping[str, Any]) -> dict[str, str]:
    """A task as answers of a form."""
    asked = VERBS[verb]
    where = told.get(asked.where) if asked.where else None
    if asked.onto and asked.onto in told:
        where = told[asked.onto]
    return {
        "who": str(told.get("who", "")),
        "hand": str(told.get("hand", EITHER)),
        "what": str(told.get(asked.what, "")) if asked.what else "",
        "where": POINT if isinstance(where, list) else str(where or ""),
        "time": "" if told.get("at") is None else f"{float(told['at']):g}",
    }


def task_from(studio: Studio, verb: str, given: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a task: the answers of a form over what was told before."""
    asked = VERBS[verb]
    told: dict[str, Any] = {k: v for k, v in before.items() if k not in ("hand", "at", asked.what)}
    told["who"] = given["who"]
    if asked.hand and given["hand"] != EITHER:
        told["hand"] = given["hand"]
    if asked.what:
        if not given["what"]:
            raise BadValue(
                f"there is nothing to {verb}; add {'a fixture' if asked.what == 'fixture' else 'an object'} first."
            )
        told[asked.what] = given["what"]
    if verb != "repair" and given["time"].strip():
        told["at"] = time_from(given["time"])
    if asked.where and given["where"]:
        told.pop(asked.onto, None)
        if given["where"] != POINT:
            told.pop(asked.where, None)
            told[asked.onto or asked.where] = given["where"]
        elif not isinstance(told.get(asked.where), list):
            told[asked.where] = point_for(studio, verb, told)
    return told


def time_from(text: str) -> float:
    """A time that was typed, seconds."""
    try:
        at = float(text.replace(",", ".").removesuffix("s").strip())
    except ValueError:
        raise BadValue(f"a time is a number of seconds such as 2.5, not '{text}'.") from None
    if not 0.0 <= at < 86400.0:
        raise BadValue(f"a time is 0 or more seconds, not {text}.")
    return round(at, 3)


def point_for(studio: Studio, verb: str, told: Mapping[str, Any]) -> list[float]:
    """A first point to drag from: where a thing lies that is to be put, else before the person's hand."""
    world = studio.world
    t = float(told.get("at") or studio.player.time)
    if verb in ("put", "drop") and told.get("object") in world.objects and holder_of(world, told["object"], t) is None:
        place = world.things[told["object"]].path(t)
        return [round(float(x), 3) for x in np.asarray(place)[:3, 3] + [0.15, 0.0, 0.0]]
    hand = told.get("hand", "right")
    T = world.hand(told["who"], hand, min(t, world.span[1]))
    body = world.body(told["who"])
    motion = world.motion(told["who"])
    root = body.transforms(*motion.sample([t]))[0, 0]
    front = root[:3, :3] @ body.T_rest[0, :3, :3].T @ np.asarray(getattr(body, "front", [0.0, -1.0, 0.0]))
    point = T[:3, 3] + 0.25 * front + [0.0, 0.0, 0.2]
    return [round(float(x), 3) for x in point]


def in_words(verb: str, told: Mapping[str, Any]) -> str:
    """A task in a line: 'ann: grab jar with the right hand at 2.10 s'."""
    parts = [f"{told.get('who', '')}:", verb]
    parts += [str(told[key]) for key in ("object", "fixture") if key in told]
    for key, word in (("target", ""), ("to", "to"), ("onto", "onto"), ("over", "over")):
        if key in told:
            value = told[key]
            shown = "a point" if isinstance(value, list) else str(value)
            parts.append(f"{word} {shown}".strip())
    parts += [f"with the {told['hand']} hand"] if "hand" in told else []
    parts += [f"at {float(told['at']):.2f} s"] if told.get("at") is not None else []
    return " ".join(parts)
