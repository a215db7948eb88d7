"""Move: an object leads whole bodies, feet in place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.plan.tasks.carry import Carry
from elbowroom.plan.tasks.task import FOR_BOTH_HANDS, TIMES, Footprint, Name, PlacingTask, Task, about
from elbowroom.world.world import World

if TYPE_CHECKING:
    from elbowroom.plan.state.actor import Actor
    from elbowroom.plan.steps.director import Director
    from elbowroom.plan.walking.walked import Spot


@dataclass(frozen=True, kw_only=True)
class Move(PlacingTask):
    """Move an object with one hand or both and the whole body, feet in place.

    The planner chooses the times. If it cannot be held at start and goal from the present stance, another stance is
    chosen, unless the feet are to stay. The object leads: its path is searched, and the body follows as recorded people
    do. The goal is given as for `Put`. `hands` is 'both', palms on opposite sides, or the hand that takes it. `posture`
    'squat' and 'stoop' select recordings of that kind, 'none' uses no recordings; `postures` are files of recordings in
    place of the built-in ones. Without `balance` the weight may leave the feet. `helpers` hold it with their own hands.
    """

    verb: ClassVar = "move"
    by_hand: ClassVar = "verbs.move:move"
    object_leads: ClassVar = True
    refuses: ClassVar = (
        (*TIMES, "hand"),
        "'hands' names them, and it starts when the previous task is done",
    )

    feet: Literal["auto", "stay"] | tuple[Footprint, Footprint] = field(
        default="auto",
        metadata=about(
            "'stay': keep the feet in place; 'auto': step to where the object can be held at its start and goal; or "
            "footprints [[x, y, heading], [x, y, heading]] of the left and the right ankle, headings in degrees.",
            "footprints",
        ),
    )
    hands: Literal["both", "left", "right"] = field(
        default="both",
        metadata=about("Hands that hold it: palms on opposite sides, or one of them alone."),
    )
    helpers: tuple[Name, ...] = field(
        default=(), metadata=about("Characters that also hold it, with their own hands.", "people")
    )
    posture: Literal["auto", "squat", "stoop", "none"] = field(
        default="auto",
        metadata=about("Recorded postures to follow: of squats, of stoops, all of them, or none."),
    )
    postures: tuple[str, ...] = field(
        default=(),
        metadata=about(
            "Recordings to take postures from instead of the built-in ones: .c3d, .bvh, .amc …", "recordings"
        ),
    )
    balance: bool = field(default=True, metadata=about("Keep the weight over the feet."))

    @classmethod
    def fault(cls, given: Mapping[str, Any]) -> tuple[str, ...] | None:
        if given.get("helpers") and not isinstance(given.get("feet", "auto"), str):
            return "cannot be combined with 'helpers', who stay in place", "feet"
        return super().fault(given)

    def _check_feet(self) -> None:
        if isinstance(self.feet, str):
            return
        if self.helpers:
            raise BadValue("move: with helpers the feet stay in place; omit the footprints.")
        if len(self.feet) != 2 or any(len(one) != 3 or not all(map(math.isfinite, one)) for one in self.feet):
            raise BadValue("move: footprints are two rows of x, y and heading, the left foot first.")

    @property
    def people(self) -> tuple[str, ...]:
        return (self.who, *self.helpers)

    @property
    def label(self) -> str:
        return f"move {self.object}"

    @property
    def stays(self) -> bool:
        return bool(self.helpers)

    @property
    def advice(self) -> Mapping[str, str]:
        return FOR_BOTH_HANDS if self.hands == "both" else {}

    def relaxed(self) -> Iterator[tuple[str, Task]]:
        if self.feet == "stay":
            yield "letting the feet step (feet: auto)", replace(self, feet="auto")

    def with_other_hands(self, alone: bool) -> Iterator[tuple[str, Task]]:
        if self.hands == "both":
            return
        more: tuple[Literal["left", "right", "both"], ...] = ("left" if self.hands == "right" else "right", "both")
        for hands in more if alone else more[1:]:
            yield "both hands" if hands == "both" else f"the {hands} hand", replace(self, hands=hands)

    def stances(self, d: Director, actor: Actor) -> Iterable[Spot]:
        from elbowroom.plan.walking.stances import stances_for

        return stances_for(d, actor, self)

    def waypoints(self, world: World, t: float) -> list[Array]:
        return [np.asarray(world.frame(self.object, t)[:3, 3])] if self.object in world.objects else []

    def on_foot(self) -> Carry | None:
        if self.feet != "auto" or self.hands != "both" or self.helpers:
            return None
        return Carry(who=self.who, object=self.object, to=self.to, turn=self.turn, onto=self.onto, style=self.style)

    def carry_out(self, d: Director) -> None:
        from elbowroom.plan.walking.regrip import step_and_move

        step_and_move(d, self)
