"""Tasks, one file and one class per verb, and their registry, to which other packages add verbs by entry points."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from elbowroom.errors import BadValue
from elbowroom.plan.tasks.carry import Carry
from elbowroom.plan.tasks.close import Close
from elbowroom.plan.tasks.drop import Drop
from elbowroom.plan.tasks.fetch import Fetch
from elbowroom.plan.tasks.follow import Follow
from elbowroom.plan.tasks.go import Go
from elbowroom.plan.tasks.grab import Grab
from elbowroom.plan.tasks.handover import Handover
from elbowroom.plan.tasks.hold import HoldOut
from elbowroom.plan.tasks.move import Move
from elbowroom.plan.tasks.open import Open
from elbowroom.plan.tasks.press import Press
from elbowroom.plan.tasks.put import Put
from elbowroom.plan.tasks.reach import Reach
from elbowroom.plan.tasks.regrasp import Regrasp
from elbowroom.plan.tasks.repair import Repair
from elbowroom.plan.tasks.rest import Rest
from elbowroom.plan.tasks.task import (
    Direction,
    FixtureTask,
    Footprint,
    Hand,
    HandleTask,
    Knee,
    PlacingTask,
    Point,
    Support,
    Task,
)
from elbowroom.plan.tasks.touch import Touch

__all__ = [
    "Carry", "Close", "Direction", "Drop", "Fetch", "FixtureTask", "Follow", "Footprint", "Go", "Grab", "Hand",
    "HandleTask", "Handover", "HoldOut", "Knee", "Move", "Open", "PlacingTask", "Point", "Press", "Put", "Reach",
    "Regrasp", "Repair", "Rest", "Support", "Task", "Touch", "only", "verbs",
]  # fmt: skip

# Group of entry points whose objects are subclasses of `Task`.
GROUP = "elbowroom.verbs"

_BUILT_IN: tuple[type[Task], ...] = (
    Reach, Grab, Put, Move, Carry, Drop, HoldOut, Handover, Regrasp, Touch, Press, Open, Close, Go, Fetch, Follow, Rest,
    Repair,
)  # fmt: skip

T = TypeVar("T", bound=Task)


@cache
def verbs() -> Mapping[str, type[Task]]:
    """Task classes by verb, the built-in ones first; raises `BadValue` for an entry point that is none."""
    found = {kind.verb: kind for kind in _BUILT_IN}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        kind = _loaded(entry)
        if kind.verb in found:
            raise BadValue(f"{_where(entry)} is a second verb '{kind.verb}'; give it another name.")
        found[kind.verb] = kind
    return found


def only(tasks: Iterable[Task], kind: type[T]) -> list[T]:
    """Tasks of one verb, in order."""
    return [task for task in tasks if isinstance(task, kind)]


def _loaded(entry: EntryPoint) -> type[Task]:
    """Task class that an entry point names."""
    try:
        kind = entry.load()
    except Exception as error:  # whatever the other package does when it is imported
        raise BadValue(f"{_where(entry)} cannot be loaded ({error}); update or remove its package.") from error
    if not (isinstance(kind, type) and issubclass(kind, Task)):
        raise BadValue(f"{_where(entry)} must name a subclass of elbowroom.plan.tasks.Task.")
    if not re.fullmatch(r"[a-z][a-z_]*", kind.verb):
        raise BadValue(f"{_where(entry)} has the verb '{kind.verb}'; give it lower-case letters.")
    return kind


def _where(entry: EntryPoint) -> str:
    return f"entry point '{entry.name} = {entry.value}' of group '{GROUP}'"
