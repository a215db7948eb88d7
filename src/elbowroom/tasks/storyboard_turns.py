"""Whether the tasks of a storyboard can follow each other: one thing at a time for a hand, held before it is put."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from elbowroom.errors import BadValue
from elbowroom.tasks.ordering import in_time, limb_of
from elbowroom.tasks.verbs import Drop, Grab, Handover, HoldOut, Put, Task
from elbowroom.world.world import World

# Blames an argument of a task by their numbers and names: what goes wrong inside is told with its line.
Blaming = Callable[[int, str], AbstractContextManager[None]]


def check_limbs(tasks: Sequence[Task], line: Callable[[int], int], blaming: Blaming, frame: float) -> None:
    """No hand or foot has two things to do at one time, and no hands of one person three; `frame` in seconds."""
    for k, task in enumerate(tasks):
        if task.at is None:
            continue
        same = [j for j in range(k) if tasks[j].who == task.who and _meet(tasks[j], task, frame)]
        limb = limb_of(task)
        clash = next((j for j in same if limb and limb_of(tasks[j]) == limb), None)
        hands = [j for j in same if not limb_of(tasks[j]).endswith("foot")]
        if clash is None and len(hands) > 1 and not limb.endswith("foot"):
            clash, limb = hands[-1], ""
        if clash is not None:
            with blaming(k, "at"):
                raise BadValue(
                    f"the {limb or 'hands'} of {task.who} {'has' if limb else 'have'} something to do at {task.at:g} s "
                    f"already, on line {line(clash)}; give another time or the other hand"
                )


def _meet(a: Task, b: Task, frame: float) -> bool:
    """Whether two tasks take place at one time."""
    (begin, end), (start, stop) = _during(a), _during(b)
    return begin < stop + frame and start < end + frame and min(begin, start) > -math.inf


def _during(task: Task) -> tuple[float, float]:
    """Seconds that a task is known to take, nothing where it has no time."""
    if task.at is None:
        return -math.inf, -math.inf
    lasts = task.at + (task.seconds if isinstance(task, HoldOut) else 0.0)
    return task.at if task.begin is None else task.begin, lasts if task.back is None else task.back


def check_held(tasks: Sequence[Task], blaming: Blaming, world: World) -> None:
    """Nobody gives away what they cannot have by then. Tasks without a time follow those before them in the file."""
    taken: set[tuple[str, str]] = set()
    for k, _ in in_time(tasks):
        task = tasks[k]
        if isinstance(task, Grab):
            taken = {(who, thing) for who, thing in taken if thing != task.object} | {(task.who, task.object)}
        elif isinstance(task, Put | Drop | HoldOut | Handover):
            holds = [h for h in world.holds if (h.by, h.object) == (task.who, task.object)]
            if task.at is not None:
                holds = [h for h in holds if h.during[0] <= task.at <= h.during[1]]
            if (task.who, task.object) not in taken and not holds:
                with blaming(k, "object"):
                    raise BadValue(f"{task.who} does not hold '{task.object}' by then; grab it first")
            if not isinstance(task, HoldOut):
                taken.discard((task.who, task.object))
            if isinstance(task, Handover):
                taken.add((task.to, task.object))
