"""Places as functions of time: where a rigid thing is, for any second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform

Path = Callable[[float], Array]


@dataclass(frozen=True, eq=False)
class Still:
    """A place that never changes: `T` (4, 4)."""

    T: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "T", frozen(self.T).reshape(4, 4))

    def __call__(self, t: float) -> Array:
        return self.T


@dataclass(frozen=True, eq=False)
class Keyed:
    """Places at given times, lerped and slerped in between, held before the first and after the last.

    times (K,) rising, positions (K, 3), quaternions (K, 4).
    """

    times: Array
    positions: Array
    quaternions: Array

    def __post_init__(self) -> None:
        times = frozen(self.times).reshape(-1)
        positions = frozen(self.positions).reshape(-1, 3)
        q = rot.continuous(rot.normalize(np.asarray(self.quaternions, dtype=float).reshape(-1, 4)))
        if not (len(times) == len(positions) == len(q) > 0):
            raise BadValue("a path needs as many positions and rotations as times, and at least one.")
        if not all(np.all(np.isfinite(a)) for a in (times, positions, q)):
            raise BadValue("a path has values that are not finite.")
        if np.any(np.diff(times) <= 0):
            raise BadValue("the times of a path must rise.")
        for name, value in (("times", times), ("positions", positions), ("quaternions", frozen(q))):
            object.__setattr__(self, name, value)

    @staticmethod
    def along(times: ArrayLike, positions: ArrayLike) -> Keyed:
        """A path without turning."""
        count = len(np.asarray(times))
        return Keyed(np.asarray(times), np.asarray(positions), np.tile(rot.IDENTITY, (count, 1)))

    def __call__(self, t: float) -> Array:
        k = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, max(len(self.times) - 2, 0)))
        after = min(k + 1, len(self.times) - 1)
        width = self.times[after] - self.times[k]
        s = float(np.clip((t - self.times[k]) / width, 0.0, 1.0)) if width > 0 else 0.0
        position = self.positions[k] + s * (self.positions[after] - self.positions[k])
        return transform(position, rot.slerp(self.quaternions[k], self.quaternions[after], np.array(s)))


def places(path: Path, times: ArrayLike) -> Array:
    """A path at many times, (N, 4, 4)."""
    return np.stack(
        [np.asarray(path(float(t)), dtype=float) for t in np.atleast_1d(np.asarray(times, dtype=float))]
    )
