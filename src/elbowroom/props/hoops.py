"""A hoop to reach through, and a cube of wood. Metres; both have their origin in their middle."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.profiles import tube
from elbowroom.geometry.solids import assembled, rounded_box
from elbowroom.props.palette import BRASS, WALNUT


def hoop(radius: float = 0.19, thickness: float = 0.018, ribs: int = 12) -> Mesh:
    """A ring about the y axis, bound with brass: `radius` to the middle of its bar, `thickness` is half of that."""
    turn = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
    circle = radius * np.stack([np.cos(turn), np.zeros_like(turn), np.sin(turn)], axis=1)
    parts = [tube(circle, thickness, WALNUT, sections=20, ring=True)]
    for k in range(ribs):
        along = 2.0 * np.pi * k / ribs + np.linspace(-0.035, 0.035, 4)
        arc = radius * np.stack([np.cos(along), np.zeros_like(along), np.sin(along)], axis=1)
        parts.append(tube(arc, 1.08 * thickness, BRASS, sections=20))
    return assembled(parts)


def cube(size: float = 0.055, edge: float = 0.004) -> Mesh:
    """A cube with rounded edges."""
    return rounded_box((size, size, size), color=(0.78, 0.22, 0.14), radius=edge, steps=3)
