"""What the surface looks like: closed lips, a rounded seat, shoes and hair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from mesh import Half, Polygons, edges
from scipy.interpolate import PchipInterpolator
from scipy.sparse.csgraph import dijkstra

if TYPE_CHECKING:
    from source import Source

LIP_CLOSING = 0.85  # share of the gap
LIP_REACH = 0.010  # metres
BUST_ROUNDS = 3  # how often the bust is smoothed
SEAT_ROUNDS = 30  # how often the seat is smoothed
SHOE_CAP = 0.4  # how much higher a shoe is over the toes than they are
SHOE_SOLE = 0.014  # metres; what is lower than this goes down to the ground

# Hairline seen from the side: (behind the eye, above the eye), both in heights of the head above the eyes.
HAIRLINE = [(-0.4, 0.57), (0.1, 0.57), (0.35, 0.50), (0.55, 0.28), (0.64, 0.0), (0.72, 0.12)]
HAIRLINE += [(0.98, 0.15), (1.08, -0.08), (1.25, -0.52), (1.5, -0.64), (2.2, -0.64)]
TEMPLE = 0.08  # how much higher it is beside the forehead's middle
NAPE = 0.25  # how it rises from the nape's middle to the sides
HAIR = 0.011  # metres of hair on top
HAIR_SIDES = 0.5  # share of it at the sides and the back
HAIR_EDGE = 0.0015  # metres of it at the hairline


def hairline(src: Source, half: Half, x: np.ndarray) -> np.ndarray:
    """Height above the hairline of every vertex so far, in heights of the head above the eyes; NaN off the head."""
    x = half.extended(x)
    eye = src.joint(x, "l-eye")
    top = x[np.unique([v for q in half.faces for v in q]), 2].max() - eye[2]
    back, up = (x[:, 1] - eye[1]) / top, (x[:, 2] - eye[2]) / top
    aside = np.abs(x[:, 0]) / top
    line = PchipInterpolator(*np.array(HAIRLINE).T)(np.clip(back, HAIRLINE[0][0], HAIRLINE[-1][0]))
    line += TEMPLE * bump(aside - 0.40, 0.26) * np.clip((0.5 - back) / 0.3, 0.0, 1.0)
    line += NAPE * aside * np.clip((back - 1.1) / 0.2, 0.0, 1.0)
    above = up - line
    return np.where(up > -1.0, above, np.nan)


def averaging(quads: Polygons, n: int) -> sp.csr_matrix:
    """Matrix that replaces each vertex by the mean of its neighbours."""
    e = np.array([e for q in quads for e in edges(q)])
    a = sp.coo_matrix((np.ones(len(e)), (e[:, 0], e[:, 1])), (n, n)).tocsr()
    a = ((a + a.T) > 0).astype(float)
    return sp.diags(1.0 / np.maximum(np.asarray(a.sum(axis=1)).ravel(), 1.0)) @ a


def close_lips(x: np.ndarray, quads: Polygons, upper: list[int], lower: list[int]) -> np.ndarray:
    """Lips brought together; the skin around them follows, less with distance."""
    e = np.array([e for q in quads for e in edges(q)])
    graph = sp.coo_matrix((np.linalg.norm(x[e[:, 0]] - x[e[:, 1]], axis=1), (e[:, 0], e[:, 1])), (len(x),) * 2)
    moves = []
    for path, other in ((upper, lower), (lower, upper)):  # half way to the other lip, straight across
        order = np.array(other)[np.argsort(x[other, 0])]
        across = [np.interp(x[path, 0], x[order, 0], x[order, axis]) for axis in (1, 2)]
        moves.append(0.5 * (np.stack([x[path, 0], *across], axis=1) - x[path]))
    reach = []
    for path in (upper, lower):
        d, _, source = dijkstra(graph.tocsr(), False, path, return_predecessors=True, min_only=True, limit=0.04)
        reach.append((d, source))
    out = x.copy()
    for (d, source), (other, _), path, move in zip(reach, reach[::-1], (upper, lower), moves, strict=True):
        mine = np.flatnonzero((d < 0.04) & (d <= other))
        place = {v: k for k, v in enumerate(path)}
        k = np.array([place[int(s)] for s in source[mine]])
        fade = np.exp(-((d[mine] / LIP_REACH) ** 2))
        out[mine] += LIP_CLOSING * fade[:, None] * move[k]
    return out


def smooth_where(x: np.ndarray, quads: Polygons, mask: np.ndarray, times: int) -> np.ndarray:
    """Vertices moved towards the mean of their neighbours `times` times, by the share in mask (N,)."""
    mean = averaging(quads, len(x))
    used = np.asarray(mean.sum(axis=1)).ravel() > 0
    share = np.where(used, mask, 0.0)[:, None]
    for _ in range(times):
        x = x + share * (mean @ x - x)
    return x


def bump(distance: np.ndarray, radius: float) -> np.ndarray:
    """1 at 0, 0 from `radius` on, smooth."""
    return np.clip(1.0 - (distance / radius) ** 2, 0.0, 1.0) ** 2


def tidy(src: Source, x: np.ndarray, child: np.ndarray, foot: np.ndarray) -> np.ndarray:
    """Cloth lies over what skin would show: seat and crotch are rounded, and feet wear shoes.

    `foot` (N,) is the weight of foot and toes together.
    """
    hip = src.joint(x, "l-upper-leg")
    size = hip[2] - x[:, 2].min()
    ours = np.unique(src.groups["helper-tights"])
    crotch = x[ours[np.abs(src.base[ours, 0]) < 1e-6], 2].min()
    seat = bump(np.abs(x[:, 0]), 0.07 * size) * bump(x[:, 2] - hip[2] + 0.03 * size, 0.2 * size)
    seat *= np.clip((x[:, 2] - crotch + 0.02 * size) / (0.04 * size), 0.0, 1.0)
    x = smooth_where(x, src.groups["helper-tights"], seat, SEAT_ROUNDS)
    bust = np.zeros(len(x))
    for bone in ("breast.L", "breast.R"):
        for v, share in src.rig[bone]:
            bust[v] += share
    x = smooth_where(x, src.groups["helper-tights"], np.clip(2.0 * bust, 0.0, 0.7), BUST_ROUNDS)
    return shod(src, x, child, foot)


def shod(src: Source, x: np.ndarray, child: np.ndarray, foot: np.ndarray) -> np.ndarray:
    """Feet as shoes: all take the child's, whose toes are in one piece, at their own size, with a flat sole."""
    ours = np.unique(src.groups["helper-tights"])
    own = ours[foot[ours] > 0.5]
    out = x.copy()
    for side, letter in ((1.0, "l"), (-1.0, "r")):
        here = own[side * src.base[own, 0] > 0]
        grow = np.ptp(x[here], axis=0) / np.ptp(child[here], axis=0)
        ankle, other = src.joint(x, f"{letter}-ankle"), src.joint(child, f"{letter}-ankle")
        sole = x[here, 2].min()
        ball = src.joint(x, f"{letter}-foot-1")[1]
        part = ours[side * src.base[ours, 0] > 0]
        share = np.clip((foot[part] - 0.2) / 0.6, 0.0, 1.0)[:, None]
        new = ankle + grow * (child[part] - other)
        rise = new[:, 2] - new[:, 2].min()
        front = np.clip((ball - new[:, 1]) / (ball - new[:, 1].min()), 0.0, 1.0)
        rise = rise * (1.0 + SHOE_CAP * front)
        s = np.clip(rise / SHOE_SOLE, 0.0, 1.0)
        new[:, 2] = sole + rise * s * s * (3 - 2 * s)
        out[part] = x[part] + share * (new - x[part])
    return out


def with_hair(made: Half, x: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Vertices of the hair raised off the scalp, more with distance from the hairline."""
    normal = np.zeros_like(x)
    for q in made.faces:
        for k in range(1, len(q) - 1):
            n = np.cross(x[q[k]] - x[q[0]], x[q[k + 1]] - x[q[0]])
            normal[[q[0], q[k], q[k + 1]]] += n
    normal[np.abs(made.side) < 1e-6, 0] = 0.0
    hair = np.array([v for v, zone in made.zone.items() if zone == "hair"])
    n = normal[hair] / np.linalg.norm(normal[hair], axis=1, keepdims=True)
    s = np.clip(above[hair] / 0.3, 0.0, 1.0)
    full = HAIR * (HAIR_SIDES + (1.0 - HAIR_SIDES) * np.clip(n[:, 2], 0.0, 1.0))
    height = HAIR_EDGE + (full - HAIR_EDGE) * s * s * (3 - 2 * s)
    out = x.copy()
    out[hair] += height[:, None] * n
    return out
