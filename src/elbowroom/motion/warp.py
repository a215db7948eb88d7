"""A path without time laid along a recorded motion: pose distances, segments that fit, and a monotone time warp (P3).

Poses are compared as clouds of points (Kovar and others, 2002), each pair aligned by the best shift on the floor and
turn about the vertical. The warp minimises the sum of distances under the paper's three conditions: both ends match,
it never goes back, and its slope is 0.8 to 1.2 of the mean. The paper fits it by Levenberg-Marquardt; dynamic
programming over quarter frames finds the least sum for certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array

# Least and largest slope, shares of the mean slope (paper P).
SLOPES = (0.8, 1.2)
# Parts of a frame in which a warp is searched.
_PARTS = 4
# Ends of segments that are tried, of each end of a path; those that are nearer to each other than this, frames, are
# one.
_ENDS, _APART = 4, 8
# Least frames of a segment for each node of a path: a recording is denser than a path.
_LEAST_FRAMES = 8


@dataclass(frozen=True, eq=False)
class Match:
    """A segment of a recorded motion that a path is laid along: clip number, frames (N,), one for each node of the
    path, fractions included, and the mean distance in metres."""

    clip: int
    frames: Array
    distance_m: float


def pose_distances(a: Array, b: Array) -> Array:
    """Root-mean-square distances (N, M) in metres of points (N, K, 3) and (M, K, 3), each pair aligned on the floor."""
    if a.shape[1:] != b.shape[1:] or a.shape[2:] != (3,):
        raise BadValue(f"poses to compare must have the same points (K, 3), not {a.shape[1:]} and {b.shape[1:]}.")
    p, c = (x - x.mean(axis=1, keepdims=True) * [1.0, 1.0, 0.0] for x in (a, b))
    along = np.einsum("nki,mki->nm", p[..., :2], c[..., :2])
    across = p[..., 0] @ c[..., 1].T - p[..., 1] @ c[..., 0].T
    squares = (p * p).sum(axis=(1, 2))[:, None] + (c * c).sum(axis=(1, 2))
    squares = squares - 2.0 * (np.hypot(along, across) + p[..., 2] @ c[..., 2].T)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) / a.shape[1]))


def warp(distances: Array, slopes: tuple[float, float] = SLOPES) -> tuple[Array, float]:
    """Frames (N,) from the first to the last of distances (N, M) with the least sum, and that sum; slopes see above.

    Fractions of frames are quarters, distances in between are interpolated.
    """
    nodes, frames = distances.shape
    if nodes < 2 or frames < 2:
        raise BadValue("a warp needs at least two nodes and two frames.")
    grid = np.arange((frames - 1) * _PARTS + 1) / _PARTS
    low = np.floor(grid).astype(int).clip(0, frames - 2)
    fine = distances[:, low] + (grid - low) * (distances[:, low + 1] - distances[:, low])
    mean = (frames - 1) / (nodes - 1) * _PARTS
    steps = np.arange(max(int(np.ceil(slopes[0] * mean)), 0), max(int(np.floor(slopes[1] * mean)), 0) + 1)
    if not len(steps):  # a slope within the bounds lies between two quarters: the nearest ones
        steps = np.unique([int(np.floor(mean)), int(np.ceil(mean))])
    cost = np.full(len(grid), np.inf)
    cost[0] = fine[0, 0]
    came = np.zeros((nodes, len(grid)), np.int64)
    for k in range(1, nodes):
        options = np.full((len(steps), len(grid)), np.inf)
        for i, step in enumerate(steps):
            options[i, step:] = cost[: len(grid) - step]
        best = options.argmin(axis=0)
        came[k] = steps[best]
        cost = options[best, np.arange(len(grid))] + fine[k]
    out: NDArray[np.int64] = np.zeros(nodes, np.int64)
    out[-1] = len(grid) - 1
    if not np.isfinite(cost[-1]):
        even = np.linspace(0, len(grid) - 1, nodes).round().astype(int)
        return grid[even], float(fine[np.arange(nodes), even].sum())
    for k in range(nodes - 1, 0, -1):
        out[k - 1] = out[k] - came[k, out[k]]
    return out / _PARTS, float(cost[-1])


def best_segment(
    path: Array, clips: Sequence[Array], near_m: float, share: float = 0.3, least: Sequence[int] = ()
) -> Match | None:
    """The segment of clips' points (T, K, 3) that a path's points (N, K, 3) are laid along best; None where none fits.

    A clip counts if a `share` of the path's nodes are within `near_m` metres of some frame of it; segments are tried
    between the frames that are nearest to the path's first and last node. `least` are the fewest frames of a segment,
    by clip: within `near_m` both ends of a path can match nearly one moment of a recording.
    """
    best: Match | None = None
    for number, points in enumerate(clips):
        distances = pose_distances(path, points)
        if (distances.min(axis=1) < near_m).mean() < share:
            continue
        for first in _nearest(distances[0], near_m):
            for last in _nearest(distances[-1], near_m):
                if last - first < max(_LEAST_FRAMES, least[number] if least else 0):
                    continue
                frames, total = warp(distances[:, first : last + 1])
                if best is None or total / len(path) < best.distance_m:
                    best = Match(number, first + frames, total / len(path))
    return best


def _nearest(distances: Array, near_m: float) -> list[int]:
    """Frames at which distances (T,) are smallest, within a bound, some frames apart."""
    found: list[int] = []
    for k in np.argsort(distances, kind="stable").tolist():
        if distances[k] > near_m or len(found) >= _ENDS:
            break
        if all(abs(k - other) >= _APART for other in found):
            found.append(k)
    return found
