"""Tasks of all kinds in turn: those of hands together, repairs between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from elbowroom.spaces.styles import Wish
from elbowroom.stopping import deadline
from elbowroom.tasks.manipulate import plan_tasks
from elbowroom.tasks.plan import Plan
from elbowroom.tasks.repair import USUAL as REPAIRS
from elbowroom.tasks.repair import repair
from elbowroom.tasks.settings import USUAL, Settings
from elbowroom.tasks.verbs import Repair, Task
from elbowroom.world.world import World

# In how many orders people are repaired at most.
_ORDERS = 4


def _kind(task: Task) -> tuple[bool, Wish]:
    """What is planned together: tasks of hands, and repairs in one style."""
    return (True, task.style) if isinstance(task, Repair) else (False, None)


def plan_in_turn(
    world: World, tasks: Sequence[Task], settings: Settings = USUAL, *, budget: float | None = None
) -> Plan:
    """Plan tasks in their order. A repair is of the motion as the tasks before it leave it.

    It ends with the first that is not done; plans, times and collisions are those of all until then. `budget` is that
    of `plan_tasks` and `repair`, for all of them together.
    """
    plan = Plan("found", world)
    with deadline(budget):
        for (repairs, style), some in groupby(tasks, _kind):
            now = replace(settings, style=style or settings.style)
            done = (_repaired if repairs else plan_tasks)(plan.world, list(some), now)
            seconds = {stage: plan.seconds.get(stage, 0.0) + done.seconds.get(stage, 0.0) for stage in
                       dict.fromkeys((*plan.seconds, *done.seconds))}  # fmt: skip
            collisions = (*plan.collisions, *done.collisions)
            plan = done.with_(plans=(*plan.plans, *done.plans), seconds=seconds, collisions=collisions)
            if not plan.found:
                break
    return plan


def _repaired(world: World, tasks: Sequence[Task], settings: Settings) -> Plan:
    """Repair people one after another, by priority; who is left in the way of others that were first is first then."""
    ranks = sorted(tasks, key=lambda task: math.inf if task.priority is None else task.priority)
    order = tuple(dict.fromkeys(task.who for task in ranks))
    # Repairs have limits of their own; what was set by hand counts instead.
    checks = REPAIRS if settings.search_budget == USUAL.search_budget else settings.search_budget
    tried: list[tuple[str, ...]] = []
    notes: list[str] = []
    best: Plan | None = None
    while order not in tried and len(tried) < _ORDERS:
        tried.append(order)
        plan = repair(world, order, seed=settings.seed, style=settings.style, search_budget=checks)
        if best is None or plan.found or _count(plan) < _count(best):
            best = plan.with_(world=plan.world.with_(notes=(*plan.world.notes, *notes)))
        stuck = _left_over(plan, order)
        if stuck is None or plan.status == "budget-spent":
            break
        notes = [f"{stuck} was repaired before the others, who were in the way ({plan.why})"]
        order = (stuck, *(who for who in order if who != stuck))
    assert best is not None
    return best


def _left_over(plan: Plan, order: Sequence[str]) -> str | None:
    """Who still runs into somebody that was repaired before; None where nobody does."""
    found = () if plan.found or plan.certificate is None else plan.certificate.collisions
    for collision in found:
        both = [who for who in collision.who if who in order]
        if len(both) > 1:
            return max(both, key=order.index)
    return None


def _count(plan: Plan) -> int:
    """How much a repair has left."""
    return 0 if plan.certificate is None else len(plan.certificate.collisions)
