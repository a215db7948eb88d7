"""Objects of a factory and a public square, in metres, standing on z = 0: pipes, drums, columns, a tree and more."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import about
from elbowroom.geometry.solids import assembled, box, lathe, rounded_box, rounded_line, sphere, tube
from elbowroom.geometry.transforms import transform
from elbowroom.props.palette import CLAY, IRON, LEAF, OAK, PLASTER, STEEL, WHITE

_BLUE: Color = (0.08, 0.18, 0.36)
_YELLOW: Color = (0.72, 0.52, 0.06)


def pipes(count: int = 3, length: float = 3.0, height: float = 2.4, radius: float = 0.06, sections: int = 48) -> Mesh:
    """Pipes beside each other along x that come up from the floor, bend, and run on at a height; with flanges."""
    parts = []
    for k in range(count):
        y, top = 2.6 * radius * (k - 0.5 * (count - 1)), height + 1.5 * radius * k
        line = rounded_line([(0, y, 0), (0, y, top), (length, y, top)], 4.0 * radius, steps=12)
        line = np.concatenate([np.linspace(line[0], line[1], 12)[:-1], line[1:-2], np.linspace(line[-2], line[-1], 24)])
        parts.append(tube(line, radius, STEEL if k % 2 else CLAY, sections=sections))
        flange = [(0, 0), (1.35 * radius, 0), (1.35 * radius, 0.02), (0, 0.02)]
        parts += [lathe(flange, (0, y, z), IRON, sections=sections) for z in np.arange(0.0, 0.8 * height, 0.6)]
    return assembled(parts)


def drum(height: float = 0.88, radius: float = 0.29, sections: int = 64) -> Mesh:
    """An oil drum with ribs."""
    z = np.linspace(0.0, 1.0, 25)
    ribs = radius * (1.0 + 0.03 * np.exp(-(((z[:, None] - [0.33, 0.67]) / 0.02) ** 2)).sum(axis=1))
    rim = [(0, 0.01), (0.97 * radius, 0.01), *zip(ribs, height * z, strict=True), (0.97 * radius, height - 0.01)]
    return lathe([*rim, (0, height - 0.01)], color=_BLUE, sections=sections)


def ventilator(size: float = 0.9, blades: int = 6) -> Mesh:
    """A housing on feet with a fan behind a grid of rings, open towards -Y."""
    h, parts = 0.5 * size, []
    parts += [rounded_box((0.05, 0.4, size), (s * (h - 0.025), 0, h + 0.1), PLASTER, steps=3) for s in (-1, 1)]
    parts += [
        rounded_box((size - 0.1, 0.4, 0.05), (0, 0, h + 0.1 + s * (h - 0.025)), PLASTER, steps=3) for s in (-1, 1)
    ]
    parts += [box((0.06, 0.4, 0.1), (s * 0.7 * h, 0, 0.05), IRON) for s in (-1, 1)]
    turn = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
    circle = np.stack([np.cos(turn), np.zeros_like(turn), np.sin(turn)], axis=1)
    for r in np.linspace(0.15, 0.85, 8) * h:
        parts.append(tube(r * circle + [0, -0.19, h + 0.1], 0.004, IRON, sections=8, ring=True))
    s = np.linspace(0.1, 0.85, 12)[:, None] * h
    for a in np.linspace(0.0, 2.0 * np.pi, blades, endpoint=False):
        parts.append(tube(s * [np.cos(a), 0, np.sin(a)] + [0, 0, h + 0.1], 0.1 * s[:, 0], STEEL, sections=12))
    return assembled(parts)


def balcony(width: float = 2.0, depth: float = 1.2, height: float = 1.62, bars: int = 14) -> Mesh:
    """A platform whose underside is at a height, with a railing all round, on brackets at its back towards +Y."""
    x, y, top = 0.5 * width - 0.03, 0.5 * depth - 0.03, height + 0.08
    parts = [rounded_box((width, depth, 0.08), (0, 0, height + 0.04), STEEL, radius=0.01, steps=3)]
    corners = np.array([(x, y), (x, -y), (-x, -y), (-x, y)])
    for a, b in pairwise(corners):
        for share in np.linspace(0.0, 1.0, bars, endpoint=False):
            px, py = a + share * (b - a)
            parts.append(tube([(px, py, top - 0.01), (px, py, top + 1.0)], 0.01, _YELLOW, sections=12))
        parts.append(tube([(*a, top + 1.0), (*b, top + 1.0)], 0.025, _YELLOW, sections=24))
    parts += [box((0.08, 0.08, height), (s * x, y, 0.5 * height), IRON) for s in (-1, 1)]
    return assembled(parts)


def car_front(width: float = 1.5, length: float = 1.2, height: float = 0.82, detail: int = 8) -> tuple[Mesh, ...]:
    """The front of a car with its hood open, its frame along x at y = 0, the engine bay behind it towards -Y.

    Body with wheels, engine, hood. Triangles grow with the square of `detail`.
    """
    x, low = 0.5 * width - 0.07, height - 0.5
    body = [
        rounded_box((width, 0.08, 0.42), (0, 0.02, height - 0.36), _BLUE, radius=0.03, steps=detail),
        rounded_box((width, 0.1, 0.06), (0, 0, height - 0.03), _BLUE, radius=0.01, steps=detail),
        rounded_box((width, 0.06, 0.6), (0, -length + 0.06, low + 0.33), IRON, radius=0.01, steps=detail),
    ]
    tread, sections = np.linspace(-1.0, 1.0, 9 * detail), 40 * detail
    tire = [(0, -0.1), *((0.3 - 0.05 * t**6 + 0.004 * np.cos(60.0 * t), 0.1 * t) for t in tread), (0, 0.1)]
    for side in (-1, 1):
        at = (side * x, -0.5 * length, low + 0.3)
        body.append(rounded_box((0.14, length - 0.12, 0.5), at, _BLUE, radius=0.05, steps=detail))
        upright = transform((side * (x + 0.02), -0.5 * length, 0.304), about((0, 1, 0), 0.5 * np.pi))
        body.append(lathe(tire, color=IRON, sections=sections).moved(upright))
    top, y = height - 0.11, -0.6 * length
    engine = [
        rounded_box((0.6, 0.5, 0.4), (-0.1, y, top - 0.2), STEEL, radius=0.03, steps=detail),
        rounded_box((0.22, 0.3, 0.24), (0.45, y + 0.12, top - 0.05), IRON, radius=0.02, steps=detail),
    ]
    fins = np.linspace(0.0, 1.0, 6 * detail)
    bank = [(0, 0), *((0.05 + 0.006 * np.cos(40.0 * t), 0.03 * t) for t in fins), (0, 0.03)]
    engine += [lathe(bank, (-0.31 + 0.14 * k, y - 0.16, top), STEEL, sections=20 * detail) for k in range(4)]
    for k in range(3):  # hoses
        out, up = y + 0.2 - 0.1 * k, top - 0.05 - 0.045 * k
        line = rounded_line([(0.29, out, top - 0.3), (0.29, out, up), (0.29, y - 0.3, up)], 0.06, steps=4 * detail)
        engine.append(tube(line, 0.018, IRON, sections=6 * detail))
    tilt = transform((0, -length - 0.02, height + 0.12), about((1, 0, 0), 0.9))
    hood = rounded_box((width, length, 0.03), (0, 0.5 * length, 0), _BLUE, radius=0.012, steps=detail).moved(tilt)
    return assembled(body), assembled(engine), hood


def column(height: float = 0.8, radius: float = 0.22, stripes: int = 8, sections: int = 64) -> Mesh:
    """A column striped from top to bottom in black and white."""
    profile = [(0, 0), *((radius, z) for z in np.linspace(0.0, height - 0.01, 9)), (radius - 0.01, height), (0, height)]
    each = sections // (2 * stripes) * 2 * stripes
    made = lathe(profile, sections=each)
    turn = np.arctan2(made.vertices[:, 1], made.vertices[:, 0]) % (2.0 * np.pi)
    dark = np.floor(turn / (2.0 * np.pi) * 2 * stripes + 0.5).astype(int) % 2 == 0
    return Mesh(made.vertices, made.faces, WHITE, colors=np.where(dark[:, None], IRON, WHITE))


def tree(height: float = 2.9, branch: float = 1.6, reach: float = 1.7, leaves: int = 30, seed: int = 0) -> Mesh:
    """A tree with one low branch along +X, its underside at the height `branch` and farther out, and leaves above."""
    rng, s = np.random.default_rng(seed), np.linspace(0.0, 1.0, 16)
    trunk = np.stack([0.06 * np.sin(3.0 * s), 0.05 * np.cos(4.0 * s) - 0.05, height * s], axis=1)
    parts = [tube(trunk, 0.17 - 0.1 * s, OAK, sections=32)]
    thick = 0.055 - 0.03 * s
    low = np.stack([reach * s, 0.06 * np.sin(4.0 * s), branch + thick + 0.12 * (1.0 - s) ** 2], axis=1)
    parts.append(tube(low, thick, OAK, sections=24))
    for a in np.linspace(0.0, 2.0 * np.pi, 5, endpoint=False):
        up = [[0, 0, 0.7 * height], [0.8 * np.cos(a), 0.8 * np.sin(a), height], [np.cos(a), np.sin(a), height + 0.3]]
        parts.append(tube(rounded_line(up, 0.2), 0.03, OAK, sections=12))
    for _ in range(leaves):
        out, a, z = rng.uniform(0.2, 1.1), rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.0, 0.7)
        blob = sphere(rng.uniform(0.16, 0.3), (out * np.cos(a), out * np.sin(a), height + z), LEAF)
        parts.append(blob)
    return assembled(parts)
