"""In which order tasks are planned (S7): each gets out of the way of those before it.

Tasks of one person, and those with one thing, follow each other as the story goes. Among the others those with a lower
priority come first, then earlier ones, then those that leave less choice. Where one finds no way, an order is made in
which its person comes before the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from elbowroom.plan.places import target_of
from elbowroom.plan.result import Status
from elbowroom.plan.tasks import Carry, Follow, Grab, Handover, Move, Regrasp, Task
from elbowroom.world.world import World

# What may come out otherwise when others are planned later.
IN_THE_WAY: tuple[Status, ...] = ("no-path", "target-in-collision", "start-in-collision", "not-certified")

# A hand that was at its target is done, and another one at its own, no sooner than after this, seconds.
_BETWEEN = 1.5

# A task whose grasp or hand is given counts as if its target was so much farther away, arm's lengths.
_GIVEN = 0.25


def in_time(tasks: Sequence[Task]) -> Iterator[tuple[int, float]]:
    """Numbers of tasks as the story goes, with the second from which each can be (-inf: from the start).

    Tasks without a time follow those before them of the same people.
    """
    now: dict[str, float] = {}
    when = []
    for k, task in enumerate(tasks):
        before = max(now.get(who, -math.inf) for who in people_of(task))
        then = before if task.at is None else task.at
        now |= dict.fromkeys(people_of(task), then)
        when.append((then, k))
    for then, k in sorted(when):
        yield k, then


def people_of(task: Task) -> tuple[str, ...]:
    """Whom a task moves."""
    if isinstance(task, Handover):
        return (task.who, task.to)
    return (task.who, *task.helpers) if isinstance(task, Move | Carry) else (task.who,)


def thing_of(task: Task) -> str | None:
    """The object or fixture that a task moves."""
    name = getattr(task, "object", None) or getattr(task, "fixture", None)
    return name if isinstance(name, str) else None


def ordered(world: World, tasks: Sequence[Task], leading: Sequence[str] = ()) -> list[Task]:
    """Tasks in the order in which they are planned; those of `leading` people come first, as far as the story lets."""
    story = list(in_time(tasks))
    rank = {who: n for n, who in enumerate(leading)}
    keys = {}
    for place, (k, then) in enumerate(story):
        task = tasks[k]
        first = min(rank.get(who, len(rank)) for who in people_of(task))
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
    """Tasks in their order, those of limbs that are busy at one time apart: later ones come on top of earlier ones.

    Feet come first; who has nothing to do at one time has all in the first layer.
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


def limb_of(task: Task) -> str:
    """The hand or foot that a task names, in words; empty where it is chosen."""
    foot = getattr(task, "foot", None)
    return f"{foot} foot" if foot is not None else f"{task.hand} hand" if task.hand is not None else ""


def _limbs(world: World, tasks: Sequence[Task]) -> list[str]:
    """Limbs of tasks, where known: as told, or that which took the thing before."""
    holding = {(hold.by, hold.object): f"{hold.hand} hand" for hold in world.holds}
    found = []
    for task in tasks:
        key = (task.who, thing_of(task) or "")
        limb = limb_of(task) or holding.get(key, "")
        if isinstance(task, Grab | Regrasp):
            holding[key] = limb
        found.append(limb)
    return found


def _close(a: float | None, b: float | None) -> bool:
    """Return whether two tasks leave no time to do one after the other."""
    return a is not None and b is not None and abs(a - b) < _BETWEEN


def tightness(world: World, task: Task) -> float:
    """Return how little choice a task leaves: the target's distance from the nearer shoulder in arm's lengths, and a
    bit."""
    given = _GIVEN * sum(getattr(task, name, None) is not None for name in ("hand", "grasp", "foot"))
    t = world.span[0] if task.at is None else task.at
    found, body = target_of(world, task, t), world.body(task.who)
    arms = [chain for name, chain in body.chains.items() if name.endswith("_arm")]
    if found is None or not arms:
        return given
    T, point = world.at(t).joints[task.who], found[1]
    lengths = [np.linalg.norm(np.diff(T[list(arm.joints), :3, 3], axis=0), axis=1).sum() for arm in arms]
    ways = [np.linalg.norm(T[arm.joints[0], :3, 3] - point) for arm in arms]
    return given + float(min(way / max(length, 1e-6) for way, length in zip(ways, lengths, strict=True)))


def _bound(a: Task, b: Task) -> bool:
    """Return whether two tasks follow each other as the story goes."""
    if isinstance(b, Follow) and b.whom in people_of(a):
        return True
    shared = thing_of(a) is not None and thing_of(a) == thing_of(b)
    return shared or bool(set(people_of(a)) & set(people_of(b)))
