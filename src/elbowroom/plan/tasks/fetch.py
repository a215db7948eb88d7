"""Fetch: a character goes to an object, takes it and puts it somewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.grab import Grab
from elbowroom.plan.tasks.put import Put
from elbowroom.plan.tasks.task import TIMES, Task


@dataclass(frozen=True, kw_only=True)
class Fetch(Put):
    """Go to an object, take it, go to its goal, and put it there."""

    verb: ClassVar = "fetch"
    by_hand: ClassVar = ""
    held_before: ClassVar = False
    puts_down: ClassVar = False
    previews_walk: ClassVar = True
    refuses: ClassVar = ((*TIMES, "feet"), "use grab and put for that")

    def steps(self) -> tuple[Task, ...]:
        same = {name: getattr(self, name) for name in ("who", "hand", "priority", "style", "planner", "object")}
        return Grab(**same), Put(**same, to=self.to, turn=self.turn, onto=self.onto)
