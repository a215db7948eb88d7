"""Go: a character walks somewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from elbowroom.plan.tasks.task import FOR_WALKS, Point, Task


@dataclass(frozen=True, kw_only=True)
class Go(Task):
    """Walk to a point on the floor, a thing, or a character, and stand there; `at` is the time of arrival.

    `facing` is a heading (radians counter-clockwise from -Y) or a thing to face; None faces the goal, or keeps the
    heading of arrival. `gait` is the mode; 'any' depends on the scene, upright where there is room.
    """

    verb: ClassVar = "go"
    by_hand: ClassVar = "walking.go:go"
    in_place: ClassVar = True
    walks: ClassVar = True
    previews_walk: ClassVar = True

    to: tuple[float, float] | Point | str
    facing: float | str | None = None
    gait: Literal["any", "walk", "brisk", "run", "crouch", "sidle", "back"] = "any"

    @property
    def advice(self) -> Mapping[str, str]:
        return FOR_WALKS
