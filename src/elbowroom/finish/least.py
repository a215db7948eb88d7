"""The least of a lean that was found: fewer and smaller turns, and for a shorter time, as long as it is free.

All that is tried is counted, so that it always ends alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, replace

import numpy as np

from elbowroom.finish.nudge import Core, least_share
from elbowroom.finish.settle import first_hit
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.stopping import may_stop_here
from elbowroom.world.fast import LimbCheck

# How often a lean, or a side of its time, is halved.
_HALVES = 4
# Seconds in which a lean comes or goes at the shortest.
_RAMP_S = 0.2
# Numbers of a lean below this share of the largest are left as they are: taking them away changes little.
_HARDLY = 0.05

# Multiples of what few looks find to be the least, tried in turn until all looks do.
_MORE = (1.0, 1.06, 1.15)

# Whether a lean (K,) with a core is free and smooth.
Fits = Callable[[Array, Core], bool]


def fewer(fits: Fits, lean: Array, reach: Array, core: Core) -> Array:
    """A lean (K,) without the numbers that it does not need, by how readily each is used, `reach` (K,): what is used
    least readily goes first."""
    size = np.abs(lean) / np.maximum(reach, 1e-9)
    for k in np.argsort(-size, kind="stable"):
        if size[k] < _HARDLY * size.max():
            break
        without = lean.copy()
        without[k] = 0.0
        may_stop_here()
        if without.any() and fits(without, core):
            lean = without
    return lean


def rounder(fits: Fits, lean: Array, core: Core, during: tuple[float, float]) -> Core:
    """A core whose height is shorter, so that it comes and goes in more time: things are hardly touched at the ends of
    the seconds `during` which a lean is needed."""
    middle = float(np.clip(0.5 * sum(during), core.begin, core.end))

    def later(share: float) -> Core:
        return replace(core, begin=middle + share * (core.begin - middle))

    if core.begin > core.first:
        core = later(least_share(lambda share: fits(lean, later(share)), _HALVES))

    def sooner(share: float) -> Core:
        return replace(core, end=max(middle + share * (core.end - middle), core.begin))

    return sooner(least_share(lambda share: fits(lean, sooner(share)), _HALVES)) if core.end < core.last else core


def shorter(fits: Fits, lean: Array, core: Core) -> Core:
    """A core that begins later and ends sooner, with the same height."""

    def later(share: float) -> Core:
        first = max(core.first, core.begin - _RAMP_S)
        return replace(core, first=first + share * (core.first - first))

    if core.begin > core.first:
        core = later(least_share(lambda share: fits(lean, later(share)), _HALVES))

    def sooner(share: float) -> Core:
        last = min(core.last, core.end + _RAMP_S)
        return replace(core, last=last + share * (core.last - last))

    return sooner(least_share(lambda share: fits(lean, sooner(share)), _HALVES)) if core.end < core.last else core


def smaller(fits: Fits, lean: Array, core: Core) -> Array:
    """The smallest share of a lean (K,) that fits, the whole of it doing so."""
    return least_share(lambda share: fits(share * lean, core), _HALVES) * lean


def surely(fits: Fits, lean: Array, cores: Sequence[Core]) -> tuple[Array, Core] | None:
    """A lean (K,) that few looks have found, or a little more of it, in the first of some cores in which all looks find
    it to fit; None where they find none."""
    for core in cores:
        for more in _MORE:
            may_stop_here()
            if fits(more * lean, core):
                return more * lean, core
    return None


def between(a: Core, b: Core) -> Core:
    """The core half way from one to another."""
    return Core(*(0.5 * (x + y) for x, y in zip(astuple(a), astuple(b), strict=True)))


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
