"""Kitchen things: a counter, jars, bottles, mugs, tins, bowls. Metres; everything stands on z = 0."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.profiles import tube
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import assembled, lathe, rounded_box, sphere
from elbowroom.props.cabinets import bar_handle
from elbowroom.props.palette import BRASS, CLAY, CREAM, GLASS, IRON, MOSS, OAK, PAPER, STEEL, STONE, WHITE


def counter(width: float = 1.8, depth: float = 0.5, height: float = 0.9) -> Mesh:
    """A worktop on cupboards, its front towards -Y."""
    parts = [
        rounded_box((width, depth, 0.036), (0, 0, height - 0.018), STONE, radius=0.01, steps=4),
        rounded_box((width - 0.01, depth - 0.05, height - 0.136), (0, 0.015, 0.1 + (height - 0.136) / 2), WHITE),
        rounded_box((width - 0.03, depth - 0.11, 0.1), (0, 0.04, 0.05), IRON, radius=0.003),
    ]
    doors = max(1, round(width / 0.45))
    each = (width - 0.01) / doors
    for k in range(doors):
        x = (k + 0.5) * each - (width - 0.01) / 2
        parts.append(
            rounded_box(
                (each - 0.006, 0.018, height - 0.15), (x, -depth / 2 + 0.034, 0.1 + (height - 0.14) / 2), WHITE, steps=3
            )
        )
        up = np.eye(4)
        up[:3, 3] = (x + (each / 2 - 0.05) * (1 if k % 2 == 0 else -1), -depth / 2 + 0.025, height - 0.2)
        parts.append(bar_handle(0.12, 0.03, 0.005, upright=True).moved(up))
    return assembled(parts)


def _rounded(corners: list[tuple[float, float]], radius: float, steps: int = 4) -> Array:
    """A profile of (radius, height) pairs with its inner corners rounded."""
    at = np.array(corners, dtype=float)
    out = [at[:1]]
    s = np.linspace(0.0, 1.0, steps + 1)[:, None]
    for before, corner, after in zip(at[:-2], at[1:-1], at[2:], strict=True):
        a, b = before - corner, after - corner
        reach = min(radius, 0.45 * float(np.linalg.norm(a)), 0.45 * float(np.linalg.norm(b)))
        begin, end = corner + reach * a / np.linalg.norm(a), corner + reach * b / np.linalg.norm(b)
        out.append((1 - s) ** 2 * begin + 2 * s * (1 - s) * corner + s**2 * end)
    return np.concatenate([*out, at[-1:]])


def jar(radius: float = 0.037, height: float = 0.15) -> Mesh:
    """A storage jar: glass with what is in it showing, and a wooden lid with a rim."""
    r, neck = radius, radius - 0.004
    glass = lathe(
        _rounded([(0, 0), (r, 0), (r, height - 0.028), (neck, height - 0.022), (0, height - 0.022)], 0.006), color=GLASS
    )
    lid = lathe(
        _rounded([(0, height - 0.0215), (neck + 0.002, height - 0.0215), (neck + 0.002, height), (0, height)], 0.004),
        color=OAK,
    )
    label = lathe(
        [
            (r - 0.001, 0.35 * height),
            (r + 0.0004, 0.35 * height),
            (r + 0.0004, 0.62 * height),
            (r - 0.001, 0.62 * height),
            (r - 0.001, 0.35 * height),
        ],
        color=PAPER,
    )
    return assembled([glass, lid, label])


def bottle(radius: float = 0.034, height: float = 0.27, seed: int = 0) -> Mesh:
    """A bottle with shoulders, a neck and a stopper."""
    color = (MOSS, GLASS, BRASS, CLAY)[seed % 4]
    r, n, shoulder = radius, 0.4 * radius, 0.62 * height
    body = _rounded(
        [(0, 0), (r, 0), (r, shoulder), (n, shoulder + 0.055), (n, height - 0.02), (0, height - 0.02)], 0.014, 6
    )
    ring = _rounded(
        [(0, height - 0.035), (n + 0.003, height - 0.035), (n + 0.003, height - 0.024), (0, height - 0.024)], 0.003
    )
    cork = _rounded([(0, height - 0.021), (0.8 * n, height - 0.021), (0.9 * n, height), (0, height)], 0.003)
    return assembled([lathe(body, color=color), lathe(ring, color=color), lathe(cork, color=OAK)])


def mug(radius: float = 0.039, height: float = 0.095, seed: int = 0) -> Mesh:
    """A mug, hollow, with its handle towards +X."""
    color = (CLAY, (0.08, 0.16, 0.30), CREAM, MOSS)[seed % 4]
    r, inner = radius, radius - 0.004
    wall = _rounded(
        [
            (0, 0.002),
            (r - 0.014, 0.002),
            (r - 0.012, 0),
            (r - 0.004, 0),
            (r, 0.006),
            (r, height),
            (inner, height),
            (inner, 0.006),
            (0, 0.006),
        ],
        0.003,
    )
    turn = np.linspace(-0.62 * np.pi, 0.62 * np.pi, 17)
    ear = np.stack([r - 0.006 + 0.032 * np.cos(turn) * 0.95, 0 * turn, 0.52 * height + 0.031 * np.sin(turn)], axis=1)
    return assembled([lathe(wall, color=color), tube(ear, 0.005, color, sections=12)])


def tin(radius: float = 0.045, height: float = 0.12, seed: int = 0) -> Mesh:
    """A tin with a lid that overlaps."""
    color = ((0.30, 0.07, 0.05), (0.07, 0.18, 0.24), (0.50, 0.36, 0.10))[seed % 3]
    body = _rounded([(0, 0), (radius - 0.001, 0), (radius - 0.001, height - 0.02), (0, height - 0.02)], 0.003)
    lid = _rounded(
        [(0, height - 0.03), (radius, height - 0.03), (radius, height - 0.003), (radius - 0.006, height), (0, height)],
        0.002,
    )
    return assembled([lathe(body, color=color), lathe(lid, color=STEEL)])


def bowl(radius: float = 0.11, height: float = 0.06) -> Mesh:
    """A bowl with a foot."""
    angles = np.linspace(0.12 * np.pi, 0.5 * np.pi, 8)
    outer = np.stack([radius * np.sin(angles), height - (height - 0.006) * np.cos(angles)], axis=1)
    inner = np.stack([(radius - 0.004) * np.sin(angles), height - (height - 0.011) * np.cos(angles)], axis=1)[::-1]
    profile = np.concatenate([[(0, 0), (0.4 * radius, 0), (0.4 * radius, 0.006)], outer[1:], inner, [(0, 0.011)]])
    return lathe(profile, color=CREAM)


def carton(width: float = 0.07, depth: float = 0.05, height: float = 0.19, seed: int = 0) -> Mesh:
    """A packet with rounded edges and a coloured panel at its front."""
    color = ((0.62, 0.44, 0.10), (0.10, 0.24, 0.34), (0.40, 0.08, 0.06))[seed % 3]
    body = rounded_box((width, depth, height), (0, 0, height / 2), color, radius=0.004, steps=3)
    panel = rounded_box((0.75 * width, 0.001, 0.4 * height), (0, -depth / 2, 0.55 * height), PAPER, radius=0.0004)
    return assembled([body, panel])


def ball(radius: float = 0.045) -> Mesh:
    """A ball that stands on z = 0."""
    return sphere(radius, (0, 0, radius), (0.58, 0.10, 0.05))
