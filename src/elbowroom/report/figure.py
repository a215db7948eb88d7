"""Line drawing of characters at one moment, for machines that cannot render."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.world.extent import facing, joint_transforms
from elbowroom.world.viewpoint import axes_towards
from elbowroom.world.world import World

_SIZE = (560.0, 400.0)
# Where it is seen from: to the side of the front, a little from above, radians.
_ASIDE, _ABOVE = np.radians(50.0), np.radians(12.0)
# How thick the segment that ends at a joint is drawn, metres for an adult, by the joint's role without its side.
_THICK = {
    "spine1": 0.22,
    "spine2": 0.23,
    "chest": 0.24,
    "neck": 0.11,
    "head": 0.11,
    "clavicle": 0.13,
    "upper_arm": 0.12,
    "forearm": 0.09,
    "hand": 0.075,
    "thigh": 0.17,
    "shin": 0.13,
    "foot": 0.10,
    "toes": 0.08,
}
_FINGER, _BONE, _HEAD = 0.022, 0.05, 0.19
_HIDDEN = ("eye",)


@dataclass(frozen=True, eq=False)
class _Line:
    """Projected segment: both ends (2,), metres, thickness, and depth."""

    begin: Array
    end: Array
    thick: float
    near: float


def figure(world: World, t: float) -> str:
    """SVG of all characters at a time in seconds: segments as thick lines, near ones over far ones."""
    times = np.array([t])
    people = [(m.body, m) for m in world.characters.values() if isinstance(m.body, Character)]
    if not people:
        return ""
    axes = axes_towards(facing(people[0][1], times), _ASIDE, _ABOVE)
    lines = [line for body, m in people for line in _lines(body, joint_transforms(m, times)[0], axes)]
    ends = np.array([end for line in lines for end in (line.begin, line.end)])
    low, high = ends.min(axis=0) - 0.15, ends.max(axis=0) + 0.15
    scale = float(np.min(np.array(_SIZE) / (high - low)))
    middle = 0.5 * (low + high)

    def page(p: Array) -> Array:
        return 0.5 * np.array(_SIZE) + (p - middle) * [scale, -scale]

    drawn = []
    for line in sorted(lines, key=lambda line: line.near):
        (x1, y1), (x2, y2) = page(line.begin), page(line.end)
        ends_at = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        thick = max(line.thick * scale, 1.5)
        drawn.append(f'<line stroke="#e2e4e6" stroke-width="{thick + 2.5:.1f}" {ends_at}/>')
        drawn.append(f'<line stroke="#5b7a94" stroke-width="{thick:.1f}" {ends_at}/>')
    return (
        f'<svg class="drawn" viewBox="0 0 {_SIZE[0]:.0f} {_SIZE[1]:.0f}" role="img" aria-label="motion at {t:.2f} s">'
        f'<g stroke-linecap="round">{"".join(drawn)}</g></svg>'
    )


def _lines(body: Character, T: Array, axes: Array) -> list[_Line]:
    """Segments of a body as seen along axes (3, 3)."""
    seen = T[:, :3, 3] @ axes.T
    size = max(float(np.ptp(body.skeleton.T_rest[:, 2, 3])) / 1.6, 1e-3)
    roles = {j: role.removeprefix("left_").removeprefix("right_") for role, j in body.roles.items()}
    out = []
    for j, parent in enumerate(body.parents.tolist()):
        part = roles.get(j, "")
        if parent >= 0 and part not in _HIDDEN:
            thick = _THICK.get(part, _FINGER if part else _BONE) * size
            out.append(_Line(seen[parent, :2], seen[j, :2], thick, float(0.5 * (seen[parent, 2] + seen[j, 2]))))
        if part == "head":
            top = seen[j] + axes @ T[j, :3, :3] @ body.skeleton.T_rest[j, :3, :3].T @ np.array([0.0, 0.0, 0.09 * size])
            out.append(_Line(seen[j, :2], top[:2], _HEAD * size, float(top[2])))
    return out or [_Line(seen[0, :2], seen[0, :2] + 1e-6, _BONE * size, 0.0)]
