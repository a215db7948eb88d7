"""Shelves to put things on: a bookcase, a low shelf, boards on a wall. Metres, front towards -Y."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.profiles import arc_line, prism, rounded_line, tube
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import assembled, outward, rounded_box
from elbowroom.props.palette import BIRCH, BRASS, IRON, OAK, PINE, PLASTER, WALNUT, WHITE

BOARD = 0.022  # thickness of boards


def bookcase(
    width: float = 1.0, height: float = 1.9, depth: float = 0.28, levels: int = 5, walnut: bool = False
) -> Mesh:
    """A bookcase with a plinth, a moulded crown and a planked back. Board k has its top at `board_top(k, …)`."""
    wood = WALNUT if walnut else OAK
    side = rounded_box((BOARD, depth, height), color=wood, steps=2)
    parts = [side.moved(_to((x, 0, height / 2))) for x in (-(width - BOARD) / 2, (width - BOARD) / 2)]
    tops = [board_top(k, height, levels) for k in range(levels + 1)]
    inner = width - 2 * BOARD + 0.002
    parts += [rounded_box((inner, depth - 0.01, BOARD), (0, 0.002, z - BOARD / 2), wood, radius=0.005) for z in tops]
    planks = max(4, round(width / 0.12))
    plank = (width - 0.012) / planks
    parts += [
        rounded_box(
            (plank - 0.0015, 0.009, height - 0.03),
            ((k + 0.5) * plank - (width - 0.012) / 2, depth / 2 - 0.0045, height / 2),
            wood,
            radius=0.003,
            steps=1,
        )
        for k in range(planks)
    ]
    parts.append(rounded_box((width + 0.012, 0.018, 0.055), (0, -depth / 2 - 0.005, 0.0275), wood))
    parts += _crown(width, depth, height, wood)
    parts += _pins(width, depth, tops[1:-1])
    return assembled(parts)


def board_top(level: int, height: float = 1.9, levels: int = 5) -> float:
    """Height of the upper side of a board of `bookcase`; the highest one is the top of the case."""
    return 0.07 + level * (height - 0.07) / levels


def _to(at: tuple[float, float, float]) -> Array:
    T = np.eye(4)
    T[:3, 3] = at
    return T


def _crown(width: float, depth: float, height: float, wood: Color) -> list[Mesh]:
    """Mouldings under the edge of the top, at the front and at both sides."""
    hollow = arc_line((0.024, -0.024), 0.022, np.pi, np.pi / 2, 8)
    profile = np.concatenate([[(0, 0.004), (0, -0.03), (0.004, -0.03)], hollow, [(0.028, -0.002), (0.028, 0.004)]])
    front, left, right = np.eye(4), np.eye(4), np.eye(4)
    # profile x outwards, y upwards, pulled along the edge
    front[:3, :3] = np.array([[0, 0, 1], [-1, 0, 0], [0, 1, 0]], dtype=float)
    front[:3, 3] = (-width / 2 - 0.02, -depth / 2, height)
    right[:3, :3] = np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0]], dtype=float)
    right[:3, 3] = (width / 2, -depth / 2 - 0.02, height)
    left[:3, :3] = np.array([[-1, 0, 0], [0, 0, -1], [0, 1, 0]], dtype=float)
    left[:3, 3] = (-width / 2, depth / 2, height)
    lengths = (width + 0.04, depth + 0.02, depth + 0.02)
    made = [prism(profile, n, color=wood).moved(T) for n, T in zip(lengths, (front, left, right), strict=True)]
    # one of the three is mirrored by its axes and has to be turned inside out again
    return [outward(m) for m in made]


def _pins(width: float, depth: float, tops: list[float]) -> list[Mesh]:
    """Brass pins that carry the boards between the sides."""
    pin = tube([(-0.01, 0, 0), (0.01, 0, 0)], 0.0035, BRASS, sections=8)
    at = [(x, y, z - BOARD - 0.0035) for z in tops for x in (-1, 1) for y in (-1, 1)]
    return [pin.moved(_to((x * (width / 2 - BOARD - 0.004), y * (depth / 2 - 0.05), z))) for x, y, z in at]


def low_shelf(width: float = 0.9, height: float = 0.78, depth: float = 0.32, board: float = 0.32) -> Mesh:
    """A bench-high shelf with one board between floor and top, its upper side at `board`, open at the front."""
    parts = [
        rounded_box((0.026, depth, height - 0.028), (s * (width / 2 - 0.013), 0, (height - 0.028) / 2), BIRCH, steps=3)
        for s in (-1, 1)
    ]
    parts.append(
        rounded_box((width + 0.02, depth + 0.015, 0.028), (0, 0, height - 0.014), BIRCH, radius=0.009, steps=4)
    )
    inner = width - 0.05
    for z in (0.08, board):
        parts.append(rounded_box((inner, depth - 0.012, 0.022), (0, 0.002, z - 0.011), BIRCH, radius=0.005, steps=3))
    parts.append(rounded_box((inner, 0.008, height - 0.06), (0, depth / 2 - 0.006, height / 2), PINE, radius=0.003))
    parts.append(rounded_box((inner, 0.02, 0.05), (0, -depth / 2 + 0.03, 0.033), BIRCH))
    return assembled(parts)


def wall_board(width: float = 0.9, depth: float = 0.26, thickness: float = 0.026) -> Mesh:
    """A board on two iron brackets; its upper side is at z = 0, its back at y = 0, the wall."""
    parts = [
        rounded_box((width, depth, thickness), (0, -depth / 2, -thickness / 2), OAK, radius=0.007, steps=4),
    ]
    for s in (-1, 1):
        x = s * (width / 2 - 0.12)
        foot = rounded_line(
            [(x, -0.006, -0.2), (x, -0.006, -thickness - 0.006), (x, -depth + 0.03, -thickness - 0.006)], 0.02
        )
        brace = rounded_line([(x, -0.008, -0.17), (x, -0.09, -0.13), (x, -depth + 0.06, -thickness - 0.008)], 0.03)
        parts += [tube(foot, 0.006, IRON), tube(brace, 0.005, IRON)]
    return assembled(parts)


def wall(width: float = 2.4, height: float = 2.5, thickness: float = 0.1) -> Mesh:
    """A plastered wall whose face is at y = 0, with a skirting board."""
    plaster = rounded_box((width, thickness, height), (0, thickness / 2, height / 2), PLASTER, radius=0.002, steps=1)
    ogee = arc_line((-0.004, 0.088), 0.012, np.pi, 1.5 * np.pi, 6)[::-1] * [1.0, -1.0] + [0.0, 0.164]
    profile = np.concatenate([[(0.0, 0.0), (-0.016, 0.0)], ogee[::-1], [(0.0, 0.09)]])
    along = np.array([[0, 0, 1.0, -width / 2], [1.0, 0, 0, 0.001], [0, 1.0, 0, 0], [0, 0, 0, 1.0]])
    return assembled([plaster, outward(prism(profile, width, color=WHITE).moved(along))])
