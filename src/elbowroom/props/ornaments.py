"""Ornaments and street furniture: vases, baskets, stools, lamp posts. Metres, on z = 0.

Hoops and cubes have their origin in their middle, umbrellas in the hand.
"""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import arc_line, assembled, cylinder, lathe, rounded_box, sphere, tube
from elbowroom.props.palette import BIRCH, BRASS, CLAY, CREAM, IRON, MOSS, OAK, PAPER, PINE, SLATE, WALNUT


def vase(height: float = 0.22, radius: float = 0.06, seed: int = 0) -> Mesh:
    """A vase with a belly and a lip, hollow."""
    color = ((0.06, 0.16, 0.26), CLAY, CREAM, MOSS)[seed % 4]
    s = np.linspace(0.0, 1.0, 14)
    belly = radius * (0.55 + 0.45 * np.sin(np.pi * (0.1 + 0.95 * s)) - 0.12 * s + 0.3 * np.clip(s - 0.85, 0, 1))
    outer = np.stack([belly, height * s], axis=1)
    inner = np.stack([belly[1:] - 0.004, height * s[1:]], axis=1)[::-1]
    inner[-1, 1] = 0.012
    return lathe(np.concatenate([[(0, 0)], outer, inner, [(0, 0.012)]]), color=color, sections=28)


def globe(radius: float = 0.085) -> Mesh:
    """A globe on a turned foot, held by a meridian of brass."""
    middle = 0.07 + radius
    ball = sphere(radius, (0, 0, middle), (0.10, 0.24, 0.34))
    turn = np.linspace(-0.5 * np.pi - 0.4, 0.5 * np.pi - 0.4, 25)
    ring = np.stack([(radius + 0.008) * np.cos(turn), 0 * turn, middle + (radius + 0.008) * np.sin(turn)], axis=1)
    foot = [(0, 0), (0.06, 0), (0.062, 0.008), (0.045, 0.016), (0.014, 0.03), (0.011, 0.05), (0.016, 0.066), (0, 0.068)]
    return assembled([lathe(foot, color=WALNUT), ball, tube(ring, 0.0035, BRASS, sections=10)])


def picture(width: float = 0.13, height: float = 0.18) -> Mesh:
    """A framed picture that leans back on its stand."""
    bar = 0.016
    parts = [rounded_box((bar, 0.014, height), (s * (width - bar) / 2, 0, height / 2), OAK) for s in (-1, 1)]
    parts += [rounded_box((width - bar, 0.014, bar), (0, 0, z), OAK) for z in (bar / 2, height - bar / 2)]
    parts.append(rounded_box((width - bar, 0.004, height - bar), (0, 0.001, height / 2), PAPER, radius=0.001, steps=1))
    parts.append(
        rounded_box((width - 0.06, 0.002, height - 0.08), (0, -0.001, height / 2), SLATE, radius=0.0005, steps=1)
    )
    tilt = np.eye(4)  # sheared, so that its foot stays flat
    tilt[1, 2] = 0.18
    leaning = assembled(parts).moved(tilt)
    stand = rounded_box((0.03, 0.004, 0.6 * height), (0, 0.075, 0.3 * height), WALNUT, radius=0.0015)
    return assembled([leaning, stand])


def basket(width: float = 0.26, depth: float = 0.22, height: float = 0.15) -> Mesh:
    """A basket of rods, open above."""
    turn = np.linspace(0.0, 2 * np.pi, 40, endpoint=False)
    parts = []
    for k, z in enumerate(np.linspace(0.006, height - 0.006, 9)):
        grow = 0.88 + 0.12 * z / height
        wave = 0.002 * np.cos(20 * turn + np.pi * k)
        ring = np.stack(
            [
                (grow * width / 2 - 0.006 + wave) * np.cos(turn),
                (grow * depth / 2 - 0.006 + wave) * np.sin(turn),
                0 * turn + z,
            ],
            axis=1,
        )
        parts.append(tube(ring, 0.0058, PINE, sections=8, ring=True))
    for way in np.linspace(0.0, 2 * np.pi, 20, endpoint=False):
        out = np.array([(width / 2 - 0.006) * np.cos(way), (depth / 2 - 0.006) * np.sin(way), 0.0])
        parts.append(tube([0.88 * out + [0, 0, 0.003], out + [0, 0, height - 0.004]], 0.003, OAK, sections=8))
    flat = np.diag([0.86 * width / 2, 0.86 * depth / 2, 1.0, 1.0])
    parts.append(cylinder(1.0, 0.006, (0, 0, 0.004), PINE).moved(flat))
    return assembled(parts)


