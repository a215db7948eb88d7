"""A plain drawing of people at one moment, for machines on which nothing can be rendered."""

from __future__ import annotations

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.framing import axes_towards
from elbowroom.geometry.rotations import Array
from elbowroom.world.extent import facing, joint_transforms
from elbowroom.world.world import World

_SIZE = (560.0, 400.0)
# Where it is seen from: to the side of the front, a little from above, radians.
_ASIDE, _ABOVE = np.radians(50.0), np.radians(12.0)
# How thick limbs are drawn, metres, by the end of their role.
_THICK = {
    "thigh": 0.13,
    "shin": 0.10,
    "upper_arm": 0.09,
    "forearm": 0.08,
    "chest": 0.24,
    "spine2": 0.24,
    "spine1": 0.24,
}
_THIN, _BONE = 0.07, 0.02


def figure(world: World, t: float) -> str:
    """SVG of all people at a time in seconds: limbs as thick lines, the floor as a level."""
    times = np.array([t])
    people = [(m.body, m) for m in world.characters.values() if isinstance(m.body, Character)]
    if not people:
        return ""
    axes = axes_towards(facing(people[0][1], times), _ASIDE, _ABOVE)
    lines = [line for body, m in people for line in _limbs(body, joint_transforms(m, times)[0], axes)]
    ends = np.concatenate([np.stack([a, b]) for a, b, _ in lines])
    low, high = ends.min(axis=0) - 0.2, ends.max(axis=0) + 0.2
    scale = float(np.min(np.array(_SIZE) / (high - low)))
    middle = 0.5 * (low + high)

    def page(p: Array) -> Array:
        return 0.5 * np.array(_SIZE) + (p - middle) * [scale, -scale]

    drawn = []
    for a, b, width in lines:
        (x1, y1), (x2, y2) = page(a), page(b)
        thick = max(width * scale, 1.5)
        drawn.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{thick:.1f}"/>')
    return (
        f'<svg class="drawn" viewBox="0 0 {_SIZE[0]:.0f} {_SIZE[1]:.0f}" role="img" aria-label="people at {t:.2f} s">'
        f'<g stroke="#5b7a94" stroke-linecap="round">{"".join(drawn)}</g></svg>'
    )


def _limbs(body: Character, T: Array, axes: Array) -> list[tuple[Array, Array, float]]:
    """Lines from joint to joint as seen along axes (3, 3): both ends (2,), and how thick, metres."""
    seen = T[:, :3, 3] @ axes.T
    size = max(float(np.ptp(body.skeleton.T_rest[:, 2, 3])) / 1.6, 1e-3)
    roles = {j: role for role, j in body.roles.items()}
    out = []
    for j, parent in enumerate(body.parents.tolist()):
        if parent >= 0:
            part = roles.get(parent, "").removeprefix("left_").removeprefix("right_")
            fingers = any(roles.get(j, "").endswith(f"{n}") for n in (1, 2, 3)) and "spine" not in roles.get(j, "")
            thick = _BONE if fingers else _THICK.get(part, _THIN if part else _BONE)
            out.append((seen[parent, :2], seen[j, :2], thick * size))
    return out or [(seen[0, :2], seen[0, :2] + 1e-6, _THIN * size)]
