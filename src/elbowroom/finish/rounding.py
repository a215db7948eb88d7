"""Speed along a path (K7), rounded corners, and smooth joins to another motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep, smoothstep
from elbowroom.geometry.rotations import Array
from elbowroom.search.birrt import Path
from elbowroom.spaces.limb import LimbSpace

# Spacing of a path for measuring the wrist's travel, in the units of its space.
TRAVEL_SPACING = 0.01
# Weight of the hand's rotation against the travel of the wrist.
_TURNING = 0.5


def bell(times: ArrayLike) -> Array:
    """Shares (T,) of a path, -2 h³ + 3 h² over the times (T,): zero speed at both ends, fastest half way."""
    t = np.asarray(times, dtype=float)
    return smoothstep((t - t[0]) / max(t[-1] - t[0], 1e-12))


def wrist_travel(space: LimbSpace, path: Path, spacing: float = TRAVEL_SPACING) -> tuple[Array, Array]:
    """Postures (M, n, 4) closely spaced along a path, and the wrist's share of its travel at each, 0 to 1 (M,).

    Travel is measured relative to the body at the path's first time. Where the hand rotates in place, points on it
    count instead.
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


def rounded(q: ArrayLike, window: float | Array, base: ArrayLike | None = None) -> Array:
    """Rotations (T, n, 4) with corners rounded over `window` frames to either side, or (T,) of them.

    Smooths the rotation from a base motion (T, n, 4), by default from standing still: fine detail of the base stays. At
    both ends posture and velocity are those of the base plus a constant rotation: velocity is continuous where the
    motion leaves and joins its base.
    """
    q = np.asarray(q, dtype=float)
    under = np.zeros_like(q) + (1.0, 0.0, 0.0, 0.0) if base is None else np.asarray(base, dtype=float)
    turn = rot.continuous(rot.multiply(rot.conjugate(under), q))
    windows = np.broadcast_to(np.asarray(window, dtype=float), len(q))
    reach = int(min(windows.max(), 0.5 * (len(q) - 1)))
    if reach < 1:
        return q.copy()
    weights = _hann(windows, reach)
    padded = np.concatenate([np.repeat(turn[:1], reach, 0), turn, np.repeat(turn[-1:], reach, 0)])
    soft = np.zeros_like(turn)
    for k in range(2 * reach + 1):
        soft += weights[:, k, None, None] * padded[k : k + len(turn)]
    soft = rot.normalize(soft)
    for end, at in ((slice(None), 0), (slice(None, None, -1), -1)):
        span = min(2 * int(windows[at]), len(q) - 1)
        if span > 0:
            soft = _led(soft[end], turn[at], span)[end]
    return rot.multiply(under, soft)


def _hann(windows: Array, reach: int) -> Array:
    """Weights (T, 2 reach + 1) of neighbours, for windows (T,) of so many frames to either side."""
    x = np.arange(-reach, reach + 1) / (windows[:, None] + 1.0)
    weights = np.where(np.abs(x) < 1.0, 1.0 + np.cos(np.pi * x), 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


def _led(q: Array, first: Array, span: int) -> Array:
    """The first `span` frames bent so that the motion begins at a rotation (n, 4), at rest."""
    off = rot.log(rot.multiply(rot.conjugate(q[0]), first))
    speed = rot.log(rot.multiply(rot.conjugate(q[0]), q[1]))
    s = np.arange(span + 1)[:, None, None] / span
    # quintic pieces: value 1 and slope 1 at s = 0; value, slope and second derivative 0 at s = 1, second derivative 0
    # at s = 0
    value = 1.0 - smootherstep(s)
    slope = s - s**3 * (6.0 - 8.0 * s + 3.0 * s * s)
    bent = off * value - speed * span * slope
    out = q.copy()
    out[: span + 1] = rot.multiply(q[: span + 1], rot.exp(bent))
    out[0] = first
    return out


def joined(q: ArrayLike, at: int, reach: int) -> Array:
    """Rotations (T, n, 4), smoothed around frame `at` by averages of neighbours.

    The window is widest at `at` itself and zero from `2 * reach` frames off: there, and at both ends, frames stay the
    same.
    """
    q = rot.continuous(np.asarray(q, dtype=float))
    out = q.copy()
    for k in range(max(at - 2 * reach + 1, 1), min(at + 2 * reach, len(q) - 1)):
        half = min(reach, 2 * reach - abs(k - at), k, len(q) - 1 - k)
        if half < 1:
            continue
        near = np.arange(-half, half + 1)
        weight = 1.0 + np.cos(np.pi * near / (half + 1.0))
        out[k] = rot.normalize(np.tensordot(weight / weight.sum(), q[k + near], axes=1))
    return out
