"""Tasks of a storyboard, checked against its world: names, units, times, free hands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from elbowroom.character.body import Character
from elbowroom.character.robot import Robot
from elbowroom.errors import BadValue, UnknownName
from elbowroom.motion.clip import Clip
from elbowroom.plan.order import in_time
from elbowroom.plan.state.actor import stands
from elbowroom.plan.tasks import Knee, Support, Task
from elbowroom.plan.tasks.repair import Kept
from elbowroom.posing.robot_ik import arm_of
from elbowroom.storyboard.model import StoryboardFile
from elbowroom.storyboard.things import existing
from elbowroom.storyboard.values import style_from
from elbowroom.storyboard.verbs import KeepPart, SupportPart, TaskPart
from elbowroom.storyboard.yaml_lines import YamlDocument
from elbowroom.world.things import Fixture, GraspMark
from elbowroom.world.world import World

# Longest time that a standing motion may be extended to, from its start, in seconds.
_STANDS_ON = 600.0


def tasks_of(document: YamlDocument, file: StoryboardFile, world: World) -> tuple[Task, ...]:
    """Tasks in the order of the file; raises `BadFile` with the line of the first invalid one."""
    tasks = []
    for k, part in enumerate(file.tasks):
        blame = _ArgumentErrors(document, k, part)
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


class _ArgumentErrors:
    """Context that reports errors at an argument of a task."""

    def __init__(self, document: YamlDocument, k: int, part: TaskPart) -> None:
        self._document, self._place = document, ("tasks", k, part.verb)

    def __call__(self, key: str = "") -> Any:
        return self._document.blaming(*self._place, key)


def _check_person(blame: _ArgumentErrors, part: TaskPart, world: World) -> None:
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


def _task(blame: _ArgumentErrors, part: TaskPart, named: Named) -> Task:
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


@dataclass(frozen=True, eq=False)
class Named:
    """Arguments of a task in a world, with the folder of their file. Methods check one argument each, and return what
    the planner takes; they raise `BadValue`."""

    world: World
    args: Any
    folder: Path

    @property
    def fixtures(self) -> dict[str, Fixture]:
        """Fixtures of the world by name."""
        return {name: thing for name, thing in self.world.objects.items() if isinstance(thing, Fixture)}

    @property
    def mark(self) -> GraspMark | None:
        """Grasp that the arguments name, if the storyboard describes it."""
        grasp = getattr(self.args, "grasp", None)
        return None if grasp is None else self.world.objects[self.args.object].grasps.get(grasp)

    def support(self, part: SupportPart) -> Support | Knee:
        """Hand or knee that bears weight."""
        if part.knee is not None:
            return Knee(part.knee)
        assert part.hand is not None and part.on is not None and part.at is not None
        if part.on not in (*self.world.static, *self.world.objects):
            raise UnknownName("support", part.on, [*self.world.static, *self.world.objects])
        if part.hand == self.args.hand:
            raise BadValue(f"the {part.hand} hand cannot do the task and support the body; give the other one")
        x, y, z = part.at
        return Support(part.hand, part.on, (x, y, z))

    def fixture(self, name: str) -> str:
        """Fixture to move."""
        if name not in self.fixtures:
            raise UnknownName("fixture", name, self.fixtures)
        return name

    def object(self, name: str) -> str:
        """Object to move."""
        if name in self.fixtures:
            raise BadValue(f"'{name}' is a fixture; it can be opened and closed, but not carried")
        if name in self.world.static:
            raise BadValue(f"'{name}' is a mesh of the scene; list it under 'objects' to make it graspable")
        if name not in self.world.objects:
            raise UnknownName("object", name, [n for n in self.world.objects if n not in self.fixtures])
        return name

    def grasp(self, name: str) -> str:
        """Grasp of an object, for the hand that is given, if one is."""
        if self.mark is not None and self.args.hand not in (None, self.mark.hand):
            raise BadValue(f"'{name}' is a grasp for the {self.mark.hand} hand; use that hand")
        return name

    def people(self, names: Iterable[str], robots: bool = False) -> tuple[str, ...]:
        """Other people, or robots with an arm."""
        for name in names:
            body = self.world.motion(name).body
            if robots and isinstance(body, Robot):
                arm_of(body)
            elif not isinstance(body, Character):
                raise BadValue(f"'{name}' is a robot; tasks are for people")
        return tuple(names)

    def leader(self, name: str) -> str:
        """Person to follow."""
        if name == self.args.who or not isinstance(self.world.motion(name).body, Character):
            raise BadValue(f"'{self.args.who}' cannot follow '{name}'; name another person")
        return name

    def taker(self, name: str) -> str:
        """Another character with arms."""
        if name == self.args.who:
            raise BadValue(f"{name} cannot hand anything over to {name}; name another character")
        body = self.world.motion(name).body
        if not isinstance(body, Character) or not any(chain.kind == "arm" for chain in body.chains.values()):
            raise BadValue(f"'{name}' has no hand to take it with; tasks are for people")
        return name

    def goal(self, goal: Any) -> Any:
        """Something to walk to or to face, or a point or angle (degrees)."""
        if not isinstance(goal, str):
            return self.angle(goal) if isinstance(goal, int | float) else goal
        meshes = {*self.world.static, *(name.partition(".")[0] for name in self.world.static)}
        if goal not in meshes:
            if goal == self.args.who:
                raise BadValue(f"{goal} cannot walk to {goal}; name something else")
            try:
                self.world.frame(goal, self.world.span[0])
            except UnknownName as error:
                raise UnknownName("place", goal, [*meshes, *self.world.objects, *self.world.characters]) from error
        return goal

    def place(self, place: Any) -> Any:
        """Something with a position, or a point."""
        if isinstance(place, str):
            if place in self.world.static:
                raise BadValue(f"'{place}' is a mesh of the scene; give a point on it, [x, y, z]")
            self.world.frame(place, self.world.span[0])
        return place

    def surface(self, onto: Any) -> Any:
        """Something to put objects onto: floor, mesh, object, frame or body part; or a point."""
        world = self.world
        if onto == self.args.object:
            raise BadValue(f"'{onto}' cannot be put onto itself")
        if onto == "floor":
            if world.floor is None:
                raise BadValue("there is no floor in this scene; give an object, or a point with 'to'")
        elif isinstance(onto, str) and onto not in world.static:
            try:
                world.frame(onto, world.span[0])
            except UnknownName as error:
                if any(onto.startswith(f"{owner}.") for owner in (*world.objects, *world.characters)):
                    raise
                known = ["floor", *world.static, *world.objects, *world.characters]
                raise UnknownName("surface", onto, known) from error
        return onto

    def state(self, to: float) -> float:
        """State of a fixture, metres or degrees, in metres or radians."""
        fixture = self.fixtures[self.args.fixture]
        unit = 1.0 if fixture.joint.kind == "slides" else 180.0 / math.pi
        low, high = (unit * x for x in fixture.joint.range)
        if not low - 1e-6 <= to <= high + 1e-6:
            raise BadValue(f"{to:g} is out of range; '{self.args.fixture}' goes from {low:g} to {high:g}")
        return to if unit == 1.0 else math.radians(to)

    def angle(self, degrees: float) -> float:
        """Angle in radians."""
        return math.radians(degrees)

    def footprints(self, feet: Any) -> Any:
        """Footprints with headings in radians, or a word."""
        return feet if isinstance(feet, str) else tuple((x, y, math.radians(heading)) for x, y, heading in feet)

    def recordings(self, names: Iterable[str]) -> tuple[str, ...]:
        """Paths of existing files."""
        return tuple(str(existing(self.folder / name, "give recordings, such as .c3d or .bvh")) for name in names)

    def kept(self, limbs: Iterable[str | KeepPart]) -> tuple[Kept, ...]:
        """Limbs to keep with their seconds: all of them where none are given."""
        always, chains = (-math.inf, math.inf), self.world.body(self.args.who).chains
        kept = [(one, always) if isinstance(one, str) else (one.limb, (one.during[0], one.during[1])) for one in limbs]
        for limb, _ in kept:
            if limb not in chains:
                raise UnknownName(f"limb of {self.args.who}", limb, chains)
        return tuple(kept)


# What a field of a task may name, or its unit, by the role that its metadata gives.
ROLES: Mapping[str, Callable[[Named, Any], Any]] = {
    "object": Named.object,
    "fixture": Named.fixture,
    "grasp": Named.grasp,
    "people": Named.people,
    "carriers": lambda named, names: named.people(names, robots=True),
    "leader": Named.leader,
    "taker": Named.taker,
    "floor place": Named.goal,
    "heading": Named.goal,
    "place": Named.place,
    "surface": Named.surface,
    "state": Named.state,
    "degrees": Named.angle,
    "footprints": Named.footprints,
    "recordings": Named.recordings,
    "kept limbs": Named.kept,
}
