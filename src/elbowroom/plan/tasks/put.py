"""Put: a hand puts down what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from elbowroom.plan.tasks.drop import Drop
from elbowroom.plan.tasks.task import PlacingTask, Task
from elbowroom.world.pairs import FLOOR
from elbowroom.world.world import World

if TYPE_CHECKING:
    from elbowroom.plan.state.actor import Actor
    from elbowroom.plan.steps.director import Director


@dataclass(frozen=True, kw_only=True)
class Put(PlacingTask):
    """Put down a held object.

    Without `turn` it keeps the rotation that it had when it was taken.
    """

    verb: ClassVar = "put"
    by_hand: ClassVar = "verbs.put:put"
    held_before: ClassVar = True
    puts_down: ClassVar = True

    def obstruction(self, world: World) -> tuple[str, float] | None:
        from elbowroom.plan.checks.obstructions import goal_filled

        return goal_filled(world, self)

    def instead(self, world: World) -> Iterator[tuple[str, Task]]:
        from elbowroom.plan.checks.places import wearer_of

        if self.onto is None or wearer_of(world, self.onto) is not None or self.at is not None or self.to is not None:
            return
        over = "the floor" if self.onto == FLOOR else self.onto
        drop = Drop(who=self.who, hand=self.hand, object=self.object, feet=self.feet, style=self.style, over=self.onto)
        yield f"dropping {self.object} over {over} instead (drop: {{over: {self.onto}}})", drop

    def placed(self, world: World) -> tuple[World, Task]:
        from elbowroom.plan.walking.setting_down import on_open_floor

        return on_open_floor(world, self)

    def fitted(self, d: Director) -> Task:
        from elbowroom.plan.walking.setting_down import within_reach

        return within_reach(d, self)

    def suits(self, d: Director, stands: Actor) -> bool:
        from elbowroom.plan.verbs.put import hangs_free, posture_to_put

        return hangs_free(d, self, stands) and posture_to_put(d, self, stands) is not None
