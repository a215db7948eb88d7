"""Offsets of a limb from its clip: by rotations of its joints, or by another position of its foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.limits import JointLimit
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array

# Weights of a foot's offsets: along x and y, up, knee about the leg, foot about the vertical: metres and radians of an
# offset of size 1.
_FOOT = (0.25, 0.25, 0.25, 0.6, 0.35)
# Weights of joints that bend together, forwards, sideways and about their axis.
_TOGETHER = (0.6, 0.4, 0.3)
# Share of an offset from which on it counts as full, and the tolerance of its intervals there, radians.
_HEIGHT, _ASTRAY = 0.99, 0.05
# Excess of a leg over its limits beyond the present one, radians.
_EXCESS_RAD = 0.02


@dataclass(frozen=True, eq=False)
class JointOffsets:
    """Rotations added to the coordinates of joints (3 numbers each), kept within their limits.

    base (T, n, 4); weights (T,): share of an offset at each frame; scale (n,): weight of each joint. Joints `together`
    (indices among the n), such as those of the spine, have three more numbers that all of them add; they bend forwards,
    not back. Joints `hanging` keep their world rotation. `within` (n, 3, 2), radians, are intervals of the coordinates
    at full offset, reached by the smallest constant rotation.
    """

    limits: Sequence[JointLimit]
    base: Array
    weights: Array
    scale: Sequence[float]
    together: tuple[int, ...] = ()
    within: Array | None = None

    @cached_property
    def reach(self) -> Array:
        """Weights of the numbers: bends before twists, wrists and ankles least."""
        own = (np.array(self.scale)[:, None] * np.array([_freedom(limit) for limit in self.limits])).ravel()
        return np.concatenate([own, _TOGETHER]) if self.together else own

    @cached_property
    def _coordinates(self) -> Array:
        return np.stack([limit.coordinates(self.base[:, j]) for j, limit in enumerate(self.limits)], axis=1)

    @cached_property
    def initial(self) -> Array:
        """Constant rotations (n, 3), radians, in all offsets: the smallest that bring the motion into the intervals."""
        if self.within is None:
            return np.zeros((len(self.limits), 3))
        high = self._coordinates[self.weights >= _HEIGHT]
        return np.clip(0.0, self.within[..., 0] - high.min(axis=0), self.within[..., 1] - high.max(axis=0))

    def frames(self, offsets: Array, rows: NDArray[np.int64]) -> Array:
        """Rotations (N, R, n, 4) of offsets (N, 3 n) or (N, 3 n + 3), radians, at some of the frames (R,).

        NaN for offsets that leave the intervals.
        """
        count = 3 * len(self.limits)
        offset, coordinates = offsets[:, :count].reshape(len(offsets), 1, -1, 3) + self.initial, self._coordinates[rows]
        for j in self.together:
            offset[:, :, j] += offsets[:, None, count:]
            offset[:, :, j, 0] = np.abs(offset[:, :, j, 0])
        out = [limit.moved(coordinates[:, j], offset[:, :, j]) for j, limit in enumerate(self.limits)]
        q = rot.slerp(self.base[rows], np.stack(out, axis=-2), self.weights[rows][:, None])
        if self.within is not None:
            high = (coordinates + offset)[:, self.weights[rows] >= _HEIGHT]
            out_of = (high < self.within[..., 0] - _ASTRAY) | (high > self.within[..., 1] + _ASTRAY)
            q[out_of.any(axis=(1, 2, 3))] = np.nan
        return q


def _freedom(limit: JointLimit) -> tuple[float, float, float]:
    """Weights of a joint's coordinates."""
    if limit.kind == "hinge":
        return 1.2, 0.0, 0.4
    return (0.4, 0.4, 0.0) if limit.kind == "swing" else (1.0, 1.0, 0.5)
