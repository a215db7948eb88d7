"""Budgets: the clock ends work in time and in a status of its own, and never changes a motion that is found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count

import numpy as np
import pytest
from test_manipulate import room
from test_repair import past_a_table, stroll

from elbowroom import stopping
from elbowroom.geometry.solids import box
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.repair import work as repairing
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.result import Plan
from elbowroom.plan.tasks import Grab
from elbowroom.plan.variants import repair_variants
from elbowroom.stopping import OutOfTime
from elbowroom.world.certificate import certify
from elbowroom.world.world import World

TASKS = [Grab(who="ann", object="can")]
WORK: dict[str, Callable[[float | None], Plan]] = {
    "repair": lambda budget: repair(past_a_table(), seed=1, budget=budget),
    "tasks": lambda budget: plan_tasks(room(), TASKS, budget=budget),
}


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A clock on which every look up takes a second; other clocks leap, as on a machine that is slow beyond measure."""
    ticks, leaps = count(), count(step=1e4)
    monkeypatch.setattr(stopping, "now", lambda: float(next(ticks)))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(leaps)))
    yield 1


@cache
def without_budget(what: str) -> tuple[Plan, int]:
    """The plan without a budget, and how often the work looks up."""
    seen = [0]

    def look() -> None:
        seen[0] += 1

    with stopping.stoppable(look):
        plan = WORK[what](None)
    assert plan.found, plan.advice
    return plan, seen[0]


def same_motion(a: Plan, b: Plan) -> bool:
    one, other = a.world.motion("ann"), b.world.motion("ann")
    return np.array_equal(one.rotations, other.rotations) and np.array_equal(one.root, other.root)


@pytest.mark.parametrize("what", WORK)
def test_a_motion_that_is_found_is_the_same_whatever_the_budget_and_the_clock(what: str, looks: int) -> None:
    usual, often = without_budget(what)
    ended = []
    for share in (0.05, 0.5, 0.95, 1.05):
        plan = WORK[what](share * often)
        assert plan.status in ("found", "budget-spent")
        assert not plan.found or same_motion(plan, usual)
        ended.append(plan.status)
    assert ended[0] == "budget-spent" and ended[-1] == "found", ended


@pytest.mark.parametrize("what", WORK)
def test_time_that_is_spent_is_told_with_what_would_help(what: str, looks: int) -> None:
    plan = WORK[what](0.5 * without_budget(what)[1])
    assert plan.status == "budget-spent" and "budget of" in plan.why and "--budget" in plan.advice


def crowded() -> World:
    """A walk right through rows of posts: hours of work for a repair."""
    world = World(floor=0.0).with_character("ann", stroll())
    for k, y in enumerate(np.arange(-3.4, 0.2, 0.3)):
        for side in (-1, 0, 1):
            post = box((0.07, 0.07, 2.0), (0.28 * side + 0.1 * (k % 2), float(y), 1.0))
            world = world.with_static(f"post{k}{side}", post)
    return world


def test_a_hard_repair_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the time of this process, since others may be at work on the machine."""
    monkeypatch.setattr(stopping, "now", lambda: time.process_time() - sum(s() for s in stopping._left_out))
    repair(crowded(), budget=0.2)  # compiled code is loaded
    begin = stopping.now()
    plan = repair(crowded(), budget=2.0)
    took = stopping.now() - begin
    assert plan.status == "budget-spent" and 2.0 <= took < 1.2 * 2.0 + 0.3, took


def test_what_was_repaired_when_time_ran_out_is_kept_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock ends the second proof: the arm is out of the way, and that is looked at in overtime."""
    proofs = []

    def cut_short(*told: object, **how: object) -> object:
        proofs.append(1)
        if len(proofs) == 2:
            raise OutOfTime(8.0)
        return certify(*told, **how)

    monkeypatch.setattr(repairing, "certify", cut_short)
    plan = repair(past_a_table(), seed=1, budget=1e6)
    assert plan.status == "budget-spent" and plan.edits and "collisions before, 0 now" in plan.why
    assert plan.certificate is not None and plan.certificate.free, "it is free, and yet not what it would have become"
    assert same_motion(plan, without_budget("repair")[0]) and plan.collisions


def test_variants_share_one_budget(looks: int) -> None:
    often = without_budget("repair")[1]
    found = repair_variants(past_a_table(), 3, seed=1, budget=1.2 * often)
    assert len(found.kept) == 1 and same_motion(found.kept[0].plan, without_budget("repair")[0])
    assert [v.plan.status for v in found.failed] == ["budget-spent"]
