"""Side panel: status, and tabs for the scene, tasks, the view and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import viser

from elbowroom.studio.page_files import Files
from elbowroom.studio.page_kept import KeptWork
from elbowroom.studio.page_status import Status
from elbowroom.studio.page_tasks import Tasks
from elbowroom.studio.page_things import Things
from elbowroom.studio.page_view import View
from elbowroom.studio.studio import Studio, Topic

if TYPE_CHECKING:
    from elbowroom.studio.page import Page


class Panel:
    """Side panel of the page."""

    def __init__(self, server: viser.ViserServer, studio: Studio, page: Page) -> None:
        self.status = Status(server, studio)
        self.kept = KeptWork(server, studio)
        tabs = server.gui.add_tab_group(order=10.0)
        things = tabs.add_tab("Scene", viser.Icon.BOX)
        tasks = tabs.add_tab("Tasks", viser.Icon.HAND_STOP)
        view = tabs.add_tab("View", viser.Icon.EYE)
        files = tabs.add_tab("Files", viser.Icon.FILE)
        self.things = Things(server, studio, page, things)
        self.tasks = Tasks(server, studio, tasks)
        self.view = View(server, studio, page, view)
        self.files = Files(server, studio, files)

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        for part in (self.status, self.kept, self.things, self.tasks, self.view, self.files):
            part.notify(topic)
