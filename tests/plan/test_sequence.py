"""Repairs of several people against one another, and between tasks of hands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

import elbowroom as er
from elbowroom.motion.edit import place
from elbowroom.plan.repair import in_turn as sequence
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Repair, Task
from elbowroom.search.birrt import Budget
from elbowroom.storyboard.plan import plan_in_turn
from elbowroom.world.certificate import certify
from elbowroom.world.world import World


@cache
def passing() -> World:
    """Two people walk past each other so near that their arms meet."""
    ann, bob = (er.walk(er.preset(name), speed=1.2, seconds=2.5, seed=1) for name in ("woman", "man"))
    world = World(floor=0.0).with_character("ann", ann)
    return world.with_character("bob", place(bob, (0.6, -3.0), np.pi))


class Spy:
    """Stands in for the repair: what it was asked for; it leaves what collides unless somebody comes first."""

    def __init__(self, needs: str) -> None:
        self.needs, self.asked = needs, list[tuple[str, ...]]()
        self.options: dict[str, Any] = {}

    def __call__(self, world: World, who: Sequence[str], **options: Any) -> Plan:
        self.asked.append(tuple(who))
        self.options = options
        certificate = certify(passing())
        if who[0] == self.needs:
            return Plan("found", world, certificate=certificate)
        return Plan("partial", world, why="arms are in the way", certificate=certificate)


def repairs(*names: str, **priority: int) -> list[Task]:
    return [Repair(who=name, priority=priority.get(name)) for name in names]


def test_two_people_get_out_of_each_others_way() -> None:
    before = certify(passing())
    assert any({p.partition(".")[0] for p in c.pair} == {"ann", "bob"} for c in before.collisions)
    plan = plan_in_turn(passing(), repairs("ann", "bob"))
    assert plan.found, plan.advice
    assert certify(plan.world).free


def test_who_is_left_over_is_repaired_first_then_and_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(needs="bob")
    monkeypatch.setattr(sequence, "repair", spy)
    plan = plan_in_turn(passing(), repairs("ann", "bob"))
    assert plan.found and spy.asked == [("ann", "bob"), ("bob", "ann")]
    assert any("bob was repaired before the others" in note for note in plan.world.notes)


def test_where_no_order_helps_the_first_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(needs="nobody")
    monkeypatch.setattr(sequence, "repair", spy)
    plan = plan_in_turn(passing(), repairs("ann", "bob"))
    assert plan.status == "partial" and spy.asked == [("ann", "bob"), ("bob", "ann")]
    assert not plan.world.notes


def test_priorities_and_limits_reach_the_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(needs="bob")
    monkeypatch.setattr(sequence, "repair", spy)
    plan_in_turn(passing(), repairs("ann", "bob", bob=1), Settings(seed=5, search_budget=Budget(checks=77)))
    assert spy.asked == [("bob", "ann")]
    assert spy.options["search_budget"].checks == 77 and spy.options["seed"] == 5
    plan_in_turn(passing(), repairs("bob"))
    assert spy.options["search_budget"].checks == 60_000, "repairs have usual ones"


def test_time_that_is_spent_ends_it() -> None:
    plan = plan_in_turn(passing(), repairs("ann", "bob"), budget=0.001)
    assert plan.status == "budget-spent" and plan.why
