"""Shorter paths: pieces between two random places are replaced by straight ones (K6, S2).

`smooth` is compiled, for spaces of limbs; `shortened` is the same in Python for all other paths of waypoints, of which
their spaces say what is straight, free and better.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from elbowroom.geometry.mesh import frozen
from elbowroom.kernels.rng import rng
from elbowroom.kernels.shortcut import shorten
from elbowroom.kernels.space import TALLY
from elbowroom.search.birrt import SearchPath, Space, Stats
from elbowroom.stopping import may_stop_here

Waypoints = TypeVar("Waypoints", bound=Sized)


@dataclass(frozen=True)
class SmoothingLimits:
    """Limits: total rounds, rounds in a row without gain, checks of states."""

    rounds: int = 200
    vain: int = 40
    checks: int = 100_000


USUAL = SmoothingLimits()


def shortened(
    path: Waypoints,
    straight: Callable[[Waypoints, int, int], Waypoints | None],
    seed: int | np.random.Generator,
    effort: SmoothingLimits = USUAL,
    checks: Callable[[], int] = lambda: 0,
    *,
    distinct: bool = False,
) -> Waypoints:
    """A path of waypoints with pieces replaced by straight ones.

    `straight` gives the path with a straight piece from one waypoint to another, None where it is not free or not
    better; `checks` counts its checks of states. `distinct` draws two different waypoints, so that each round of a few
    counts.
    """
    thrown, lost = np.random.default_rng(seed), 0
    for _ in range(effort.rounds):
        if len(path) < 3 or lost >= effort.vain or checks() >= effort.checks:
            break
        may_stop_here()
        count = len(path)
        drawn = thrown.choice(count, 2, replace=False) if distinct else thrown.integers(0, count, 2)
        i, j = sorted(drawn.tolist())
        better = straight(path, i, j) if j - i > 1 else None
        path, lost = (path, lost + 1) if better is None else (better, 0)
    return path


def smooth(space: Space, path: SearchPath, seed: int = 0, effort: SmoothingLimits = USUAL) -> SearchPath:
    """The path of a limb with random pieces replaced by straight ones where those are valid, in time, too, where that
    is searched.

    The stats are those of smoothing. A path that was not found is returned unchanged.
    """
    if not path.found:
        return path
    may_stop_here()
    tally = np.zeros(TALLY, np.int64)
    compiled = space.compiled(path.states[0], path.states[-1])
    count = len(path.states)
    states = np.zeros((count + effort.rounds, space.width))
    states[:count] = path.states
    ends, along = np.zeros((2, space.width)), np.zeros(len(states))
    count = shorten(compiled, states, count, rng(seed), effort.rounds, effort.vain, effort.checks, ends, along, tally)
    return SearchPath(frozen(states[:count]), "found", Stats.of(tally))
