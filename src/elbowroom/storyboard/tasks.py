"""Tasks of a storyboard, checked against its world: names, times, free hands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from typing import Any

from elbowroom.character.body import Character
from elbowroom.errors import BadValue, UnknownName
from elbowroom.motion.clip import Clip
from elbowroom.plan.actor import stands
from elbowroom.plan.order import in_time
from elbowroom.plan.tasks import Task
from elbowroom.storyboard.model import StoryboardFile
from elbowroom.storyboard.names import ROLES, Named
from elbowroom.storyboard.values import style_from
from elbowroom.storyboard.verbs import TaskPart
from elbowroom.storyboard.yaml_lines import Document
from elbowroom.world.world import World

# Longest time that a standing motion may be extended to, from its start, in seconds.
_STANDS_ON = 600.0


def tasks_of(document: Document, file: StoryboardFile, world: World) -> tuple[Task, ...]:
    """Tasks in the order of the file; raises `BadFile` with the line of the first invalid one."""
    tasks = []
    for k, part in enumerate(file.tasks):
        blame = _Blame(document, k, part)
        _check_person(blame, part, world)
        task = _task(blame, part, Named(world, part.arguments, document.path.parent))
        if k == 0:  # later, earlier tasks may have changed the scene
            with blame("object"):
                if why := task.impossible(world):
                    raise BadValue(why)
        tasks.append(task)

    def blaming(k: int, key: str) -> AbstractContextManager[None]:
        return document.blaming("tasks", k, file.tasks[k].verb, key)

    check_limbs(tasks, lambda k: document.line(("tasks", k)), blaming, 1.0 / file.fps)
    check_held(tasks, blaming, world)
    return tuple(tasks)


class _Blame:
    """Context that reports errors at an argument of a task."""

    def __init__(self, document: Document, k: int, part: TaskPart) -> None:
        self._document, self._place = document, ("tasks", k, part.verb)

    def __call__(self, key: str = "") -> Any:
        return self._document.blaming(*self._place, key)


def _check_person(blame: _Blame, part: TaskPart, world: World) -> None:
    """Check that the character, its hand or foot, and the times exist."""
    args = part.arguments
    with blame("who"):
        motion = world.motion(args.who)
        if not isinstance(motion.body, Character):
            rule = "the first carrier must be a person" if args.task.crew else "tasks are for people"
            raise BadValue(f"'{args.who}' is a robot; {rule}")
    if not args.task.takes_hand:
        return
    if (foot := getattr(args, "foot", None)) is not None:
        legs = [side for side in ("left", "right") if f"{side}_leg" in motion.body.chains]
        with blame("foot"):
            if foot not in legs:
                raise UnknownName(f"foot of {args.who}", foot, legs)
    arms = [side for side in ("left", "right") if f"{side}_arm" in motion.body.chains]
    with blame("hand"):
        if args.hand is not None and args.hand not in arms:
            raise UnknownName(f"hand of {args.who}", args.hand, arms)
        if not arms:
            raise BadValue(f"'{args.who}' has no arm to move")
    begin, end = motion.span
    if end == begin or (isinstance(motion, Clip) and stands(motion)):
        end = max(end, begin + _STANDS_ON)
    for key in ("at", "begin", "back"):
        t = getattr(args, key)
        with blame(key):
            if t is not None and not begin <= t <= end:
                what = f"{t:g} s is outside the motion of {args.who}, which lasts from {begin:g} to {end:.4g} s"
                raise BadValue(f"{what}; give a time inside it, or a longer motion")


def _task(blame: _Blame, part: TaskPart, named: Named) -> Task:
    """Task in the planner's units; its names are checked against the world."""
    args, kind = part.arguments, part.arguments.task
    given: dict[str, Any] = {name: v for name in type(args).model_fields if (v := getattr(args, name)) is not None}
    if "support" in given and given["support"] != "auto":
        with blame("support"):
            given["support"] = named.support(given["support"])
    if "style" in given:
        given["style"] = style_from(args.style)
    for one in fields(kind):
        role = one.metadata.get("role")
        if role and one.name in given:
            with blame(one.name):
                given[one.name] = ROLES[role](named, given[one.name])
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    if named.mark is not None:
        given["hand"] = named.mark.hand
    return kind(**given)


# Context by a task's number and an argument's name: errors raised inside are reported with its line.
Blaming = Callable[[int, str], AbstractContextManager[None]]


def check_limbs(tasks: Sequence[Task], line: Callable[[int], int], blaming: Blaming, frame: float) -> None:
    """Check that no hand or foot has two tasks at one time, and no pair of hands three; `frame` in seconds."""
    for k, task in enumerate(tasks):
        if task.at is None:
            continue
        same = [j for j in range(k) if tasks[j].who == task.who and _meet(tasks[j], task, frame)]
        limb = task.limb
        clash = next((j for j in same if limb and tasks[j].limb == limb), None)
        hands = [j for j in same if not tasks[j].limb.endswith("foot")]
        if clash is None and len(hands) > 1 and not limb.endswith("foot"):
            clash, limb = hands[-1], ""
        if clash is not None:
            with blaming(k, "at"):
                raise BadValue(
                    f"the {limb or 'hands'} of {task.who} {'is' if limb else 'are'} busy at {task.at:g} s with the "
                    f"task on line {line(clash)}; give another time or the other hand"
                )


def _meet(a: Task, b: Task, frame: float) -> bool:
    """Return whether two tasks overlap in time."""
    (begin, end), (start, stop) = _during(a), _during(b)
    return begin < stop + frame and start < end + frame and min(begin, start) > -math.inf


def _during(task: Task) -> tuple[float, float]:
    """Start and end of a task in seconds, an empty interval if it has no time."""
    if task.at is None:
        return -math.inf, -math.inf
    lasts = task.at + task.lasts
    return task.at if task.begin is None else task.begin, lasts if task.back is None else task.back


def check_held(tasks: Sequence[Task], blaming: Blaming, world: World) -> None:
    """Check that objects are held before they are put down or given away; untimed tasks follow the file's order."""
    taken: set[tuple[str, str]] = set()
    for k, _ in in_time(tasks):
        task = tasks[k]
        mine = (task.who, task.thing or "")
        if task.takes:
            taken = {(who, thing) for who, thing in taken if thing != task.thing} | {mine}
        elif task.held_before:
            holds = [h for h in world.holds if (h.by, h.object) == mine]
            if task.at is not None:
                holds = [h for h in holds if h.during[0] <= task.at <= h.during[1]]
            if mine not in taken and not holds:
                with blaming(k, "object"):
                    raise BadValue(f"{task.who} does not hold '{task.thing}' at that time; grab it first")
            if not task.held_after:
                taken.discard(mine)
            if task.receiver is not None:
                taken.add((task.receiver, mine[1]))
