"""Joint rotations in anatomical terms, back again, and moved into a range. See `character.limits` for the terms.

A joint's range is passed as plain arrays: `hinge` says which of the two ways of writing applies, `pre` and `post` (4,)
lead to and from the anatomical frame, `low` and `high` (3,) bound the terms; for a ball they are the half axes of the
swing ellipse towards -x, -y (negative) and +x, +y, and the twist range. `polygon` (K, 2), sorted by direction from
-pi, replaces the ellipse where K > 0.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner

Array = NDArray[np.float64]

# Half axes below this count as a line.
_NARROW = 1e-9


@inner()
def _product(a: Array, b: Array, out: Array) -> None:
    w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
    out[0], out[1], out[2], out[3] = w, x, y, z


@inner()
def swing_and_twist(w: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Swing (sx, sy) and twist of a rotation written as swing * twist, radians."""
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    turning, size = math.sqrt(w * w + z * z), math.sqrt(x * x + y * y)
    # cosine and sine of half the twist
    c, s = (w / turning, z / turning) if turning > 0.0 else (1.0, 0.0)
    scale = 2.0 * math.atan2(size, turning) / size if size > 1e-12 else 2.0
    return scale * (x * c - y * s), scale * (x * s + y * c), 2.0 * math.atan2(z, w)


@inner()
def flexion_and_twist(w: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Flexion, off-axis and twist of a rotation written as Rx Ry Rz, radians."""
    r00, r01, r02 = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    level = math.hypot(r00, r01)
    aside = math.atan2(r02, level)
    if level > 1e-9:
        return math.atan2(2 * (w * x - y * z), 1 - 2 * (x * x + y * y)), aside, math.atan2(-r01, r00)
    # flexion and twist are about one axis: all of it is flexion
    return math.atan2(2 * (y * z + w * x), 1 - 2 * (x * x + z * z)), aside, 0.0


@nb.njit(cache=True, nogil=True)
def to_terms(hinge: bool, pre: Array, post: Array, q: Array, out: Array) -> None:
    """Terms (N, 3) of local rotations q (N, 4)."""
    before = np.array([pre[0], -pre[1], -pre[2], -pre[3]])
    after = np.array([post[0], -post[1], -post[2], -post[3]])
    a = np.zeros(4)
    for n in range(q.shape[0]):
        _product(before, q[n], a)
        _product(a, after, a)
        w, x, y, z = a[0], a[1], a[2], a[3]
        if hinge:
            out[n, 0], out[n, 1], out[n, 2] = flexion_and_twist(w, x, y, z)
        else:
            out[n, 0], out[n, 1], out[n, 2] = swing_and_twist(w, x, y, z)


@nb.njit(cache=True, nogil=True)
def from_terms(hinge: bool, pre: Array, post: Array, terms: Array, out: Array) -> None:
    """Local rotations (N, 4) of terms (N, 3)."""
    a = np.zeros(4)
    for n in range(terms.shape[0]):
        cz, sz = math.cos(0.5 * terms[n, 2]), math.sin(0.5 * terms[n, 2])
        if hinge:
            cx, sx = math.cos(0.5 * terms[n, 0]), math.sin(0.5 * terms[n, 0])
            cy, sy = math.cos(0.5 * terms[n, 1]), math.sin(0.5 * terms[n, 1])
            w, x, y, z = cx * cy, sx * cy, cx * sy, sx * sy
        else:
            size = math.hypot(terms[n, 0], terms[n, 1])
            scale = math.sin(0.5 * size) / size if size > 1e-12 else 0.5
            w, x, y, z = math.cos(0.5 * size), scale * terms[n, 0], scale * terms[n, 1], 0.0
        a[0], a[1], a[2], a[3] = w * cz - z * sz, x * cz + y * sz, y * cz - x * sz, w * sz + z * cz
        _product(pre, a, a)
        _product(a, post, out[n])


@inner()
def ellipse_radius(rx: float, ry: float, x: float, y: float) -> float:
    """Radius towards the unit direction (x, y) of the ellipse with these half axes."""
    rx, ry = max(rx, _NARROW), max(ry, _NARROW)
    return rx * ry / math.sqrt(ry * x * (ry * x) + rx * y * (rx * y))


@inner()
def polygon_radius(polygon: Array, x: float, y: float) -> float:
    """Radius towards the unit direction (x, y) of a polygon (K, 2) that is star-shaped about zero."""
    towards = math.atan2(y, x)
    count = polygon.shape[0]
    k = count - 1  # before the first corner the last edge counts
    for i in range(count):
        if math.atan2(polygon[i, 1], polygon[i, 0]) <= towards:
            k = i
        else:
            break
    a, b = polygon[k], polygon[(k + 1) % count]
    ex, ey = b[0] - a[0], b[1] - a[1]
    return (a[0] * ey - a[1] * ex) / (x * ey - y * ex)


@nb.njit(cache=True, nogil=True)
def swing_radius(low: Array, high: Array, polygon: Array, x: float, y: float) -> float:
    """Largest swing (radians) towards the unit direction (x, y)."""
    if polygon.shape[0] == 0:
        return ellipse_radius(high[0] if x >= 0 else -low[0], high[1] if y >= 0 else -low[1], x, y)
    return polygon_radius(polygon, x, y)


@nb.njit(cache=True, nogil=True)
def clamp_terms(hinge: bool, low: Array, high: Array, polygon: Array, terms: Array) -> None:
    """Move terms (N, 3) into the range, in place: each hinge angle and the twist alone, a swing along its direction."""
    for n in range(terms.shape[0]):
        terms[n, 2] = min(max(terms[n, 2], low[2]), high[2])
        if hinge:
            terms[n, 0] = min(max(terms[n, 0], low[0]), high[0])
            terms[n, 1] = min(max(terms[n, 1], low[1]), high[1])
        else:
            size = math.hypot(terms[n, 0], terms[n, 1])
            if size > 0.0:
                most = swing_radius(low, high, polygon, terms[n, 0] / size, terms[n, 1] / size)
                if size > most:
                    terms[n, 0] *= most / size
                    terms[n, 1] *= most / size
