"""Tasks of a storyboard, checked against its world: do the names exist, can it be at that time, is the hand free."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from elbowroom.character.body import Character
from elbowroom.errors import BadValue, UnknownName
from elbowroom.motion.clip import Clip
from elbowroom.plan.actor import stands
from elbowroom.plan.order import in_time, limb_of
from elbowroom.plan.tasks import VERBS, Drop, Grab, Handover, HoldOut, Put, Task
from elbowroom.storyboard.model import StoryboardFile
from elbowroom.storyboard.values import style_from
from elbowroom.storyboard.verbs import (
    DropPart,
    FixtureVerb,
    GrabPart,
    HandoverPart,
    HandPart,
    HoldOutPart,
    LimbPart,
    PutPart,
    ReachPart,
    TaskPart,
    TouchPart,
)
from elbowroom.storyboard.yaml_lines import Document
from elbowroom.world.things import Fixture
from elbowroom.world.world import World

# Seconds for which somebody who stands can be asked to stand on, from when their motion begins.
_STANDS_ON = 600.0


def tasks_of(document: Document, file: StoryboardFile, world: World) -> tuple[Task, ...]:
    """What is asked for, in the order of the file; raises `BadFile` with the line of the first that cannot be meant."""
    tasks = []
    for k, part in enumerate(file.tasks):
        blame = _Blame(document, k, part)
        _check_person(blame, part, world)
        _check_names(blame, part, world)
        tasks.append(_task(part, world))

    def blaming(k: int, key: str) -> AbstractContextManager[None]:
        return document.blaming("tasks", k, file.tasks[k].verb, key)

    check_limbs(tasks, lambda k: document.line(("tasks", k)), blaming, 1.0 / file.fps)
    check_held(tasks, blaming, world)
    return tuple(tasks)


class _Blame:
    """Tells what is wrong with an argument of a task."""

    def __init__(self, document: Document, k: int, part: TaskPart) -> None:
        self._document, self._place = document, ("tasks", k, part.verb)

    def __call__(self, key: str = "") -> Any:
        return self._document.blaming(*self._place, key)


def _check_person(blame: _Blame, part: TaskPart, world: World) -> None:
    """There is such a person, with such a hand, and with time for it."""
    told = part.told
    with blame("who"):
        motion = world.motion(told.who)
        if not isinstance(motion.body, Character):
            raise BadValue(f"'{told.who}' is a robot; tasks are for people")
    if not isinstance(told, HandPart):
        return
    if isinstance(told, LimbPart) and told.foot is not None:
        legs = [side for side in ("left", "right") if f"{side}_leg" in motion.body.chains]
        with blame("foot"):
            if told.foot not in legs:
                raise UnknownName(f"foot of {told.who}", told.foot, legs)
    arms = [side for side in ("left", "right") if f"{side}_arm" in motion.body.chains]
    with blame("hand"):
        if told.hand is not None and told.hand not in arms:
            raise UnknownName(f"hand of {told.who}", told.hand, arms)
        if not arms:
            raise BadValue(f"'{told.who}' has no arm that can be moved")
    begin, end = motion.span
    if end == begin or (isinstance(motion, Clip) and stands(motion)):
        end = max(end, begin + _STANDS_ON)
    for key in ("at", "begin", "back"):
        t = getattr(told, key)
        with blame(key):
            if t is not None and not begin <= t <= end:
                what = f"{t:g} s lies outside of what {told.who} does, which goes from {begin:g} to {end:.4g} s"
                raise BadValue(f"{what}; give a time in it, or a longer motion")


def _check_names(blame: _Blame, part: TaskPart, world: World) -> None:
    told = part.told
    fixtures = {name: thing for name, thing in world.objects.items() if isinstance(thing, Fixture)}
    if isinstance(told, FixtureVerb):
        with blame("fixture"):
            if told.fixture not in fixtures:
                raise UnknownName("fixture", told.fixture, fixtures)
        _check_state(blame, told, fixtures[told.fixture])
    name = getattr(told, "object", None)
    if name is not None:
        with blame("object"):
            if name in fixtures:
                raise BadValue(f"'{name}' is a fixture, which is opened and closed; it cannot be carried away")
            if name in world.static:
                raise BadValue(f"'{name}' is a mesh of the scene; list it under 'objects', so that it can be taken")
            if name not in world.objects:
                raise UnknownName("object", name, [n for n in world.objects if n not in fixtures])
    if isinstance(told, GrabPart) and told.hand is not None:
        mark = world.objects[told.object].grasps.get(told.grasp or "")
        with blame("grasp"):
            if mark is not None and mark.hand != told.hand:
                raise BadValue(f"'{told.grasp}' is a grasp of the {mark.hand} hand; give that one")
    if isinstance(told, PutPart) and told.onto is not None:
        with blame("onto"):
            _check_surface(told.onto, told.object, world)
    if isinstance(told, ReachPart):
        _check_place(blame, "to", told.to, world)
    if isinstance(told, TouchPart):
        _check_place(blame, "target", told.target, world)
    if isinstance(told, HoldOutPart) and told.to is not None:
        _check_place(blame, "to", told.to, world)
    if isinstance(told, DropPart) and isinstance(told.over, str):
        with blame("over"):
            _check_surface(told.over, told.object, world)
    if isinstance(told, HandoverPart):
        with blame("to"):
            _check_taker(told, world)


def _check_taker(told: HandoverPart, world: World) -> None:
    """Somebody else, with arms."""
    if told.to == told.who:
        raise BadValue(f"{told.who} cannot hand anything over to {told.who}; name somebody else")
    body = world.motion(told.to).body
    if not isinstance(body, Character) or not any(chain.kind == "arm" for chain in body.chains.values()):
        raise BadValue(f"'{told.to}' has no hand to take it with; tasks are for people")


def _check_place(blame: _Blame, key: str, place: list[float] | str, world: World) -> None:
    """A name is one of something that has a place of its own."""
    if isinstance(place, str):
        with blame(key):
            if place in world.static:
                raise BadValue(f"'{place}' is a mesh of the scene; give a point on it, [x, y, z]")
            world.frame(place, world.span[0])


def _check_state(blame: _Blame, told: FixtureVerb, fixture: Fixture) -> None:
    if told.to is None:
        return
    unit = 1.0 if fixture.joint.kind == "slides" else 180.0 / math.pi
    low, high = (unit * x for x in fixture.joint.range)
    with blame("to"):
        if not low - 1e-6 <= told.to <= high + 1e-6:
            raise BadValue(f"{told.to:g} lies outside; '{told.fixture}' goes from {low:g} to {high:g}")


def _check_surface(onto: str, name: str, world: World) -> None:
    """Something to put things onto: the floor, a mesh, a thing, a frame or a body part."""
    if onto == name:
        raise BadValue(f"'{name}' cannot be put onto itself")
    if onto == "floor":
        if world.floor is None:
            raise BadValue("there is no floor in this scene; give a thing, or a point with 'to'")
    elif onto not in world.static:
        try:
            world.frame(onto, world.span[0])
        except UnknownName as error:
            if any(onto.startswith(f"{owner}.") for owner in (*world.objects, *world.characters)):
                raise
            known = ["floor", *world.static, *world.objects, *world.characters]
            raise UnknownName("thing to put it onto", onto, known) from error


def _task(part: TaskPart, world: World) -> Task:
    """The task in the planner's units."""
    told = part.told
    given: dict[str, Any] = {name: v for name in type(told).model_fields if (v := getattr(told, name)) is not None}
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    if isinstance(told, GrabPart):
        mark = world.objects[told.object].grasps.get(told.grasp or "")
        given |= {} if mark is None else {"hand": mark.hand}
    if told.style is not None:
        given["style"] = style_from(told.style)
    if "turn" in given:
        given["turn"] = math.radians(given["turn"])
    if isinstance(told, FixtureVerb) and told.to is not None:
        fixture = world.objects[told.fixture]
        assert isinstance(fixture, Fixture)
        given["to"] = told.to if fixture.joint.kind == "slides" else math.radians(told.to)
    return VERBS[part.verb](**given)


