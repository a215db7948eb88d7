"""Objects on a desk: monitor, keyboard, lamp, cup of pens, stapler, potted plant. Metres; they stand on z = 0."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import about
from elbowroom.geometry.solids import assembled, cylinder, lathe, prism, rounded_box, rounded_line, sphere, tube
from elbowroom.geometry.transforms import transform
from elbowroom.props.palette import BRASS, CLAY, CLOTHS, IRON, LEAF, OAK, SLATE, STEEL, WHITE


def desk(width: float = 1.4, depth: float = 0.7, height: float = 0.74) -> Mesh:
    """A desk with a drawer unit at its +x side, legs of bent steel at the other."""
    parts = [rounded_box((width, depth, 0.03), (0, 0, height - 0.015), OAK, radius=0.008, steps=4)]
    x = width / 2 - 0.24
    parts.append(
        rounded_box((0.4, depth - 0.08, height - 0.09), (x, 0, 0.06 + (height - 0.09) / 2), WHITE, radius=0.006)
    )
    for k in range(3):
        z = 0.06 + (height - 0.09) * (k + 0.5) / 3
        parts.append(
            rounded_box((0.39, 0.016, (height - 0.09) / 3 - 0.006), (x, -depth / 2 + 0.034, z), WHITE, steps=3)
        )
        grip = [
            (x - 0.05, -depth / 2 + 0.03, z),
            (x - 0.05, -depth / 2, z),
            (x + 0.05, -depth / 2, z),
            (x + 0.05, -depth / 2 + 0.03, z),
        ]
        parts.append(tube(rounded_line(grip, 0.012), 0.004, STEEL, sections=12))
    parts += [
        cylinder(0.02, 0.06, (x + sx * 0.17, sy * (depth / 2 - 0.1), 0.03), IRON) for sx in (-1, 1) for sy in (-1, 1)
    ]
    left, y = -width / 2 + 0.06, depth / 2 - 0.06
    leg = rounded_line(
        [(left, -y, 0.012), (left, -y, height - 0.045), (left, y, height - 0.045), (left, y, 0.012)], 0.05, 6
    )
    parts.append(tube(leg, 0.015, IRON))
    parts += [cylinder(0.02, 0.012, (left, s * y, 0.006), IRON) for s in (-1, 1)]
    return assembled(parts)


def monitor(width: float = 0.54, height: float = 0.32, stand: float = 0.13) -> Mesh:
    """A flat screen on a foot, looking towards -Y; `stand` is the height of its lower edge."""
    foot = rounded_box((0.24, 0.18, 0.012), (0, 0.02, 0.006), IRON, radius=0.005, steps=3)
    neck = tube(rounded_line([(0, 0.06, 0.01), (0, 0.055, stand + 0.06), (0, 0.02, stand + 0.14)], 0.03), 0.018, IRON)
    case = rounded_box((width, 0.028, height), (0, 0, stand + height / 2), IRON, radius=0.009, steps=4)
    back = rounded_box((0.6 * width, 0.03, 0.6 * height), (0, 0.02, stand + height / 2), IRON, radius=0.012, steps=4)
    glass = rounded_box(
        (width - 0.018, 0.003, height - 0.026), (0, -0.0135, stand + height / 2 + 0.004), SLATE, radius=0.001
    )
    return assembled([foot, neck, case, back, glass])


def keyboard(width: float = 0.43, depth: float = 0.135) -> Mesh:
    """A keyboard of five rows of keys."""
    parts = [
        rounded_box((width, depth, 0.012), (0, 0, 0.008), IRON, radius=0.004),
    ]
    columns, rows = 15, 5
    w, d = (width - 0.02) / columns, (depth - 0.02) / rows
    for row in range(rows):
        for k in range(columns):
            at = ((k + 0.5) * w - (width - 0.02) / 2, (row + 0.5) * d - (depth - 0.02) / 2, 0.016)
            if row == 0 and 4 <= k <= 9:
                continue
            parts.append(rounded_box((w - 0.003, d - 0.003, 0.008), at, SLATE, radius=0.002, steps=1))
    space = (7 * w - (width - 0.02) / 2, 0.5 * d - (depth - 0.02) / 2, 0.016)
    parts.append(rounded_box((6 * w - 0.003, d - 0.003, 0.008), space, SLATE, radius=0.002, steps=1))
    return assembled(parts)


def mouse() -> Mesh:
    """A computer mouse, its buttons towards +Y."""
    dome = sphere(1.0, color=SLATE).moved(np.diag([0.031, 0.055, 0.034, 1.0]))
    flat = Mesh(np.maximum(dome.vertices, [-1, -1, 0.0]), dome.faces, SLATE)
    wheel = cylinder(0.009, 0.006, color=IRON).moved(transform((0, 0.03, 0.024), about([0.0, 1.0, 0.0], np.pi / 2)))
    return assembled([Mesh(flat.vertices, flat.faces, SLATE), wheel])


def desk_lamp(height: float = 0.42, reach: float = 0.22) -> Mesh:
    """A lamp on a jointed arm; its shade hangs over +x at `reach`."""
    foot = lathe([(0, 0), (0.085, 0), (0.085, 0.012), (0.07, 0.02), (0.014, 0.024), (0, 0.024)], color=BRASS)
    elbow = (-0.10, 0.0, 0.6 * height)
    top = (reach - 0.03, 0.0, height)
    arms = [tube([(0, 0, 0.02), elbow], 0.007, BRASS), tube([elbow, top], 0.006, BRASS)]
    joints = [sphere(0.012, elbow, BRASS), sphere(0.011, top, BRASS)]
    shade_profile = [
        (0.0, 0.0),
        (0.03, -0.002),
        (0.036, -0.03),
        (0.075, -0.10),
        (0.072, -0.10),
        (0.033, -0.031),
        (0.0, -0.012),
    ]
    shade = lathe(shade_profile[::-1], (reach, 0, height + 0.004), CLAY)
    bulb = sphere(0.022, (reach, 0, height - 0.045), (0.9, 0.85, 0.7))
    return assembled([foot, *arms, *joints, shade, bulb])


def pen_cup(radius: float = 0.036, height: float = 0.10, pens: int = 6, seed: int = 0) -> Mesh:
    """A cup with pens that lean against its rim."""
    rng = np.random.default_rng(seed)
    inner = radius - 0.003
    cup = lathe([(0, 0), (radius, 0), (radius, height), (inner, height), (inner, 0.004), (0, 0.004)], color=STEEL)
    parts = [cup]
    for k in range(pens):
        way = 2 * np.pi * (k + float(rng.uniform(-0.2, 0.2))) / pens
        out = np.array([np.cos(way), np.sin(way), 0.0])
        low, rim = -0.6 * (inner - 0.006) * out + [0, 0, 0.006], (inner - 0.006) * out + [0, 0, height]
        along = (rim - low) / np.linalg.norm(rim - low)
        length = float(rng.uniform(0.135, 0.16))
        line = low + np.array([0.0, 0.012, length - 0.012, length])[:, None] * along
        parts.append(tube(line, [0.001, 0.004, 0.004, 0.003], CLOTHS[(2 * k + seed) % len(CLOTHS)], sections=12))
    return assembled(parts)


def stapler() -> Mesh:
    """A stapler along y, its mouth towards -Y."""
    base = rounded_box((0.034, 0.15, 0.012), (0, 0, 0.006), IRON, radius=0.004, steps=3)
    side = [(-0.068, 0.0), (0.066, 0.0), (0.072, 0.012), (0.066, 0.030), (0.02, 0.036), (-0.05, 0.026), (-0.07, 0.014)]
    arm = prism(side, 0.03, color=(0.45, 0.06, 0.05))
    # outline's x along y, its y upwards, pulled along x
    stand = np.array([[0, 0, 1.0, -0.015], [1.0, 0, 0, 0], [0, 1.0, 0, 0.018], [0, 0, 0, 1.0]])
    hinge = cylinder(0.009, 0.036, color=STEEL).moved(transform((0, 0.058, 0.016), about([0.0, 1.0, 0.0], np.pi / 2)))
    return assembled([base, arm.moved(stand), hinge])


def pot_plant(height: float = 0.34, leaves: int = 22, seed: int = 0) -> Mesh:
    """A small plant in a clay pot: long leaves that bend outwards."""
    rng = np.random.default_rng(seed)
    pot = lathe(
        [(0, 0), (0.05, 0), (0.068, 0.09), (0.074, 0.09), (0.076, 0.115), (0.066, 0.115), (0.062, 0.1), (0, 0.1)],
        color=CLAY,
    )
    parts = [pot]
    for _ in range(leaves):
        way, long = float(rng.uniform(0, 2 * np.pi)), height * float(rng.uniform(0.6, 1.0)) - 0.1
        out = np.array([np.cos(way), np.sin(way), 0.0])
        droop = float(rng.uniform(0.3, 0.9))
        s = np.linspace(0.0, 1.0, 8)[:, None]
        line = (
            out * (0.012 + droop * long * s**1.5 * 0.5)
            + [0, 0, 0.095]
            + np.array([0, 0, long]) * (s - 0.35 * droop * s**3)
        )
        widths = 0.0035 + 0.009 * np.sin(np.pi * s[:, 0]) ** 0.8
        parts.append(tube(line, widths, LEAF, sections=8))
    return assembled(parts)
