"""Kitchen objects: counter, jars, bottles, mugs, tins, bowls, food. Metres; everything stands on z = 0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import assembled, lathe, prism, rounded_box, sphere, tube
from elbowroom.props.cabinets import bar_handle
from elbowroom.props.palette import (
    BIRCH,
    BRASS,
    CLAY,
    CREAM,
    GLASS,
    IRON,
    LEAF,
    MOSS,
    OAK,
    PAPER,
    PINE,
    STEEL,
    STONE,
    WHITE,
)


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


_CHEESE: Color = (0.76, 0.48, 0.10)
_HOLE: Color = (0.55, 0.31, 0.05)
_RIND: Color = (0.50, 0.10, 0.04)
_CRUST: Color = (0.42, 0.21, 0.07)


def cheese(length: float = 0.12, width: float = 0.062, height: float = 0.075) -> Mesh:
    """A piece of cheese with holes, cut like a cake, its rind towards -Y and its tip, which is cut off, towards +Y."""
    half, tip = 0.5 * width, 0.32 * width
    bow = np.linspace(-1.0, 1.0, 13)
    front = np.stack([half * bow, -0.5 * length + 0.1 * length * bow**2], axis=1)
    inside = np.concatenate([front, [(0.5 * tip, 0.5 * length), (-0.5 * tip, 0.5 * length)]])
    rind = np.concatenate([front - [0.0, 0.003], (front + [0.0, 0.002])[::-1]])
    parts = [prism(inside, height, (0, 0, 0), _CHEESE), prism(rind, height, (0, 0, 0), _RIND)]
    rng = np.random.default_rng(3)
    for side in (-1.0, 1.0):
        for _ in range(6):
            s, z, r = rng.uniform(0.2, 0.85), rng.uniform(0.2, 0.8), rng.uniform(0.003, 0.007)
            y = (s - 0.5) * length
            x = side * (half + (0.5 * tip - half) * np.clip((y + 0.4 * length) / (0.9 * length), 0.0, 1.0))
            # a hole is a dark spot on the cut face
            shape = np.diag([0.0008, r, r, 1.0])
            shape[:3, 3] = (x, y, 0.012 + z * (height - 0.024))
            parts.append(_bead(_HOLE).moved(shape))
    return assembled(parts)


def crate(width: float = 0.40, depth: float = 0.30, height: float = 0.13) -> Mesh:
    """A box of slats, open above."""
    board, slat = 0.010, (height - 0.012) / 2
    parts = [rounded_box((width - 0.002, depth - 0.002, 0.010), (0, 0, 0.005), BIRCH, radius=0.002, steps=1)]
    for s in (-1, 1):
        for z in (slat / 2 + 0.002, height - slat / 2):
            parts.append(
                rounded_box((width, board, slat), (0, s * (depth - board) / 2, z), PINE, radius=0.002, steps=1)
            )
            side = (board, depth - 2 * board - 0.001, slat)
            parts.append(rounded_box(side, (s * (width - board) / 2, 0, z), PINE, radius=0.002, steps=1))
        for t in (-1, 1):
            corner = (s * (width / 2 - 0.019), t * (depth / 2 - 0.019), height / 2)
            parts.append(rounded_box((0.016, 0.016, height - 0.004), corner, BIRCH, radius=0.002, steps=1))
    return assembled(parts)


def loaf(length: float = 0.26, width: float = 0.11, height: float = 0.085) -> Mesh:
    """A loaf of bread, cut across its top, along x."""
    ball = sphere(1.0, color=_CRUST)
    v = ball.vertices.copy()
    v[:, 2] = np.where(v[:, 2] < -0.3, -0.3, v[:, 2]) + 0.3
    v = np.sign(v) * np.abs(v) ** 0.8 * [0.5 * length, 0.5 * width, height / 1.3**0.8]
    for at in (-0.25, 0.0, 0.25):
        cut = np.exp(-(((v[:, 0] - 0.35 * v[:, 1] - at * length) / (0.05 * length)) ** 2))
        v[:, 2] -= 0.007 * cut * (v[:, 2] > 0.6 * height)
    return replace(ball, vertices=v)


def board(width: float = 0.34, depth: float = 0.22, thickness: float = 0.018) -> Mesh:
    """A board to cut on, with a grip at +X."""
    flat = rounded_box((width, depth, thickness), (0, 0, thickness / 2), OAK, radius=0.006, steps=4)
    grip = rounded_box((0.10, 0.045, thickness - 0.002), (width / 2 + 0.045, 0, thickness / 2), OAK, radius=0.006)
    return assembled([flat, grip])


def plate(radius: float = 0.125) -> Mesh:
    """A plate."""
    top = [(radius, 0.019), (0.98 * radius, 0.020), (0.72 * radius, 0.010), (0.65 * radius, 0.007), (0.0, 0.007)]
    under = [(0.0, 0.001), (0.50 * radius, 0.001), (0.52 * radius, 0.0), (0.57 * radius, 0.0), (0.60 * radius, 0.002)]
    return lathe([*under, (0.73 * radius, 0.006), (0.985 * radius, 0.0165), *top], color=WHITE, sections=48)


def apple(radius: float = 0.037, seed: int = 0) -> Mesh:
    """An apple with its stalk."""
    color = ((0.42, 0.05, 0.03), (0.25, 0.34, 0.06), (0.52, 0.18, 0.04))[seed % 3]
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 13)
    r = radius * np.cos(turn) ** 0.8
    z = radius * (0.93 + 0.93 * np.sin(turn) - 0.22 * np.exp(-((r / (0.4 * radius)) ** 2)) * np.sign(np.sin(turn)))
    body = lathe(np.stack([np.where(np.abs(turn) > 1.57, 0.0, r), z - z.min()], axis=1), color=color, sections=20)
    top = float(body.vertices[:, 2].max())
    stalk = tube([(0, 0, 0.8 * top), (0.002, 0, top), (0.005, 0.001, top + 0.008)], 0.0013, OAK, sections=8)
    return assembled([body, stalk])


def kettle(radius: float = 0.085) -> Mesh:
    """A kettle with a spout towards -X and a handle above."""
    r = radius
    body = [
        (0, 0), (r, 0), (1.03 * r, 0.012), (r, 0.05), (0.82 * r, 0.10), (0.5 * r, 0.128), (0.42 * r, 0.132),
        (0.1 * r, 0.140), (0.1 * r, 0.150), (0.16 * r, 0.158), (0.10 * r, 0.168), (0, 0.168),
    ]  # fmt: skip
    spout = [(-0.75 * r, 0, 0.055), (-1.15 * r, 0, 0.085), (-1.45 * r, 0, 0.125)]
    turn = np.linspace(0.0, np.pi, 19)
    bow = np.stack([0.8 * r * np.cos(turn), 0 * turn, 0.10 + 0.12 * np.sin(turn) ** 0.8], axis=1)
    return assembled(
        [
            lathe(body, color=(0.30, 0.05, 0.04), sections=40),
            tube(spout, [0.018, 0.014, 0.010], (0.30, 0.05, 0.04), sections=16),
            tube(bow, 0.007, IRON, sections=12),
        ]
    )


def herbs(height: float = 0.24, seed: int = 0) -> Mesh:
    """A pot of herbs."""
    rng = np.random.default_rng(seed)
    pot = lathe(
        [(0, 0), (0.045, 0), (0.055, 0.075), (0.06, 0.075), (0.06, 0.09), (0.054, 0.09), (0.05, 0.08), (0, 0.08)],
        color=(0.45, 0.19, 0.10),
        sections=32,
    )
    parts = [pot]
    for _ in range(10):
        way, out, up = rng.uniform(0, 2 * np.pi), rng.uniform(0.02, 0.075), rng.uniform(0.6, 1.0) * height
        tip = np.array([out * np.cos(way), out * np.sin(way), up])
        stem = np.array([[*(0.2 * tip[:2]), 0.078], [*(0.6 * tip[:2]), 0.7 * up], tip])
        parts.append(tube(stem, 0.0018, LEAF, sections=6))
        for _ in range(2):
            at = tip * [1, 1, 0] * rng.uniform(0.6, 1.0) + [0, 0, up * rng.uniform(0.75, 1.0)]
            leaf = np.diag([0.015, 0.011, 0.006, 1.0])
            leaf[:3, 3] = at
            parts.append(_bead(LEAF).moved(leaf))
    return assembled(parts)


def _bead(color: Color) -> Mesh:
    """A ball of few triangles about the origin, its radius 1."""
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 6)
    ball = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ball[[0, -1], 0] = 0.0
    return lathe(ball, color=color, sections=8)
