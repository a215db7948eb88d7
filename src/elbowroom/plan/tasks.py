"""Tasks of hands and feet that people can be asked for. Times in seconds, lengths in metres, angles in radians."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from elbowroom.errors import BadValue
from elbowroom.spaces.styles import NATURAL, Wish, style_of

Point = tuple[float, float, float]
Hand = Literal["left", "right"]
Direction = Literal["front", "left", "right", "up"]
# Where an ankle stands on the floor, and the heading of that foot, radians counter-clockwise from -Y.
Footprint = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Task:
    """One thing to do: by whom, with which hand (None: the one that suits), and when.

    `at` is the time at which the hand is there; None is as soon as the motion before allows. What follows it (the pull
    of a drawer, the opened hand) comes after that time. `begin` is when the hand leaves what the person does anyway,
    before `at`; `back` is by when it does that again, after it. None is chosen. Tasks with a lower `priority` are
    planned first, and others move out of their way; None is chosen, after those that have one. `style`, a `Style` or
    the name of one, is how it is to look; None is as the settings say. `feet` 'stay' where they stand; with 'auto' who
    stands out of reach, and has no time to keep, walks up first. A move also takes the left and the right footprint.
    `planner` 'whole-body' plans all of the body at once, which 'auto' does where limbs alone find no way.
    """

    who: str
    hand: Hand | None = None
    at: float | None = None
    begin: float | None = None
    back: float | None = None
    priority: int | None = None
    style: Wish = None
    feet: Literal["auto", "stay"] | tuple[Footprint, Footprint] = "auto"
    planner: Literal["auto", "whole-body"] = "auto"

    def __post_init__(self) -> None:
        style_of(self.style, NATURAL)
        self._check_feet()
        if self.planner not in ("auto", "whole-body"):
            raise BadValue(f"the planner of {self.verb} is 'auto' or 'whole-body', not '{self.planner}'.")
        given = [(name, t) for name in ("begin", "at", "back") if (t := getattr(self, name)) is not None]
        for name, t in given:
            if not math.isfinite(t):
                raise BadValue(f"'{name}' of {self.verb} is a finite number of seconds, not {t}.")
        for (early, t), (late, then) in pairwise(given):
            if not t < then:
                raise BadValue(
                    f"'{early}' ({t:g} s) comes before '{late}' ({then:g} s) of {self.verb}; give a later '{late}'."
                )

    def _check_feet(self) -> None:
        if isinstance(self.feet, str):
            return
        if not isinstance(self, Move):
            raise BadValue(f"{self.verb}: its feet are 'auto' or 'stay'; only a move takes footprints.")
        if self.helpers:
            raise BadValue("move: with helpers the feet stay in place; leave out the footprints.")
        if len(self.feet) != 2 or any(len(one) != 3 or not all(map(math.isfinite, one)) for one in self.feet):
            raise BadValue("move: footprints are two times x, y and a heading: the left foot's, then the right one's.")

    @property
    def verb(self) -> str:
        """The word for it in a storyboard."""
        return type(self).__name__.lower()

    def steps(self) -> tuple[Task, ...]:
        """The tasks that it stands for: itself, unless it is one of several."""
        return (self,)


@dataclass(frozen=True, kw_only=True)
class Reach(Task):
    """Bring the hand to a place: a point, or 'thing', 'thing.frame', 'ann.head'; it stays there until the next task.

    With `foot`, it is that foot that goes there, and comes back.
    """

    to: Point | str
    shape: str = "rest"
    foot: Hand | None = None


@dataclass(frozen=True, kw_only=True)
class Grab(Task):
    """Take an object; `grasp` names one of its grasps, None is the one that suits."""

    object: str
    grasp: str | None = None


@dataclass(frozen=True, kw_only=True)
class Put(Task):
    """Put what is held down: its origin `to` a point, turned by `turn` about the vertical; or `onto` a thing or frame.

    Without `turn` it keeps the turn that it had when it was taken.
    """

    object: str
    to: Point | None = None
    turn: float | None = None
    onto: str | None = None


@dataclass(frozen=True, kw_only=True)
class Move(Task):
    """Move an object with the whole body over feet that stay; the planner chooses the times.

    Where it cannot be held at start and goal from where the feet stand, a stance is chosen from which it can, unless
    they are to stay.
    The object leads: its path is searched, and the body follows it as recorded people do. The goal is given as for
    `Put`. `hands` is 'both', palms on opposite sides, or the one that takes it. `posture` 'squat' and 'stoop' ask for
    recordings of that kind, 'none' for no recordings at all; `postures` are files of recordings to follow in place of
    the built-in ones. Without `balance` the weight need not stay over the feet. `helpers` hold it, too, with hands of
    their own.
    """

    object: str
    to: Point | None = None
    turn: float | None = None
    onto: str | None = None
    hands: Literal["both", "left", "right"] = "both"
    posture: Literal["auto", "squat", "stoop", "none"] = "auto"
    postures: tuple[str, ...] = ()
    balance: bool = True
    helpers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Carry(Task):
    """Carry an object through a place on foot, alone or with `helpers`; the planner chooses the times.

    They walk up to it, lift it, find a way on which all of them and the object pass, walk it in step, and set it down:
    the goal is given as for `Put`; without `turn` it may be turned there in any way that it can be reached. `level`
    keeps it as level as it is at the start. `speed` and `accel` are the highest of the object and of everybody, m/s and
    m/s². `tries` is how many ways are tried, each without the places where those before it failed.
    """

    object: str
    to: Point | None = None
    turn: float | None = None
    onto: str | None = None
    helpers: tuple[str, ...] = ()
    level: bool = True
    speed: float = 0.8
    accel: float = 0.5
    tries: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least, most in (("speed", 0.1, 1.8), ("accel", 0.05, 3.0), ("tries", 1, 100)):
            if not least <= getattr(self, name) <= most:
                raise BadValue(f"'{name}' of carry is {getattr(self, name):g}; give {least:g} to {most:g}.")


@dataclass(frozen=True, kw_only=True)
class Drop(Task):
    """Let what is held fall onto what is below it; `at` is when the hand opens.

    `over` is a point or a thing above which the hand goes first, to let go from `height` metres above where it lands;
    None is where the hand is.
    """

    object: str
    over: Point | str | None = None
    height: float = 0.08


@dataclass(frozen=True, kw_only=True)
class HoldOut(Task):
    """Hold out what is held for some `seconds`: its origin `to` a point or place, or `toward` a side of the body."""

    object: str
    to: Point | str | None = None
    toward: Direction = "front"
    seconds: float = 1.0

    @property
    def verb(self) -> str:
        """The word for it in a storyboard."""
        return "hold"


@dataclass(frozen=True, kw_only=True)
class Handover(Task):
    """Give what is held `to` somebody, who takes it while it is still held; `at` is when both have it."""

    object: str
    to: str


@dataclass(frozen=True, kw_only=True)
class Regrasp(Task):
    """Take what one hand holds with the other; both hold it before the first lets go. The planner chooses the times.

    `hand` is the one that has it then; None is the other one.
    """

    object: str


@dataclass(frozen=True, kw_only=True)
class Touch(Task):
    """Touch a place with the fingertips, and go away again: a point, a thing, a frame, a body part.

    With `foot`, the tip of that foot touches it.
    """

    target: Point | str
    shape: str = "flat"
    foot: Hand | None = None


@dataclass(frozen=True, kw_only=True)
class Press(Task):
    """Press a button or switch with a fingertip: a fixture, moved along its joint `to` a state and let back.

    With `foot`, it is a pedal under the ball of that foot.
    """

    fixture: str
    to: float | None = None
    foot: Hand | None = None


@dataclass(frozen=True, kw_only=True)
class Open(Task):
    """Open a fixture by its handle, `to` a state (None: all the way), metres or radians."""

    fixture: str
    to: float | None = None


@dataclass(frozen=True, kw_only=True)
class Close(Task):
    """Close a fixture by its handle, `to` a state (None: shut)."""

    fixture: str
    to: float | None = None


@dataclass(frozen=True, kw_only=True)
class Go(Task):
    """Walk to a point on the floor, a thing, or somebody, and stand there; `at` is when one arrives.

    `facing` is a heading (radians counter-clockwise from -Y) or a thing to face; None is as one arrives, and what was
    gone to. `gait` is how: 'any' as the scene asks for, upright where there is room.
    """

    to: tuple[float, float] | Point | str
    facing: float | str | None = None
    gait: Literal["any", "walk", "brisk", "run", "crouch", "sidle", "back"] = "any"


@dataclass(frozen=True, kw_only=True)
class Fetch(Put):
    """Go to an object, take it, go to where it is put, and put it there; the goal is given as for `Put`."""

    def steps(self) -> tuple[Task, ...]:
        """The tasks that it stands for."""
        same = {name: getattr(self, name) for name in ("who", "hand", "priority", "style", "planner", "object")}
        return Grab(**same), Put(**same, to=self.to, turn=self.turn, onto=self.onto)


@dataclass(frozen=True, kw_only=True)
class Follow(Task):
    """Walk behind somebody, on the way that they go, until they stand; `distance` is that of the two bodies."""

    whom: str
    distance: float = 1.2


@dataclass(frozen=True, kw_only=True)
class Rest(Task):
    """Give the hand back to the motion that the person does anyway."""


@dataclass(frozen=True, kw_only=True)
class Repair(Task):
    """Bring the motion out of what it runs into, as it is when this task's turn comes.

    Limbs to `keep`, each with its seconds, stay where they are; the body goes aside by `aside` metres at most.
    """

    keep: tuple[tuple[str, tuple[float, float]], ...] = ()
    aside: float | None = None


_KINDS = (Reach, Grab, Put, Move, Carry, Drop, HoldOut, Handover, Regrasp, Touch, Press, Open, Close, Go, Fetch, Follow,
          Rest, Repair)  # fmt: skip
VERBS: dict[str, type[Task]] = {"hold" if kind is HoldOut else kind.__name__.lower(): kind for kind in _KINDS}
