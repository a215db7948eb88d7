"""Unsaved work of an earlier session, offered at the top of the panel."""

from __future__ import annotations

import time
from html import escape

import viser

from elbowroom.studio import filing
from elbowroom.studio.page_events import asked
from elbowroom.studio.studio import Studio, Topic

_TAKE, _DROP = "Restore", "Discard"


class KeptWork:
    """Line and two buttons at the top of the panel, while there is unsaved work."""

    def __init__(self, server: viser.ViserServer, studio: Studio) -> None:
        self._studio, gui = studio, server.gui
        self._line = gui.add_html("", order=5.0, visible=False)
        self._buttons = gui.add_button_group(" ", (_TAKE, _DROP), order=6.0, visible=False)
        self._buttons.on_click(asked(studio, self._answered))

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        if topic != "document":
            return
        kept = self._studio.kept
        self._line.visible = self._buttons.visible = bool(kept)
        if kept:
            when = time.strftime("%d %B, %H:%M", time.localtime(kept[0].when))
            text = f"Unsaved changes to {kept[0].document.name} from {when} can be restored."
            self._line.content = f'<div style="padding:6px 10px 2px 10px;font-size:12.5px">{escape(text)}</div>'

    def _answered(self) -> None:
        if self._studio.kept:
            act = filing.restore if self._buttons.value == _TAKE else filing.drop
            act(self._studio, self._studio.kept[0])
