"""Hold: a hand holds out what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from annotated_types import Gt, Le

from elbowroom.plan.tasks.task import Direction, ObjectTask, Point, about


@dataclass(frozen=True, kw_only=True)
class HoldOut(ObjectTask):
    """Hold out a held object for some time."""

    verb: ClassVar = "hold"
    by_hand: ClassVar = "verbs.hold:hold_out"
    held_before: ClassVar = True
    held_after: ClassVar = True

    to: Point | str | None = field(
        default=None, metadata=about("Target of its origin; default: in front of the body.", "place")
    )
    toward: Direction = field(default="front", metadata=about("Direction, if 'to' is not given."))
    seconds: Annotated[float, Gt(0.0), Le(3600.0)] = 1.0

    @classmethod
    def fault(cls, given: Mapping[str, Any]) -> tuple[str, ...] | None:
        if "to" in given and "toward" in given:
            return "is given together with 'to'; keep one of them", "toward"
        return super().fault(given)

    @property
    def lasts(self) -> float:
        return self.seconds

    @property
    def stays(self) -> bool:
        return self.to is None
