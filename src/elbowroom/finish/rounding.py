"""Corners of a motion made round, its ends left as they are, and no jerk where it leaves and joins another motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.ease import soft_step
from elbowroom.geometry.rotations import Array


def rounded(q: ArrayLike, window: float, base: ArrayLike | None = None) -> Array:
    """Rotations (T, n, 4) with corners rounded over `window` frames to either side.

    What is smoothed is the turn from a base motion (T, n, 4), by default from standing still: fine detail of the base
    stays. At both ends posture and velocity are those of the base plus a constant turn: velocity goes on without a
    jump where the motion leaves and joins its base.
    """
    q = np.asarray(q, dtype=float)
    under = np.zeros_like(q) + (1.0, 0.0, 0.0, 0.0) if base is None else np.asarray(base, dtype=float)
    turn = rot.continuous(rot.multiply(rot.conjugate(under), q))
    reach = int(min(window, 0.5 * (len(q) - 1)))
    if reach < 1:
        return q.copy()
    weights = _hann(window, reach)
    padded = np.concatenate([np.repeat(turn[:1], reach, 0), turn, np.repeat(turn[-1:], reach, 0)])
    soft = np.zeros_like(turn)
    for k, w in enumerate(weights):
        soft += w * padded[k : k + len(turn)]
    soft = rot.normalize(soft)
    span = min(2 * reach, len(q) - 1)
    soft = _led(soft, turn[0], span)
    soft = _led(soft[::-1], turn[-1], span)[::-1]
    return rot.multiply(under, soft)


def _hann(window: float, reach: int) -> Array:
    x = np.arange(-reach, reach + 1) / (window + 1.0)
    weights = 1.0 + np.cos(np.pi * x)
    return weights / weights.sum()


def _led(q: Array, first: Array, span: int) -> Array:
    """The first `span` frames bent so that the motion begins at a rotation (n, 4), at rest."""
    off = rot.log(rot.multiply(rot.conjugate(q[0]), first))
    speed = rot.log(rot.multiply(rot.conjugate(q[0]), q[1]))
    s = np.arange(span + 1)[:, None, None] / span
    # quintic pieces: value 1 and slope 1 at s = 0; value, slope and bend 0 at s = 1, bend 0 at s = 0
    value = 1.0 - soft_step(s)
    slope = s - s**3 * (6.0 - 8.0 * s + 3.0 * s * s)
    bent = off * value - speed * span * slope
    out = q.copy()
    out[: span + 1] = rot.multiply(q[: span + 1], rot.exp(bent))
    out[0] = first
    return out
