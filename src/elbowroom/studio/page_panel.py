"""The panel at the side: what is going on, and tabs for the scene, tasks, the view and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import viser

from elbowroom.studio.page_status import Status
from elbowroom.studio.studio import Studio, Topic

if TYPE_CHECKING:
    from elbowroom.studio.page import Page


class Panel:
    """Everything at the side of the page."""

    def __init__(self, server: viser.ViserServer, studio: Studio, page: Page) -> None:
        self.status = Status(server, studio)

    def told(self, topic: Topic) -> None:
        """Something has changed in the studio."""
        self.status.told(topic)
