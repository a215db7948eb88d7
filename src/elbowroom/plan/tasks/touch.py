"""Touch: a hand or foot touches something and withdraws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import Hand, Point, Task
from elbowroom.world.world import World


@dataclass(frozen=True, kw_only=True)
class Touch(Task):
    """Touch a target with the fingertips and retreat: a point, a thing, a frame, a body part.

    With `foot`, the tip of that foot touches it.
    """

    verb: ClassVar = "touch"
    by_hand: ClassVar = "verbs.touch:touch"
    by_foot: ClassVar = "verbs.step:touch_with_foot"
    hand_arrives: ClassVar = True
    meets_surface: ClassVar = True

    target: Point | str
    shape: str = "flat"
    foot: Hand | None = None

    def obstruction(self, world: World) -> tuple[str, float] | None:
        from elbowroom.plan.obstructions import BEHIND_M, inside

        found = inside(world, self.target, BEHIND_M)
        return found and (f"touch: the target is {found[0]}; move it out", found[1])
