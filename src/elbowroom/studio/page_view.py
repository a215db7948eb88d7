"""View tab (overlays, followed character, light or dark), keyboard shortcuts and the command palette."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import viser

from elbowroom.errors import BadValue
from elbowroom.studio import filing
from elbowroom.studio.entries import deleted
from elbowroom.studio.page_compare import Compare
from elbowroom.studio.page_looks import asked, offer
from elbowroom.studio.studio import Studio, Topic

if TYPE_CHECKING:
    from elbowroom.studio.page import Page

_NO_TREES = "No search was needed for this motion, so there are no trees."
_NOBODY = "nobody"


class ViewTab:
    """Switches of the view."""

    def __init__(self, server: viser.ViserServer, studio: Studio, page: Page, tab: Any) -> None:
        self._studio, self._page, gui = studio, page, server.gui
        with tab:
            self._ghost = gui.add_checkbox("Ghost", True, hint="Previous motion, where it differs.")
            self._paths = gui.add_checkbox("Hand paths", False, hint="Paths of the hands in planned motion.")
            self._trees = gui.add_checkbox(
                "Search trees", False, hint="Search trees: green from the start, amber from the goal."
            )
            self._clearance = gui.add_checkbox("Minimum clearance", False, hint="Shortest distance at any time.")
            self._shapes = gui.add_checkbox("Collision geometry", False, hint="Shapes used for collision checks.")
            self._dark = gui.add_checkbox("Dark", False)
            self._follow = gui.add_dropdown("Follow", (_NOBODY,))
            frame = gui.add_button("Frame the action", icon=viser.Icon.MAXIMIZE, color="gray")
            tight = gui.add_button("Go to minimum clearance", icon=viser.Icon.RULER_MEASURE, color="gray")
        self.compare = Compare(server, studio, tab, page.camera.frame, shadows=page.shadows)
        with tab, gui.add_folder("Keys", expand_by_default=False):
            gui.add_html(page.keys.html)
        for box in (self._ghost, self._paths, self._trees, self._clearance, self._shapes):
            box.on_update(asked(studio, self._changed))
        self._dark.on_update(asked(studio, self._darkened))
        self._follow.on_update(asked(studio, self._followed))
        frame.on_click(asked(studio, page.look))
        tight.on_click(asked(studio, self._tightest))

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        self.compare.notify(topic)
        if topic in ("document", "scene"):
            offer(self._follow, (_NOBODY, *self._studio.original.characters))

    def _changed(self) -> None:
        page, studio = self._page, self._studio
        page.scene.ghost = self._ghost.value
        if self._trees.value and not page.extras.trees:
            # explain why there are no trees, if there are none
            plan = self._studio.plan
            if plan is not None and not any(planned.trees for planned in plan.edits):
                self._studio.say(_NO_TREES)
        elif not self._trees.value and studio.said[1] == _NO_TREES:
            studio.say("")
        page.extras.show(paths=self._paths.value, trees=self._trees.value, clearance=self._clearance.value)
        if self._shapes.value != page.scene.shapes:
            page.scene.show_shapes(self._shapes.value, studio.world, studio.player.time)
        studio.tell("motion")

    def _tightest(self) -> None:
        plan = self._studio.plan
        proof = None if plan is None else plan.certificate
        if proof is None or proof.at_s is None:
            raise BadValue("the minimum clearance is not known until the motion is certified.")
        self._studio.player.pause()
        self._studio.player.seek(proof.at_s)

    def _darkened(self) -> None:
        self._page.set_dark(self._dark.value)

    def _followed(self) -> None:
        name = self._follow.value
        self._page.camera.follow(None if name == _NOBODY else name)


_CTRL = "cmd/ctrl"
_WORDS = {"escape": "Esc", "delete": "Del", "space": "Space", "home": "Home", "end": "End"}


class Keys:
    """Commands by key: those of players and of editors."""

    def __init__(self, server: viser.ViserServer, studio: Studio, page: Page) -> None:
        self._server, self._studio, self.shortcuts = server, studio, list[tuple[str, str]]()
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
        self.shortcuts.append(("Ctrl K", "All commands"))

    def _add(self, what: str, key: Any, act: Callable[[], Any], modifier: Any = None) -> None:
        command = self._server.gui.add_command(what, hotkey=key, modifier=modifier)
        command.on_trigger(asked(self._studio, act))
        held = {None: "", _CTRL: "Ctrl "}.get(modifier, "Ctrl Shift ")
        self.shortcuts.append((held + _WORDS.get(key, key), what))

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
        rows = "".join(
            f"<tr>{cell}<b>{escape(key)}</b></td><td>{escape(what)}</td></tr>" for key, what in self.shortcuts
        )
        return f'<table style="margin:2px 10px 6px 10px;font-size:12.5px">{rows}</table>'
