"""Go: a character walks somewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from elbowroom.plan.tasks.task import FOR_WALKS, Point, Seconds, Task, about


@dataclass(frozen=True, kw_only=True)
class Go(Task):
    """Walk to a place and stand there.

    That is a point on the floor, a thing, or a character. `facing` is a heading (radians counter-clockwise from -Y) or
    a thing to face; None faces the goal, or keeps the heading of arrival. `gait` is the mode; 'any' depends on the
    scene, upright where there is room.
    """

    verb: ClassVar = "go"
    by_hand: ClassVar = "walking.go:go"
    takes_hand: ClassVar = False
    in_place: ClassVar = True
    walks: ClassVar = True
    previews_walk: ClassVar = True

    at: Seconds | None = field(
        default=None, metadata=about("Time of arrival in seconds; default: as soon as possible.")
    )
    to: tuple[float, float] | Point | str = field(
        metadata=about(
            "A point [x, y] on the floor (a height is ignored), an object, a mesh, or a character.", "floor place"
        )
    )
    facing: float | str | None = field(
        default=None,
        metadata=about("Heading on arrival in degrees, as 'turn' of a character, or an object to face.", "heading"),
    )
    gait: Literal["any", "walk", "brisk", "run", "crouch", "sidle", "back"] = field(
        default="any", metadata=about("Manner of walking; 'any': upright where there is room.")
    )

    @property
    def advice(self) -> Mapping[str, str]:
        return FOR_WALKS
