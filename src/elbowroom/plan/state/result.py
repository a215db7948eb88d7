"""Result of planning: a world in which the tasks are done, or why not and what would help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeVar

from elbowroom.errors import ElbowroomError
from elbowroom.plan.state.edit import numbers_of, stacked
from elbowroom.plan.tasks import Task
from elbowroom.world.certificate import Certificate
from elbowroom.world.certificate_findings import Collision
from elbowroom.world.edit import Edit, Motions, motions
from elbowroom.world.pairs import Pair
from elbowroom.world.world import World

S = TypeVar("S")
T = TypeVar("T")

Status = Literal[
    "found",
    "partial",
    "start-in-collision",
    "base-in-collision",
    "target-in-collision",
    "target-out-of-reach",
    "out-of-balance",
    "too-heavy",
    "loop-not-closed",
    "no-path",
    "too-little-time",
    "hand-not-free",
    "budget-spent",
    "not-certified",
]

# General advice by status, where no verified change is known.
ADVICE: Mapping[Status, str] = {
    "partial": "the remaining collisions are listed; a larger shift or delay may help",
    "start-in-collision": "move the obstacle or start where the body is free",
    "base-in-collision": "repair the motion first, or move the obstacle",
    "target-in-collision": "move the target or the obstacle, or give another grasp",
    "target-out-of-reach": "stand nearer, move the target, or use the other hand",
    "out-of-balance": "stand nearer, or use the other hand",
    "too-heavy": "make it lighter, bring it nearer, or use both hands",
    "loop-not-closed": "bring the carriers nearer to the object",
    "no-path": "move the obstacle, or use the other hand",
    "too-little-time": "set a later time, or omit it and let the planner choose",
    "hand-not-free": "put down the held object first, or use the other hand",
    "budget-spent": "give a larger budget (--budget SECONDS) or none",
    "not-certified": "move the obstacle, or start somewhere else",
}


class NoMotion(ElbowroomError):
    """Raised by `Plan.require` where no motion was found."""

    exit_code = 1


@dataclass(frozen=True, eq=False)
class Plan:
    """The result of planning.

    `world` has all tasks done where the status is 'found', otherwise those done so far. `why` is one sentence on the
    failure, with the pair or the distance to blame; `verified` is one change with which a motion was found and proven,
    if any is known. `seconds` is time by stage. `collisions` are those of the motion before a repair. `edits` are all
    changes of motions, the last one on top; `base` has the motions below them, by character, extended to the length of
    the edited ones. `usual` is advice for the task that failed, where it is not that of the status.
    """

    status: Status
    world: World
    edits: tuple[Edit, ...] = ()
    why: str = ""
    certificate: Certificate | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    collisions: tuple[Collision, ...] = ()
    base: Motions = field(default_factory=dict)
    verified: str = ""
    usual: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", {**self.world.characters, **self.base})

    @property
    def found(self) -> bool:
        """Return whether a motion was found."""
        return self.status == "found"

    @property
    def advice(self) -> str:
        """The failure and what would help, in one sentence; empty where there is none."""
        if self.found:
            return ""
        return f"{self.why.rstrip('.') or self.status}: {self.remedy}."

    @property
    def remedy(self) -> str:
        """Advice: a change that was tried and works, otherwise what can be changed at all."""
        if self.status == "not-certified" and any(edit.share < 1.0 for edit in self.edits):
            return "increase the strength of weakened or muted edits"
        return self.verified or self.usual or ADVICE.get(self.status, "")

    def require(self) -> Plan:
        """The plan itself; raises `NoMotion` where there is none."""
        if not self.found:
            raise NoMotion(f"no motion was found ({self.status}): {self.advice}")
        return self

    def with_(self, **changes: Any) -> Plan:
        """A copy with some fields replaced."""
        return replace(self, **changes)

    @property
    def layers(self) -> dict[str, Any]:
        """Edits and the motions below them, as `elbowroom.save` takes them."""
        return {"base": self.base, "edits": self.edits}

    def with_edits(self, strengths: Mapping[int | str, float]) -> Plan:
        """The plan with other strengths of edits, 0 to 1, by their number (from 1) or reason.

        It is 'not-certified' until `elbowroom.prove` is called.
        """
        edits = list(self.edits)
        for which, strength in strengths.items():
            for n in numbers_of(edits, which):
                edits[n] = edits[n].with_strength(strength)
        return self._edited(edits)

    def muted(self, *which: int | str, muted: bool = True) -> Plan:
        """The plan with some edits muted, by number or reason, or active again; not proven, see `with_edits`."""
        edits = list(self.edits)
        for one in which:
            for n in numbers_of(edits, one):
                edits[n] = replace(edits[n], muted=muted)
        return self._edited(edits)

    def _edited(self, edits: Sequence[Edit]) -> Plan:
        if all(new.share == old.share for new, old in zip(edits, self.edits, strict=True)):
            return self.with_(edits=tuple(edits))
        world = self.world.with_(characters=motions(self.base, edits))
        why = "the strength of edits was changed and the motion has not been proven again"
        return self.with_(status="not-certified", world=world, edits=tuple(edits), certificate=None, why=why)

    def then(self, later: Plan) -> Plan:
        """A plan made for the world of this one, with the edits of both."""
        base, edits = stacked(self.base, self.edits, later.base, later.edits)
        return later.with_(base=base, edits=edits)


@dataclass(frozen=True, eq=False)
class Blocked:
    """Failure of a path search, with the colliding pair."""

    status: Status
    pair: Pair | None = None


class PlanningFailure(Exception):
    """A task that cannot be done: its status, a reason without the final period, and the task and character, where
    known.

    `missing` is the distance out of reach, or the depth of a body in an obstacle, metres; `searched`: a path was
    searched and not found, for this or another option of the task; `by_limbs`: limbs of a standing body found no path;
    `failed_walks` counts failed walks to places;
    `anywhere`: it fails from every stance; `remedy`: what may help, where that is special to this failure.
    """

    def __init__(self, status: Status, why: str, *, missing: float = 0.0) -> None:
        super().__init__(why)
        self.status: Status = status
        self.searched = status == "no-path"
        self.by_limbs = False
        self.why, self.missing = why, missing
        self.who = ""
        self.task: Task | None = None
        self.failed_walks = 0
        self.anywhere = False
        self.remedy = ""

    @property
    def usual_advice(self) -> str:
        """Advice for the task that failed; empty where that of the status serves."""
        return self.remedy or ("" if self.task is None else self.task.advice.get(self.status, ""))


def tried(do: Callable[[], T]) -> T | PlanningFailure:
    """Result of a call, or the reason why planning fails in it."""
    try:
        return do()
    except PlanningFailure as reason:
        return reason


def first_of(options: Iterable[S], do: Callable[[S], T]) -> T:
    """Result of a call for the first option that succeeds; raises the failure of the first option where none does.

    Options that leave a take must go through `Director.first`, which undoes them.
    """
    stuck: PlanningFailure | None = None
    for option in options:
        done = tried(partial(do, option))
        if not isinstance(done, PlanningFailure):
            return done
        stuck = stuck or done
    assert stuck is not None, "there is always an option"
    raise stuck


class Folded(PlanningFailure):
    """A body cannot be folded so far: belly and thighs press each other more than flesh gives way."""

    def __init__(self, status: Status, why: str) -> None:
        super().__init__(status, f"{why}: belly and thighs leave no room to bend down that far")


class NoCommonGrip(PlanningFailure):
    """An object can be held at its start and at its goal, but not with one grip, or not on the way."""

    def __init__(self, thing: str, why: PlanningFailure) -> None:
        reason = why.why.partition(": ")[2]
        super().__init__(why.status, f"move {thing}: no grip that holds it at its start reaches its goal ({reason})")
        self.remedy = "put a table between them to change the grip on"


def blamed(pair: Pair | None) -> str:
    """A pair in words."""
    return "" if pair is None else f"{pair.a} would collide with {pair.b}"


def why_not(blocked: Blocked) -> str:
    words = {
        "start-in-collision": "the hand is in collision at the start",
        "target-in-collision": "the hand would collide at its target",
        "target-out-of-reach": "the path leaves the arm's reach",
        "no-path": "no collision-free path was found",
    }
    meets = blamed(blocked.pair)
    return words.get(blocked.status, blocked.status) + (f" ({meets})" if meets else "")
