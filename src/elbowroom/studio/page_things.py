"""Scene tab: lists of characters and objects, and position, name and visibility of the selected one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import viser

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.props.makers import MAKERS, made
from elbowroom.storyboard.things import quaternion
from elbowroom.studio import edits
from elbowroom.studio.importing import free_spot, landing
from elbowroom.studio.page_looks import Rows, asked, offer
from elbowroom.studio.places import ScenePlace, alone, deleted, entry_of, shown_place
from elbowroom.studio.studio import Studio, Topic

if TYPE_CHECKING:
    from elbowroom.studio.page import Page

_KINDS = {
    "character": "Characters",
    "object": "Objects",
    "fixture": "Fixtures",
    "target": "Hand targets",
    "static": "Obstacles",
}
_MANY = 8  # rows of a list before it is collapsed
_BODIES = ("woman", "man", "child")
_MOTIONS = ("stand", "idle", "walk", "run")
_SAID = '<div style="padding:2px 10px;font-size:12.5px;opacity:.7">{}</div>'
_HINT = _SAID.format("Click an object here or in the scene and drag its arrows: the motion follows.")
_EMPTY = _SAID.format("The scene is empty. Add characters and objects below, or import them in the Files tab.")


class Things:
    """Selected object, lists of everything in the scene, and a form to add to it."""

    def __init__(self, server: viser.ViserServer, studio: Studio, page: Page, tab: Any) -> None:
        self._gui, self._studio, self._page = server.gui, studio, page
        self._details: Any = None
        self._shown: str | None = None
        self._at: Any = None
        self._turn: Any = None
        with tab:
            self._hint = self._gui.add_html(_HINT, order=9.0)
            self._place = self._gui.add_folder(None, order=10.0)
            self._lists = {kind: self._list(kind, 11.0 + k) for k, kind in enumerate(_KINDS)}
            with self._gui.add_folder("Add", expand_by_default=False, order=20.0):
                self._kind = self._gui.add_dropdown("Kind", ("obstacle", "object", "character"))
                self._what = self._gui.add_dropdown("Model", tuple(sorted(MAKERS)), initial_value="table")
                self._motion = self._gui.add_dropdown("Motion", _MOTIONS, initial_value="walk", visible=False)
                self._add = self._gui.add_button("Add", icon=viser.Icon.PLUS)
        self._kind.on_update(lambda event: self._kinds())
        self._add.on_click(asked(studio, self._added))

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        if topic in ("document", "selection", "scene"):
            self._show_list()
            self._show_details()
        if topic == "place" and self._studio.drags.to is not None and self._studio.drags.current is not None:
            place = self._studio.places.get(self._studio.drags.current.name)
            if place is not None:
                self._show_place(replace(place, T=self._studio.drags.to))

    def _list(self, kind: str, order: float) -> Rows:
        folder = self._gui.add_folder(_KINDS[kind], order=order, visible=False)
        return Rows(self._gui, self._studio, folder, self._picked, _MANY)

    def _picked(self, name: str) -> None:
        """Select the clicked row; a second click clears the selection."""
        self._studio.select(None if name == self._studio.selected else name)

    def _show_list(self) -> None:
        hidden = self._page.scene.hidden
        for kind, some in self._lists.items():
            names = [name for name, place in self._studio.places.items() if place.kind == kind]
            some.show({n: f"{n} (hidden)" if n in hidden else n for n in names}, self._studio.selected)

    def _show_details(self) -> None:
        name = self._studio.selected
        place = self._studio.places.get(name or "")
        hint = _HINT if self._studio.places else _EMPTY
        if self._hint.content != hint:
            self._hint.content = hint
        if self._hint.visible != (place is None):
            self._hint.visible = place is None
        if name != self._shown or place is None:
            if self._details is not None:
                self._details.remove()
            self._details = self._at = self._turn = None
            self._shown = name if place is not None else None
            if name is not None and place is not None:
                self._add_details(name, place)
        elif self._studio.drags.current is None:
            self._show_place(place)

    def _add_details(self, name: str, place: ScenePlace) -> None:
        gui, values = self._gui, shown_place(place)
        with self._place:
            self._details = gui.add_folder(name)
        with self._details:
            self._at = gui.add_vector3("Position (m)", tuple(values["at"]), step=0.01)
            if any(place.axes):
                self._turn = gui.add_vector3("Rotation (°)", tuple(values["turn"]), step=1.0)
                self._turn.on_update(lambda event: self._typed(event, name))
            self._at.on_update(lambda event: self._typed(event, name))
            if place.kind == "target":
                return
            visible = gui.add_checkbox(
                "Visible", name not in self._page.scene.hidden, hint="Hidden objects still count as obstacles."
            )
            part = alone(self._studio.board, name)  # its file gives the name
            renamed = gui.add_text("Name", name, visible=not part)
            buttons = gui.add_button_group(" ", ("Delete",) if part else ("Rename", "Delete"))

        def delete() -> None:
            studio = self._studio
            studio.edit(f"delete {name}", deleted(studio.document, studio.board, name))

        def rename() -> None:
            studio, new = self._studio, renamed.value
            entry = entry_of(studio.board, studio.document.values, name)
            studio.edit(f"rename {name}", edits.rename(studio.document, name, new, entry))
            studio.select(new)

        def pressed() -> None:  # on a double click the object is gone or renamed the second time
            if buttons.value == "Delete":
                delete()
            elif renamed.value != name:
                rename()

        def hidden() -> None:
            self._page.scene.hide(name, not visible.value)
            self._show_list()

        visible.on_update(asked(self._studio, hidden))
        buttons.on_click(asked(self._studio, pressed))

    def _show_place(self, place: ScenePlace) -> None:
        shown = shown_place(place)
        for field, values in ((self._at, shown["at"]), (self._turn, shown["turn"])):
            if field is not None and not np.allclose(field.value, values, atol=1e-6):
                field.value = tuple(values)

    def _typed(self, event: viser.GuiEvent, name: str) -> None:
        if event.client is None or self._at is None:
            return
        turn = (0.0, 0.0, 0.0) if self._turn is None else self._turn.value
        T = transform(np.array(self._at.value), quaternion(list(turn)))
        place = self._studio.places.get(name)
        if place is not None and not np.allclose(place.handle, T, atol=1e-5):
            self._studio.trying(lambda: self._studio.place(name, place.held_at(T)))

    def _kinds(self) -> None:
        person = self._kind.value == "character"
        offer(self._what, _BODIES if person else tuple(sorted(MAKERS)))
        self._motion.visible = person

    def _added(self) -> None:
        studio, what = self._studio, str(self._what.value)
        name = edits.free_name(studio.document, what)
        person = self._kind.value == "character"
        at = free_spot(studio) if person else landing(studio, _extent(what))
        make: dict[str, Callable[[], Any]] = {
            "obstacle": lambda: edits.add_static(studio.document, name, {"maker": what, "at": at}),
            "object": lambda: edits.add_object(studio.document, name, {"maker": what}, at),
            "character": lambda: edits.add_character(studio.document, name, _person(what, self._motion.value, at)),
        }
        studio.edit(f"add {name}", make[self._kind.value]())
        studio.select(name)


def _extent(model: str) -> Array:
    """Box (2, 3) of a model, metres."""
    ends = np.stack([mesh.bounds for mesh in made(model).values()])
    return np.stack([ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)])


def _person(body: str, motion: str, at: list[float]) -> dict[str, Any]:
    entry: dict[str, Any] = {"body": {"preset": body}, "at": at[:2]}
    return entry if motion == "stand" else {**entry, "clip": {motion: {}}}
