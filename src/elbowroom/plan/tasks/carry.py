"""Carry: people and robots take an object somewhere on foot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from elbowroom.errors import BadValue
from elbowroom.plan.tasks.task import FOR_BOTH_HANDS, PlacingTask


@dataclass(frozen=True, kw_only=True)
class Carry(PlacingTask):
    """Carry an object on foot, alone or with `helpers`; the planner chooses the times.

    They walk up to it, lift it, find a path on which all of them and the object pass, walk in step, and set it down.
    The goal is given as for `Put`; without `turn` it may end at any rotation. `level` keeps it as level as it is at the
    start. `speed` and `accel` limit object and carriers, m/s and m/s². `tries` is the number of paths that are tried,
    each without the places where earlier ones failed.
    """

    verb: ClassVar = "carry"
    by_hand: ClassVar = "teams.carry:carry"
    in_place: ClassVar = True
    object_leads: ClassVar = True
    walks: ClassVar = True

    helpers: tuple[str, ...] = ()
    level: bool = True
    speed: float = 0.8
    accel: float = 0.5
    tries: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least, most in (("speed", 0.1, 1.8), ("accel", 0.05, 3.0), ("tries", 1, 100)):
            if not least <= getattr(self, name) <= most:
                raise BadValue(f"'{name}' of carry is {getattr(self, name):g}; give {least:g} to {most:g}.")

    @property
    def people(self) -> tuple[str, ...]:
        return (self.who, *self.helpers)

    @property
    def advice(self) -> Mapping[str, str]:
        return FOR_BOTH_HANDS
