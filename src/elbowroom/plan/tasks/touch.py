"""Touch: a hand or foot touches something and withdraws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from elbowroom.plan.tasks.task import Hand, Point, ShapeName, Task, about
from elbowroom.world.world import World


@dataclass(frozen=True, kw_only=True)
class Touch(Task):
    """Touch a target with the fingertips and withdraw.

    The target is a point, a thing, a frame, or a body part. With `foot`, the tip of that foot touches it.
    """

    verb: ClassVar = "touch"
    by_hand: ClassVar = "verbs.touch:touch"
    by_foot: ClassVar = "verbs.step:touch_with_foot"
    hand_arrives: ClassVar = True
    meets_surface: ClassVar = True

    target: Point | str = field(metadata=about("A point, an object, a frame of it, or a body part.", "place"))
    shape: ShapeName = "flat"
    foot: Hand | None = field(default=None, metadata=about("Use this foot instead of a hand."))

    def obstruction(self, world: World) -> tuple[str, float] | None:
        from elbowroom.plan.checks.obstructions import BEHIND_M, inside

        found = inside(world, self.target, BEHIND_M)
        return found and (f"touch: the target is {found[0]}; move it out", found[1])
