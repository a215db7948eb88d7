"""Tasks for hands, feet and whole bodies. Times in seconds, lengths in metres, angles in radians."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from elbowroom.errors import BadValue
from elbowroom.spaces.styles import NATURAL, StyleLike, style_of

Point = tuple[float, float, float]
Hand = Literal["left", "right"]
Direction = Literal["front", "left", "right", "up"]
# Ankle position on the floor and heading of a foot, radians counter-clockwise from -Y.
Footprint = tuple[float, float, float]


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
    which 'auto' does where limbs alone fail. With a `support` the other hand leans on something
    meanwhile, or the body kneels; 'auto' leans where balance fails without.
    """

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
        if isinstance(self.feet, str):
            return
        if not isinstance(self, Move):
            raise BadValue(f"{self.verb}: feet must be 'auto' or 'stay'; only move takes footprints.")
        if self.helpers:
            raise BadValue("move: with helpers the feet stay in place; omit the footprints.")
        if len(self.feet) != 2 or any(len(one) != 3 or not all(map(math.isfinite, one)) for one in self.feet):
            raise BadValue("move: footprints are two rows of x, y and heading, the left foot first.")

    @property
    def verb(self) -> str:
        """Verb in a storyboard."""
        return type(self).__name__.lower()

    def steps(self) -> tuple[Task, ...]:
        """Tasks that it consists of: itself, unless it stands for several."""
        return (self,)


@dataclass(frozen=True, kw_only=True)
class Reach(Task):
    """Bring the hand to a target: a point, or 'thing', 'thing.frame', 'ann.head'; it stays there until the next task.

    With `foot`, that foot goes there and returns.
    """

    to: Point | str
    shape: str = "rest"
    foot: Hand | None = None


@dataclass(frozen=True, kw_only=True)
class Grab(Task):
    """Take an object; `grasp` names one of its grasps, None chooses one."""

    object: str
    grasp: str | None = None


@dataclass(frozen=True, kw_only=True)
class Put(Task):
    """Put a held object down: its origin `to` a point, rotated by `turn` about the vertical; or `onto` a thing or
    frame.

    Without `turn` it keeps the rotation that it had when it was taken.
    """

    object: str
    to: Point | None = None
    turn: float | None = None
    onto: str | None = None


@dataclass(frozen=True, kw_only=True)
class Move(Task):
    """Move an object with the whole body over fixed feet; the planner chooses the times.

    If it cannot be held at start and goal from the present stance, another stance is chosen, unless the feet are to
    stay. The object leads: its path is searched, and the body follows as recorded people do. The goal is given as for
    `Put`. `hands` is 'both', palms on opposite sides, or the hand that takes it. `posture` 'squat' and 'stoop' select
    recordings of that kind, 'none' uses no recordings; `postures` are files of recordings in place of the built-in
    ones. Without `balance` the weight may leave the feet. `helpers` hold it with their own hands.
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
    """Carry an object on foot, alone or with `helpers`; the planner chooses the times.

    They walk up to it, lift it, find a path on which all of them and the object pass, walk in step, and set it down.
    The goal is given as for `Put`; without `turn` it may end at any rotation. `level` keeps it as level as it is at the
    start. `speed` and `accel` limit object and carriers, m/s and m/s². `tries` is the number of paths that are tried,
    each without the places where earlier ones failed.
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
    """Let a held object fall onto what is below it; `at` is when the hand opens.

    `over` is a point or a thing above which the hand goes first, to release it `height` metres above where it lands;
    None is where the hand is.
    """

    object: str
    over: Point | str | None = None
    height: float = 0.08


@dataclass(frozen=True, kw_only=True)
class HoldOut(Task):
    """Hold a held object out for some `seconds`: its origin `to` a point or place, or `toward` a side of the body."""

    object: str
    to: Point | str | None = None
    toward: Direction = "front"
    seconds: float = 1.0

    @property
    def verb(self) -> str:
        """Verb in a storyboard."""
        return "hold"


@dataclass(frozen=True, kw_only=True)
class Handover(Task):
    """Give a held object `to` another character, who takes it while it is still held; `at` is when both have it."""

    object: str
    to: str


@dataclass(frozen=True, kw_only=True)
class Regrasp(Task):
    """Take an object from one hand with the other; both hold it before the first lets go. The planner chooses the
    times.

    `hand` is the one that has it afterwards; None is the other one.
    """

    object: str


@dataclass(frozen=True, kw_only=True)
class Touch(Task):
    """Touch a target with the fingertips and retreat: a point, a thing, a frame, a body part.

    With `foot`, the tip of that foot touches it.
    """

    target: Point | str
    shape: str = "flat"
    foot: Hand | None = None


@dataclass(frozen=True, kw_only=True)
class Press(Task):
    """Press a button or switch with a fingertip: a fixture moves along its joint `to` a state and back.

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
    """Walk to a point on the floor, a thing, or a character, and stand there; `at` is the time of arrival.

    `facing` is a heading (radians counter-clockwise from -Y) or a thing to face; None faces the goal, or keeps the
    heading of arrival. `gait` is the mode; 'any' depends on the scene, upright where there is room.
    """

    to: tuple[float, float] | Point | str
    facing: float | str | None = None
    gait: Literal["any", "walk", "brisk", "run", "crouch", "sidle", "back"] = "any"


@dataclass(frozen=True, kw_only=True)
class Fetch(Put):
    """Go to an object, take it, go to its goal, and put it there; the goal is given as for `Put`."""

    def steps(self) -> tuple[Task, ...]:
        """Tasks that it consists of."""
        same = {name: getattr(self, name) for name in ("who", "hand", "priority", "style", "planner", "object")}
        return Grab(**same), Put(**same, to=self.to, turn=self.turn, onto=self.onto)


@dataclass(frozen=True, kw_only=True)
class Follow(Task):
    """Walk behind a character, on its path, until it stands; `distance` is that of the two bodies."""

    whom: str
    distance: float = 1.2


@dataclass(frozen=True, kw_only=True)
class Rest(Task):
    """Return the hand to the base motion."""


@dataclass(frozen=True, kw_only=True)
class Repair(Task):
    """Resolve the collisions of the motion that earlier tasks leave.

    Limbs in `keep`, each with its interval, stay in place; the body is displaced by at most `aside` metres.
    """

    keep: tuple[tuple[str, tuple[float, float]], ...] = ()
    aside: float | None = None


_KINDS = (Reach, Grab, Put, Move, Carry, Drop, HoldOut, Handover, Regrasp, Touch, Press, Open, Close, Go, Fetch, Follow,
          Rest, Repair)  # fmt: skip
VERBS: dict[str, type[Task]] = {"hold" if kind is HoldOut else kind.__name__.lower(): kind for kind in _KINDS}
