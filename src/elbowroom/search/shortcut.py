"""Shorter and smoother paths by straight pieces between random places on them (K6, S2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.geometry.mesh import frozen
from elbowroom.kernels import shortcut as kernels
from elbowroom.kernels.rng import rng
from elbowroom.kernels.space import TALLY
from elbowroom.search.birrt import Path, Space, Stats
from elbowroom.stopping import may_stop_here


@dataclass(frozen=True)
class Effort:
    """Limits of smoothing: total rounds, rounds in a row without gain, checks of states."""

    rounds: int = 200
    vain: int = 40
    checks: int = 100_000


USUAL = Effort()


def smooth(space: Space, path: Path, seed: int = 0, effort: Effort = USUAL) -> Path:
    """The path with random pieces replaced by straight ones where those are valid, including time where it is searched.

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
    count = kernels.shorten(
        compiled, states, count, rng(seed), effort.rounds, effort.vain, effort.checks, ends, along, tally
    )
    return Path(frozen(states[:count]), "found", Stats.of(tally))
