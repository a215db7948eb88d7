"""Reach: a hand or foot goes to a target and stays there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from elbowroom.plan.tasks.task import Hand, Point, ShapeName, Task, about
from elbowroom.world.world import World


@dataclass(frozen=True, kw_only=True)
class Reach(Task):
    """Move the hand to a target and keep it there until the next task.

    The target is a point, or 'thing', 'thing.frame', 'ann.head'. With `foot`, that foot goes there and returns.
    """

    verb: ClassVar = "reach"
    by_hand: ClassVar = "verbs.touch:reach_to"
    by_foot: ClassVar = "verbs.step:reach_with_foot"
    hand_arrives: ClassVar = True

    to: Point | str = field(
        metadata=about("A point, an object, a frame of it (cup.rim), or a body part (bob.head).", "place")
    )
    shape: ShapeName = "rest"
    foot: Hand | None = field(default=None, metadata=about("Use this foot instead of a hand."))

    def obstruction(self, world: World) -> tuple[str, float] | None:
        from elbowroom.plan.checks.obstructions import IN_HAND_M, inside

        found = inside(world, self.to, IN_HAND_M) if self.foot is None else None
        return found and (f"reach: the target is {found[0]}", found[1])
