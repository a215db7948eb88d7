"""Tasks of hands, planned one after another (K8, K9): reach, grab, put, touch, press, open, close."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from elbowroom.tasks.carrying import put, rest
from elbowroom.tasks.director import Director, Saved
from elbowroom.tasks.dropping import drop
from elbowroom.tasks.fixtures import open_fixture, press
from elbowroom.tasks.plan import Plan
from elbowroom.tasks.settings import USUAL, Settings
from elbowroom.tasks.stuck import Stuck
from elbowroom.tasks.timed_grab import grab
from elbowroom.tasks.touching import reach_to, touch
from elbowroom.tasks.verbs import Close, Drop, Grab, Open, Press, Put, Reach, Rest, Task, Touch
from elbowroom.world.certificate import certify
from elbowroom.world.world import World

_DO: dict[type[Task], Callable[[Director, Any], None]] = {
    Reach: reach_to,
    Grab: grab,
    Put: put,
    Drop: drop,
    Touch: touch,
    Press: press,
    Open: open_fixture,
    Close: open_fixture,
    Rest: rest,
}


# How often everything is tried anew with other samples, and how often a thing is taken otherwise.
_ATTEMPTS, _REGRASPS = 3, 4


def plan_tasks(world: World, tasks: Sequence[Task], settings: Settings = USUAL, *, fps: float = 60.0) -> Plan:
    """Plan tasks in their order; at the end hands go back to what the base motion does.

    The same seed gives the same motion. `fps` is the rate of motions that are no clips. Bad names and numbers raise;
    that no motion was found is told by the status.
    """
    begun = time.perf_counter()
    plans: list[Plan] = []
    for attempt in range(_ATTEMPTS):
        plan = _planned(Director(world, settings, fps, attempt, begun), tasks)
        plans.append(plan)
        # What could not be proven, or no way was found for, may do with other samples; so may a later task.
        again = plan.status in ("not-certified", "no-path", "start-in-collision")
        if plan.found or not (again or (plan.status == "target-in-collision" and plan.plans)):
            break
    # Time that ran out in a later attempt is told with what was wrong in the first.
    if len(plans) > 1 and plans[-1].status == "budget-spent":
        return plans[0].with_(status="budget-spent")
    return plans[-1] if plans[-1].found else plans[0]


def _planned(d: Director, tasks: Sequence[Task]) -> Plan:
    """One attempt at all tasks."""
    begun = time.perf_counter()
    try:
        _do_all(d, tasks)
        for who in list(d.actors):
            rest(d, Rest(who=who))
    except Stuck as stuck:
        return Plan(stuck.status, d.world, tuple(d.planned), stuck.why, seconds={"plan": time.perf_counter() - begun})
    planned = time.perf_counter()
    done = finished(d)
    certificate = certify(done)
    seconds = {"plan": planned - begun, "certify": time.perf_counter() - planned}
    if certificate.free:
        return Plan("found", done, tuple(d.planned), "", certificate, seconds)
    why = "something could not be proven free"
    if certificate.collisions:
        worst = certificate.collisions[0]
        why = f"{worst.pair.a} meets {worst.pair.b} at {worst.at_s:.2f} s"
    return Plan("not-certified", done, tuple(d.planned), why, certificate, seconds)


def _do_all(d: Director, tasks: Sequence[Task]) -> None:
    """Do tasks in their order; a thing that cannot be put down as it was taken is taken otherwise."""
    before: dict[str, tuple[int, Saved]] = {}  # by thing: the task that took it, and how all was then
    k = 0
    while k < len(tasks):
        task = tasks[k]
        d.coming = tasks[k + 1 :]
        if isinstance(task, Grab) and (task.object not in before or before[task.object][0] != k):
            before[task.object] = (k, d.save())
            d.refused.pop(task.object, None)
        try:
            _DO[type(task)](d, task)
            k += 1
        except Stuck as stuck:
            taken = before.get(task.object) if isinstance(task, Put) else None
            refused = d.refused.setdefault(task.object, set()) if isinstance(task, Put) else set()
            grip = d.grips.get(task.object) if isinstance(task, Put) else None
            if taken is None or grip is None or len(refused) >= _REGRASPS or stuck.status == "budget-spent":
                raise
            refused.add(grip.grasp)
            k, saved = taken
            d.restore(saved)


def finished(d: Director) -> World:
    """The world with whole motions, holds that end with them."""
    world = d.world
    for actor in d.actors.values():
        world = actor.placed(world)
    begin, end = world.span
    holds = tuple(replace(h, during=(h.during[0], min(h.during[1], end))) for h in world.holds if h.during[0] < end)
    contacts = tuple(replace(c, during=(max(c.during[0], begin), min(c.during[1], end))) for c in world.contacts)
    return world.with_(holds=holds, contacts=contacts)
