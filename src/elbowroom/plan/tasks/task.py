"""Base of all tasks: who does it, when, and what planning asks a verb. Times in seconds, lengths in metres."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.spaces.styles import NATURAL, StyleLike, style_of
from elbowroom.world.world import World

if TYPE_CHECKING:
    from elbowroom.plan.state.actor import Actor
    from elbowroom.plan.steps.director import Director
    from elbowroom.plan.walking.walked import Spot

Point = tuple[float, float, float]
# Values with a form of their own in storyboards: a name without dots, seconds, the name of a hand shape.
Name = Annotated[str, "name"]
Seconds = Annotated[float, "seconds"]
ShapeName = Annotated[str, "hand shape"]
Hand = Literal["left", "right"]
Direction = Literal["front", "left", "right", "up"]
# Fields with the times of a hand.
TIMES = ("at", "begin", "back")
# Ankle position on the floor and heading of a foot, radians counter-clockwise from -Y.
Footprint = tuple[float, float, float]


def about(text: str = "", role: str = "") -> Mapping[str, str]:
    """Metadata of a field of a task: its line in the schema, and what the field names in the world or its unit."""
    return {"about": text, "role": role}


@dataclass(frozen=True)
class Support:
    """A hand that bears weight during a task: flat on a mesh or object `on`, at a point of its surface."""

    hand: Hand
    on: str
    at: Point

    def __post_init__(self) -> None:
        if self.hand not in ("left", "right"):
            raise BadValue(f"the hand of a support must be 'left' or 'right', not '{self.hand}'.")
        if len(self.at) != 3 or not all(map(math.isfinite, self.at)):
            raise BadValue("a support needs three finite numbers, a point on the surface.")


@dataclass(frozen=True)
class Knee:
    """A knee that bears weight on the floor during a task, the foot of the other side flat ahead of it."""

    knee: Hand

    def __post_init__(self) -> None:
        if self.knee not in ("left", "right"):
            raise BadValue(f"the knee of a support must be 'left' or 'right', not '{self.knee}'.")


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task: who does it, with which hand (None: chosen), and when.

    `at` is the time at which the hand arrives; None is as soon as possible. Later parts (the pull of a drawer, the
    opened hand) follow that time. `begin` is when the hand leaves the base motion, before `at`; `back` is by when it
    has returned, after it; None is chosen. Tasks with a lower `priority` are planned first, and others avoid them; None
    comes after those that have one. `style`, a `Style` or its name, is how it should look; None is that of the
    settings. `feet` 'stay' in place; with 'auto' a standing character out of reach walks up first, unless the task has
    a time. A move also takes the left and the right footprint. `planner` 'whole-body' plans the whole body at once,
    which 'auto' does where limbs alone fail. With a `support` the other hand leans on something meanwhile, or the body
    kneels; 'auto' leans where balance fails without.
    """

    # Verb in a storyboard.
    verb: ClassVar[str] = ""
    # Keys of other tasks that a storyboard must not give, and what to do instead.
    refuses: ClassVar[tuple[tuple[str, ...], str]] = ((), "")
    # Whether storyboards may give a time.
    timed: ClassVar[bool] = True
    # Whether storyboards may give a hand, with its times, feet and support.
    takes_hand: ClassVar[bool] = True
    # Whether 'who' in a storyboard may list all that carry the object.
    crew: ClassVar[bool] = False
    # Functions of this package that plan it, 'module:function', with a hand and with a foot; loaded by the first task.
    by_hand: ClassVar[str] = ""
    by_foot: ClassVar[str] = ""
    # Whether no walk to a target comes before it.
    in_place: ClassVar[bool] = False
    # Whether `who` holds the object before it and after it, and whether a hand closes on an object.
    held_before: ClassVar[bool] = False
    held_after: ClassVar[bool] = False
    grasps: ClassVar[bool] = False
    # Whether the object leads whole bodies, on foot or with feet in place.
    object_leads: ClassVar[bool] = False
    # Whether the verb plans its own walk.
    walks: ClassVar[bool] = False
    # Whether its walk is planned anew while something is dragged in its way.
    previews_walk: ClassVar[bool] = False
    # Whether a free hand itself goes to the target, so that it cannot be higher than a hand reaches.
    hand_arrives: ClassVar[bool] = False
    # Whether the hand comes against a surface: inside a solid, only moving the target helps.
    meets_surface: ClassVar[bool] = False
    # Whether it puts down an object, so that places to stand are judged by the posture there.
    puts_down: ClassVar[bool] = False
    # Whether it returns hands to the base motion.
    rests: ClassVar[bool] = False
    # Whether it changes the base motion, before or after tasks of hands.
    repairs: ClassVar[bool] = False

    who: str
    hand: Hand | None = None
    at: float | None = None
    begin: float | None = None
    back: float | None = None
    priority: int | None = None
    style: StyleLike = None
    feet: Literal["auto", "stay"] | tuple[Footprint, Footprint] = "auto"
    planner: Literal["auto", "whole-body"] = "auto"
    support: Support | Knee | Literal["auto"] | None = None

    def __post_init__(self) -> None:
        style_of(self.style, NATURAL)
        self._check_feet()
        if self.planner not in ("auto", "whole-body"):
            raise BadValue(f"the planner of {self.verb} must be 'auto' or 'whole-body', not '{self.planner}'.")
        if isinstance(self.support, str) and self.support != "auto":
            raise BadValue(f"the support of {self.verb} must be 'auto', a hand or a knee, not '{self.support}'.")
        if isinstance(self.support, Support) and self.support.hand == self.hand:
            raise BadValue(f"the {self.hand} hand of {self.verb} cannot support the body as well; give the other one.")
        given = [(name, t) for name in ("begin", "at", "back") if (t := getattr(self, name)) is not None]
        for name, t in given:
            if not math.isfinite(t):
                raise BadValue(f"'{name}' of {self.verb} must be a finite number of seconds, not {t}.")
        for (early, t), (late, then) in pairwise(given):
            if not t < then:
                raise BadValue(
                    f"'{early}' ({t:g} s) comes before '{late}' ({then:g} s) of {self.verb}; give a later '{late}'."
                )

    def _check_feet(self) -> None:
        if not isinstance(self.feet, str):
            raise BadValue(f"{self.verb}: feet must be 'auto' or 'stay'; only move takes footprints.")

    @property
    def people(self) -> tuple[str, ...]:
        """Characters that it moves."""
        return (self.who,)

    @property
    def leaders(self) -> tuple[str, ...]:
        """Other characters whose earlier tasks come first."""
        return ()

    @property
    def thing(self) -> str | None:
        """Object or fixture that it moves."""
        return getattr(self, "object", None) or getattr(self, "fixture", None)

    @property
    def receiver(self) -> str | None:
        """Character that holds the object afterwards instead of `who`."""
        return None

    @property
    def limb(self) -> str:
        """Hand or foot that it names; empty where the planner chooses."""
        foot = getattr(self, "foot", None)
        return f"{foot} foot" if foot is not None else f"{self.hand} hand" if self.hand is not None else ""

    @property
    def lasts(self) -> float:
        """Seconds that the hand stays at its target."""
        return 0.0

    @property
    def label(self) -> str:
        """Name of the task in failures of its walk."""
        return self.verb

    @property
    def stays(self) -> bool:
        """True if no walk to the target comes before it, even with `feet` 'auto'."""
        return self.in_place or getattr(self, "foot", None) is not None

    @property
    def advice(self) -> Mapping[str, str]:
        """Advice by status of a failure, where it differs from that of other tasks."""
        return {}

    @property
    def releases(self) -> bool:
        """True if `who` holds the object before it and nobody does after it."""
        return self.held_before and not self.held_after and self.receiver is None

    @property
    def takes(self) -> bool:
        """True if a hand of `who` takes a free object."""
        return self.grasps and not self.held_before

    @classmethod
    def fault(cls, given: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Contradiction in the arguments of a storyboard, by key: what is wrong, and at which key, if at one."""
        if "foot" in given and "hand" in given:
            return "is given together with 'hand'; keep one of them", "foot"
        return None

    def impossible(self, world: World) -> str:
        """Reason why the world at its start rules it out; empty if nothing is known."""
        return ""

    def steps(self) -> tuple[Task, ...]:
        """Tasks that it consists of: itself, unless it stands for several."""
        return (self,)

    def obstruction(self, world: World) -> tuple[str, float] | None:
        """Reason why static geometry makes it impossible, and how deep in it the target is, metres."""
        return None

    def relaxed(self) -> Iterator[tuple[str, Task]]:
        """Changes, in words, that lift a restriction of the task which may be why a target is out of reach."""
        return iter(())

    def instead(self, world: World) -> Iterator[tuple[str, Task]]:
        """Tasks of another verb, in words, that may do where this one finds no room."""
        return iter(())

    def with_other_hands(self, alone: bool) -> Iterator[tuple[str, Task]]:
        """The same with other hands that the verb names itself, in words; with one hand only where that may help
        `alone`."""
        return iter(())

    def placed(self, world: World) -> tuple[World, Task]:
        """World with notes, and the task with a place that it leaves open."""
        return world, self

    def fitted(self, d: Director) -> Task:
        """Task with a place chosen for the actor as it stands now."""
        return self

    def begins_moving(self, d: Director) -> bool:
        """Return whether to try it first with bases that move on, although they come to rest later."""
        return False

    def stances(self, d: Director, actor: Actor) -> Iterable[Spot] | None:
        """Positions to do it from, the most promising first; None: those near the target."""
        return None

    def suits(self, d: Director, stands: Actor) -> bool:
        """Return whether an actor who `puts_down` an object could do it from where it stands."""
        return True

    def waypoints(self, world: World, t: float) -> list[Array]:
        """Places (3,), besides the target, that the hand reaches on the way."""
        return []

    def on_foot(self) -> Task | None:
        """Task that does the same on foot where no stance serves; None if there is none."""
        return None

    def carry_out(self, d: Director) -> None:
        """Carry it out, after a walk to its target where needed; raises `PlanningFailure`."""
        from elbowroom.plan.walking.approach import stepping_up

        stepping_up(d, self, lambda: self.perform(d))

    def perform(self, d: Director) -> None:
        """Carry it out from where the actor stands; raises `PlanningFailure`."""
        module, _, name = (self.by_hand if getattr(self, "foot", None) is None else self.by_foot).partition(":")
        getattr(import_module(f"elbowroom.plan.{module}"), name)(d, self)


@dataclass(frozen=True, kw_only=True)
class ObjectTask(Task):
    """Base of tasks with an object that can be moved."""

    object: Name = field(metadata=about(role="object"))


@dataclass(frozen=True, kw_only=True)
class PlacingTask(ObjectTask):
    """Base of tasks that bring an object to a goal: its origin `to` a point, rotated by `turn` about the vertical; or
    `onto` a thing or frame.
    """

    to: Point | None = field(default=None, metadata=about("Goal position of its origin."))
    turn: float | None = field(
        default=None, metadata=about("Goal rotation in degrees about the vertical; default: as grasped.", "degrees")
    )
    onto: str | None = field(
        default=None,
        metadata=about("An object, a mesh, a frame (shelf.top), a body part, or the floor.", "surface"),
    )

    @classmethod
    def fault(cls, given: Mapping[str, Any]) -> tuple[str, ...] | None:
        if ("to" in given) == ("onto" in given):
            found = "both are given" if "to" in given else "none is given"
            return (f"needs exactly one of 'to' and 'onto'; {found}",)
        return super().fault(given)


@dataclass(frozen=True, kw_only=True)
class FixtureTask(Task):
    """Base of tasks that move a fixture `to` a state along its joint, metres or radians; None is all the way."""

    fixture: Name = field(metadata=about(role="fixture"))
    to: float | None = field(
        default=None,
        metadata=about("Opening in metres of a slide, degrees of a hinge; default: all the way.", "state"),
    )


@dataclass(frozen=True, kw_only=True)
class HandleTask(FixtureTask):
    """Base of tasks that move a fixture by its handle; without a state it `shuts` it or opens it all the way."""

    by_hand: ClassVar = "verbs.fixtures:open_fixture"
    shuts: ClassVar[bool] = False

    def carry_out(self, d: Director) -> None:
        from elbowroom.plan.walking.doors import step_and_open

        step_and_open(d, self)


# Advice where a task is for both hands, which no other hand helps.
FOR_BOTH_HANDS: Mapping[str, str] = {
    "target-out-of-reach": "stand nearer, or move the target",
    "out-of-balance": "stand nearer, or make the object lighter",
    "too-heavy": "make it lighter, bring it nearer, or share it with helpers",
    "no-path": "move the obstacle",
    "hand-not-free": "put down the held object first, or use only one hand",
}
# Advice for walks.
FOR_WALKS: Mapping[str, str] = {
    "no-path": "choose another goal, or clear a path",
    "target-in-collision": "choose another goal, or move the obstacle there",
}
