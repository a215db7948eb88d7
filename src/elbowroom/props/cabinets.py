"""Props that open: a chest with a drawer, a door in its frame, a button on a wall. Metres, front towards -Y.

Moving parts are meshes of their own, made at the place where they are shut; `*_HANDLE` says where a hand takes them.
"""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import assembled, cylinder, lathe, rounded_box, tube
from elbowroom.props.palette import BIRCH, BRASS, IRON, OAK, PLASTER, STEEL, WHITE

_SLIT = 0.003  # between a moving part and what is round it


def bar_handle(length: float = 0.16, out: float = 0.045, radius: float = 0.006, upright: bool = False) -> Mesh:
    """A bar on two posts, on a face that looks towards -Y at y = 0; its ends are domed."""
    half, dome = length / 2 + 0.012, np.linspace(0.0, 0.48 * np.pi, 7)
    x = np.concatenate([-half - radius * np.sin(dome[::-1]), half + radius * np.sin(dome)])
    radii = radius * np.concatenate([np.cos(dome[::-1]), np.cos(dome)])
    parts = [tube(np.stack([x, 0 * x - out, 0 * x], axis=1), radii, STEEL, sections=24)]
    foot = lathe([(0, 0), (1.9 * radius, 0), (1.9 * radius, 0.003), (0.8 * radius, 0.006), (0, 0.006)], color=STEEL)
    for at in (0.01 - length / 2, length / 2 - 0.01):
        parts.append(tube([(at, 0.001, 0), (at, -out, 0)], 0.75 * radius, STEEL))
        parts.append(foot.moved(_facing_out(at, 0, 0)))
    stand = np.array([[0, 0, -1.0, 0], [0, 1.0, 0, 0], [1.0, 0, 0, 0], [0, 0, 0, 1.0]])
    return assembled(parts).moved(stand) if upright else assembled(parts)


def chest(
    width: float = 0.8,
    depth: float = 0.45,
    height: float = 1.0,
    drawer_height: float = 0.18,
) -> Mesh:
    """A chest whose upper drawer is left out: `drawer` fits there. Those below are shut for good."""
    side, top = 0.022, 0.026
    parts = [
        rounded_box((side, depth, height - top), (s * (width - side) / 2, 0, (height - top) / 2), OAK) for s in (-1, 1)
    ]
    parts.append(
        rounded_box((width + 0.03, depth + 0.04, top), (0, -0.01, height - top / 2), OAK, radius=0.01, steps=4)
    )
    parts.append(rounded_box((width - 2 * side, 0.008, height - 0.05), (0, depth / 2 - 0.006, height / 2), BIRCH))
    inner, level = width - 2 * side + 0.002, height - top - drawer_height - 0.02
    parts.append(rounded_box((inner, depth - 0.03, 0.02), (0, 0.005, level + 0.01), OAK, radius=0.003))
    parts += [
        rounded_box((0.012, depth - 0.06, 0.014), (s * (inner / 2 - 0.006), 0.0, level + 0.1), BIRCH) for s in (-1, 1)
    ]
    parts.append(rounded_box((inner, 0.02, 0.07), (0, -depth / 2 + 0.03, 0.035), OAK))
    rows = 3
    tall = (level - 0.075) / rows
    for row in range(rows):
        middle = 0.075 + (row + 0.5) * tall
        parts.append(_front(width - 0.008, tall - 0.006, (0, -depth / 2 - 0.0095, middle)))
        parts.append(bar_handle(0.18, 0.055, 0.008).moved(_at(0, -depth / 2 - 0.0205, middle)))
    return assembled(parts)


def _at(x: float, y: float, z: float) -> Array:
    T = np.eye(4)
    T[:3, 3] = (x, y, z)
    return T


def _front(width: float, height: float, at: tuple[float, float, float], color: Color = OAK) -> Mesh:
    """Front of a drawer: a board with a raised field."""
    x, y, z = at
    board = rounded_box((width, 0.018, height), (x, y - 0.001, z), color, radius=0.005, steps=3)
    field = rounded_box((width - 0.07, 0.006, max(height - 0.06, 0.03)), (x, y - 0.009, z), color, radius=0.0025)
    return assembled([board, field])


def drawer(width: float = 0.8, depth: float = 0.45, height: float = 0.18) -> Mesh:
    """The drawer of `chest` with the same width and depth: open above, a bar at its front.

    Its origin is the middle of its front's outer face; shut, that is at (0, -depth / 2 - 0.0195) and, 0.18 high, 0.116
    below the top of the chest. The bar's middle is at (0, -0.056, 0).
    """
    wide, deep, low = width - 2 * 0.022 - 0.034, depth - 0.05, height - 0.03
    wall, back = 0.012, 0.011
    parts = [
        _front(width - 0.008, height - 2 * _SLIT, (0, 0.01, 0)),
        bar_handle(0.18, 0.055, 0.008).moved(_at(0, -0.001, 0)),
    ]
    middle = back + 0.008 + deep / 2
    parts += [rounded_box((wall, deep, low), (s * (wide - wall) / 2, middle, 0), BIRCH, radius=0.003) for s in (-1, 1)]
    parts.append(rounded_box((wide - 0.01, wall, low), (0, middle + deep / 2 - wall, 0), BIRCH, radius=0.003))
    parts.append(rounded_box((wide - 0.01, deep, 0.008), (0, middle, -low / 2 + 0.004), BIRCH, radius=0.002))
    return assembled(parts)


