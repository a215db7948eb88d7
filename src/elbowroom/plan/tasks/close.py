"""Close: a hand closes a fixture by its handle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import HandleTask


@dataclass(frozen=True, kw_only=True)
class Close(HandleTask):
    """Close a fixture by its handle.

    Without `to` it is shut.
    """

    verb: ClassVar = "close"
    shuts: ClassVar = True
