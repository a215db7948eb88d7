"""Result of planning: a world in which the tasks are done, or why not and what would help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from elbowroom.errors import ElbowroomError
from elbowroom.geometry.rotations import Array
from elbowroom.world.certificate import Certificate
from elbowroom.world.certificate_findings import Collision
from elbowroom.world.pairs import Pair
from elbowroom.world.world import World

Status = Literal[
    "found",
    "partial",
    "start-in-collision",
    "base-in-collision",
    "target-in-collision",
    "target-out-of-reach",
    "out-of-balance",
    "loop-not-closed",
    "no-path",
    "too-little-time",
    "hand-not-free",
    "budget-spent",
    "not-certified",
]

# What a user can change, by status; `Plan.why` says what was wrong.
ADVICE: Mapping[Status, str] = {
    "partial": "what is left is listed under collisions; a wider bound for shifts and delays may do",
    "start-in-collision": "move the obstacle or begin where the body is free",
    "base-in-collision": "repair the motion first, or move what it meets",
    "target-in-collision": "move the target or what is in its way, or give another grasp",
    "target-out-of-reach": "stand nearer, move the target, or use the other hand",
    "out-of-balance": "stand nearer, or use the other hand",
    "loop-not-closed": "bring the carriers nearer to what they hold",
    "no-path": "move what is in the way, or try another hand or seed",
    "too-little-time": "give it a later time, or let the time be chosen",
    "hand-not-free": "put down what it holds first, or use the other hand",
    "budget-spent": "give a larger budget (--budget SECONDS) or none, or try another seed",
    "not-certified": "try another seed",
}


class NoMotion(ElbowroomError):
    """No motion was found, and it was required."""

    exit_code = 1


@dataclass(frozen=True)
class Planned:
    """One planned motion of a limb: for what, when, how, and what it cost. Times in seconds.

    `trees` are lines (E, 2, 3) that the limb's end was led along by a search, from the start and from the goal, where
    it was asked for by `search.birrt.keeping_trees`.
    """

    who: str
    limb: str
    what: str
    during: tuple[float, float]
    tier: Literal["ik", "avoid", "plan"]
    first_solution_s: float = 0.0
    smooth_s: float = 0.0
    checks: int = 0
    nodes: int = 0
    trees: tuple[Array, ...] = field(default=(), compare=False, repr=False)

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "who": [self.who],
            "limb": self.limb,
            "what": self.what,
            "during": list(self.during),
            "tier": self.tier,
            "first_solution_s": self.first_solution_s,
            "smooth_s": self.smooth_s,
            "checks": self.checks,
            "nodes": self.nodes,
        }


@dataclass(frozen=True, eq=False)
class Plan:
    """The result of planning.

    `world` is as it was asked for where the status is 'found', with what was done so far where not. `why` is one
    sentence on what was wrong, with the pair or the distance to blame. `seconds` is the time that stages took.
    `collisions` are those of the motion before it was repaired.
    """

    status: Status
    world: World
    plans: tuple[Planned, ...] = ()
    why: str = ""
    certificate: Certificate | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    collisions: tuple[Collision, ...] = ()

    @property
    def found(self) -> bool:
        """Whether it is done."""
        return self.status == "found"

    @property
    def advice(self) -> str:
        """What was wrong and what would help, in one sentence; empty where it is done."""
        if self.found:
            return ""
        return f"{self.why.rstrip('.') or self.status}: {ADVICE[self.status]}."

    def require(self) -> Plan:
        """The plan itself, or `NoMotion` where there is none."""
        if not self.found:
            raise NoMotion(f"no motion was found ({self.status}): {self.advice}")
        return self

    def with_(self, **changes: Any) -> Plan:
        """A copy with some fields replaced."""
        return replace(self, **changes)


@dataclass(frozen=True, eq=False)
class Blocked:
    """Why there is none, and the pair to blame."""

    status: Status
    pair: Pair | None = None


class PlanningFailure(Exception):
    """A task cannot be done: its status, why in a sentence without its end, and whose task it is, where known."""

    def __init__(self, status: Status, why: str) -> None:
        super().__init__(why)
        self.status: Status = status
        self.why = why
        self.who = ""


def blamed(pair: Pair | None) -> str:
    """A pair in words."""
    return "" if pair is None else f"{pair.a} would meet {pair.b}"


def why_not(way: Blocked) -> str:
    words = {
        "start-in-collision": "the hand is in collision where it starts",
        "target-in-collision": "the hand would collide at its target",
        "target-out-of-reach": "the way leads out of the arm's reach",
        "no-path": "no free way was found",
    }
    meets = blamed(way.pair)
    return words.get(way.status, way.status) + (f" ({meets})" if meets else "")
