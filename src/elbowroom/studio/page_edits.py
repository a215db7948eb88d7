"""Edits of the motion in the panel: a list; strength, mute and joint curves of the selected one."""

from __future__ import annotations

from html import escape

import numpy as np
import viser

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.plan.state.result import Plan
from elbowroom.report.parts import drawn_sources
from elbowroom.studio.actions import set_strength
from elbowroom.studio.page_looks import Rows, asked, heed, offer, put
from elbowroom.studio.studio import Studio, Topic
from elbowroom.world.edit import CaptureBlend, Edit
from elbowroom.world.world import World

# Seconds shown before and after the edit, and samples of a curve.
_AROUND_S = 0.3
_SAMPLES = 121
# Size of the drawing, pixels, and the room for numbers on its left and below.
_WIDTH_PX = 320
_HEIGHT_PX = 150
_LEFT_PX = 34
_BELOW_PX = 16
_COLORS = ("#4a8fb5", "#c8744a", "#6f9f52")
_NAMES = {"hinge": ("flexion", "off axis", "twist"), "": ("swing x", "swing y", "twist")}
# Degrees that a scale spans at least, so that still joints do not look busy.
_LEAST_DEG = 10.0


def joints_of(edit: Edit, world: World) -> list[str]:
    """Names of the joints that an edit moves and whose angles have a meaning."""
    body = world.body(edit.who)
    if not isinstance(body, Character):
        return []
    return [body.joint_names[j] for j in edit.layer.joints if j < len(body.limits) and body.limits[j] is not None]


def angles(edit: Edit, joint: str, before: World, after: World) -> tuple[Array, Array, Array]:
    """Times (T,), and joint coordinates (T, 3) before and after an edit, degrees."""
    body = after.body(edit.who)
    assert isinstance(body, Character)
    j = body.skeleton.index(joint)
    limit = body.limits[j]
    assert limit is not None
    begin, end = after.span
    times = np.linspace(max(edit.during[0] - _AROUND_S, begin), min(edit.during[1] + _AROUND_S, end), _SAMPLES)
    both = []
    for world in (before, after):
        q = np.asarray(world.characters[edit.who].sample(times)[1]).reshape(len(times), -1, 4)
        both.append(np.degrees(np.unwrap(limit.coordinates(q[:, j]), axis=0)))
    return times, both[0], both[1]


def drawn_curves(edit: Edit, joint: str, before: World, after: World, now: float) -> str:
    """HTML of the curves: dashed before the edit, solid with it, a line at the time `now` in seconds."""
    times, old, new = angles(edit, joint, before, after)
    body = after.body(edit.who)
    assert isinstance(body, Character)
    limit = body.limits[body.skeleton.index(joint)]
    names = _NAMES["hinge" if limit is not None and limit.kind == "hinge" else ""]
    low, high = float(min(old.min(), new.min())), float(max(old.max(), new.max()))
    spare = max(0.5 * (_LEAST_DEG - (high - low)), 0.05 * (high - low))
    low, high = low - spare, high + spare

    def x(t: Array | float) -> Array:
        return _LEFT_PX + (_WIDTH_PX - _LEFT_PX - 4) * (np.asarray(t) - times[0]) / max(times[-1] - times[0], 1e-6)

    def y(angle: Array | float) -> Array:
        return 4 + (_HEIGHT_PX - _BELOW_PX - 8) * (high - np.asarray(angle)) / (high - low)

    parts = []
    for k, color in enumerate(_COLORS):
        for rows, style in ((old, 'stroke-dasharray="3 3" stroke-opacity=".6"'), (new, 'stroke-width="1.6"')):
            path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x(times), y(rows[:, k]), strict=True))
            parts.append(f'<polyline fill="none" stroke="{color}" {style} points="{path}"/>')
    ink = 'fill="currentColor" fill-opacity=".7" font-size="10"'
    for angle in (low + spare, high - spare):
        parts.append(f'<text {ink} x="{_LEFT_PX - 4}" y="{y(angle) + 3:.0f}" text-anchor="end">{angle:.0f}°</text>')
    for t, anchor in ((times[0], "start"), (times[-1], "end")):
        parts.append(f'<text {ink} x="{x(t):.0f}" y="{_HEIGHT_PX - 4}" text-anchor="{anchor}">{t:.2f} s</text>')
    if times[0] <= now <= times[-1]:
        line = f'x1="{x(now):.1f}" x2="{x(now):.1f}" y1="2" y2="{_HEIGHT_PX - _BELOW_PX}"'
        parts.append(f'<line {line} stroke="#4a8fb5"/>')
    legend = "".join(
        f'<span style="margin-right:10px"><span style="color:{color}">■</span> {escape(name)}</span>'
        for name, color in zip(names, _COLORS, strict=True)
    )
    return (
        f'<div style="margin:2px 10px;font-size:11px"><svg width="100%" viewBox="0 0 {_WIDTH_PX} {_HEIGHT_PX}">'
        f"{''.join(parts)}</svg>{legend}<br>dashed: before the edit, solid: with it</div>"
    )


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
            self._sources = gui.add_html("", visible=False, order=_BELOW + 4.0)
        for field in (self._strength, self._mute):
            heed(field, studio, self._changed)
        self._joint.on_update(asked(studio, self._draw))

    def notify(self, topic: Topic) -> None:
        """Update after a change in the studio."""
        if topic in ("motion", "document"):
            self._show()
        if topic == "time" and self._n is not None and not self._studio.player.playing:
            self._draw()

    def _show(self) -> None:
        plan = self._studio.plan
        count = len(plan.edits) if plan is not None and self._studio.has_edits else 0
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
        edit = None if plan is None or self._n is None or not studio.has_edits else plan.edits[self._n]
        joints = [] if edit is None else joints_of(edit, studio.world)
        self._joint.visible = self._curves.visible = bool(joints)
        blend = None if edit is None else edit.blend
        self._sources.visible = blend is not None
        if blend is not None and self._sources.content != (bars := sources_of(blend, studio.player.time)):
            self._sources.content = bars
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


def sources_of(blend: CaptureBlend, now: float) -> str:
    """HTML of where the parts of a whole-body motion come from, and of both criteria without and with recordings."""
    (similar, then_similar), (torque, then_torque) = blend.similarity, blend.torque
    said = (f"posture similarity {similar:.3f} → {then_similar:.3f}, "
            f"torque variation {torque:.3f} → {then_torque:.3f}")  # fmt: skip
    return f'{drawn_sources(blend, now)}<div style="margin:2px 10px;font-size:11px">{said}</div>'


def rows_of(plan: Plan) -> dict[str, str]:
    """Text of each edit of a plan, by its number from 0."""
    out = {}
    for n, edit in enumerate(plan.edits):
        weak = " (muted)" if edit.muted else f" ({100 * edit.strength:.0f} %)" if edit.strength < 1.0 else ""
        out[str(n)] = f"{n + 1}  {edit.who}, {edit.limb.replace('_', ' ')}: {edit.reason}{weak}"
    return out