def stool(height: float = 0.44, radius: float = 0.17) -> Mesh:
    """A round stool on four turned legs with a ring between them."""
    edge = arc_line((radius - 0.014, height - 0.014), 0.014, -np.pi / 2, np.pi / 2, 8)
    parts = [lathe(np.concatenate([[(0, height - 0.028)], edge, [(0, height)]]), color=BIRCH, sections=48)]
    s = np.linspace(0.0, 1.0, 12)[:, None]
    widths = 0.014 + 0.006 * np.sin(3 * np.pi * s[:, 0]) ** 2
    for way in (np.pi / 4 + k * np.pi / 2 for k in range(4)):
        out = np.array([np.cos(way), np.sin(way), 0.0])
        line = (radius - 0.02 - 0.04 * s) * out + [0, 0, 0.003] + s * [0, 0, height - 0.02]
        parts.append(tube(line, widths, OAK, sections=16))
    turn = np.linspace(0.0, 2 * np.pi, 40, endpoint=False)
    ring = (radius - 0.032) * np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1) + [0, 0, 0.14]
    parts.append(tube(ring, 0.008, OAK, sections=10, ring=True))
    return assembled(parts)


def trestle_table(width: float = 1.3, depth: float = 0.75, height: float = 0.74) -> Mesh:
    """A table of planks on turned legs, with an apron under its top."""
    planks = 5
    each = depth / planks
    parts = [
        rounded_box(
            (width, each - 0.001, 0.034), (0, (k + 0.5) * each - depth / 2, height - 0.017), PINE, radius=0.006, steps=3
        )
        for k in range(planks)
    ]
    x, y = width / 2 - 0.07, depth / 2 - 0.07
    parts += [rounded_box((2 * x, 0.02, 0.07), (0, s * y, height - 0.069), PINE) for s in (-1, 1)]
    parts += [rounded_box((0.02, 2 * y, 0.07), (s * x, 0, height - 0.069), PINE) for s in (-1, 1)]
    leg = [
        (0, 0),
        (0.018, 0),
        (0.024, 0.02),
        (0.016, 0.05),
        (0.026, 0.09),
        (0.03, 0.35),
        (0.02, 0.48),
        (0.034, 0.51),
        (0.034, 0.53),
        (0.03, 0.545),
        (0.03, height - 0.034),
        (0, height - 0.034),
    ]
    parts += [lathe(leg, (sx * x, sy * y, 0), PINE) for sx in (-1, 1) for sy in (-1, 1)]
    return assembled(parts)


def box_with_lid(width: float = 0.11, depth: float = 0.08, height: float = 0.08) -> Mesh:
    """A small chest with a lid and a clasp."""
    body = rounded_box((width, depth, height - 0.02), (0, 0, (height - 0.02) / 2), WALNUT, radius=0.004, steps=3)
    lid = rounded_box((width, depth, 0.021), (0, 0, height - 0.0105), OAK, radius=0.006, steps=4)
    clasp = rounded_box((0.014, 0.004, 0.02), (0, -depth / 2, height - 0.024), BRASS, radius=0.0018)
    corners = [
        rounded_box(
            (0.012, 0.012, 0.012), (sx * (width / 2 - 0.0055), sy * (depth / 2 - 0.0055), 0.006), IRON, radius=0.002
        )
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    return assembled([body, lid, clasp, *corners])


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
