"""Regrasp: an object changes hands of one character."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class Regrasp(Task):
    """Take an object from one hand with the other; both hold it before the first lets go. The planner chooses the
    times.

    `hand` is the one that has it afterwards; None is the other one.
    """

    verb: ClassVar = "regrasp"
    by_hand: ClassVar = "verbs.handover:regrasp"
    in_place: ClassVar = True
    held_before: ClassVar = True
    held_after: ClassVar = True
    grasps: ClassVar = True

    object: str
