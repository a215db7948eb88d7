"""A wardrobe with clothes, a hat, and a coat stand. Metres, front towards -Y."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import assembled, lathe, prism, rounded_box, rounded_line, tube
from elbowroom.props.cabinets import door
from elbowroom.props.palette import BIRCH, BRASS, CLOTHS, IRON, OAK, PINE, SLATE, STEEL, WALNUT

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


# Inner half width of a hat for a head 0.57 m round, and how much longer than wide heads are.
_INNER, _LONG = 0.096, 1.27


def hat(brim: float = 0.055, crown: float = 0.125, seed: int = 0) -> Mesh:
    """A hat of felt with a ribbon, open below; its front is towards -Y, the lower edge of its crown at z = 0.

    It goes over heads up to 0.19 m wide and 0.24 m long; the brim stands out all round by `brim` and more.
    """
    felt = ((0.16, 0.11, 0.07), (0.09, 0.10, 0.12), (0.30, 0.23, 0.15))[seed % 3]
    thick, r = 0.004, _INNER
    turn = np.linspace(0.0, 0.5 * np.pi, 7)
    # up the outside, over the top and down the inside
    over = [(r - 0.03 + 0.024 * np.cos(a), crown - 0.024 + 0.024 * np.sin(a)) for a in turn]
    under = [(r - 0.034 + 0.024 * np.cos(a), crown - thick - 0.024 + 0.024 * np.sin(a)) for a in turn[::-1]]
    rim = r + brim
    edge = [(rim + 0.002 * np.cos(a), 0.008 + 0.002 * np.sin(a)) for a in np.linspace(-0.5 * np.pi, 0.5 * np.pi, 5)]
    out = [(r, 0.0), (r + 0.3 * brim, 0.0005), (r + 0.7 * brim, 0.003), *edge]
    back = [(r + 0.7 * brim, 0.007), (r + 0.3 * brim, 0.0045), (r + thick + 0.001, 0.006), (r + thick, 0.012)]
    profile = [*out, *back, *over, (0.0, crown), (0.0, crown - thick), *under, (r, 0.0)]
    body = lathe(_finer(np.array(profile)), color=felt, sections=40)
    band = [(r + 0.001, 0.008), (r + 0.0053, 0.008), (r + 0.003, 0.032), (r - 0.002, 0.032), (r + 0.001, 0.008)]
    ribbon = lathe(_finer(np.array(band)), color=SLATE, sections=40)
    whole = assembled([body, ribbon])
    v = whole.vertices.copy()
    # the crease along the crown's top, and a brim that is turned down before and behind and up at the sides
    high = np.clip((v[:, 2] - 0.6 * crown) / (0.4 * crown), 0.0, 1.0)
    v[:, 2] -= 0.018 * high**2 * np.exp(-((v[:, 0] / 0.03) ** 2))
    far = np.clip((np.hypot(v[:, 0], v[:, 1]) - r) / brim, 0.0, None)
    around = np.arctan2(v[:, 1], v[:, 0])
    v[:, 2] -= 0.005 * far**2 * (1.0 - 1.6 * np.cos(around) ** 2)
    v[:, 1] *= _LONG
    return replace(whole, vertices=v)


def coat_stand(height: float = 1.42, arms: int = 3) -> Mesh:
    """A turned post on three feet, with brass pegs below its flat round top: a hat lies on that."""
    post = [
        (0, 0.07), (0.032, 0.07), (0.034, 0.10), (0.022, 0.13), (0.026, 0.20), (0.019, 0.60), (0.026, 0.64),
        (0.018, 0.68), (0.016, height - 0.16), (0.024, height - 0.14), (0.017, height - 0.12), (0.015, height - 0.07),
    ]  # fmt: skip
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 6)
    top = [
        (0.03, height - 0.04),
        (0.094, height - 0.02),
        *((0.1 + 0.01 * np.cos(a), height - 0.01 + 0.01 * np.sin(a)) for a in turn),
    ]
    parts = [lathe(_finer(np.array([*post, *top, (0.0, height)])), color=WALNUT, sections=28)]
    s = np.linspace(0.0, 1.0, 10)[:, None]
    for k in range(3):
        way = np.pi / 6 + 2.0 * np.pi * k / 3
        out = np.array([np.cos(way), np.sin(way), 0.0])
        foot = (0.02 + 0.22 * s) * out + [0, 0, 0.017] + (1.0 - s) ** 2 * [0, 0, 0.10]
        parts.append(tube(foot, 0.013 + 0.003 * np.cos(2 * np.pi * s[:, 0]), WALNUT, sections=10))
        parts.append(_knob(0.016, (*(0.24 * out[:2]), 0.0165), IRON))
    for k in range(arms):
        way = np.pi / 2 + 2.0 * np.pi * k / max(arms, 1)
        out = np.array([np.cos(way), np.sin(way), 0.0])
        peg = (0.012 + 0.10 * s) * out + [0, 0, height - 0.33] + s**2 * [0, 0, 0.06]
        parts.append(tube(peg, 0.006, BRASS, sections=8))
        parts.append(_knob(0.012, peg[-1], BRASS))
    return assembled(parts)


def _knob(radius: float, at: ArrayLike, color: Color) -> Mesh:
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 7)
    ball = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)
    ball[[0, -1], 0] = 0.0
    return lathe(ball, at, color, sections=12)


def _finer(line: Array, longest: float = 0.05) -> Array:
    """A profile with points between those of long pieces."""
    out = [line[:1]]
    for a, b in pairwise(line):
        count = max(int(np.ceil(np.linalg.norm(b - a) / longest)), 1)
        out.append(a + (b - a) * np.linspace(0.0, 1.0, count + 1)[1:, None])
    return np.concatenate(out)
