"""Open: a hand opens a fixture by its handle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elbowroom.plan.tasks.task import HandleTask


@dataclass(frozen=True, kw_only=True)
class Open(HandleTask):
    """Open a fixture by its handle."""

    verb: ClassVar = "open"
