"""Furniture made of simple solids, in metres, standing on z = 0 about the origin, front towards -Y."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import assembled, box, cylinder, lathe, merge, rounded_box, sphere
from elbowroom.props.palette import BIRCH, CLAY, LINEN, MOSS, OAK, PAPER


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
