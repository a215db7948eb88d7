"""Form fields of each verb, and their conversion to a task; independent of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.plan.checks.hands import holder_of
from elbowroom.plan.tasks import Task, verbs
from elbowroom.world.extent import facing, joint_transforms
from elbowroom.world.things import Fixture
from elbowroom.world.world import World

if TYPE_CHECKING:
    from elbowroom.studio.studio import Studio

POINT = "a point in the scene"
EITHER = "either"


@dataclass(frozen=True)
class Asked:
    """Fields of a verb: key of the hand, of an object or fixture, of a target, each empty if there is none.

    `onto` is the key of a target given by name; empty if it is the same as `where`. `timed`: whether it takes a time.
    `bound`: whether limbs can be kept, and the body's displacement limited. `role` is what the target may be.
    """

    hand: str = "hand"
    what: str = ""
    where: str = ""
    onto: str = ""
    timed: bool = True
    bound: bool = False
    role: str = ""


# Roles of the field that a form asks for as the target.
_TARGETS = ("place", "floor place", "surface", "leader", "taker")


def _asked(kind: type[Task]) -> Asked:
    """Fields of a verb's form, from those of its class."""
    roles = {one.name: one.metadata.get("role", "") for one in fields(kind)}
    own_hand = kind.takes_hand and "hand" not in kind.refuses[0]
    known = kind.held_before and not kind.held_after  # the hand that holds it
    return Asked(
        hand="hands" if "hands" in roles else "hand" if own_hand and not known else "",
        what=next((name for name, role in roles.items() if role in ("object", "fixture")), ""),
        where="to" if "onto" in roles else next((name for name, role in roles.items() if role in _TARGETS), ""),
        onto="onto" if "onto" in roles else "",
        timed=kind.timed and "at" not in kind.refuses[0],
        bound=kind.repairs,
        role=roles.get("onto") or next((role for role in roles.values() if role in _TARGETS), ""),
    )


VERBS: Mapping[str, Asked] = {verb: _asked(kind) for verb, kind in verbs().items()}


def whats(verb: str, world: World) -> tuple[str, ...]:
    """Objects that a verb applies to."""
    fixtures = {name for name, thing in world.objects.items() if isinstance(thing, Fixture)}
    asked = VERBS[verb].what
    if not asked:
        return ()
    return tuple(name for name in world.objects if (name in fixtures) == (asked == "fixture"))


def wheres(verb: str, world: World, who: str) -> tuple[str, ...]:
    """Targets of a verb."""
    asked = VERBS[verb]
    others = tuple(name for name in world.characters if name != who)
    if not asked.where or asked.role in ("leader", "taker"):
        return others if asked.where else ()
    if asked.role == "floor place":
        return (POINT, *world.static, *world.objects, *others)
    if asked.role == "surface":
        ground = () if world.floor is None else ("floor",)
        return (POINT, *ground, *world.static, *world.objects)
    return (POINT, *world.objects, *(f"{name}.head" for name in others))


def answers(verb: str, args: Mapping[str, Any]) -> dict[str, str]:
    """Form values of a task."""
    asked = VERBS[verb]
    where = args.get(asked.where) if asked.where else None
    if asked.onto and asked.onto in args:
        where = args[asked.onto]
    return {
        "who": str(args.get("who", "")),
        "hand": str(args.get(asked.hand, EITHER)),
        "what": str(args.get(asked.what, "")) if asked.what else "",
        "where": POINT if isinstance(where, list) else str(where or ""),
        "time": "" if args.get("at") is None else f"{float(args['at']):g}",
        "keep": ", ".join(_kept_in_words(one) for one in args.get("keep", ())),
        "aside": "" if args.get("aside") is None else f"{float(args['aside']):g}",
    }


def _kept_in_words(one: Any) -> str:
    return f"{one['limb']} {one['during'][0]:g}-{one['during'][1]:g}" if isinstance(one, Mapping) else str(one)


def kept_from(text: str) -> list[Any]:
    """Limbs to keep from text: 'right_arm, left_arm 1.2-2.5'."""
    out: list[Any] = []
    for one in filter(None, (part.strip() for part in text.split(","))):
        limb, _, times = one.partition(" ")
        begin, dash, end = times.strip().partition("-")
        if times and not dash:
            raise BadValue(f"'{one}' has no end; give times such as 'left_arm 1.2-2.5', or the limb alone.")
        out.append({"limb": limb, "during": [time_from(begin), time_from(end)]} if times else limb)
    return out


