"""Timing of a path: constant speed of the wrist, then slow at both ends (K7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array
from elbowroom.search.birrt import Path
from elbowroom.spaces.limb import LimbSpace

# How closely a path is followed for the way of its wrist, in the units of its space.
WAY_SPACING = 0.01
# What the hand's own turning counts for against the way of the wrist.
_TURNING = 0.5


def bell(times: ArrayLike) -> Array:
    """Shares (T,) of a way, -2 h³ + 3 h² over the times (T,): no speed at both ends, fastest half way."""
    t = np.asarray(times, dtype=float)
    return smoothstep((t - t[0]) / max(t[-1] - t[0], 1e-12))


def way_of_wrist(space: LimbSpace, path: Path, spacing: float = WAY_SPACING) -> tuple[Array, Array]:
    """Postures (M, n, 4) along a path, closely, and how far the wrist is along its way at each, 0 to 1 (M,).

    The way is measured against the body as it stands at the path's first time. Where the hand turns in place, points
    of it count instead.
    """
    rows = space.dense(path, spacing)
    q = rot.continuous(space.rotations(rows))
    marks = space.marks(space.at_time(rows, float(rows[0, 0])))
    step = np.linalg.norm(np.diff(marks, axis=0), axis=-1)
    wrist = min(max(len(space.limits) - 2, 0), step.shape[1] - 1)
    length = np.maximum(step[:, wrist], _TURNING * step.max(axis=1))
    along = np.concatenate([[0.0], np.cumsum(length)])
    return q, along / along[-1] if along[-1] > 0.0 else np.linspace(0.0, 1.0, len(along))


def interpolate(at: ArrayLike, q: Array, wanted: ArrayLike) -> Array:
    """Rotations (T, n, 4) at values wanted (T,) of a growing parameter `at` (M,) of rotations (M, n, 4)."""
    x, s = np.asarray(at, dtype=float), np.asarray(wanted, dtype=float)
    k = np.clip(np.searchsorted(x, s, side="right") - 1, 0, max(len(x) - 2, 0))
    after = np.minimum(k + 1, len(x) - 1)
    width = x[after] - x[k]
    share = np.clip(np.where(width > 0.0, (s - x[k]) / np.where(width > 0.0, width, 1.0), 0.0), 0.0, 1.0)
    return rot.slerp(q[k], q[after], share[:, None])
