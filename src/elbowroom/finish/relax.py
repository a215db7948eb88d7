"""Frames drawn back towards the motion that they depart from, where that is free."""

from __future__ import annotations

import numpy as np

from elbowroom.finish.settle import first_hit
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.world.fast import LimbCheck


def relax(
    check: LimbCheck, frames: Array, times: Array, base: Array, seed: int = 0, rounds: int = 60, vain: int = 20
) -> Array:
    """Frames (T, n, 4) with less departure from a base (T, n, 4): straight pieces of the departure, where free.

    This is smoothing by random straight pieces (S2), of the turn from the base instead of the posture: what is left of
    a detour lies over the motion, which goes on underneath. It ends after `vain` rounds in a row without gain.
    """
    rng = np.random.default_rng(seed)
    away = rot.continuous(rot.multiply(rot.conjugate(base), frames))
    out, lost = np.array(frames), 0
    for number in range(rounds):
        # the whole first: often nothing but the middle of the way was ever needed
        i, j = (0, len(out) - 1) if number == 0 else np.sort(rng.integers(0, len(out), 2))
        if lost >= vain:
            break
        lost += 1
        if j - i < 2:
            continue
        share = np.arange(1, j - i) / (j - i)
        straight = rot.slerp(away[i], away[j], share[:, None])
        if not _less(straight, away[i + 1 : j]):
            continue
        tried = out[i : j + 1].copy()
        tried[1:-1] = rot.multiply(base[i + 1 : j], straight)
        if first_hit(check, tried, times[i : j + 1]) is None:
            out[i : j + 1], away[i + 1 : j] = tried, straight
            lost = 0
    return out


def _less(straight: Array, away: Array) -> bool:
    """Return whether straight departures are shorter paths than those they replace, or no longer and smaller."""

    def effort(q: Array) -> float:
        way = rot.angle_between(q[:-1], q[1:]).sum() if len(q) > 1 else 0.0
        return float(way + 0.1 * rot.angle(q).mean(axis=0).sum())

    return effort(straight) < 0.98 * effort(away)
