"""Corners of a motion made round, its ends left as they are, and no jerk where it leaves and joins another motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array


def rounded(q: ArrayLike, window: float | Array, base: ArrayLike | None = None) -> Array:
    """Rotations (T, n, 4) with corners rounded over `window` frames to either side, or (T,) of them, each its own.

    What is smoothed is the turn from a base motion (T, n, 4), by default from standing still: fine detail of the base
    stays. At both ends posture and velocity are those of the base plus a constant turn: velocity goes on without a
    jump where the motion leaves and joins its base.
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
    # quintic pieces: value 1 and slope 1 at s = 0; value, slope and bend 0 at s = 1, bend 0 at s = 0
    value = 1.0 - smootherstep(s)
    slope = s - s**3 * (6.0 - 8.0 * s + 3.0 * s * s)
    bent = off * value - speed * span * slope
    out = q.copy()
    out[: span + 1] = rot.multiply(q[: span + 1], rot.exp(bent))
    out[0] = first
    return out
