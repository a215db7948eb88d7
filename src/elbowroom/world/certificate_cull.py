"""Culling of pairs that stay so far apart over an interval that no closer check is needed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.kernels import sweep
from elbowroom.kernels.sweep import Tree


def near_units(
    parts: NDArray[np.int64],
    tree: Tree,
    ball: Array,
    joint: NDArray[np.int64],
    bodies: Iterable[tuple[slice, Array]],
    floor: float,
    margin: float,
) -> NDArray[np.int64]:
    """Units of parts (U, 2) that may come within a margin, metres, at or between any of the knots of a tree.

    ball (K, M, 4): spheres around parts in the world; joint (M,): what they ride on in the tree; bodies: the parts of
    each, and the places (K, 4, 4) of its root. Two parts of one body are compared as seen from its root: while it walks
    through the room, hands and feet stay where they are.
    """
    near = np.ones(len(parts), dtype=bool)
    a, b = parts.T
    rows, radius = np.arange(ball.shape[1]), ball[0, :, 3]
    ways = _ways(tree, ball, joint, np.column_stack([rows, np.full(len(rows), sweep.STATIC)]))
    low, high = ball[..., :3].min(axis=0), ball[..., :3].max(axis=0)
    ground = b == sweep.FLOOR
    # what is not a number is near
    near[ground] = ~(low[a[ground], 2] - radius[a[ground]] - floor - 0.5 * ways[a[ground]] > margin)
    two = np.flatnonzero(b >= 0)
    near[two] = ~(_gaps(low, high, a[two], b[two]) - (radius + 0.5 * ways)[parts[two]].sum(axis=1) > margin)
    for own, root in bodies:
        at_root = [m for m in rows[own].tolist() if joint[m] == joint[own].min()]
        same = np.flatnonzero((a >= own.start) & (a < own.stop) & (b >= own.start) & (b < own.stop))
        if not len(same) or tree.parent[0, joint[at_root[0]]] >= 0:
            continue
        ways = np.zeros(len(rows))
        ways[own] = _ways(tree, ball, joint, np.column_stack([rows[own], np.full(len(rows[own]), at_root[0])]))
        seen = np.zeros((len(ball), len(rows), 3))
        seen[:, own] = (ball[:, own, :3] - root[:, None, :3, 3]) @ root[:, :3, :3]
        gaps = _gaps(seen.min(axis=0), seen.max(axis=0), a[same], b[same])
        near[same] &= ~(gaps - (radius + 0.5 * ways)[parts[same]].sum(axis=1) > margin)
    return np.flatnonzero(near)


def _ways(tree: Tree, ball: Array, joint: NDArray[np.int64], units: NDArray[np.int64]) -> Array:
    """Upper bound on the approach of parts from knot to knot, (U,)."""
    way = np.zeros((len(units), len(ball) - 1))
    sweep.travel(tree, ball, joint, units, way)
    return way.max(axis=1)


def _gaps(low: Array, high: Array, a: NDArray[np.int64], b: NDArray[np.int64]) -> Array:
    """Distances (U,) of boxes."""
    return np.linalg.norm(np.maximum(np.maximum(low[a] - high[b], low[b] - high[a]), 0.0), axis=1)
