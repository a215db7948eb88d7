"""Rest: a hand returns to the base motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class Rest(Task):
    """Return the hand to the base motion."""

    verb: ClassVar = "rest"
    by_hand: ClassVar = "verbs.carry:rest"
    in_place: ClassVar = True
    rests: ClassVar = True
