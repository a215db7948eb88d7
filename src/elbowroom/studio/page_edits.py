"""Edits of the motion in the panel: a list, and strength, mute and joint curves of the selected one."""

from __future__ import annotations

import viser

from elbowroom.plan.result import Plan
from elbowroom.studio.actions import set_strength
from elbowroom.studio.curves import drawn_curves, joints_of
from elbowroom.studio.page_looks import asked, offer, put
from elbowroom.studio.page_rows import Rows
from elbowroom.studio.studio import Studio, Topic

# Place of the form in the panel: after rows, which are added later.
_BELOW = 1e6


class Edits:
    """List of edits, and a form for one of them."""

    def __init__(self, gui: viser.GuiApi, studio: Studio) -> None:
        self._studio = studio
        self._n: int | None = None  # number of the edit in the form, from 0
        self._folder = gui.add_folder("Edits", expand_by_default=False, visible=False)
        self._list = Rows(gui, studio, self._folder, self._picked)
        with self._folder:
            self._strength = gui.add_slider("Strength", 0.0, 1.0, 0.05, 1.0, visible=False, order=_BELOW)
            self._mute = gui.add_checkbox("Mute", False, visible=False, order=_BELOW + 1.0)
            self._joint = gui.add_dropdown("Curves of", ("",), visible=False, order=_BELOW + 2.0)
            self._curves = gui.add_html("", visible=False, order=_BELOW + 3.0)
        for field in (self._strength, self._mute):
            field.on_update(asked(studio, self._changed))
        self._joint.on_update(asked(studio, self._draw))

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        if topic in ("motion", "document"):
            self._show()
        if topic == "time" and self._n is not None and not self._studio.player.playing:
            self._draw()

    def _show(self) -> None:
        plan = self._studio.plan
        count = 0 if plan is None or self._studio.live else len(plan.edits)
        self._n = self._n if self._n is not None and self._n < count else None
        words = {} if plan is None or not count else rows_of(plan)
        self._list.show(words, None if self._n is None else str(self._n))
        self._strength.visible = self._mute.visible = self._n is not None
        if plan is not None and self._n is not None:
            put(self._strength, plan.edits[self._n].strength)
            put(self._mute, plan.edits[self._n].muted)
        self._draw()

    def _draw(self) -> None:
        """Draw the curves of the joint chosen."""
        plan, studio = self._studio.plan, self._studio
        edit = None if plan is None or self._n is None or studio.live else plan.edits[self._n]
        joints = [] if edit is None else joints_of(edit, studio.world)
        self._joint.visible = self._curves.visible = bool(joints)
        if edit is None or not joints:
            return
        offer(self._joint, tuple(joints))
        drawing = drawn_curves(edit, self._joint.value, studio.original, studio.world, studio.player.time)
        if self._curves.content != drawing:
            self._curves.content = drawing

    def _picked(self, key: str) -> None:
        self._n = int(key)
        self._show()
        plan = self._studio.plan
        if plan is not None:
            self._studio.player.seek(0.5 * sum(plan.edits[self._n].during))

    def _changed(self) -> None:
        if self._n is not None:
            set_strength(self._studio, self._n, float(self._strength.value), bool(self._mute.value))


def rows_of(plan: Plan) -> dict[str, str]:
    """Text of each edit of a plan, by its number from 0."""
    out = {}
    for n, edit in enumerate(plan.edits):
        weak = " (muted)" if edit.muted else f" ({100 * edit.strength:.0f} %)" if edit.strength < 1.0 else ""
        out[str(n)] = f"{n + 1}  {edit.who}, {edit.limb.replace('_', ' ')}: {edit.reason}{weak}"
    return out
