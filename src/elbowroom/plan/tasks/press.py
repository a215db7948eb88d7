"""Press: a fingertip or foot presses a fixture and releases it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from elbowroom.plan.tasks.task import FixtureTask, Hand, about
from elbowroom.world.world import World


@dataclass(frozen=True, kw_only=True)
class Press(FixtureTask):
    """Press a button, switch or pedal, and release it.

    A fingertip moves the fixture along its joint `to` a state and back. With `foot`, it is a pedal under the ball of
    that foot.
    """

    verb: ClassVar = "press"
    by_hand: ClassVar = "verbs.fixtures:press"
    by_foot: ClassVar = "verbs.step:press_with_foot"
    hand_arrives: ClassVar = True
    meets_surface: ClassVar = True

    foot: Hand | None = field(default=None, metadata=about("Use this foot instead of a hand."))

    def obstruction(self, world: World) -> tuple[str, float] | None:
        from elbowroom.plan.checks.obstructions import inside
        from elbowroom.plan.checks.places import FACE_M

        thing = world.objects.get(self.fixture)
        if thing is None or "handle" not in thing.frames:
            return None
        face = (world.frame(self.fixture, world.span[0]) @ thing.frame("handle"))[:3, 3]
        found = inside(world, face, FACE_M)
        return found and (f"press: the face of {self.fixture} is {found[0]}; move it out", found[1])
