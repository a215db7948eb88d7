"""Grab: a hand takes an object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import Task
from elbowroom.world.world import World


@dataclass(frozen=True, kw_only=True)
class Grab(Task):
    """Take an object; `grasp` names one of its grasps, None chooses one."""

    verb: ClassVar = "grab"
    by_hand: ClassVar = "verbs.grab:grab"
    held_after: ClassVar = True
    grasps: ClassVar = True
    hand_arrives: ClassVar = True

    object: str
    grasp: str | None = None

    def obstruction(self, world: World) -> tuple[str, float] | None:
        from elbowroom.plan.obstructions import wedged

        return wedged(world, self.object)
