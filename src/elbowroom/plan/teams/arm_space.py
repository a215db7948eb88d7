"""Path of a robot's arm around obstacles, over a roadmap of its joint values (E1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.search.roadmap import Learning, Roadmap, shortened

# Largest change of a joint between checks of a path, radians or metres.
_STEP = 0.1
# Samples up to which a path is looked for, and corners that are tried to be cut off.
_LIMITS = Learning(samples=2000, idle=1000)
_SHORTCUTS = 30


@dataclass(frozen=True, eq=False)
class ArmSpace:
    """Values (n,) of an arm's joints between limits, as a space of `search.roadmap`; `free` tests one posture."""

    lower: Array
    upper: Array
    free: Callable[[Array], bool]

    def samples(self, rng: np.random.Generator, count: int) -> Array:
        """Draw up to `count` valid postures (N, n)."""
        drawn = rng.uniform(self.lower, self.upper, (count, len(self.lower)))
        return drawn[[self.free(values) for values in drawn]]

    def distances(self, states: Array, state: Array) -> Array:
        """Largest differences (N,) of a joint."""
        return np.asarray(np.abs(states - state).max(axis=1))

    def joins(self, a: Array, b: Array) -> bool:
        """Return whether joints that turn evenly from a to b stay free, the middle first."""
        count = int(np.ceil(float(np.abs(b - a).max()) / _STEP)) + 1
        shares = np.linspace(0.0, 1.0, count + 1)[1:-1]
        shares = shares[np.argsort(np.abs(shares - 0.5), kind="stable")]
        return all(self.free(a + share * (b - a)) for share in shares)

    def cost(self, a: Array, b: Array) -> float:
        """Largest difference of a joint."""
        return float(np.abs(b - a).max())

    def path(self, start: Array, goal: Array, seed: int) -> list[Array] | None:
        """Postures from one to another, between which joints turn evenly; None where no path is found."""
        if self.joins(start, goal):
            return [start, goal]
        roadmap, rng = Roadmap(self), np.random.default_rng(seed)
        for state in (start, goal):
            roadmap.add(state, always=True)
        roadmap.learn(rng, _LIMITS, lambda: len(set(roadmap.components()[:2].tolist())) == 1)
        found = roadmap.find(start, [goal], lambda _a, _b, _joined: True)[0]
        if found is None:
            return None
        return shortened(self, found, lambda a, b, share: a + share * (b - a), rng, _SHORTCUTS)
