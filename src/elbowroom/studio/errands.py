"""Which tasks bring a hand to what is dragged, or are somebody's own, and when the hand is there in a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elbowroom.plan.result import Plan
from elbowroom.studio.document import Document, speaks_of
from elbowroom.studio.places import task_of
from elbowroom.world.edit import Edit

# By verb, what says where the hand goes.
_WHERE = {
    "grab": "object",
    "reach": "to",
    "touch": "target",
    "press": "fixture",
    "open": "fixture",
    "close": "fixture",
    "put": "onto",
    "drop": "over",
    "hold": "to",
}
# Verbs whose hand first takes something and then moves it along: it is there after the first two ways.
_MOVES = ("press", "open", "close")
# Seconds in which a hand is back at what it did where no plan says when; how long after its way one may begin to leave.
_BACK, _LINGERS = 0.6, 1.0
# Share of its way for which a hand that goes there in one, or leaves so, is near what it goes to.
_NEAR = 0.3


@dataclass(frozen=True, eq=False)
class Errand:
    """A task whose hand goes somewhere: its number from 0, its verb and what is told of it; times in seconds.

    Where a motion has it, `hand` does it and is there at `at`; it sets out with `during` and is back at its end, and
    is near from `near` until `stays`. Without a motion `hand` is None, and `at` is what was told, if anything.
    """

    task: int
    verb: str
    told: Mapping[str, Any]
    hand: str | None = None
    at: float | None = None
    during: tuple[float, float] = (0.0, 0.0)
    near: float = 0.0
    stays: float = 0.0

    @property
    def who(self) -> str:
        """Who does it."""
        return str(self.told["who"])

    @property
    def place(self) -> Any:
        """Where the hand goes: the name of a thing or a part of one, or a point; None where that is not told."""
        named = self.told.get(_WHERE[self.verb])
        return self.told.get("to") if named is None and self.verb == "put" else named

    @property
    def what(self) -> str:
        """What the hand goes to, in words."""
        return self.place if isinstance(self.place, str) else "the target"


def errands_of(document: Document, plan: Plan | None) -> list[Errand]:
    """All tasks that bring a hand somewhere, in their order, with times where a motion has them."""
    runs = _runs(() if plan is None else plan.edits)
    out = []
    for k, task in enumerate(document.values.get("tasks", [])):
        ((verb, told),) = task.items()
        if verb not in _WHERE or told.get("foot") is not None:
            continue
        errand = Errand(k, verb, told, at=told.get("at"))
        mine = runs.get((errand.who, _in_plans(errand)), [])
        if mine:
            assert plan is not None
            errand = _timed(errand, mine.pop(0), plan)
        out.append(errand)
    return out


def errands_about(document: Document, plan: Plan | None, name: str) -> list[Errand]:
    """The tasks that what is dragged matters to: that go there, or that a person does."""
    found = errands_of(document, plan)
    task = task_of(name)
    if task is not None:
        return [errand for errand in found if errand.task == task]
    if name in document.values.get("characters", {}):
        own = [e for e in found if e.who == name and not speaks_of(e.place, name)]
        return own + [e for e in found if e.who != name and speaks_of(e.place, name)]
    riders = [n for n, entry in document.values.get("objects", {}).items() if entry.get("on") == name]
    return [e for n in (name, *riders) for e in _while_it_stands(found, n)]


def _while_it_stands(errands: Sequence[Errand], name: str) -> list[Errand]:
    """Errands to a thing up to the first that takes it away from where the storyboard puts it."""
    out = []
    for errand in errands:
        if speaks_of(errand.place, name):
            out.append(errand)
            if errand.verb == "grab":
                break
    return out


def _in_plans(errand: Errand) -> str:
    """What plans call it."""
    if errand.verb in ("put", "drop", "hold"):
        return f"{'hold out' if errand.verb == 'hold' else errand.verb} {errand.told['object']}"
    named = isinstance(errand.place, str) and errand.verb != "reach"
    return f"{errand.verb} {errand.place}" if named else errand.verb


def _runs(plans: Sequence[Edit]) -> dict[tuple[str, str], list[list[Edit]]]:
    """Plans for the same that follow each other, by who does what; each reach is one for itself."""
    out: dict[tuple[str, str], list[list[Edit]]] = {}
    last: dict[str, tuple[str, str]] = {}
    for plan in sorted(plans, key=lambda p: p.during):
        what = plan.reason.partition(" at ")[0]
        key = (plan.who, what)
        if last.get(plan.who) == key and what != "reach":
            out[key][-1].append(plan)
        else:
            out.setdefault(key, []).append([plan])
        last[plan.who] = key
    return out


def _timed(errand: Errand, run: Sequence[Edit], plan: Plan) -> Errand:
    """The errand as a motion has it."""
    last = run[min(1, len(run) - 1)] if errand.verb in _MOVES else run[-1]
    hand = run[0].limb.split(" ")[0].removesuffix("_arm")
    at = float(last.during[1] if errand.told.get("at") is None else errand.told["at"])
    if errand.verb == "grab":  # fingers are closed when it is held
        taken = (errand.place, errand.who, hand)
        held = [h for h in plan.world.holds if (h.object, h.by, h.hand) == taken and h.during[0] >= at - 1e-6]
        at = min((h.during[0] for h in held), default=at)
    begin = run[0].during[0]
    near = last.during[0] if last is not run[0] else at - _NEAR * (at - begin)
    end = max(run[-1].during[1], at)
    mine = [p for p in plan.edits if (p.who, p.limb) == (errand.who, run[0].limb)]
    stays, back = _leaving(sorted(p.during for p in mine if p.during[0] >= end - 1e-6), end)
    if errand.verb == "reach":  # until something else is asked
        stays = max(stays, min((p.during[0] for p in mine if p.during[0] >= end - 1e-6), default=plan.world.span[1]))
        back = max(back, stays + _BACK)
    return replace(errand, hand=hand, at=at, during=(begin, back), near=near, stays=stays)


def _leaving(after: Sequence[tuple[float, float]], end: float) -> tuple[float, float]:
    """Until when a hand stays at what it went to, and when it is back, from what it does after that."""
    if not after or after[0][0] > end + _LINGERS:
        return end, end + _BACK
    (begin, off), then = after[0], after[1:2]
    if then and then[0][0] <= off + _LINGERS:  # first it leaves or lifts, then it goes on
        return off, then[0][1]
    return begin + _NEAR * (off - begin), off
