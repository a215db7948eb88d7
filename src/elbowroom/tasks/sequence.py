"""Tasks of all kinds in turn: those of hands together, repairs between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from elbowroom.spaces.styles import Wish
from elbowroom.tasks.manipulate import plan_tasks
from elbowroom.tasks.plan import Plan
from elbowroom.tasks.repair import repair
from elbowroom.tasks.settings import USUAL, Settings
from elbowroom.tasks.verbs import Repair, Task
from elbowroom.world.world import World


def _kind(task: Task) -> tuple[bool, Wish]:
    """What is planned together: tasks of hands, and repairs in one style."""
    return (True, task.style) if isinstance(task, Repair) else (False, None)


def plan_in_turn(world: World, tasks: Sequence[Task], settings: Settings = USUAL) -> Plan:
    """Plan tasks in their order. A repair is of the motion as the tasks before it leave it.

    It ends with the first that is not done; plans, times and collisions are those of all until then.
    """
    plan = Plan("found", world)
    for (repairs, style), some in groupby(tasks, _kind):
        if repairs:
            who = tuple(dict.fromkeys(task.who for task in some))
            done = repair(plan.world, who, seed=settings.seed, style=settings.style if style is None else style)
        else:
            done = plan_tasks(plan.world, list(some), settings)
        seconds = {stage: plan.seconds.get(stage, 0.0) + done.seconds.get(stage, 0.0) for stage in
                   dict.fromkeys((*plan.seconds, *done.seconds))}  # fmt: skip
        collisions = (*plan.collisions, *done.collisions)
        plan = done.with_(plans=(*plan.plans, *done.plans), seconds=seconds, collisions=collisions)
        if not plan.found:
            break
    return plan
