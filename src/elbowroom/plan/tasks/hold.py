"""Hold: a hand holds out what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import Direction, Point, Task


@dataclass(frozen=True, kw_only=True)
class HoldOut(Task):
    """Hold a held object out for some `seconds`: its origin `to` a point or place, or `toward` a side of the body."""

    verb: ClassVar = "hold"
    by_hand: ClassVar = "verbs.hold:hold_out"
    held_before: ClassVar = True
    held_after: ClassVar = True

    object: str
    to: Point | str | None = None
    toward: Direction = "front"
    seconds: float = 1.0

    @property
    def lasts(self) -> float:
        return self.seconds

    @property
    def stays(self) -> bool:
        return self.to is None
