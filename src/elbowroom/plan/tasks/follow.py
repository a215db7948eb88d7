"""Follow: a character walks behind another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from annotated_types import Ge, Le

from elbowroom.plan.tasks.task import FOR_WALKS, Name, Task, about


@dataclass(frozen=True, kw_only=True)
class Follow(Task):
    """Walk behind another character until they stand."""

    verb: ClassVar = "follow"
    by_hand: ClassVar = "walking.go:follow"
    takes_hand: ClassVar = False
    refuses: ClassVar = (("at",), "it starts when the previous task is done")
    in_place: ClassVar = True
    walks: ClassVar = True
    previews_walk: ClassVar = True

    whom: Name = field(metadata=about("Character to follow.", "leader"))
    distance: Annotated[float, Ge(0.6), Le(20.0)] = field(default=1.2, metadata=about("Metres between the two."))

    @property
    def leaders(self) -> tuple[str, ...]:
        return (self.whom,)

    @property
    def advice(self) -> Mapping[str, str]:
        return FOR_WALKS
