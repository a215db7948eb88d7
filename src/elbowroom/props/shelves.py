"""Shelves, books, and rows and stacks of them. Metres, front towards -Y."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import Array, about
from elbowroom.geometry.solids import arc_line, assembled, outward, prism, rounded_box, rounded_line, tube, turned
from elbowroom.geometry.transforms import transform
from elbowroom.props.palette import BIRCH, BRASS, CLOTHS, IRON, OAK, PAGES, PINE, PLASTER, WALNUT, WHITE

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
