"""Drop: a hand opens and lets its object fall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import Point, Task


@dataclass(frozen=True, kw_only=True)
class Drop(Task):
    """Let a held object fall onto what is below it; `at` is when the hand opens.

    `over` is a point or a thing above which the hand goes first, to release it `height` metres above where it lands;
    None is where the hand is.
    """

    verb: ClassVar = "drop"
    by_hand: ClassVar = "verbs.drop:drop"
    held_before: ClassVar = True

    object: str
    over: Point | str | None = None
    height: float = 0.08

    @property
    def stays(self) -> bool:
        return self.over is None
