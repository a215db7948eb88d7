"""Repair: collisions of a motion are resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from annotated_types import Ge, Le

from elbowroom.plan.tasks.task import Task, about

# A limb, and the seconds from which until which it stays in place.
Kept = tuple[str, tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class Repair(Task):
    """Repair the collisions of a motion.

    It is the motion that earlier tasks leave. Limbs in `keep`, each with its interval, stay in place; the body is
    displaced by at most `aside` metres.
    """

    verb: ClassVar = "repair"
    takes_hand: ClassVar = False
    timed: ClassVar = False
    in_place: ClassVar = True
    repairs: ClassVar = True

    keep: tuple[Kept, ...] = field(
        default=(),
        metadata=about("Limbs to leave unchanged, throughout or from one time to another.", "kept limbs"),
    )
    aside: Annotated[float, Ge(0.0), Le(1.0)] | None = field(
        default=None, metadata=about("Maximum sidestep of the body in metres; default: 0.6.")
    )
