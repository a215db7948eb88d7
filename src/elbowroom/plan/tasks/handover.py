"""Handover: an object changes hands of two characters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from elbowroom.plan.tasks.task import Name, ObjectTask, about

if TYPE_CHECKING:
    from elbowroom.plan.steps.director import Director


@dataclass(frozen=True, kw_only=True)
class Handover(ObjectTask):
    """Hand a held object to another character.

    `to` takes it while it is still held; `at` is when both have it.
    """

    verb: ClassVar = "handover"
    by_hand: ClassVar = "verbs.handover_passing:hand_over"
    held_before: ClassVar = True
    grasps: ClassVar = True

    to: Name = field(metadata=about("Character that takes it.", "taker"))

    @property
    def people(self) -> tuple[str, ...]:
        return (self.who, self.to)

    @property
    def receiver(self) -> str | None:
        return self.to

    def begins_moving(self, d: Director) -> bool:
        from elbowroom.plan.verbs.handover_passing import alongside

        return alongside(d, self)
