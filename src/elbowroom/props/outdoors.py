"""Things in the street: umbrellas, lamp posts, beams. Metres."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.profiles import tube
from elbowroom.geometry.solids import assembled, cylinder, lathe, rounded_box, sphere
from elbowroom.props.palette import IRON, WALNUT

_CLOTH = (0.36, 0.03, 0.05)


def umbrella(radius: float = 0.48, length: float = 0.84) -> Mesh:
    """An open umbrella, held at its origin, its stick along +z: eight panels, a walnut crook."""
    top = length - 0.16
    s = np.linspace(0.0, 1.0, 9)
    drop = 0.22 * radius / 0.48 * (1.0 - np.sqrt(1.0 - (0.93 * s) ** 2)) / (1.0 - np.sqrt(1.0 - 0.93**2))
    outer = np.stack([radius * s, top - drop], axis=1)
    inner = np.stack([radius * s, top - drop - 0.004 - 0.003 * s], axis=1)[::-1]
    cloth = lathe(np.concatenate([outer, inner]), color=_CLOTH, sections=8)
    stick = cylinder(0.006, top + 0.14, (0.0, 0.0, 0.5 * (top + 0.14) - 0.09), IRON)
    tip = sphere(0.009, (0.0, 0.0, top + 0.05), IRON)
    turn = np.linspace(0.0, np.pi, 13)
    crook = np.stack([0.03 - 0.03 * np.cos(turn), 0.0 * turn, -0.1 - 0.03 * np.sin(turn)], axis=1)
    handle = np.concatenate([[[0.0, 0.0, 0.05]], crook])
    return assembled([cloth, stick, tip, tube(handle, 0.011, WALNUT, sections=12)])


def lamp_post(height: float = 2.9, radius: float = 0.05) -> Mesh:
    """A street lamp of iron on a stepped foot, with a globe of milk glass."""
    foot = [(0, 0), (0.15, 0), (0.15, 0.05), (0.12, 0.07), (0.11, 0.3), (0.07, 0.36), (radius, 0.42), (radius, height)]
    post = lathe([*foot, (0.09, height + 0.03), (0.0, height + 0.05)], color=IRON, sections=24)
    return assembled([post, sphere(0.16, (0.0, 0.0, height + 0.19), (0.85, 0.82, 0.7))])


def beam(length: float = 1.8, width: float = 0.1, height: float = 0.12) -> Mesh:
    """A squared timber lying on the floor, along x."""
    return rounded_box((length, width, height), (0.0, 0.0, 0.5 * height), (0.42, 0.27, 0.13), radius=0.008)


def barrier(width: float = 2.0, height: float = 1.6, radius: float = 0.035) -> Mesh:
    """A bar across the way between two posts, its underside at a height."""
    steel, warn = (0.35, 0.37, 0.4), (0.75, 0.5, 0.04)
    bar = tube(np.array([[-0.5 * width, 0.0, height + radius], [0.5 * width, 0.0, height + radius]]), radius, warn)
    posts = [
        cylinder(0.045, height + 0.16, (s * (0.5 * width + 0.045), 0, 0.5 * height + 0.08), steel) for s in (-1, 1)
    ]
    feet = [cylinder(0.16, 0.03, (s * (0.5 * width + 0.045), 0.0, 0.015), steel) for s in (-1, 1)]
    return assembled([bar, *posts, *feet])
