"""The least of a lean that was found: fewer and smaller turns, and for a shorter time, as long as it is free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from elbowroom.finish.nudge import Core
from elbowroom.geometry.rotations import Array
from elbowroom.stopping import may_stop_here

# How often a lean, or a side of its time, is halved.
_HALVES = 4
# Seconds in which a lean comes or goes at the shortest.
_RAMP_S = 0.2
# Numbers of a lean below this share of the largest are left as they are: taking them away changes little.
_HARDLY = 0.05

# Whether a lean (K,) with a core is free and smooth.
Fits = Callable[[Array, Core], bool]


def least(fits: Fits, lean: Array, reach: Array, core: Core, during: tuple[float, float]) -> tuple[Array, Core]:
    """A smaller lean (K,) than one that fits, in a narrower core about the seconds `during` which it is needed.

    `reach` (K,) says how readily each number is used: what is used least readily is taken away first. All that is tried
    is counted, so that it always ends alike.
    """
    lean = _fewer(fits, lean, reach, core)
    core = _narrower(fits, lean, core, during)
    return _smaller(fits, lean, core), core


def _fewer(fits: Fits, lean: Array, reach: Array, core: Core) -> Array:
    """A lean without the numbers that it does not need."""
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


def _smaller(fits: Fits, lean: Array, core: Core) -> Array:
    """The smallest share of a lean that fits, the whole of it doing so."""
    return _bisected(lambda share: fits(share * lean, core)) * lean


def _narrower(fits: Fits, lean: Array, core: Core, during: tuple[float, float]) -> Core:
    """The narrowest core for a lean that comes later and goes sooner, one side after the other."""
    if core.begin > core.first:
        begin = float(np.clip(during[0], core.begin, core.end))
        first = max(core.first, begin - _RAMP_S)

        def later(share: float) -> Core:
            return replace(core, first=first + share * (core.first - first), begin=begin + share * (core.begin - begin))

        core = later(_bisected(lambda share: fits(lean, later(share))))
    if core.end < core.last:
        end = float(np.clip(during[1], core.begin, core.end))
        last = min(core.last, end + _RAMP_S)

        def sooner(share: float) -> Core:
            return replace(core, end=end + share * (core.end - end), last=last + share * (core.last - last))

        core = sooner(_bisected(lambda share: fits(lean, sooner(share))))
    return core


def _bisected(fits: Callable[[float], bool]) -> float:
    """A share between 0 and 1 that fits, as small as halving finds; 1 does."""
    low, high = 0.0, 1.0
    for _ in range(_HALVES):
        may_stop_here()
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
