"""Parts of a team's space: groups of balls that cover the object, narrow places and open cells of the floor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array


def grouped(balls: Array) -> tuple[Array, NDArray[np.int64], Array]:
    """Balls (B, 4) in groups of neighbours: balls of groups (G, 4), first indices (G + 1,), and balls in that order.

    There are about half as many groups as balls in a group: most states are decided by groups, few by balls.
    """
    most = max(int(2.0 * np.sqrt(len(balls))), 1)
    leaves: list[NDArray[np.int64]] = []
    parts: list[NDArray[np.int64]] = [np.arange(len(balls))]
    while parts:
        rows = parts.pop()
        if len(rows) <= most:
            leaves.append(rows)
            continue
        axis = int(np.argmax(np.ptp(balls[rows, :3], axis=0)))
        order = rows[np.argsort(balls[rows, axis], kind="stable")]
        parts += [order[: len(order) // 2], order[len(order) // 2 :]]
    groups = np.zeros((len(leaves), 4))
    for group, rows in zip(groups, leaves, strict=True):
        group[:3] = 0.5 * (balls[rows, :3].min(axis=0) + balls[rows, :3].max(axis=0))
        group[3] = float((np.linalg.norm(balls[rows, :3] - group[:3], axis=1) + balls[rows, 3]).max())
    first = np.concatenate([[0], np.cumsum([len(rows) for rows in leaves])]).astype(np.int64)
    return groups, first, np.ascontiguousarray(balls[np.concatenate(leaves)], dtype=float)


def narrow_places(taken: NDArray[np.bool_], origin: Array, cell_m: float, widest_m: float, seed: int) -> Array:
    """Middles of narrow passages with their directions, (N, 3), by the bridge test between occupied cells (ny, nx)."""
    cells = np.argwhere(taken)
    if not len(cells):
        return np.zeros((0, 3))
    rng, count = np.random.default_rng(seed), 20_000
    a = cells[rng.integers(0, len(cells), count)]
    angle, length = rng.uniform(0.0, np.pi, count), rng.uniform(0.4, widest_m, count) / cell_m
    way = np.stack([np.sin(angle), np.cos(angle)], axis=-1) * length[:, None]
    b, middle = np.rint(a + way).astype(int), np.rint(a + 0.5 * way).astype(int)
    inside = np.all((b >= 0) & (b < taken.shape), axis=1)
    a, b, middle, angle = a[inside], b[inside], middle[inside], angle[inside]
    good = taken[b[:, 0], b[:, 1]] & ~taken[middle[:, 0], middle[:, 1]]
    # all of the bridge but its ends is open
    for share in (0.3, 0.7):
        j, i = np.rint(a + share * (b - a)).astype(int).T
        good &= ~taken[j, i]
    xy = origin + cell_m * (middle[good][:, ::-1] + 0.5)
    return np.column_stack([xy, angle[good] + 0.5 * np.pi])


def open_cells(room: Sequence[Array], origin: Array, cell_m: float) -> Array:
    """Middles (M, 2) of cells that are open in any of some maps (ny, nx) of room, metres."""
    free = np.any([r > 0.0 for r in room], axis=0)
    return np.asarray(origin + cell_m * (np.argwhere(free)[:, ::-1] + 0.5))


def without_low(room: Array, ceiling: Array | None, about: NDArray[np.bool_], cell_m: float) -> Array:
    """A map (ny, nx) of room in which cells count as taken under what hangs over cells `about`, as low as there.

    `ceiling` (ny, nx) are heights of what hangs over cells, inf where nothing does.
    """
    if ceiling is None or not np.isfinite(ceiling[about]).any():
        return room
    low = ceiling <= ceiling[about].min()
    parts = scipy.ndimage.label(low, np.ones((3, 3)))[0]
    under = np.isin(parts, np.unique(parts[about & low]))
    return np.asarray(np.minimum(room, cell_m * scipy.ndimage.distance_transform_edt(~under)))


def passage_width(room: Array, origin: Array, cell_m: float, ends: tuple[Array, Array], near_m: float) -> float:
    """Width of the narrowest place of the widest path over a map (ny, nx) of room, metres, 0 without a path.

    The path leads from near the first of two `ends`, positions (K, 2) each, to near one of the second.
    """
    j, i = np.indices(room.shape)
    cells = origin + cell_m * (np.stack([i, j], axis=-1) + 0.5)
    about = [np.any([np.linalg.norm(cells - place, axis=-1) < near_m for place in end], axis=0) for end in ends]

    def joined(least: float) -> bool:
        labels = scipy.ndimage.label(room >= least)[0]
        first, last = (set(labels[near].tolist()) - {0} for near in about)
        return bool(first & last)

    widths = np.unique(np.round(room[room > 0.0], 3))
    low, high = 0, len(widths)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if joined(float(widths[middle])) else (low, middle)
    return 2.0 * float(widths[low - 1]) if low else 0.0
