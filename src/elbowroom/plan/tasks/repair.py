"""Repair: collisions of a motion are resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class Repair(Task):
    """Resolve the collisions of the motion that earlier tasks leave.

    Limbs in `keep`, each with its interval, stay in place; the body is displaced by at most `aside` metres.
    """

    verb: ClassVar = "repair"
    in_place: ClassVar = True
    repairs: ClassVar = True

    keep: tuple[tuple[str, tuple[float, float]], ...] = ()
    aside: float | None = None
