"""Keyboard shortcuts, and the same commands in the palette that Ctrl+K opens."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import viser

from elbowroom.studio import filing
from elbowroom.studio.entries import deleted
from elbowroom.studio.page_looks import asked
from elbowroom.studio.studio import Studio

if TYPE_CHECKING:
    from elbowroom.studio.page import Page

_CTRL = "cmd/ctrl"
_WORDS = {"escape": "Esc", "delete": "Del", "space": "Space", "home": "Home", "end": "End"}


class Keys:
    """Commands by key: those of players and of editors."""

    def __init__(self, server: viser.ViserServer, studio: Studio, page: Page) -> None:
        self._server, self._studio, self.told_as = server, studio, list[tuple[str, str]]()
        player = studio.player
        self._add("Play or pause", "space", lambda: player.pause() if player.playing else player.play())
        self._add("Previous frame", "J", lambda: self._step(-1))
        self._add("Next frame", "L", lambda: self._step(1))
        self._add("Start", "home", lambda: player.seek(player.range[0]))
        self._add("End", "end", lambda: player.seek(player.range[1]))
        self._add("Set or clear the in point", "I", lambda: player.mark("in"))
        self._add("Set or clear the out point", "O", lambda: player.mark("out"))
        self._add("Frame the action", "F", page.look)
        self._add("Clear selection", "escape", lambda: studio.select(None))
        self._add("Delete selection", "delete", self._delete)
        self._add("Undo", "Z", studio.undo, _CTRL)
        self._add("Redo", "Z", studio.redo, f"{_CTRL}+shift")
        self._add("Save", "S", lambda: filing.save(studio, page.panel.files.name), _CTRL)
        self.told_as.append(("Ctrl K", "All commands"))

    def _add(self, what: str, key: Any, act: Callable[[], Any], modifier: Any = None) -> None:
        command = self._server.gui.add_command(what, hotkey=key, modifier=modifier)
        command.on_trigger(asked(self._studio, act))
        held = {None: "", _CTRL: "Ctrl "}.get(modifier, "Ctrl Shift ")
        self.told_as.append((held + _WORDS.get(key, key), what))

    def _step(self, frames: int) -> None:
        """Go to a frame before or after the one shown, exactly."""
        player, fps = self._studio.player, self._studio.board.fps
        player.pause()
        player.seek(player.span[0] + (round((player.time - player.span[0]) * fps) + frames) / fps)

    def _delete(self) -> None:
        studio, name = self._studio, self._studio.selected
        if name is not None and studio.places[name].kind != "target":
            studio.edit(f"delete {name}", deleted(studio.document, studio.board, name))

    @property
    def html(self) -> str:
        """HTML table of all keys, for the panel."""
        cell = '<td style="padding:1px 12px 1px 0;white-space:nowrap">'
        rows = "".join(f"<tr>{cell}<b>{escape(key)}</b></td><td>{escape(what)}</td></tr>" for key, what in self.told_as)
        return f'<table style="margin:2px 10px 6px 10px;font-size:12.5px">{rows}</table>'
