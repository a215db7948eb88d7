"""Tasks of a storyboard, checked against its world: do the names exist, can it be at that time, is the hand free."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from elbowroom.character.body import Character
from elbowroom.errors import BadValue, UnknownName
from elbowroom.tasks.storyboard_model import StoryboardFile
from elbowroom.tasks.storyboard_verbs import FixtureVerb, GrabPart, HandPart, PutPart, ReachPart, TaskPart, TouchPart
from elbowroom.tasks.storyboard_yaml import Document
from elbowroom.tasks.verbs import VERBS, Grab, Put, Task
from elbowroom.world.things import Fixture
from elbowroom.world.world import World


def tasks_of(document: Document, file: StoryboardFile, world: World) -> tuple[Task, ...]:
    """What is asked for, in the order of the file; raises `BadFile` with the line of the first that cannot be meant."""
    tasks = []
    for k, part in enumerate(file.tasks):
        blame = _Blame(document, k, part)
        _check_person(blame, part, world)
        _check_names(blame, part, world)
        tasks.append(_task(part, world))
    _check_hands(document, file.tasks, tasks, 1.0 / file.fps)
    _check_held(document, file.tasks, tasks, world)
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
    arms = [side for side in ("left", "right") if f"{side}_arm" in motion.body.chains]
    with blame("hand"):
        if told.hand is not None and told.hand not in arms:
            raise UnknownName(f"hand of {told.who}", told.hand, arms)
        if not arms:
            raise BadValue(f"'{told.who}' has no arm that can be moved")
    begin, end = motion.span
    for key in ("at", "begin", "back"):
        t = getattr(told, key)
        with blame(key):
            if t is not None and (t < begin or (t > end > begin)):
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
    if "turn" in given:
        given["turn"] = math.radians(given["turn"])
    if isinstance(told, FixtureVerb) and told.to is not None:
        fixture = world.objects[told.fixture]
        assert isinstance(fixture, Fixture)
        given["to"] = told.to if fixture.joint.kind == "slides" else math.radians(told.to)
    return VERBS[part.verb](**given)


def _check_hands(document: Document, parts: list[TaskPart], tasks: list[Task], frame: float) -> None:
    """No hand has two things to do at one time, and nobody three."""
    for k, task in enumerate(tasks):
        if task.at is None:
            continue
        same = [j for j in range(k) if tasks[j].who == task.who and _meet(tasks[j].at, task.at, frame)]
        clash = next((j for j in same if task.hand is not None and tasks[j].hand == task.hand), None)
        if clash is None and len(same) > 1:
            clash = same[-1]
        if clash is not None:
            hand = f"{task.hand} hand" if task.hand is not None and tasks[clash].hand == task.hand else "hands"
            line = document.line(("tasks", clash))
            with _Blame(document, k, parts[k])("at"):
                raise BadValue(
                    f"the {hand} of {task.who} {'have' if hand == 'hands' else 'has'} something to do at "
                    f"{task.at:g} s already, on line {line}; give another time or the other hand"
                )


def _meet(a: float | None, b: float, frame: float) -> bool:
    return a is not None and abs(a - b) < frame


def _check_held(document: Document, parts: list[TaskPart], tasks: list[Task], world: World) -> None:
    """Nobody puts down what they cannot have by then. Tasks without a time follow those before them in the file."""
    taken: set[tuple[str, str]] = set()
    for k, task in _in_time(tasks):
        if isinstance(task, Grab):
            taken.add((task.who, task.object))
        elif isinstance(task, Put):
            holds = [h for h in world.holds if (h.by, h.object) == (task.who, task.object)]
            if task.at is not None:
                holds = [h for h in holds if h.during[0] <= task.at <= h.during[1]]
            if (task.who, task.object) not in taken and not holds:
                with _Blame(document, k, parts[k])("object"):
                    raise BadValue(f"{task.who} does not hold '{task.object}' by then; grab it first")
            taken.discard((task.who, task.object))


def _in_time(tasks: list[Task]) -> Iterator[tuple[int, Task]]:
    """Tasks with their numbers in the order in which they are done."""
    now: dict[str, float] = {}
    when = []
    for k, task in enumerate(tasks):
        at = getattr(task, "at", None)
        now[task.who] = now.get(task.who, -math.inf) if at is None else at
        when.append((now[task.who], k))
    for _, k in sorted(when):
        yield k, tasks[k]
