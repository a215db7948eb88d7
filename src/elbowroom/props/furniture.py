"""Furniture made of simple solids, in metres, standing on z = 0 about the origin, front towards -Y."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.solids import assembled, box, cylinder, lathe, merge, outward, rounded_box, sphere, tube
from elbowroom.props.palette import BIRCH, BRASS, CLAY, GLASS, IRON, LINEN, MOSS, OAK, PAPER, PLASTER, STEEL, WHITE


def table(width: float = 1.4, depth: float = 0.8, height: float = 0.74) -> Mesh:
    """Table with four legs."""
    top = box((width, depth, 0.035), (0, 0, height - 0.0175), OAK)
    x, y = width / 2 - 0.06, depth / 2 - 0.06
    legs = [box((0.06, 0.06, height - 0.035), (sx * x, sy * y, (height - 0.035) / 2)) for sx, sy in _CORNERS]
    rails = [box((width - 0.18, 0.02, 0.08), (0, sy * y, height - 0.075)) for sy in (-1, 1)] + [
        box((0.02, depth - 0.18, 0.08), (sx * x, 0, height - 0.075)) for sx in (-1, 1)
    ]
    return merge([top, *legs, *rails])


def chair(seat: float = 0.45) -> Mesh:
    """Dining chair, its back towards +Y."""
    parts = [box((0.44, 0.44, 0.03), (0, 0, seat - 0.015), BIRCH)]
    for sx, sy in _CORNERS:
        tall = seat + 0.48 if sy > 0 else seat - 0.03
        parts.append(box((0.04, 0.04, tall), (sx * 0.2, sy * 0.2, tall / 2)))
    parts += [box((0.36, 0.02, 0.07), (0, 0.2, seat + z)) for z in (0.16, 0.28, 0.41)]
    return merge(parts)


def sofa(width: float = 1.9) -> Mesh:
    """Two-seat sofa, its back towards +Y."""
    seat = (width - 0.4) / 2
    parts = [box((width, 0.85, 0.28), (0, 0, 0.2), LINEN)]
    parts += [box((seat - 0.02, 0.62, 0.14), (sx * seat / 2, -0.1, 0.41)) for sx in (-1, 1)]
    parts += [box((seat - 0.02, 0.16, 0.42), (sx * seat / 2, 0.28, 0.66)) for sx in (-1, 1)]
    parts += [box((0.2, 0.85, 0.3), (sx * (width / 2 - 0.1), 0, 0.47)) for sx in (-1, 1)]
    parts += [cylinder(0.025, 0.06, (sx * (width / 2 - 0.1), sy * 0.34, 0.03)) for sx, sy in _CORNERS]
    return merge(parts)


def bookshelf(width: float = 1.1, height: float = 1.9, shelves: int = 5, seed: int = 0) -> tuple[Mesh, Mesh]:
    """A bookshelf, open towards -Y, and the books on it, as two meshes."""
    rng = np.random.default_rng(seed)
    depth, board = 0.30, 0.025
    boards = [box((board, depth, height), (sx * (width - board) / 2, 0, height / 2), OAK) for sx in (-1, 1)]
    levels = np.linspace(0.06, height - board / 2, shelves + 1)
    boards += [box((width, depth, board), (0, 0, z)) for z in levels]
    boards.append(box((width, 0.01, height), (0, depth / 2 - 0.005, height / 2)))
    books = []
    room = levels[1] - levels[0] - board
    for z in levels[:-1]:
        x = -width / 2 + 0.05
        end = width / 2 - rng.uniform(0.08, 0.5)
        while x < end:
            thick, tall, deep = (
                rng.uniform(0.018, 0.05),
                rng.uniform(0.6, 0.9) * room,
                rng.uniform(0.16, 0.23),
            )
            books.append(box((thick, deep, tall), (x + thick / 2, 0.13 - deep / 2, z + board / 2 + tall / 2), CLAY))
            x += thick + 0.002
    return merge(boards), merge(books)


def floor_lamp(height: float = 1.65) -> Mesh:
    """Lamp on a thin pole."""
    foot = lathe([(0, 0), (0.15, 0), (0.15, 0.02), (0.02, 0.035), (0, 0.035)], color=PAPER)
    pole = cylinder(0.012, height - 0.25, (0, 0, (height - 0.25) / 2))
    shade = lathe([(0.11, height), (0.2, height - 0.32), (0.195, height - 0.32), (0.105, height)])
    return merge([foot, pole, shade])


def plant(height: float = 1.2, seed: int = 1) -> tuple[Mesh, Mesh]:
    """A pot and the leaves in it, as two meshes."""
    rng = np.random.default_rng(seed)
    pot = lathe([(0, 0), (0.14, 0), (0.19, 0.34), (0.16, 0.34), (0.15, 0.3), (0, 0.3)], color=CLAY)
    leaves = [cylinder(0.012, height * 0.5, (0, 0, 0.3 + height * 0.25), MOSS)]
    for _ in range(26):
        out, up, way = rng.uniform(0.03, 0.24), rng.uniform(0.55, 1.0), rng.uniform(0, 2 * np.pi)
        size = rng.uniform(0.05, 0.1)
        blob = sphere(1.0, color=MOSS)
        stretch = np.diag([size, size, size * 0.8, 1.0])
        stretch[:3, 3] = (out * np.cos(way), out * np.sin(way), height * up)
        leaves.append(blob.moved(stretch))
    return pot, merge(leaves)


_CORNERS = ((-1, -1), (1, -1), (-1, 1), (1, 1))


def piano(width: float = 1.4, depth: float = 1.3, height: float = 0.92) -> Mesh:
    """A small grand piano on three legs, its keys towards -Y."""
    black, white = (0.05, 0.05, 0.06), (0.92, 0.91, 0.88)
    low, thick = 0.62, height - 0.62
    front, back = 0.55 * depth, 0.45 * depth
    parts = [
        rounded_box((width, front, thick), (0.0, 0.5 * (front - depth), low + 0.5 * thick), black, radius=0.02),
        rounded_box((0.62 * width, back + 0.04, thick), (-0.19 * width, 0.5 * (depth - back) - 0.02, low + 0.5 * thick),
                    black, radius=0.02),
        rounded_box((0.9 * width, 0.16, 0.05), (0.0, -0.5 * depth - 0.06, low + 0.085), white, radius=0.008),
    ]  # fmt: skip
    leg = [(0, 0), (0.035, 0), (0.03, 0.05), (0.04, low - 0.05), (0.045, low + 0.02), (0, low + 0.02)]
    feet = [(-0.42 * width, -0.3 * depth), (0.42 * width, -0.3 * depth), (-0.2 * width, 0.36 * depth)]
    return assembled([*parts, *(lathe(leg, (x, y, 0.0), black, sections=20) for x, y in feet)])


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


OutlinePoint = tuple[float, float]

_RAIL_M, _RAIL_RADIUS_M = 0.9, 0.02


def stairs(
    steps: int = 6,
    rise: float = 0.17,
    tread: float = 0.28,
    width: float = 1.2,
    landing: float = 1.5,
    railing: bool = True,
) -> Mesh:
    """Closed stairs, the last step a landing; `rise` and `tread` of one step."""
    top, end = steps * rise, -(steps - 1) * tread - landing
    ends = [-min(k, steps - 1) * tread - (landing if k == steps else 0.0) for k in range(steps + 1)]
    below = [(y, 0.0) for y in ends]
    fronts = [(ends[k], (k + 1) * rise) for k in range(steps)]
    backs = [(ends[k + 1], (k + 1) * rise) for k in range(steps)]
    side = []
    for k in range(steps):
        side += [(below[k + 1], backs[k], fronts[k])]
        if k > 0:
            side += [(below[k + 1], fronts[k], backs[k - 1]), (below[k + 1], backs[k - 1], below[k])]
        else:
            side += [(below[1], fronts[0], below[0])]
    rim = [below[0], *(at for pair in zip(fronts, backs, strict=True) for at in pair), *below[:0:-1]]
    parts = [_prism(side, rim, width)]
    if railing:
        for x in (-0.5 * width + 0.04, 0.5 * width - 0.04):
            posts = [(-0.5 * tread, rise), (-(steps - 0.5) * tread, top), (end + 0.05, top)]
            parts += [tube([(x, y, z - 0.01), (x, y, z + _RAIL_M)], _RAIL_RADIUS_M, STEEL) for y, z in posts]
            for (y0, z0), (y1, z1) in pairwise(posts):
                parts.append(tube([(x, y0, z0 + _RAIL_M), (x, y1, z1 + _RAIL_M)], _RAIL_RADIUS_M, STEEL))
    return assembled(parts)


def ramp(length: float = 3.0, rise: float = 0.3, width: float = 1.2, landing: float = 0.9) -> Mesh:
    """A straight ramp that ends in a landing."""
    a, b, c, d = (0.0, 0.0), (-length, rise), (-length - landing, rise), (-length - landing, 0.0)
    return _prism([(a, b, c), (a, c, d)], [a, b, c, d], width)


def _prism(
    side: Sequence[tuple[OutlinePoint, OutlinePoint, OutlinePoint]], rim: Sequence[OutlinePoint], width: float
) -> Mesh:
    """Solid of a width across x whose side view has triangles of points (y, z), all turning one way, and a rim."""
    points = list(dict.fromkeys(at for face in (*side, rim) for at in face))
    number = {at: k for k, at in enumerate(points)}
    n = len(points)
    corners = np.array([(x, *at) for x in (-0.5 * width, 0.5 * width) for at in points])
    near = np.array([[number[at] for at in face] for face in side])
    area = sum((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) for a, b, c in side)
    turns = sum(a[0] * b[1] - a[1] * b[0] for a, b in pairwise([*rim, rim[0]]))
    around = [number[at] for at in (rim if area * turns > 0.0 else rim[::-1])]
    pairs = [(a, b) for a, b in pairwise([*around, around[0]])]
    walls = [half for a, b in pairs for half in ((b, a, a + n), (b, a + n, b + n))]
    return outward(Mesh(corners, np.concatenate([near, near[:, ::-1] + n, walls]), color=PLASTER))
