"""Rigid transforms as (..., 4, 4) arrays. `T_a_b` maps coordinates in frame b to frame a."""

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