# Blames an argument of a task by their numbers and names: what goes wrong inside is told with its line.
Blaming = Callable[[int, str], AbstractContextManager[None]]


def check_limbs(tasks: Sequence[Task], line: Callable[[int], int], blaming: Blaming, frame: float) -> None:
    """No hand or foot has two things to do at one time, and no hands of one person three; `frame` in seconds."""
    for k, task in enumerate(tasks):
        if task.at is None:
            continue
        same = [j for j in range(k) if tasks[j].who == task.who and _meet(tasks[j], task, frame)]
        limb = limb_of(task)
        clash = next((j for j in same if limb and limb_of(tasks[j]) == limb), None)
        hands = [j for j in same if not limb_of(tasks[j]).endswith("foot")]
        if clash is None and len(hands) > 1 and not limb.endswith("foot"):
            clash, limb = hands[-1], ""
        if clash is not None:
            with blaming(k, "at"):
                raise BadValue(
                    f"the {limb or 'hands'} of {task.who} {'has' if limb else 'have'} something to do at {task.at:g} s "
                    f"already, on line {line(clash)}; give another time or the other hand"
                )


def _meet(a: Task, b: Task, frame: float) -> bool:
    """Whether two tasks take place at one time."""
    (begin, end), (start, stop) = _during(a), _during(b)
    return begin < stop + frame and start < end + frame and min(begin, start) > -math.inf


def _during(task: Task) -> tuple[float, float]:
    """Seconds that a task is known to take, nothing where it has no time."""
    if task.at is None:
        return -math.inf, -math.inf
    lasts = task.at + (task.seconds if isinstance(task, HoldOut) else 0.0)
    return task.at if task.begin is None else task.begin, lasts if task.back is None else task.back


def check_held(tasks: Sequence[Task], blaming: Blaming, world: World) -> None:
    """Nobody gives away what they cannot have by then. Tasks without a time follow those before them in the file."""
    taken: set[tuple[str, str]] = set()
    for k, _ in in_time(tasks):
        task = tasks[k]
        if isinstance(task, Grab):
            taken = {(who, thing) for who, thing in taken if thing != task.object} | {(task.who, task.object)}
        elif isinstance(task, Put | Drop | HoldOut | Handover):
            holds = [h for h in world.holds if (h.by, h.object) == (task.who, task.object)]
            if task.at is not None:
                holds = [h for h in holds if h.during[0] <= task.at <= h.during[1]]
            if (task.who, task.object) not in taken and not holds:
                with blaming(k, "object"):
                    raise BadValue(f"{task.who} does not hold '{task.object}' by then; grab it first")
            if not isinstance(task, HoldOut):
                taken.discard((task.who, task.object))
            if isinstance(task, Handover):
                taken.add((task.to, task.object))
