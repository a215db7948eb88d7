"""A kitchen's table, chairs, lamp and window, in metres; they stand on z = 0 with their fronts towards -Y."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.profiles import tube
from elbowroom.geometry.solids import assembled, lathe, rounded_box
from elbowroom.props.palette import BIRCH, BRASS, GLASS, IRON, OAK, PLASTER, WHITE


def kitchen_table(width: float = 1.3, depth: float = 0.75, height: float = 0.74) -> Mesh:
    """A table with a thick top, an apron and turned legs."""
    x, y = width / 2 - 0.075, depth / 2 - 0.075
    parts = [rounded_box((width, depth, 0.036), (0, 0, height - 0.018), OAK, radius=0.008, steps=4)]
    parts += [rounded_box((2 * x, 0.02, 0.08), (0, s * y, height - 0.075), OAK, steps=1) for s in (-1, 1)]
    parts += [rounded_box((0.02, 2 * y, 0.08), (s * x, 0, height - 0.075), OAK, steps=1) for s in (-1, 1)]
    leg = [
        (0, 0), (0.02, 0), (0.024, 0.03), (0.018, 0.06), (0.034, 0.22), (0.036, 0.36), (0.022, height - 0.19),
        (0.036, height - 0.16), (0.036, height - 0.036), (0, height - 0.036),
    ]  # fmt: skip
    parts += [lathe(leg, (sx * x, sy * y, 0), OAK, sections=20) for sx in (-1, 1) for sy in (-1, 1)]
    return assembled(parts)


def spindle_chair(seat: float = 0.45, walnut: bool = False) -> Mesh:
    """A kitchen chair with turned legs and a back of spindles, its back towards +Y."""
    wood: Color = (0.22, 0.12, 0.06) if walnut else OAK
    parts = [rounded_box((0.42, 0.42, 0.034), (0, 0, seat - 0.017), wood, radius=0.014, steps=4)]
    s = np.linspace(0.0, 1.0, 9)[:, None]
    width = 0.013 + 0.005 * np.sin(2.5 * np.pi * s[:, 0]) ** 2
    for sx in (-1, 1):
        for sy in (-1, 1):
            foot, top = np.array([sx * 0.205, sy * 0.205, 0.001]), np.array([sx * 0.15, sy * 0.15, seat - 0.03])
            parts.append(tube(foot + s * (top - foot), width, wood, sections=10))
        parts.append(tube([(sx * 0.185, -0.185, 0.16), (sx * 0.185, 0.185, 0.16)], 0.008, wood, sections=10))
    parts.append(tube([(-0.185, 0.0, 0.161), (0.185, 0.0, 0.161)], 0.008, wood, sections=8))
    for x in np.linspace(-0.165, 0.165, 6):
        thick = 0.012 if abs(x) > 0.16 else 0.006
        parts.append(tube([(0.9 * x, 0.175, seat - 0.01), (x, 0.235, seat + 0.41)], thick, wood, sections=8))
    bow = np.linspace(-1.0, 1.0, 13)
    rail = np.stack([0.195 * bow, 0.238 - 0.03 * bow**2, seat + 0.425 - 0.01 * bow**2], axis=1)
    parts.append(tube(rail, 0.019, wood, sections=10))
    return assembled(parts)


def hanging_lamp(drop: float = 0.75, radius: float = 0.19) -> Mesh:
    """A lamp with a shade and a bulb, from its ceiling rose at z = 0 downwards."""
    low = -drop
    shade = [
        (radius, low), (radius - 0.004, low), (0.5 * radius, low + 0.10), (0.025, low + 0.15), (0.025, low + 0.19),
        (0.03, low + 0.19), (0.03, low + 0.155), (0.53 * radius, low + 0.104), (radius, low + 0.004), (radius, low),
    ]  # fmt: skip
    turn = np.linspace(-0.5 * np.pi, 0.35 * np.pi, 9)
    bulb = [(0.033 * np.cos(a), low + 0.065 + 0.033 * np.sin(a)) for a in turn]
    rose = [(0, 0), (0.05, 0), (0.045, -0.018), (0.012, -0.026), (0, -0.026)]
    return assembled(
        [
            lathe(shade, color=(0.10, 0.20, 0.16), sections=40),
            lathe([(0.0, low + 0.032), *bulb[1:], (0.016, low + 0.12), (0.0, low + 0.12)], color=(0.9, 0.8, 0.5)),
            lathe(rose, color=BRASS),
            tube([(0, 0, -0.02), (0, 0, low + 0.18)], 0.003, IRON, sections=8),
        ]
    )


def window_wall(width: float = 3.6, height: float = 2.5, thickness: float = 0.1, sill: float = 1.05) -> Mesh:
    """A wall with a window of four panes in its middle; its face is at y = 0 and looks towards -Y."""
    wide, top = min(1.1, 0.6 * width), min(height - 0.3, 2.05)
    y, side = thickness / 2, (width - wide) / 2
    parts = [
        rounded_box((side, thickness, height), (s * (width - side) / 2, y, height / 2), PLASTER, radius=0.002, steps=1)
        for s in (-1, 1)
    ]
    parts.append(rounded_box((wide, thickness, sill), (0, y, sill / 2), PLASTER, radius=0.002, steps=1))
    parts.append(
        rounded_box((wide, thickness, height - top), (0, y, (height + top) / 2), PLASTER, radius=0.002, steps=1)
    )
    parts.append(rounded_box((wide + 0.12, 0.16, 0.025), (0, -0.03, sill + 0.012), BIRCH, radius=0.006, steps=3))
    bar, middle, tall = 0.045, (sill + top) / 2, top - sill
    for x in (-wide / 2 + bar / 2, 0.0, wide / 2 - bar / 2):
        parts.append(rounded_box((bar, 0.05, tall), (x, y, middle), WHITE, radius=0.006, steps=1))
    for z in (sill + bar / 2, middle, top - bar / 2):
        parts.append(rounded_box((wide, 0.045, bar), (0, y, z), WHITE, radius=0.006, steps=1))
    parts.append(rounded_box((wide, 0.006, tall), (0, y, middle), GLASS, radius=0.001, steps=1))
    return assembled(parts)
