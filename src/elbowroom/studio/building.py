"""Storyboards are built of documents in the thread that needs them: long ones are told on the page, and cancelled."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.document import Document
from elbowroom.studio.worker import Job


class Builder:
    """What is being built, if anything: `current`. `changed` is called when that begins and ends."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.current: Job | None = None

    def board(self, what: str, document: Document) -> Storyboard:
        """The storyboard of a document, for an edit in words; raises `Cancelled` where it was cancelled meanwhile."""
        job = self.current = Job(what, lambda job: document.board())
        self._changed()
        try:
            return cast(Storyboard, job.here())
        finally:
            self.current = None
            self._changed()

    def cancel(self) -> bool:
        """Stop it; whether there was any."""
        job = self.current
        if job is not None:
            job.state = "cancelled"
        return job is not None
