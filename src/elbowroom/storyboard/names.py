"""Names and units in the arguments of tasks: checked against the world, and as the planner takes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elbowroom.character.body import Character
from elbowroom.character.robot import Robot
from elbowroom.errors import BadValue, UnknownName
from elbowroom.plan.tasks import Knee, Support
from elbowroom.plan.tasks.repair import Kept
from elbowroom.posing.robot_ik import arm_of
from elbowroom.storyboard.things import existing
from elbowroom.storyboard.verbs import KeepPart, SupportPart
from elbowroom.world.things import Fixture, GraspMark
from elbowroom.world.world import World


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
