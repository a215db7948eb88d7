"""Carry: people and robots take an object somewhere on foot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from annotated_types import Ge, Le

from elbowroom.errors import BadValue
from elbowroom.plan.tasks.task import FOR_BOTH_HANDS, TIMES, Name, PlacingTask, about
from elbowroom.world.world import World


@dataclass(frozen=True, kw_only=True)
class Carry(PlacingTask):
    """Carry an object on foot, alone or with others, and set it down.

    The planner chooses the times. They walk up to it, lift it, find a path on which all of them and the object pass,
    walk in step, and set it down. The goal is given as for `Put`; without `turn` it may end at any rotation. `level`
    keeps it as level as it is at the start. `speed` and `accel` limit object and carriers, m/s and m/s². `tries` is the
    number of paths that are tried, each without the places where earlier ones failed.
    """

    verb: ClassVar = "carry"
    by_hand: ClassVar = "teams.carry:carry"
    in_place: ClassVar = True
    crew: ClassVar = True
    refuses: ClassVar = ((*TIMES, "hand", "feet"), "it starts when the previous task is done")
    object_leads: ClassVar = True
    walks: ClassVar = True

    helpers: tuple[Name, ...] = field(
        default=(), metadata=about("Other carriers; or name all of them under 'who'.", "carriers")
    )
    level: bool = field(default=True, metadata=about("Keep it as level as it is at the start."))
    speed: Annotated[float, Ge(0.1), Le(1.8)] = field(
        default=0.8, metadata=about("Highest speed in metres per second.")
    )
    accel: Annotated[float, Ge(0.05), Le(3.0)] = field(default=0.5, metadata=about("Highest acceleration in m/s²."))
    tries: Annotated[int, Ge(1), Le(100)] = field(default=10, metadata=about("Number of paths to try."))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least, most in (("speed", 0.1, 1.8), ("accel", 0.05, 3.0), ("tries", 1, 100)):
            if not least <= getattr(self, name) <= most:
                raise BadValue(f"'{name}' of carry is {getattr(self, name):g}; give {least:g} to {most:g}.")

    @property
    def people(self) -> tuple[str, ...]:
        return (self.who, *self.helpers)

    def impossible(self, world: World) -> str:
        from elbowroom.plan.teams.possible import why_impossible

        return why_impossible(world, self.people, self.object, self.to)

    @property
    def advice(self) -> Mapping[str, str]:
        return FOR_BOTH_HANDS
