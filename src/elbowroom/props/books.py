"""Books with round spines and pages, rows and stacks of them, and bookends. Metres; spines towards -Y."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.profiles import arc_line, prism
from elbowroom.geometry.rotations import Array, about
from elbowroom.geometry.solids import assembled, rounded_box, turned
from elbowroom.geometry.transforms import transform
from elbowroom.props.palette import BRASS, CLOTHS, IRON, PAGES

_BOARD = 0.0028  # thickness of a cover
_EDGE = 0.0035  # by which covers stand out over the pages


def book(thickness: float = 0.036, depth: float = 0.165, height: float = 0.235, bands: int = 0, seed: int = 0) -> Mesh:
    """A bound book that stands on its lower edge; `bands` are the raised cords across its spine."""
    rng = np.random.default_rng(seed)
    cloth = CLOTHS[int(rng.integers(len(CLOTHS)))]
    parts = [
        prism(_cover(thickness, depth), height, color=cloth),
        prism(_pages(thickness, depth), height - 2 * _EDGE, (0, 0, _EDGE), PAGES),
    ]
    parts += [_band(thickness, depth, z, 0.004, cloth) for z in np.linspace(0, height, bands + 2)[1:-1]]
    if bands or rng.random() < 0.6:  # a title in gold leaf
        low, high = sorted(rng.uniform(0.3, 0.85, 2) * height)
        parts.append(_band(thickness, depth, 0.5 * (low + high), max(0.012, 0.3 * (high - low)), BRASS, 0.0004))
    return assembled(parts)


def book_row(
    length: float = 0.4,
    room: float = 0.32,
    depth: float = 0.17,
    seed: int = 0,
    bands: int = 0,
) -> Mesh:
    """Books side by side from x = 0 to at most `length`, lower than `room`, spines at y = 0 or a little behind."""
    rng = np.random.default_rng(seed)
    x = 0.0
    parts: list[Mesh] = []
    while True:
        thick = float(rng.uniform(0.018, 0.048))
        if x + thick > length:
            return assembled(parts)
        deep = depth * float(rng.uniform(0.8, 1.0))
        tall = min(float(rng.normal(0.225, 0.022)), room - 0.04)
        cords = bands if rng.random() < 0.5 else 0
        one = book(thick, deep, tall, cords, int(rng.integers(2**31)))
        back = float(rng.uniform(0.0, 0.012))
        parts.append(turned(one, 0.0, (x + 0.5 * thick, 0.5 * deep + back, 0.0)))
        x += thick + float(rng.uniform(0.0008, 0.002))


def book_stack(count: int = 4, seed: int = 0) -> Mesh:
    """Books that lie on one another, each a little turned, in the middle of the origin."""
    rng = np.random.default_rng(seed)
    z = 0.0
    parts: list[Mesh] = []
    for k in range(count):
        thick = float(rng.uniform(0.02, 0.042))
        deep, tall = 0.175 - 0.008 * k, 0.245 - 0.012 * k
        lying = book(thick, deep, tall, 0, int(rng.integers(2**31))).moved(
            transform((-0.5 * tall, 0, z + 0.5 * thick), about([0.0, 1.0, 0.0], 0.5 * np.pi))
        )
        parts.append(turned(lying, float(rng.uniform(-0.12, 0.12))))
        z += thick + 0.0004
    return assembled(parts)


def bookend(height: float = 0.15, side: int = 1) -> Mesh:
    """A bent sheet of iron with a ball on its foot; it holds books that stand at its -x side (`side` 0: +x)."""
    sheet = rounded_box((0.003, 0.10, height), (0.0015, 0.06, 0.5 * height), IRON, radius=0.0014)
    foot = rounded_box((0.09, 0.096, 0.0026), (0.046, 0.06, 0.0013), IRON, radius=0.0012)
    rib = prism([(0, 0), (0.05, 0), (0, 0.09)], 0.004).moved(_UPRIGHT)
    block = rounded_box((0.03, 0.05, 0.05), (0.03, 0.06, 0.028), BRASS, radius=0.006, steps=3)
    whole = assembled([sheet, foot, Mesh(rib.vertices + [0.002, 0.062, 0.002], rib.faces, IRON), block])
    if side:
        return whole
    mirrored = whole.vertices * [-1.0, 1.0, 1.0]
    return Mesh(mirrored, whole.faces[:, ::-1], whole.color, whole.colors)


# x stays, y becomes z
_UPRIGHT = np.array([[1.0, 0, 0, 0], [0, 0, -1.0, 0], [0, 1.0, 0, 0], [0, 0, 0, 1.0]])


def _spine(half: float, front: float, bulge: float, steps: int = 6) -> Array:
    """Round back of a book, from -x to +x: it meets the covers at y = `front` and stands out by `bulge`."""
    radius = (half**2 + bulge**2) / (2 * bulge)
    angle = np.arcsin(min(half / radius, 1.0))
    return arc_line((0.0, front - bulge + radius), radius, -np.pi / 2 - angle, -np.pi / 2 + angle, steps)


def _cover(thickness: float, depth: float) -> Array:
    """Outline of both covers and the spine between them, seen from above."""
    half, front, back = 0.5 * thickness, -0.5 * depth + 0.007, 0.5 * depth
    outer = _spine(half - 0.0012, front, 0.007)
    inner = _spine(half - _BOARD, front + 0.001, 0.0055)[::-1]
    right = [(half, front + 0.006), (half, back - 0.001), (half - 0.001, back), (half - _BOARD, back)]
    left = [(-x, y) for x, y in right[::-1]]
    groove = [(half - 0.0012, front + 0.003)]
    return np.concatenate([outer, groove, right, inner, left, [(-x, y) for x, y in groove]])


def _pages(thickness: float, depth: float) -> Array:
    """Outline of the pages: round at the spine, hollow at the open side, sunk a hair into the covers."""
    half, front, back = 0.5 * thickness - _BOARD + 0.0002, -0.5 * depth + 0.008, 0.5 * depth - _EDGE
    hollow = min(0.12 * thickness, 0.005)
    open_side = np.linspace(half, -half, 5)
    edge = np.stack([open_side, back - hollow * (1 - (open_side / half) ** 2)], axis=1)
    return np.concatenate([_spine(half, front, 0.0045), edge])


def _band(thickness: float, depth: float, z: float, height: float, color: Color, out: float = 0.0015) -> Mesh:
    """A strip round the spine at a height, standing out by `out`."""
    half, front = 0.5 * thickness, -0.5 * depth + 0.007
    outer = _spine(half - 0.0012, front, 0.007)
    strip = np.concatenate([outer + [0.0, -out], outer[::-1] + [0.0, 0.001]])
    return prism(strip, height, (0, 0, z - 0.5 * height), color)
