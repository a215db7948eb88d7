"""Tasks tab: tasks in order; add, change, delete, reorder; style, seed, another variant."""

from __future__ import annotations

from typing import Any

import viser

from elbowroom.spaces.styles import STYLES
from elbowroom.studio import edits
from elbowroom.studio.actions import another_variant
from elbowroom.studio.page_edits import Edits
from elbowroom.studio.page_looks import Rows, asked, heed, offer, put
from elbowroom.studio.places import target_name, targets_of, task_of
from elbowroom.studio.studio import Studio, Topic
from elbowroom.studio.task_forms import (
    EITHER,
    POINT,
    POSE,
    VERBS,
    answers,
    in_words,
    task_from,
    whats,
    wheres,
    with_pins,
)

_NEW = "New task"
_USUAL = "default"
_NONE = "—"
_KEEP = "Limbs to leave unchanged: right_arm, or with times in seconds, left_arm 1.2-2.5."
_PIN = "Pin holds it at the current time, or between the in and out points if they are set."
_ASIDE = "Maximum sidestep of the body; empty: 0.6 m."


class Tasks:
    """List of tasks, a form for one of them, and planning settings."""

    def __init__(self, server: viser.ViserServer, studio: Studio, tab: Any) -> None:
        self._studio, gui = studio, server.gui
        self._k: int | None = None  # number of the task in the form, from 0; None for a new one
        with tab:
            self._list = Rows(gui, studio, gui.add_folder("Tasks in order"), self._picked)
            self._form = gui.add_folder(_NEW)
            with self._form:
                self._verb = gui.add_dropdown("Action", tuple(VERBS), initial_value="touch")
                self._who = gui.add_dropdown("Character", (_NONE,))
                self._hand = gui.add_dropdown("Hand", (EITHER, "left", "right"))
                self._what = gui.add_dropdown("Object", (_NONE,))
                self._where = gui.add_dropdown("Target", (_NONE,))
                self._time = gui.add_text("Time (s)", "", hint="Empty: as soon as the previous tasks are done.")
                self._keep = gui.add_text("Keep", "", hint=_KEEP, visible=False)
                self._pin = gui.add_dropdown("Limb", (POSE,), hint=_PIN, visible=False)
                self._aside = gui.add_text("Aside (m)", "", hint=_ASIDE, visible=False)
                self._buttons = gui.add_button_group(" ", ("Add", "Use current time"))
                self._order = gui.add_button_group("Order", ("Earlier", "Later", "Delete"), visible=False)
            with gui.add_folder("Planning"):
                self._style = gui.add_dropdown("Style", (_USUAL, *STYLES))
                self._seed = gui.add_number("Seed", 0, min=0, max=2**31 - 1, step=1)
                self._another = gui.add_button("Another variant", icon=viser.Icon.ARROWS_SHUFFLE, color="gray")
                self._replan = gui.add_button(
                    "Re-plan",
                    icon=viser.Icon.REFRESH,
                    color="gray",
                    hint="Plans from scratch, as the command line does.",
                )
            self._edits = Edits(gui, studio)
        for field in (self._verb, self._who):
            field.on_update(asked(studio, self._fit))
        self._buttons.on_click(asked(studio, self._pressed))
        self._order.on_click(asked(studio, self._ordered))
        heed(self._style, studio, self._styled)
        heed(self._seed, studio, self._seeded)
        self._replan.on_click(asked(studio, studio.plan_from_scratch))
        self._another.on_click(asked(studio, lambda: another_variant(studio)))

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        self._edits.notify(topic)
        if topic == "selection":
            k = task_of(self._studio.selected or "")
            if k is not None and k != self._k:
                self._show_list(k)
        if topic == "document":
            self._show_list(self._k)
            values = self._studio.document.values
            style = values.get("style", _USUAL)
            put(self._style, style if style in STYLES else _USUAL)
            put(self._seed, self._studio.document.seed)

    def _show_list(self, k: int | None) -> None:
        tasks = edits.tasks_of(self._studio.document)
        self._k = k if k is not None and k < len(tasks) else None
        words = {str(i): f"{i + 1}  {in_words(*task)}" for i, task in enumerate(tasks)}
        self._list.show({**words, _NEW: f"+  {_NEW}"}, _NEW if self._k is None else str(self._k))
        title = _NEW if self._k is None else f"Task {self._k + 1}"
        if self._form.label != title:
            self._form.label = title
        self._fill()

    def _picked(self, key: str) -> None:
        self._show_list(None if key == _NEW else int(key))
        if self._k is not None and self._k in targets_of(self._studio.document):
            self._studio.select(target_name(self._k))

    def _fill(self) -> None:
        """Fill the form from the selected task."""
        k = self._k
        self._order.visible = k is not None
        self._fit()
        if k is None:
            return
        verb, args = edits.tasks_of(self._studio.document)[k]
        if verb not in VERBS:
            return
        put(self._verb, verb)
        self._fit()
        given = answers(verb, args)
        for field, key in ((self._who, "who"), (self._hand, "hand"), (self._what, "what"), (self._where, "where")):
            if given[key] in field.options:
                put(field, given[key])
        for text, key in ((self._time, "time"), (self._keep, "keep"), (self._aside, "aside")):
            put(text, given[key])
        self._fit()

    def _fit(self) -> None:
        """Show the fields that the verb needs, with their choices."""
        world, verb = self._studio.original, self._verb.value
        needs = VERBS[verb]
        offer(self._who, tuple(world.characters) or (_NONE,))
        self._hand.visible = bool(needs.hand)
        self._what.visible = bool(needs.what)
        offer(self._what, whats(verb, world) or (_NONE,))
        self._where.visible = bool(needs.where)
        offer(self._where, wheres(verb, world, self._who.value) or (_NONE,))
        timed = needs.timed
        self._time.visible = timed
        self._keep.visible = self._pin.visible = self._aside.visible = needs.bound
        if needs.bound and self._who.value in world.characters:
            offer(self._pin, (POSE, *world.body(self._who.value).chains))
        more = ("Use current time",) * timed + ("Pin",) * needs.bound
        words = ("Add" if self._k is None else "Change", *more)
        if tuple(self._buttons.options) != words:
            self._buttons.options = words

    def _pressed(self) -> None:
        studio, k, verb = self._studio, self._k, self._verb.value
        if self._buttons.value == "Use current time":
            put(self._time, f"{studio.player.time:.2f}")
            return
        if self._buttons.value == "Pin":
            put(self._keep, with_pins(self._keep.value, self._pin.value, studio, self._who.value))
            return
        given = {
            "who": self._who.value,
            "hand": self._hand.value,
            "what": "" if self._what.value == _NONE else self._what.value,
            "where": "" if self._where.value == _NONE else self._where.value,
            "time": self._time.value,
            "keep": self._keep.value,
            "aside": self._aside.value,
        }
        old_verb, old = edits.tasks_of(studio.document)[k] if k is not None else ("", {})
        args = task_from(studio, verb, given, old if old_verb == verb else {})
        if k is None:
            after, k = edits.add_task(studio.document, verb, args), len(studio.document.values.get("tasks", []))
            studio.edit(f"add task {verb}", after)
        else:
            studio.edit(f"change task {k + 1}", edits.change_task(studio.document, k, verb, args))
        if given["where"] == POINT:
            studio.select(target_name(k))

    def _ordered(self) -> None:
        studio, k, word = self._studio, self._k, self._order.value
        if k is None:
            return
        if word == "Delete":
            studio.edit(f"delete task {k + 1}", edits.delete_task(studio.document, k))
        else:
            by = -1 if word == "Earlier" else 1
            studio.edit(f"reorder task {k + 1}", edits.move_task(studio.document, k, by))
            self._show_list(min(max(k + by, 0), len(edits.tasks_of(studio.document)) - 1))

    def _styled(self) -> None:
        values = self._studio.document.edited()
        values.pop("style", None)
        if self._style.value != _USUAL:
            values["style"] = self._style.value
        self._studio.edit(f"style {self._style.value}", self._studio.document.with_values(values))

    def _seeded(self) -> None:
        document = self._studio.document.with_(seed=int(self._seed.value), tier="auto")
        self._studio.edit(f"seed {document.seed}", document)