POSE = "whole pose"


def with_pins(keep: str, part: str, studio: Studio, who: str) -> str:
    """Text of limbs to keep with one more, or all for the whole pose: from in to out point, else at the time shown."""
    player = studio.player
    begin, end = (player.time,) * 2 if player.points == (None, None) else player.range
    chains = studio.original.body(who).chains
    limbs = list(chains) if part == POSE else [part]
    return ", ".join([*filter(None, [keep.strip()]), *(f"{limb} {begin:.2f}-{end:.2f}" for limb in limbs)])


def task_from(studio: Studio, verb: str, given: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a task: form values merged over the previous arguments."""
    asked = VERBS[verb]
    args: dict[str, Any] = {k: v for k, v in before.items() if k not in ("hand", asked.hand, "at", asked.what)}
    args["who"] = given["who"]
    if asked.hand and given["hand"] != EITHER:
        args[asked.hand] = given["hand"]
    if asked.what:
        if not given["what"]:
            raise BadValue(f"nothing to {verb}; add {'a fixture' if asked.what == 'fixture' else 'an object'} first.")
        args[asked.what] = given["what"]
    if asked.bound:
        args = {k: v for k, v in args.items() if k not in ("keep", "aside")}
        args |= {"keep": kept} if (kept := kept_from(given.get("keep", ""))) else {}
        args |= {"aside": metres_from(given["aside"])} if given.get("aside", "").strip() else {}
    if asked.timed and given["time"].strip():
        args["at"] = time_from(given["time"])
    if asked.where and given["where"]:
        args.pop(asked.onto, None)
        if given["where"] != POINT:
            args.pop(asked.where, None)
            args[asked.onto or asked.where] = given["where"]
        elif not isinstance(args.get(asked.where), list):
            args[asked.where] = point_for(studio, verb, args)
    return args


def time_from(text: str) -> float:
    """Time in seconds from text."""
    try:
        at = float(text.replace(",", ".").removesuffix("s").strip())
    except ValueError:
        raise BadValue(f"a time must be a number of seconds such as 2.5, not '{text}'.") from None
    if not 0.0 <= at < 86400.0:
        raise BadValue(f"a time must be 0 s or more, not {text}.")
    return round(at, 3)


def metres_from(text: str) -> float:
    """Distance in metres from text."""
    try:
        return float(text.replace(",", ".").removesuffix("m").strip())
    except ValueError:
        raise BadValue(f"a distance must be a number of metres such as 0.2, not '{text}'.") from None


def point_for(studio: Studio, verb: str, args: Mapping[str, Any]) -> list[float]:
    """Initial target point: beside the object to be put down, else in front of the character's hand."""
    world = studio.world
    t = float(args.get("at") or studio.player.time)
    if (
        VERBS[verb].role == "surface"
        and args.get("object") in world.objects
        and holder_of(world, args["object"], t) is None
    ):
        place = world.things[args["object"]].path(t)
        return [round(float(x), 3) for x in np.asarray(place)[:3, 3] + [0.15, 0.0, 0.0]]
    hand = args.get("hand", "right")
    T = world.hand(args["who"], hand, min(t, world.span[1]))
    motion = world.motion(args["who"])
    front = facing(motion, t)
    point = T[:3, 3] + 0.25 * front + [0.0, 0.0, 0.2]
    if VERBS[verb].role == "floor place":
        stands = joint_transforms(motion, t)[0, motion.body.pelvis, :3, 3]
        point = stands * [1.0, 1.0, 0.0] + front + [0.0, 0.0, world.floor or 0.0]
    return [round(float(x), 3) for x in point]


def in_words(verb: str, args: Mapping[str, Any]) -> str:
    """One-line text of a task: 'ann: grab jar with the right hand at 2.10 s'."""
    parts = [f"{args.get('who', '')}:", verb]
    parts += [str(args[key]) for key in ("object", "fixture") if key in args]
    for key, word in (("target", ""), ("whom", ""), ("to", "to"), ("onto", "onto"), ("over", "over")):
        if key in args:
            value = args[key]
            shown = "a point" if isinstance(value, list) else str(value)
            parts.append(f"{word} {shown}".strip())
    hand = args.get("hand", args.get("hands"))
    parts += [] if hand is None else ["with both hands" if hand == "both" else f"with the {hand} hand"]
    parts += [f"at {float(args['at']):.2f} s"] if args.get("at") is not None else []
    return " ".join(parts)
