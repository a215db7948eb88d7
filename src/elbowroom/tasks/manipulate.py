"""Tasks of hands, planned one after another (K8, K9): reach, grab, put, touch, press, open, close."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from elbowroom.tasks.carrying import put, rest
from elbowroom.tasks.director import Director
from elbowroom.tasks.fixtures import open_fixture, press
from elbowroom.tasks.plan import Plan
from elbowroom.tasks.settings import USUAL, Settings
from elbowroom.tasks.stuck import Stuck
from elbowroom.tasks.taking import grab
from elbowroom.tasks.touching import reach_to, touch
from elbowroom.tasks.verbs import Close, Grab, Open, Press, Put, Reach, Rest, Task, Touch
from elbowroom.world.certificate import certify
from elbowroom.world.world import World

_DO: dict[type[Task], Callable[[Director, Any], None]] = {
    Reach: reach_to,
    Grab: grab,
    Put: put,
    Touch: touch,
    Press: press,
    Open: open_fixture,
    Close: open_fixture,
    Rest: rest,
}


def plan_tasks(world: World, tasks: Sequence[Task], settings: Settings = USUAL, *, fps: float = 60.0) -> Plan:
    """Plan tasks in their order; at the end hands go back to what the base motion does.

    The same seed gives the same motion. `fps` is the rate of motions that are no clips. Bad names and numbers raise;
    that no motion was found is told by the status.
    """
    d = Director(world, settings, fps)
    begun = time.perf_counter()
    try:
        for k, task in enumerate(tasks):
            d.coming = tasks[k + 1 :]
            _DO[type(task)](d, task)
        for who in list(d.actors):
            rest(d, Rest(who=who))
    except Stuck as stuck:
        return Plan(stuck.status, d.world, tuple(d.planned), stuck.why, seconds={"plan": time.perf_counter() - begun})
    planned = time.perf_counter()
    done = finished(d)
    certificate = certify(done)
    seconds = {"plan": planned - begun, "certify": time.perf_counter() - planned}
    if not certificate.free:
        worst = certificate.collisions[0] if certificate.collisions else None
        why = (
            "something could not be proven free"
            if worst is None
            else (f"{worst.pair.a} meets {worst.pair.b} at {worst.at_s:.2f} s")
        )
        return Plan("not-certified", done, tuple(d.planned), why, certificate, seconds)
    return Plan("found", done, tuple(d.planned), "", certificate, seconds)


def finished(d: Director) -> World:
    """The world with whole motions, holds that end with them."""
    world = d.world
    for actor in d.actors.values():
        world = actor.placed(world)
    begin, end = world.span
    holds = tuple(replace(h, during=(h.during[0], min(h.during[1], end))) for h in world.holds if h.during[0] < end)
    contacts = tuple(replace(c, during=(max(c.during[0], begin), min(c.during[1], end))) for c in world.contacts)
    return world.with_(holds=holds, contacts=contacts)
