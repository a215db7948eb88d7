"""Stairs to a landing, with a railing on both sides, and a ramp. Metres, climbed towards -Y from y = 0."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.profiles import tube
from elbowroom.geometry.solids import assembled, outward
from elbowroom.props.palette import PLASTER, STEEL

Point = tuple[float, float]

_RAIL_M, _RAIL_RADIUS_M = 0.9, 0.02


def stairs(
    steps: int = 6,
    rise: float = 0.17,
    tread: float = 0.28,
    width: float = 1.2,
    landing: float = 1.5,
    railing: bool = True,
) -> Mesh:
    """Closed stairs, the last step a landing; `rise` and `tread` of one step."""
    top, end = steps * rise, -(steps - 1) * tread - landing
    ends = [-min(k, steps - 1) * tread - (landing if k == steps else 0.0) for k in range(steps + 1)]
    below = [(y, 0.0) for y in ends]
    fronts = [(ends[k], (k + 1) * rise) for k in range(steps)]
    backs = [(ends[k + 1], (k + 1) * rise) for k in range(steps)]
    side = []
    for k in range(steps):
        side += [(below[k + 1], backs[k], fronts[k])]
        if k > 0:
            side += [(below[k + 1], fronts[k], backs[k - 1]), (below[k + 1], backs[k - 1], below[k])]
        else:
            side += [(below[1], fronts[0], below[0])]
    rim = [below[0], *(at for pair in zip(fronts, backs, strict=True) for at in pair), *below[:0:-1]]
    parts = [_prism(side, rim, width)]
    if railing:
        for x in (-0.5 * width + 0.04, 0.5 * width - 0.04):
            posts = [(-0.5 * tread, rise), (-(steps - 0.5) * tread, top), (end + 0.05, top)]
            parts += [tube([(x, y, z - 0.01), (x, y, z + _RAIL_M)], _RAIL_RADIUS_M, STEEL) for y, z in posts]
            for (y0, z0), (y1, z1) in pairwise(posts):
                parts.append(tube([(x, y0, z0 + _RAIL_M), (x, y1, z1 + _RAIL_M)], _RAIL_RADIUS_M, STEEL))
    return assembled(parts)


def ramp(length: float = 3.0, rise: float = 0.3, width: float = 1.2, landing: float = 0.9) -> Mesh:
    """A straight ramp that ends in a landing."""
    a, b, c, d = (0.0, 0.0), (-length, rise), (-length - landing, rise), (-length - landing, 0.0)
    return _prism([(a, b, c), (a, c, d)], [a, b, c, d], width)


def _prism(side: Sequence[tuple[Point, Point, Point]], rim: Sequence[Point], width: float) -> Mesh:
    """Solid of a width across x whose side view has triangles of points (y, z), all turning one way, and a rim."""
    points = list(dict.fromkeys(at for face in (*side, rim) for at in face))
    number = {at: k for k, at in enumerate(points)}
    n = len(points)
    corners = np.array([(x, *at) for x in (-0.5 * width, 0.5 * width) for at in points])
    near = np.array([[number[at] for at in face] for face in side])
    area = sum((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) for a, b, c in side)
    turns = sum(a[0] * b[1] - a[1] * b[0] for a, b in pairwise([*rim, rim[0]]))
    around = [number[at] for at in (rim if area * turns > 0.0 else rim[::-1])]
    pairs = [(a, b) for a, b in pairwise([*around, around[0]])]
    walls = [half for a, b in pairs for half in ((b, a, a + n), (b, a + n, b + n))]
    return outward(Mesh(corners, np.concatenate([near, near[:, ::-1] + n, walls]), color=PLASTER))
