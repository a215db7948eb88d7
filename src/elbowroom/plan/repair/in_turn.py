"""Repair of several characters, one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from elbowroom.plan.checks.allowed import Pin
from elbowroom.plan.repair.repair import ASIDE, repair
from elbowroom.plan.repair.repair import USUAL as REPAIRS
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import USUAL, Settings
from elbowroom.plan.tasks import Repair, Task, only
from elbowroom.world.world import World

# Orders of characters that are tried, for tasks and for repairs.
ORDERS = 4


def repaired(world: World, tasks: Sequence[Task], settings: Settings) -> Plan:
    """Repair characters one after another, by priority; one that stays blocked by earlier ones moves to the front."""
    ranks = sorted(tasks, key=lambda task: math.inf if task.priority is None else task.priority)
    order = tuple(dict.fromkeys(task.who for task in ranks))
    # Repairs have limits of their own unless the caller changed them.
    checks = REPAIRS if settings.search_budget == USUAL.search_budget else settings.search_budget
    repairs = only(tasks, Repair)
    keep = [Pin(task.who, limb, during) for task in repairs for limb, during in task.keep]
    aside = min((task.aside for task in repairs if task.aside is not None), default=ASIDE)
    how: dict[str, Any] = {
        "seed": settings.seed,
        "style": settings.style,
        "search_budget": checks,
        "keep": keep,
        "max_aside": aside,
    }
    tried: list[tuple[str, ...]] = []
    notes: list[str] = []
    best: Plan | None = None
    while order not in tried and len(tried) < ORDERS:
        tried.append(order)
        plan = repair(world, order, **how)
        if best is None or plan.found or _count(plan) < _count(best):
            best = plan.with_(world=plan.world.with_(notes=(*plan.world.notes, *notes)))
        blocked = _left_over(plan, order)
        if blocked is None or plan.status == "budget-spent":
            break
        notes = [f"{blocked} was repaired before the others because they blocked it ({plan.why})"]
        order = (blocked, *(who for who in order if who != blocked))
    assert best is not None
    return best


def _left_over(plan: Plan, order: Sequence[str]) -> str | None:
    """A character that still collides with one repaired before it; None where there is none."""
    found = () if plan.found or plan.certificate is None else plan.certificate.collisions
    for collision in found:
        both = [who for who in collision.who if who in order]
        if len(both) > 1:
            return max(both, key=order.index)
    return None


def _count(plan: Plan) -> int:
    """Number of collisions that a repair has left."""
    return 0 if plan.certificate is None else len(plan.certificate.collisions)
