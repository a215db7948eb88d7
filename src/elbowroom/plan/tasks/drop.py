"""Drop: a hand opens and lets its object fall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from annotated_types import Gt, Le

from elbowroom.plan.tasks.task import ObjectTask, Point, about


@dataclass(frozen=True, kw_only=True)
class Drop(ObjectTask):
    """Drop a held object.

    `at` is when the hand opens. `over` is a point or a thing above which the hand goes first, to release it `height`
    metres above where it lands; None is where the hand is.
    """

    verb: ClassVar = "drop"
    by_hand: ClassVar = "verbs.drop:drop"
    held_before: ClassVar = True

    over: Point | str | None = field(
        default=None, metadata=about("A point or object to drop it onto; default: below the hand.", "surface")
    )
    height: Annotated[float, Gt(0.0), Le(10.0)] = field(
        default=0.08, metadata=about("Height of the fall in metres, with 'over'.")
    )

    @classmethod
    def fault(cls, given: Mapping[str, Any]) -> tuple[str, ...] | None:
        if "height" in given and "over" not in given:
            return "needs 'over', the target of the fall; add it", "height"
        return super().fault(given)

    @property
    def stays(self) -> bool:
        return self.over is None
