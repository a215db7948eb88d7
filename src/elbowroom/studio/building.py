"""Building of storyboards from documents in the calling thread; long builds show on the page and can be cancelled."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.document import Document
from elbowroom.studio.worker import Job


class Builder:
    """Builder of storyboards: `current` is the build under way; `changed` is called when one begins and ends."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.current: Job | None = None

    def board(self, what: str, document: Document) -> Storyboard:
        """Storyboard of a document, for a named edit; raises `Cancelled` if it was cancelled."""
        job = self.current = Job(what, lambda job: document.board())
        self._changed()
        try:
            return cast(Storyboard, job.here())
        finally:
            self.current = None
            self._changed()

    def cancel(self) -> bool:
        """Stop the current build; returns whether there was one."""
        job = self.current
        if job is not None:
            job.state = "cancelled"
        return job is not None
