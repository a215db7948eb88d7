"""Random numbers that depend on a seed and a count alone, so that a search can be repeated anywhere (splitmix64)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner

Rng = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_ONE = np.uint64(1)


def rng(seed: int) -> Rng:
    """Rng (2,) for a seed: key and count of throws."""
    key = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    return np.array([key, 0], np.uint64)


@inner()
def uniform(rng: Rng) -> float:
    """The next number, even in [0, 1)."""
    rng[1] += _ONE
    z = rng[0] + rng[1] * _GOLDEN
    z = (z ^ (z >> _S30)) * _FIRST
    z = (z ^ (z >> _S27)) * _SECOND
    return np.float64((z ^ (z >> _S31)) >> _S11) / 9007199254740992.0
