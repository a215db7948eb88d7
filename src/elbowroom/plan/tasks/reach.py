"""Reach: a hand or foot goes to a target and stays there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import Hand, Point, Task
from elbowroom.world.world import World


@dataclass(frozen=True, kw_only=True)
class Reach(Task):
    """Bring the hand to a target: a point, or 'thing', 'thing.frame', 'ann.head'; it stays there until the next task.

    With `foot`, that foot goes there and returns.
    """

    verb: ClassVar = "reach"
    by_hand: ClassVar = "verbs.touch:reach_to"
    by_foot: ClassVar = "verbs.step:reach_with_foot"
    hand_arrives: ClassVar = True

    to: Point | str
    shape: str = "rest"
    foot: Hand | None = None

    def obstruction(self, world: World) -> tuple[str, float] | None:
        from elbowroom.plan.obstructions import IN_HAND_M, inside

        found = inside(world, self.to, IN_HAND_M) if self.foot is None else None
        return found and (f"reach: the target is {found[0]}", found[1])
