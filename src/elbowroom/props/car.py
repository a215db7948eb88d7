"""Front of a car with its bonnet open, to lean into: panels curved by formula, an engine and hoses. Metres, z up.

The nose looks towards +Y with its outermost point at y = 0; the car goes on towards -Y.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.profiles import rounded_line, tube
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import assembled, lathe, outward, rounded_box
from elbowroom.props.palette import IRON, STEEL

_PAINT: Color = (0.30, 0.05, 0.05)
_RUBBER: Color = (0.03, 0.03, 0.03)
# Thickness of panels, metres.
_SHEET_M = 0.03


def car_front(width: float = 1.5, sill: float = 0.72, lid: float = 52.0, fineness: int = 40) -> Mesh:
    """Nose, wings, bulkhead, raised bonnet and engine of a car; triangles grow with the square of `fineness`.

    `sill` is the height of the front edge that one leans over, `lid` the angle of the bonnet in degrees.
    """
    half, depth, hinge = 0.5 * width, 1.0, (-1.02, sill + 0.16)
    parts = [
        _sheet(lambda u, v: (width * (u - 0.5), -0.05 - 0.06 * (2 * u - 1) ** 2, 0.2 + (sill - 0.2) * v), fineness),
        rounded_box((width - 0.2, 0.06, 0.05), (0.0, -0.09, sill - 0.03), _PAINT, radius=0.02, steps=4),
        _sheet(lambda u, v: (width * (u - 0.5), -depth, 0.2 + (sill + 0.14 - 0.2) * v), fineness),
    ]
    for side in (-1.0, 1.0):
        parts.append(_sheet(_wing(side * half, depth, sill), fineness))
    turn = np.radians(lid)

    def bonnet(u: Array, v: Array) -> tuple[Array, Array, Array]:
        along, bulge = 0.92 * v, 0.05 * np.sin(np.pi * u) * np.sin(0.5 * np.pi * (1.0 - 0.6 * v))
        y = hinge[0] + along * np.cos(turn) - bulge * np.sin(turn)
        return (width - 0.1) * (u - 0.5), y, hinge[1] + along * np.sin(turn) + bulge * np.cos(turn)

    parts.append(_sheet(bonnet, fineness))
    parts.append(rounded_box((0.5, 0.42, 0.3), (0.1, -0.62, 0.42), STEEL, radius=0.03, steps=max(fineness // 10, 2)))
    parts.append(rounded_box((0.38, 0.2, 0.06), (0.1, -0.62, 0.6), IRON, radius=0.02, steps=max(fineness // 10, 2)))
    filter_ = [(0.0, 0.0), (0.1, 0.0), (0.11, 0.02), (0.11, 0.05), (0.1, 0.07), (0.0, 0.07)]
    parts.append(lathe(filter_, (0.12, -0.62, 0.63), IRON, sections=max(2 * fineness, 24)))
    for x, y in ((-0.08, -0.84), (0.24, -0.86)):
        line = rounded_line([(x, y, 0.35), (x, y, 0.56), (x + 0.1, -0.97, 0.56)], 0.06)
        parts.append(tube(line, 0.022, _RUBBER, sections=max(fineness // 2, 12)))
    return assembled(parts)


def _wing(x: float, depth: float, sill: float) -> Callable[[Array, Array], tuple[Array, Array, Array]]:
    """Surface of a wing at an x: bulged outwards over the wheel, its top rising towards the bulkhead."""

    def at(u: Array, v: Array) -> tuple[Array, Array, Array]:
        out = np.sign(x) * 0.04 * np.sin(np.pi * u) * np.sin(np.pi * v)
        return x + out, -0.12 - (depth - 0.12) * u, 0.25 + (sill + 0.1 * u - 0.25) * v

    return at


def _sheet(surface: Callable[[Array, Array], tuple[Array | float, Array | float, Array | float]], cells: int) -> Mesh:
    """A closed panel about a surface over the unit square, of two grids of `cells` squared and a rim."""
    n = cells + 1
    u, v = (g.reshape(-1) for g in np.meshgrid(*[np.linspace(0.0, 1.0, n)] * 2, indexing="ij"))
    points = np.stack([np.broadcast_to(np.asarray(c, float), u.shape) for c in surface(u, v)], axis=1)
    grid = points.reshape(n, n, 3)
    normal = np.cross(np.gradient(grid, axis=0), np.gradient(grid, axis=1)).reshape(-1, 3)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    vertices = np.concatenate([points + 0.5 * _SHEET_M * normal, points - 0.5 * _SHEET_M * normal])
    low = (np.arange(cells)[:, None] * n + np.arange(cells)).reshape(-1)
    top = np.concatenate([np.stack([low, low + n, low + n + 1], 1), np.stack([low, low + n + 1, low + 1], 1)])
    edge = np.arange(n)
    rim = np.concatenate([edge * n, (n - 1) * n + edge[1:], (edge * n + n - 1)[::-1][1:], edge[::-1][1:-1]])
    after = np.roll(rim, -1)
    under = n * n
    walls = [np.stack([after + under, after, rim], 1), np.stack([rim + under, after + under, rim], 1)]
    faces = np.concatenate([top, top[:, ::-1] + under, *walls])
    return outward(Mesh(vertices, faces.astype(np.int32), _PAINT))
