"""Targets of tasks: which tasks bring a hand to a dragged object or belong to a character, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elbowroom.plan.state.result import Plan
from elbowroom.plan.tasks import Task, verbs
from elbowroom.studio.document import Document, speaks_of
from elbowroom.studio.places import task_of
from elbowroom.studio.task_forms import VERBS
from elbowroom.world.edit import Edit


def _where(verb: str, kind: type[Task]) -> str:
    """Argument with the target of the hand; empty for verbs that bring no hand to a target of their own."""
    asked = VERBS[verb]
    away = kind.in_place or kind.steps is not Task.steps or asked.role == "taker"
    return "" if away else asked.onto or asked.where or asked.what


# Argument with the target of the hand, by verb.
_WHERE = {verb: where for verb, kind in verbs().items() if (where := _where(verb, kind))}
# Seconds in which a hand returns where no plan says when; latest start of a retreat after its motion.
_BACK, _LINGERS = 0.6, 1.0
# Share of a hand's motion, to or from its target, that counts as near it.
_NEAR = 0.3


@dataclass(frozen=True, eq=False)
class TaskTarget:
    """Task that brings a hand to a target: its number from 0, its verb and arguments; times in seconds.

    If a motion has the task, `hand` is at the target at `at`; it leaves at the start of `during`, is back at its end,
    and is near from `near` until `stays`. Without a motion `hand` is None, and `at` is the scheduled time, if any. A
    move has two targets, where it takes its object (`taking`) and where it puts it, and none without a motion.
    """

    task: int
    verb: str
    args: Mapping[str, Any]
    hand: str | None = None
    at: float | None = None
    during: tuple[float, float] = (0.0, 0.0)
    near: float = 0.0
    stays: float = 0.0
    taking: bool = False

    @property
    def who(self) -> str:
        """Character of the task."""
        return str(self.args["who"])

    @property
    def place(self) -> Any:
        """Target of the hand: the name of an object or a part of one, or a point; None if not given."""
        named = self.args.get("object" if self.taking else _WHERE[self.verb])
        return self.args.get("to") if named is None and VERBS[self.verb].onto else named

    @property
    def what(self) -> str:
        """Target of the hand, in words."""
        return self.place if isinstance(self.place, str) else "the target"


def targets_in(document: Document, plan: Plan | None) -> list[TaskTarget]:
    """All tasks that bring a hand to a target, in order, with times if a motion has them."""
    runs = _runs(() if plan is None else plan.edits)
    out = []
    tasks = document.values.get("tasks", [])
    for k, task in enumerate(tasks):
        ((verb, args),) = task.items()
        if verb not in _WHERE or args.get("foot") is not None:
            continue
        if verbs()[verb].object_leads:
            same = [other for other in tasks[k + 1 :] if other.get(verb, {}).get("object") == args["object"]]
            out += _of_move(TaskTarget(k, verb, args), runs, plan, len(same))
            continue
        target = TaskTarget(k, verb, args, at=args.get("at"))
        mine = runs.get((target.who, _in_plans(target)), [])
        if mine:
            assert plan is not None
            target = _timed(target, mine.pop(0), plan)
        out.append(target)
    return out


def _of_move(
    target: TaskTarget, runs: Mapping[tuple[str, str], list[list[Edit]]], plan: Plan | None, later: int
) -> list[TaskTarget]:
    """Targets of a move: the place at which its object is taken, and its goal; none where no motion has it.

    An object that is set down on the way is carried more than once, unless a `later` task does that.
    """
    carried = runs.get((target.who, f"carry {target.args['object']}"), [])
    if plan is None or not carried:
        return []
    mine = [carried.pop(0) for _ in range(max(len(carried) - later, 1))]
    begin, end = mine[0][0].during[0], mine[-1][0].during[1]
    hand = str(target.args.get("hands", "both")).replace("both", "left")
    taken = replace(target, hand=hand, at=begin, during=(begin, end), near=begin, stays=begin, taking=True)
    return [taken, replace(taken, at=end, near=end, stays=end, taking=False)]


def targets_about(document: Document, plan: Plan | None, name: str) -> list[TaskTarget]:
    """Tasks affected by a drag: those that go to the object, or those of the character."""
    found = targets_in(document, plan)
    task = task_of(name)
    if task is not None:
        return [target for target in found if target.task == task and not target.taking]
    if name in document.values.get("characters", {}):
        found = [e for e in found if not verbs()[e.verb].object_leads]
        own = [e for e in found if e.who == name and not speaks_of(e.place, name)]
        return own + [e for e in found if e.who != name and speaks_of(e.place, name)]
    riders = [n for n, entry in document.values.get("objects", {}).items() if entry.get("on") == name]
    return [e for n in (name, *riders) for e in _while_it_stands(found, n)]


def _while_it_stands(targets: Sequence[TaskTarget], name: str) -> list[TaskTarget]:
    """Tasks that go to an object, up to the first that moves it from its initial position."""
    out = []
    for target in targets:
        if speaks_of(target.place, name):
            out.append(target)
            if target.verb == "grab" or target.taking:
                break
    return out


def _in_plans(target: TaskTarget) -> str:
    """Name of the task in plans."""
    if target.verb in ("put", "drop", "hold"):
        return f"{'hold out' if target.verb == 'hold' else target.verb} {target.args['object']}"
    named = isinstance(target.place, str) and target.verb != "reach"
    return f"{target.verb} {target.place}" if named else target.verb


def _runs(plans: Sequence[Edit]) -> dict[tuple[str, str], list[list[Edit]]]:
    """Consecutive plans of the same action, by character and action; each reach is separate."""
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


def _timed(target: TaskTarget, run: Sequence[Edit], plan: Plan) -> TaskTarget:
    """Task target with the times of a motion."""
    # a hand first takes a fixture and then moves it: it is there after the first two motions
    last = run[min(1, len(run) - 1)] if VERBS[target.verb].what == "fixture" else run[-1]
    hand = run[0].limb.split(" ")[0].removesuffix("_arm")
    at = float(last.during[1] if target.args.get("at") is None else target.args["at"])
    if target.verb == "grab":  # fingers are closed when it is held
        taken = (target.place, target.who, hand)
        held = [h for h in plan.world.holds if (h.object, h.by, h.hand) == taken and h.during[0] >= at - 1e-6]
        at = min((h.during[0] for h in held), default=at)
    begin = run[0].during[0]
    near = last.during[0] if last is not run[0] else at - _NEAR * (at - begin)
    end = max(run[-1].during[1], at)
    mine = [p for p in plan.edits if (p.who, p.limb) == (target.who, run[0].limb)]
    stays, back = _leaving(sorted(p.during for p in mine if p.during[0] >= end - 1e-6), end)
    if target.verb == "reach":  # until another task
        stays = max(stays, min((p.during[0] for p in mine if p.during[0] >= end - 1e-6), default=plan.world.span[1]))
        back = max(back, stays + _BACK)
    return replace(target, hand=hand, at=at, during=(begin, back), near=near, stays=stays)


def _leaving(after: Sequence[tuple[float, float]], end: float) -> tuple[float, float]:
    """Time until which a hand stays at its target, and time at which it is back, from its next actions."""
    if not after or after[0][0] > end + _LINGERS:
        return end, end + _BACK
    (begin, off), then = after[0], after[1:2]
    if then and then[0][0] <= off + _LINGERS:  # first it retreats or lifts, then it goes on
        return off, then[0][1]
    return begin + _NEAR * (off - begin), off
