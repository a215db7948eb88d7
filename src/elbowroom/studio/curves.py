"""Joint angles before and after an edit, drawn as curves over time."""

from __future__ import annotations

from html import escape

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.world.edit import Edit
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