def door(
    width: float = 0.82, height: float = 2.02, thickness: float = 0.04, handle: float = 1.0, both_sides: bool = False
) -> Mesh:
    """A panelled door leaf from x = 0, its hinges, to `width`; front at y = 0; an upright bar at the height `handle`.

    The bar's middle is at (width - 0.07, -0.075, handle), that of a second one on the back, with `both_sides`, at
    (width - 0.07, thickness + 0.075, handle); it turns about an upright axis through (0, -0.007).
    """
    leaf = rounded_box((width, thickness, height), (width / 2, thickness / 2, height / 2), WHITE, radius=0.003)
    parts = [leaf]
    for low, high in ((0.07 * height, 0.405 * height), (0.485 * height, 0.92 * height)):
        middle, tall = 0.5 * (low + high), high - low
        for y, out in ((0.0, -1.0), (thickness, 1.0)):
            parts += _panel(width / 2, y, middle, width - 0.26, tall, out)
    bar = bar_handle(0.30, 0.075, 0.011, upright=True)
    parts.append(bar.moved(_at(width - 0.07, 0, handle)))
    if both_sides:
        parts.append(bar.moved(_at(width - 0.07, thickness, handle) @ np.diag([-1.0, -1.0, 1.0, 1.0])))
    parts += [cylinder(0.006, 0.09, (0, -0.007, z), BRASS) for z in (0.25, height / 2, height - 0.25)]
    return assembled(parts)


def _panel(x: float, y: float, z: float, width: float, height: float, out: float) -> list[Mesh]:
    """A raised field with a bead round it."""
    field = rounded_box((width - 0.05, 0.008, height - 0.05), (x, y + out * 0.001, z), WHITE, radius=0.0035, steps=3)
    w, h, at = width / 2, height / 2, y + out * 0.001
    corners = [(x - w, at, z - h), (x + w, at, z - h), (x + w, at, z + h), (x - w, at, z + h)]
    beads = [tube([a, b], 0.006, WHITE, sections=16) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    knobs = [rounded_box((0.015, 0.013, 0.015), c, WHITE, radius=0.005) for c in corners]
    return [field, *beads, *knobs]


def door_frame(width: float = 0.82, height: float = 2.02, wall_width: float = 3.0, thickness: float = 0.12) -> Mesh:
    """A wall with an opening from x = 0 to `width` for `door`, lined; the wall's face is at y = 0.01."""
    low = 2.5
    left, right = (wall_width - width) * 0.4, (wall_width - width) * 0.6
    gap, y = 0.006, 0.01 + thickness / 2
    parts = [
        rounded_box((left, thickness, low), (-gap - 0.03 - left / 2, y, low / 2), PLASTER, radius=0.002, steps=1),
        rounded_box(
            (right, thickness, low), (width + gap + 0.03 + right / 2, y, low / 2), PLASTER, radius=0.002, steps=1
        ),
        rounded_box(
            (width + 0.1, thickness, low - height - 0.04),
            (width / 2, y, 0.5 * (low + height + 0.04)),
            PLASTER,
            radius=0.002,
            steps=1,
        ),
    ]
    for x in (-gap - 0.015, width + gap + 0.015):
        parts.append(rounded_box((0.03, thickness + 0.02, height + 0.03), (x, y, (height + 0.03) / 2), BIRCH, steps=2))
        out = -0.03 if x < 0 else 0.03
        parts.append(rounded_box((0.07, 0.014, height + 0.08), (x + out, 0.006, (height + 0.08) / 2), BIRCH, steps=2))
    parts.append(rounded_box((width + 0.07, thickness + 0.02, 0.03), (width / 2, y, height + 0.033), BIRCH, steps=2))
    parts.append(rounded_box((width + 0.20, 0.014, 0.07), (width / 2, 0.006, height + 0.06), BIRCH, steps=2))
    return assembled(parts)


def switch_plate(size: float = 0.086) -> Mesh:
    """Plate of a light switch on a wall, its back at y = 0, with a recess 44 mm wide for `switch_button`."""
    bar = (size - 0.044) / 2
    parts = [rounded_box((size - 0.01, 0.0015, size - 0.01), (0, -0.00075, 0), IRON, radius=0.0005, steps=1)]
    for s in (-1, 1):
        at = s * (size - bar) / 2
        parts.append(rounded_box((size, 0.009, bar), (0, -0.0045, at), WHITE, radius=0.004, steps=2))
        parts.append(rounded_box((bar, 0.009, size - 0.01), (at, -0.0045, 0), WHITE, radius=0.004, steps=2))
        parts.append(cylinder(0.003, 0.002, color=STEEL).moved(_facing_out(0, -0.009, s * 0.033)))
    return assembled(parts)


def switch_button(radius: float = 0.02) -> Mesh:
    """A round button, its back at y = 0, that stands out 12 mm towards -Y."""
    angles = np.linspace(0.0, np.pi / 2, 7)
    rim = np.stack([radius - 0.003 + 0.003 * np.cos(angles), 0.009 + 0.003 * np.sin(angles)], axis=1)
    profile = np.concatenate([[(0, 0), (radius, 0)], rim, [(0, 0.012)]])
    return lathe(profile, color=(0.55, 0.08, 0.06), sections=48).moved(_facing_out(0, 0, 0))


def _facing_out(x: float, y: float, z: float) -> Array:
    """z becomes -y."""
    return np.array([[1.0, 0, 0, x], [0, 0, -1.0, y], [0, 1.0, 0, z], [0, 0, 0, 1.0]])
