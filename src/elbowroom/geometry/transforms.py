"""Rigid transforms as (..., 4, 4) arrays. `T_a_b` maps coordinates in frame b to frame a.

Headings on the floor: 0 faces -Y, positive to the left, radians.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry.rotations import Array, to_matrix


def transform(position: ArrayLike, quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> Array:
    """Transform from a position (..., 3) and a unit quaternion (..., 4)."""
    p = np.asarray(position, dtype=float)
    rotation = to_matrix(quaternion)
    lead = np.broadcast_shapes(p.shape[:-1], rotation.shape[:-2])
    out = np.zeros((*lead, 4, 4))
    out[..., :3, :3] = rotation
    out[..., :3, 3] = p
    out[..., 3, 3] = 1.0
    return out


def placing(
    at: ArrayLike = (0.0, 0.0, 0.0), quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0), scale: ArrayLike = 1.0
) -> Array:
    """Affine transform (4, 4) that scales by a number or (3,), then turns, then moves to `at` (3,)."""
    out = transform(at, quaternion)
    out[:3, :3] *= np.asarray(scale, dtype=float)
    return out


def inverse(T: ArrayLike) -> Array:
    """Inverse of rigid transforms (..., 4, 4)."""
    T = np.asarray(T, dtype=float)
    out = np.zeros_like(T)
    turned = np.swapaxes(T[..., :3, :3], -1, -2)
    out[..., :3, :3] = turned
    out[..., :3, 3] = -np.einsum("...ij,...j->...i", turned, T[..., :3, 3])
    out[..., 3, 3] = 1.0
    return out


def apply(T: ArrayLike, points: ArrayLike) -> Array:
    """Map points (..., N, 3) through transforms (..., 4, 4)."""
    T = np.asarray(T, dtype=float)
    p = np.asarray(points, dtype=float)
    return p @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3]


# Metres from one place to the next below which something on wheels stands, and has no direction in which it rolls.
_STANDS_M = 2e-5


def facing(heading: ArrayLike) -> Array:
    """Unit direction (..., 2) of a heading."""
    h = np.asarray(heading, dtype=float)
    return np.stack([np.sin(h), -np.cos(h)], axis=-1)


def heading_of(direction: ArrayLike) -> Array:
    """Heading (...,) of directions (..., 2), radians."""
    d = np.asarray(direction, dtype=float)
    return np.arctan2(d[..., 0], -d[..., 1])


def leftwards(heading: ArrayLike) -> Array:
    """Unit direction (..., 2) to the left of a heading."""
    h = np.asarray(heading, dtype=float)
    return np.stack([np.cos(h), np.sin(h)], axis=-1)


def rolling(places: Array, first: float) -> Array:
    """Headings (N,) of a base that rolls through places (N, 2) without slipping, forwards or backwards.

    Where it stands it keeps the heading of where it rolled before; `first` is the heading from which it starts, and the
    way it rolls first is the one that is nearer to it.
    """
    steps = np.diff(places, axis=0)
    rolls = np.linalg.norm(steps, axis=1) > _STANDS_M
    if not rolls.any():
        return np.full(len(places), first)
    k = np.flatnonzero(rolls)
    # along the line of rolling, whichever way: continuous in twice the angle
    line = np.unwrap(2.0 * np.arctan2(steps[k, 0], -steps[k, 1])) / 2.0
    line += np.pi * np.round((first - line[0]) / np.pi)
    return np.interp(np.arange(len(places)), k + 0.5, line)


def slips(bases: Array, headings: Array) -> Array:
    """Metres (N - 1,) by which a base slips sideways between frames at places (N, 2) with headings (N,)."""
    steps, middle = np.diff(bases, axis=0), 0.5 * (headings[1:] + headings[:-1])
    ahead = facing(middle)
    return np.asarray(np.abs(steps[:, 0] * ahead[:, 1] - steps[:, 1] * ahead[:, 0]))
