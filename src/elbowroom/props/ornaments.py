"""Ornaments, street furniture, and objects of a factory and a public square. Metres, on z = 0."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import about
from elbowroom.geometry.solids import arc_line, assembled, box, cylinder, lathe, rounded_box, rounded_line, sphere, tube
from elbowroom.geometry.transforms import transform
from elbowroom.props.palette import (
    BIRCH,
    BRASS,
    CLAY,
    CREAM,
    IRON,
    LEAF,
    MOSS,
    OAK,
    PAPER,
    PINE,
    PLASTER,
    SLATE,
    STEEL,
    WALNUT,
    WHITE,
)


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
