"""A wardrobe with clothes in it and a place for a door. Metres, front towards -Y."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.profiles import prism, rounded_line, tube
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import assembled, rounded_box
from elbowroom.props.cabinets import door
from elbowroom.props.palette import BIRCH, CLOTHS, OAK, PINE, STEEL

_BOARD = 0.02


def wardrobe(width: float = 1.04, height: float = 1.95, depth: float = 0.55, seed: int = 0) -> Mesh:
    """A wardrobe whose left door is left out; the right one is shut for good. Clothes hang on a rail inside.

    A `door` half as wide, less 8 mm, and 0.12 lower fits at (4 mm - width / 2, -depth / 2 - 0.026, 0.06).
    """
    inner = height - 0.06
    parts = [
        rounded_box((_BOARD, depth, height), (s * (width - _BOARD) / 2, 0, height / 2), OAK, radius=0.003)
        for s in (-1, 1)
    ]
    across = width - 2 * _BOARD + 0.002
    for z in (0.06 - _BOARD / 2, height - _BOARD / 2, 0.4, height - 0.3):
        parts.append(rounded_box((across, depth - 0.02, _BOARD), (0, 0.008, z), OAK, radius=0.003))
    parts.append(rounded_box((across, 0.008, inner), (0, depth / 2 - 0.006, 0.05 + inner / 2), BIRCH, radius=0.002))
    parts.append(rounded_box((width - 0.02, 0.018, 0.052), (0, -depth / 2 + 0.03, 0.026), OAK))
    parts.append(
        rounded_box((width + 0.05, depth + 0.06, 0.03), (0, -0.01, height + 0.015), OAK, radius=0.012, steps=4)
    )
    leaf = door(width / 2 - 0.008, height - 0.12, 0.024, 1.0)
    mirrored = Mesh(leaf.vertices * [-1.0, 1.0, 1.0], leaf.faces[:, ::-1], leaf.color, leaf.colors)
    parts.append(mirrored.moved(_at(width / 2 - 0.004, -depth / 2 - 0.026, 0.06)))
    rail = height - 0.37
    parts.append(tube([(-across / 2, 0, rail), (across / 2, 0, rail)], 0.012, STEEL))
    rng = np.random.default_rng(seed)
    for k, x in enumerate(np.linspace(-across / 2 + 0.06, across / 2 - 0.06, 8)):
        color = CLOTHS[int(rng.integers(len(CLOTHS)))]
        parts += _coat(float(x), rail, float(rng.uniform(0.7, 0.95)), color, k % 2 == 0)
    return assembled(parts)


def _at(x: float, y: float, z: float) -> Array:
    T = np.eye(4)
    T[:3, 3] = (x, y, z)
    return T


def _coat(x: float, rail: float, length: float, color: Color, long: bool) -> list[Mesh]:
    """A coat or shirt on a hanger, seen from its side: shoulders along y."""
    half, top = 0.19, -0.07
    low = top - (length if long else 0.75 * length)
    right = [
        (0.05, top + 0.012),
        (0.12, top - 0.012),
        (half, top - 0.06),
        (half + 0.025, top - 0.42),
        (half - 0.03, top - 0.43),
    ]
    right += [(half - 0.045, top - 0.16), (half - 0.04, low), (0.0, low - 0.006)]
    outline = right + [(-a, b) for a, b in reversed(right[:-1])]
    # outline's x along y, its y upwards, pulled along x
    hung = np.array([[0, 0, 1.0, x - 0.018], [1.0, 0, 0, 0], [0, 1.0, 0, rail], [0, 0, 0, 1.0]])
    hook = np.linspace(np.pi, -0.35 * np.pi, 9)
    curl = [(x, 0.019 * float(np.cos(a)), rail + 0.019 * float(np.sin(a))) for a in hook[::-1]]
    line = rounded_line([*curl, (x, -0.019, rail - 0.02), (x, 0.0, rail - 0.045), (x, 0.0, rail - 0.065)], 0.004, 2)
    bow = rounded_line([(x, -0.16, rail - 0.1), (x, 0.0, rail - 0.06), (x, 0.16, rail - 0.1)], 0.05)
    return [
        prism(outline, 0.036, color=color).moved(hung),
        tube(line, 0.002, STEEL, sections=8),
        tube(bow, 0.007, PINE),
    ]
