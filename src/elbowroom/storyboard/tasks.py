"""Tasks of a storyboard, checked against its world: names, times, free hands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from elbowroom.character.body import Character
from elbowroom.character.robot import Robot
from elbowroom.errors import BadValue, UnknownName
from elbowroom.motion.clip import Clip
from elbowroom.plan.actor import stands
from elbowroom.plan.order import in_time
from elbowroom.plan.tasks import Knee, Move, Support, Task, only, verbs
from elbowroom.posing.robot_ik import arm_of
from elbowroom.storyboard.model import StoryboardFile
from elbowroom.storyboard.things import existing
from elbowroom.storyboard.values import style_from
from elbowroom.storyboard.verbs import (
    CarryPart,
    DropPart,
    FixtureVerb,
    FollowPart,
    GoPart,
    GrabPart,
    HandoverPart,
    HandPart,
    HoldOutPart,
    KeepPart,
    LimbPart,
    MovePart,
    PutPart,
    ReachPart,
    RepairPart,
    SupportPart,
    TaskPart,
    TouchPart,
)
from elbowroom.storyboard.yaml_lines import Document
from elbowroom.world.things import Fixture
from elbowroom.world.world import World

# Longest time that a standing motion may be extended to, from its start, in seconds.
_STANDS_ON = 600.0


def tasks_of(document: Document, file: StoryboardFile, world: World) -> tuple[Task, ...]:
    """Tasks in the order of the file; raises `BadFile` with the line of the first invalid one."""
    tasks = []
    for k, part in enumerate(file.tasks):
        blame = _Blame(document, k, part)
        _check_person(blame, part, world)
        _check_names(blame, part, world)
        if isinstance(part.arguments, CarryPart) and k == 0:  # later, earlier tasks may have changed the scene
            with blame("object"):
                _check_possible(part.arguments, world)
        task = _task(part, world)
        for move in only([task], Move):
            with blame("postures"):
                files = (document.path.parent / file for file in move.postures)
                found = tuple(str(existing(path, "give recordings, such as .c3d or .bvh")) for path in files)
            task = replace(move, postures=found)
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
            rule = "the first carrier must be a person" if isinstance(args, CarryPart) else "tasks are for people"
            raise BadValue(f"'{args.who}' is a robot; {rule}")
    if isinstance(args, RepairPart):
        with blame("keep"):
            for limb, _ in map(_kept, args.keep):
                if limb not in motion.body.chains:
                    raise UnknownName(f"limb of {args.who}", limb, motion.body.chains)
    if not isinstance(args, HandPart):
        return
    if isinstance(args, LimbPart) and args.foot is not None:
        legs = [side for side in ("left", "right") if f"{side}_leg" in motion.body.chains]
        with blame("foot"):
            if args.foot not in legs:
                raise UnknownName(f"foot of {args.who}", args.foot, legs)
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


def _kept(part: str | KeepPart) -> tuple[str, tuple[float, float]]:
    """A limb to keep, and its seconds: all of them, if none are given."""
    if isinstance(part, str):
        return part, (-math.inf, math.inf)
    return part.limb, (part.during[0], part.during[1])


def _check_names(blame: _Blame, part: TaskPart, world: World) -> None:
    args = part.arguments
    if isinstance(args, HandPart) and isinstance(args.support, SupportPart) and args.support.knee is None:
        with blame("support"):
            if args.support.on not in (*world.static, *world.objects):
                raise UnknownName("support", args.support.on, [*world.static, *world.objects])
            if args.support.hand == args.hand:
                raise BadValue(f"the {args.hand} hand cannot do the task and support the body; give the other one")
    fixtures = {name: thing for name, thing in world.objects.items() if isinstance(thing, Fixture)}
    if isinstance(args, FixtureVerb):
        with blame("fixture"):
            if args.fixture not in fixtures:
                raise UnknownName("fixture", args.fixture, fixtures)
        _check_state(blame, args, fixtures[args.fixture])
    name = getattr(args, "object", None)
    if name is not None:
        with blame("object"):
            if name in fixtures:
                raise BadValue(f"'{name}' is a fixture; it can be opened and closed, but not carried")
            if name in world.static:
                raise BadValue(f"'{name}' is a mesh of the scene; list it under 'objects' to make it graspable")
            if name not in world.objects:
                raise UnknownName("object", name, [n for n in world.objects if n not in fixtures])
    if isinstance(args, GrabPart) and args.hand is not None:
        mark = world.objects[args.object].grasps.get(args.grasp or "")
        with blame("grasp"):
            if mark is not None and mark.hand != args.hand:
                raise BadValue(f"'{args.grasp}' is a grasp for the {mark.hand} hand; use that hand")
    if isinstance(args, MovePart | CarryPart):
        with blame("helpers"):
            for helper in args.helpers:
                body = world.motion(helper).body
                if isinstance(body, Robot) and isinstance(args, CarryPart):
                    arm_of(body)
                elif not isinstance(body, Character):
                    raise BadValue(f"'{helper}' is a robot; tasks are for people")
    if isinstance(args, PutPart) and args.onto is not None:
        with blame("onto"):
            _check_surface(args.onto, args.object, world)
    if isinstance(args, GoPart):
        for key in ("to", "facing"):
            with blame(key):
                _check_goal(getattr(args, key), args.who, world)
    if isinstance(args, FollowPart):
        with blame("whom"):
            if args.whom == args.who or not isinstance(world.motion(args.whom).body, Character):
                raise BadValue(f"'{args.who}' cannot follow '{args.whom}'; name another person")
    if isinstance(args, ReachPart):
        _check_place(blame, "to", args.to, world)
    if isinstance(args, TouchPart):
        _check_place(blame, "target", args.target, world)
    if isinstance(args, HoldOutPart) and args.to is not None:
        _check_place(blame, "to", args.to, world)
    if isinstance(args, DropPart) and isinstance(args.over, str):
        with blame("over"):
            _check_surface(args.over, args.object, world)
    if isinstance(args, HandoverPart):
        with blame("to"):
            _check_taker(args, world)


def _check_possible(args: CarryPart, world: World) -> None:
    """Check that carriers are strong enough and near enough, and that there is room for them on the way."""
    from elbowroom.plan.teams.possible import why_impossible  # half of the planner, for this verb alone

    why = why_impossible(world, [args.who, *args.helpers], args.object, args.to)
    if why:
        raise BadValue(why)


def _check_goal(goal: object, who: str, world: World) -> None:
    """Check that a name is something to walk to or to face."""
    meshes = {*world.static, *(name.partition(".")[0] for name in world.static)}
    if isinstance(goal, str) and goal not in meshes:
        if goal == who:
            raise BadValue(f"{who} cannot walk to {who}; name something else")
        try:
            world.frame(goal, world.span[0])
        except UnknownName as error:
            raise UnknownName("place", goal, [*meshes, *world.objects, *world.characters]) from error


def _check_taker(args: HandoverPart, world: World) -> None:
    """Check that the receiver is another character with arms."""
    if args.to == args.who:
        raise BadValue(f"{args.who} cannot hand anything over to {args.who}; name another character")
    body = world.motion(args.to).body
    if not isinstance(body, Character) or not any(chain.kind == "arm" for chain in body.chains.values()):
        raise BadValue(f"'{args.to}' has no hand to take it with; tasks are for people")


def _check_place(blame: _Blame, key: str, place: list[float] | str, world: World) -> None:
    """Check that a name refers to something with a position."""
    if isinstance(place, str):
        with blame(key):
            if place in world.static:
                raise BadValue(f"'{place}' is a mesh of the scene; give a point on it, [x, y, z]")
            world.frame(place, world.span[0])


def _check_state(blame: _Blame, args: FixtureVerb, fixture: Fixture) -> None:
    if args.to is None:
        return
    unit = 1.0 if fixture.joint.kind == "slides" else 180.0 / math.pi
    low, high = (unit * x for x in fixture.joint.range)
    with blame("to"):
        if not low - 1e-6 <= args.to <= high + 1e-6:
            raise BadValue(f"{args.to:g} is out of range; '{args.fixture}' goes from {low:g} to {high:g}")


def _check_surface(onto: str, name: str, world: World) -> None:
    """Check that a name is something to put objects onto: floor, mesh, object, frame or body part."""
    if onto == name:
        raise BadValue(f"'{name}' cannot be put onto itself")
    if onto == "floor":
        if world.floor is None:
            raise BadValue("there is no floor in this scene; give an object, or a point with 'to'")
    elif onto not in world.static:
        try:
            world.frame(onto, world.span[0])
        except UnknownName as error:
            if any(onto.startswith(f"{owner}.") for owner in (*world.objects, *world.characters)):
                raise
            known = ["floor", *world.static, *world.objects, *world.characters]
            raise UnknownName("surface", onto, known) from error


def _task(part: TaskPart, world: World) -> Task:
    """Task in the planner's units."""
    args = part.arguments
    given: dict[str, Any] = {name: v for name in type(args).model_fields if (v := getattr(args, name)) is not None}
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    if isinstance(args, GrabPart):
        mark = world.objects[args.object].grasps.get(args.grasp or "")
        given |= {} if mark is None else {"hand": mark.hand}
    if isinstance(args, HandPart) and isinstance(args.support, SupportPart):
        given["support"] = _support(args.support)
    if args.style is not None:
        given["style"] = style_from(args.style)
    for angle in ("turn", "facing"):
        if isinstance(given.get(angle), int | float):
            given[angle] = math.radians(given[angle])
    if isinstance(args, RepairPart):
        given["keep"] = tuple(_kept(one) for one in args.keep)
    if isinstance(args, MovePart) and not isinstance(args.feet, str):
        given["feet"] = tuple((x, y, math.radians(heading)) for x, y, heading in args.feet)
    if isinstance(args, FixtureVerb) and args.to is not None:
        fixture = world.objects[args.fixture]
        assert isinstance(fixture, Fixture)
        given["to"] = args.to if fixture.joint.kind == "slides" else math.radians(args.to)
    return verbs()[part.verb](**given)


def _support(part: SupportPart) -> Support | Knee:
    """Support in the planner's terms."""
    if part.knee is not None:
        return Knee(part.knee)
    assert part.hand is not None and part.on is not None and part.at is not None
    x, y, z = part.at
    return Support(part.hand, part.on, (x, y, z))


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
