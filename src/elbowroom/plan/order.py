"""Order in which tasks are planned (S7): each avoids those before it.

Tasks of one character, and those with one object, keep the order of the story. Among the others lower priorities come
first, then earlier times, then the most constrained. If one fails, the next order puts its character first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from elbowroom.plan.checks.places import target_of
from elbowroom.plan.state.result import Status
from elbowroom.plan.tasks import Task
from elbowroom.world.world import World

# Failures that may be resolved when others are planned later.
BLOCKED: tuple[Status, ...] = ("no-path", "target-in-collision", "start-in-collision", "not-certified")

# Shortest time between a hand's departure from a target and the next contact, seconds.
_BETWEEN = 1.5

# A task with a given grasp or hand counts as if its target were this much farther away, arm's lengths.
_GIVEN = 0.25


def in_time(tasks: Sequence[Task]) -> Iterator[tuple[int, float]]:
    """Task indices in the order of the story, with the earliest time of each, seconds (-inf: the start).

    Tasks without a time follow earlier ones of the same people; a follower's come after its leader's.
    """
    now: dict[str, float] = {}
    when = []
    for k, task in enumerate(tasks):
        before = max(now.get(who, -math.inf) for who in (*task.people, *task.leaders))
        then = before if task.at is None else task.at
        now |= dict.fromkeys(task.people, then)
        when.append((then, k))
    for then, k in sorted(when):
        yield k, then


def ordered(world: World, tasks: Sequence[Task], leading: Sequence[str] = ()) -> list[Task]:
    """Tasks in planning order; those of `leading` people come first, as far as the story allows."""
    story = list(in_time(tasks))
    rank = {who: n for n, who in enumerate(leading)}
    keys = {}
    for place, (k, then) in enumerate(story):
        task = tasks[k]
        first = min(rank.get(who, len(rank)) for who in task.people)
        given = math.inf if task.priority is None else task.priority
        keys[k] = (first, given, then, -tightness(world, task) if task.at is not None else 0.0, place)
    before: dict[int, set[int]] = {}
    for place, (k, _) in enumerate(story):
        before[k] = {j for j, _ in story[:place] if _bound(tasks[j], tasks[k])}
    done: list[int] = []
    while len(done) < len(tasks):
        ready = [k for k in keys if k not in done and before[k] <= set(done)]
        done.append(min(ready, key=lambda k: keys[k]))
    return [tasks[k] for k in done]


def layers(world: World, tasks: Sequence[Task]) -> list[list[Task]]:
    """Tasks in order, split where limbs are busy at the same time: later layers are planned on top of earlier ones.

    Feet come first. A character without simultaneous tasks has all of them in the first layer.
    """
    limbs = _limbs(world, tasks)
    level: dict[tuple[str, str], int] = {}
    for k, task in enumerate(tasks):
        for j in range(k):
            other, apart = tasks[j], limbs[j] and limbs[k] and limbs[j] != limbs[k]
            if apart and task.who == other.who and _close(task.at, other.at):
                above, below = (j, k) if limbs[k].endswith("foot") else (k, j)
                lowest = level.get((task.who, limbs[below]), 0) + 1
                level[task.who, limbs[above]] = max(level.get((task.who, limbs[above]), 0), lowest)
    levels = [level.get((task.who, limb), 0) for task, limb in zip(tasks, limbs, strict=True)]
    return [[t for t, n in zip(tasks, levels, strict=True) if n == k] for k in sorted(set(levels))]


def _limbs(world: World, tasks: Sequence[Task]) -> list[str]:
    """Limbs of tasks where known: as given, or the one that took the object before."""
    holding = {(hold.by, hold.object): f"{hold.hand} hand" for hold in world.holds}
    found = []
    for task in tasks:
        key = (task.who, task.thing or "")
        limb = task.limb or holding.get(key, "")
        if task.grasps and task.held_after:
            holding[key] = limb
        found.append(limb)
    return found


def _close(a: float | None, b: float | None) -> bool:
    """Return whether two tasks are too close in time to be done one after the other."""
    return a is not None and b is not None and abs(a - b) < _BETWEEN


def tightness(world: World, task: Task) -> float:
    """Score of how constrained a task is: distance of the target from the nearer shoulder in arm's lengths, plus a
    bonus.
    """
    given = _GIVEN * sum(getattr(task, name, None) is not None for name in ("hand", "grasp", "foot"))
    t = world.span[0] if task.at is None else task.at
    found, body = target_of(world, task, t), world.body(task.who)
    arms = [chain for name, chain in body.chains.items() if name.endswith("_arm")]
    if found is None or not arms:
        return given
    T, point = world.at(t).joints[task.who], found[1]
    lengths = [np.linalg.norm(np.diff(T[list(arm.joints), :3, 3], axis=0), axis=1).sum() for arm in arms]
    distances = [np.linalg.norm(T[arm.joints[0], :3, 3] - point) for arm in arms]
    return given + float(min(distance / max(length, 1e-6) for distance, length in zip(distances, lengths, strict=True)))


def _bound(a: Task, b: Task) -> bool:
    """Return whether the story fixes the order of two tasks."""
    shared = a.thing is not None and a.thing == b.thing
    return shared or bool(set(a.people) & {*b.people, *b.leaders})
