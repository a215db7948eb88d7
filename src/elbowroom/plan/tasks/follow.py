"""Follow: a character walks behind another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import FOR_WALKS, Task


@dataclass(frozen=True, kw_only=True)
class Follow(Task):
    """Walk behind a character, on its path, until it stands; `distance` is that of the two bodies."""

    verb: ClassVar = "follow"
    by_hand: ClassVar = "walking.go:follow"
    in_place: ClassVar = True
    walks: ClassVar = True
    previews_walk: ClassVar = True

    whom: str
    distance: float = 1.2

    @property
    def leaders(self) -> tuple[str, ...]:
        return (self.whom,)

    @property
    def advice(self) -> Mapping[str, str]:
        return FOR_WALKS
