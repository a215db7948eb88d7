"""Food, and what it is kept and served in. Metres; everything stands on z = 0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.profiles import prism, tube
from elbowroom.geometry.solids import assembled, lathe, rounded_box, sphere
from elbowroom.props.palette import BIRCH, IRON, LEAF, OAK, PINE, WHITE

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
