"""Grab: a hand takes an object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from elbowroom.plan.tasks.task import ObjectTask, about
from elbowroom.world.world import World


@dataclass(frozen=True, kw_only=True)
class Grab(ObjectTask):
    """Grasp an object.

    `grasp` names one of its grasps, None chooses one.
    """

    verb: ClassVar = "grab"
    by_hand: ClassVar = "verbs.grab:grab"
    held_after: ClassVar = True
    grasps: ClassVar = True
    hand_arrives: ClassVar = True

    grasp: str | None = field(default=None, metadata=about("Name of a grasp; default: chosen by the planner.", "grasp"))

    def obstruction(self, world: World) -> tuple[str, float] | None:
        from elbowroom.plan.checks.obstructions import wedged

        return wedged(world, self.object)
