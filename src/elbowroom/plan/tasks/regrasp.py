"""Regrasp: an object changes hands of one character."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import TIMES, ObjectTask


@dataclass(frozen=True, kw_only=True)
class Regrasp(ObjectTask):
    """Take a held object with the other hand; both hold it before the first releases it.

    The planner chooses the times. `hand` is the one that has it afterwards; None is the other one.
    """

    verb: ClassVar = "regrasp"
    by_hand: ClassVar = "verbs.handover:regrasp"
    refuses: ClassVar = (TIMES, "it starts when the previous task is done")
    in_place: ClassVar = True
    held_before: ClassVar = True
    held_after: ClassVar = True
    grasps: ClassVar = True
