"""Minimisation of an offset that was found: fewer and smaller rotations, for a shorter time, as long as it is free.

All trials are counted, so the result never depends on the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, replace

import numpy as np

from elbowroom.finish.nudge import Core, least_share
from elbowroom.finish.settle import first_hit
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.search.shortcut import SmoothingLimits, shortened
from elbowroom.stopping import may_stop_here
from elbowroom.world.fast import LimbCheck

# Bisections of an offset, or of a side of its time.
_HALVES = 4
# Shortest fade of an offset, seconds.
_RAMP_S = 0.2
# Numbers below this share of the largest are not removed: that would change little.
_HARDLY = 0.05

# Factors on the minimum of a coarse check, tried in turn until the full check passes.
_MORE = (1.0, 1.06, 1.15)

# Returns whether an offset (K,) with a core is free and smooth.
Fits = Callable[[Array, Core], bool]


def fewer(fits: Fits, offset: Array, reach: Array, core: Core) -> Array:
    """An offset (K,) without the numbers it does not need; those with the smallest weight `reach` (K,) go first."""
    size = np.abs(offset) / np.maximum(reach, 1e-9)
    for k in np.argsort(-size, kind="stable"):
        if size[k] < _HARDLY * size.max():
            break
        without = offset.copy()
        without[k] = 0.0
        may_stop_here()
        if without.any() and fits(without, core):
            offset = without
    return offset


def rounder(fits: Fits, offset: Array, core: Core, during: tuple[float, float]) -> Core:
    """A core with a shorter peak and longer fades: at the ends of the seconds `during` a collision it is shallow."""
    middle = float(np.clip(0.5 * sum(during), core.begin, core.end))

    def later(share: float) -> Core:
        return replace(core, begin=middle + share * (core.begin - middle))

    def sooner(share: float) -> Core:
        return replace(core, end=max(middle + share * (core.end - middle), core.begin))

    if core.begin > core.first:
        core = later(_least(fits, offset, later))
    return sooner(_least(fits, offset, sooner)) if core.end < core.last else core


def narrower(fits: Fits, offset: Array, core: Core, during: tuple[float, float]) -> Core:
    """A core whose fades as a whole are nearer to the middle of the seconds `during` a collision."""
    middle = float(np.clip(0.5 * sum(during), core.begin, core.end))

    def later(share: float) -> Core:
        by = (1.0 - share) * (middle - core.begin)
        return replace(core, first=core.first + by, begin=core.begin + by)

    def sooner(share: float) -> Core:
        by = (1.0 - share) * (core.end - max(middle, core.begin))
        return replace(core, end=core.end - by, last=core.last - by)

    if core.begin > core.first:
        core = later(_least(fits, offset, later))
    return sooner(_least(fits, offset, sooner)) if core.end < core.last else core


def shorter(fits: Fits, offset: Array, core: Core) -> Core:
    """A core that begins later and ends earlier, with the same peak."""

    def later(share: float) -> Core:
        first = max(core.first, core.begin - _RAMP_S)
        return replace(core, first=first + share * (core.first - first))

    def sooner(share: float) -> Core:
        last = min(core.last, core.end + _RAMP_S)
        return replace(core, last=last + share * (core.last - last))

    if core.begin > core.first:
        core = later(_least(fits, offset, later))
    return sooner(_least(fits, offset, sooner)) if core.end < core.last else core


def _least(fits: Fits, offset: Array, core_at: Callable[[float], Core]) -> float:
    """Smallest share whose core fits; 1 does."""
    return least_share(lambda share: fits(offset, core_at(share)), _HALVES)


def smaller(fits: Fits, offset: Array, core: Core) -> Array:
    """The smallest fraction of an offset (K,) that fits, given that the whole does."""
    return least_share(lambda share: fits(share * offset, core), _HALVES) * offset


def confirmed(fits: Fits, offset: Array, cores: Sequence[Core]) -> tuple[Array, Core] | None:
    """An offset (K,) that passed a coarse check, or slightly more of it, in the first core that passes the full one.

    None where none does.
    """
    for core in cores:
        for more in _MORE:
            may_stop_here()
            if fits(more * offset, core):
                return more * offset, core
    return None


def between(a: Core, b: Core) -> Core:
    """The core half way between two."""
    return Core(*(0.5 * (x + y) for x, y in zip(astuple(a), astuple(b), strict=True)))


def relax(
    check: LimbCheck, frames: Array, times: Array, base: Array, seed: int = 0, rounds: int = 60, vain: int = 20
) -> Array:
    """Frames (T, n, 4) with less departure from a base (T, n, 4): straight pieces of the departure, where free.

    Smoothing by random straight pieces (S2) of the rotation from the base instead of the posture, so that the base
    motion goes on underneath. Ends after `vain` rounds in a row without gain.
    """
    away = rot.continuous(rot.multiply(rot.conjugate(base), frames))

    def straight(both: Array, i: int, j: int) -> Array | None:
        """Frames and departures (T, 2, n, 4)."""
        turn = rot.slerp(both[i, 1], both[j, 1], (np.arange(1, j - i) / (j - i))[:, None])
        if not _less(turn, both[i + 1 : j, 1]):
            return None
        out = both.copy()
        out[i + 1 : j] = np.stack([rot.multiply(base[i + 1 : j], turn), turn], axis=1)
        return out if first_hit(check, out[i : j + 1, 0], times[i : j + 1]) is None else None

    both = np.stack([frames, away], axis=1)
    whole = straight(both, 0, len(both) - 1)  # often only the middle of the path was ever needed
    return shortened(both if whole is None else whole, straight, seed, SmoothingLimits(rounds, vain))[:, 0]


def _less(straight: Array, away: Array) -> bool:
    """Return whether straight departures are shorter paths than those they replace, or no longer and smaller."""

    def effort(q: Array) -> float:
        way = rot.angle_between(q[:-1], q[1:]).sum() if len(q) > 1 else 0.0
        return float(way + 0.1 * rot.angle(q).mean(axis=0).sum())

    return effort(straight) < 0.98 * effort(away)
