"""Postures of recorded people in joint angles, by component of the body, with how often each was taken (P8, P4).

Greedy clusters: a posture within a threshold of one that is kept counts for that one. Posture similarity asks how near
a component is to recorded ones whose parent component is alike, and how common those are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array, log

# Component that a component hangs on.
PARENTS = {"spine": "pelvis", "head": "spine", "right_arm": "spine", "left_arm": "spine"}
# Radians, root mean square over all joints, within which two postures are one.
_ALIKE_RAD = 0.12


@dataclass(frozen=True, eq=False)
class AngleDatabase:
    """Local rotations (N, J, 4) of postures of one skeleton, how many recorded ones each stands for (N,), and the
    joints of each component."""

    rotations: Array
    counts: NDArray[np.int64]
    joints: Mapping[str, tuple[int, ...]]

    @staticmethod
    def of(frames: ArrayLike, joints: Mapping[str, Sequence[int]], alike_rad: float = _ALIKE_RAD) -> AngleDatabase:
        """Clusters of local rotations (T, J, 4)."""
        q = np.asarray(frames, dtype=float)
        own = {name: tuple(some) for name, some in joints.items()}
        if q.ndim != 3 or not len(q) or not np.isfinite(q).all():
            raise BadValue("a posture database needs at least one posture, its rotations (T, J, 4) finite.")
        every = sorted({j for some in own.values() for j in some})
        angles = log(q[:, every]).reshape(len(q), -1)
        kept: list[int] = []
        counts: list[int] = []
        reach = alike_rad * np.sqrt(len(every))
        for k, row in enumerate(angles):
            if kept:
                far = np.linalg.norm(angles[kept] - row, axis=1)
                nearest = int(far.argmin())
                if far[nearest] <= reach:
                    counts[nearest] += 1
                    continue
            kept.append(k)
            counts.append(1)
        return AngleDatabase(frozen(q[kept]), np.array(counts, np.int64), own)

    def __len__(self) -> int:
        return len(self.rotations)

    def distances(self, rotations: Array, component: str) -> Array:
        """Root-mean-square angles (..., N) in radians from postures (..., J, 4) to all, over a component's joints."""
        mine = list(self.joints[component])
        own = rotations[..., mine, :]
        between = np.abs(np.einsum("nji,...ji->...nj", self.rotations[:, mine], own)).clip(0.0, 1.0)
        return np.asarray(np.sqrt(np.mean((2.0 * np.arccos(between)) ** 2, axis=-1)))

    def conditional(self, rotations: Array, component: str, parent_rad: float) -> Array:
        """Distances (N,) in a component of postures whose parent component is within an angle, infinite elsewhere."""
        far = self.distances(rotations, component)
        parent = PARENTS.get(component)
        if parent is None or parent not in self.joints:
            return far
        return np.where(self.distances(rotations, parent) <= parent_rad, far, np.inf)

    def similarity(
        self, rotations: Array, component: str, *, sigma: float, parent_rad: float, own_rad: float, near_rad: float
    ) -> Array:
        """Posture similarity (...) of a component in postures (..., J, 4), 0 to 1: nearness of the nearest, times how
        common it is.

        `parent_rad` is ε, `own_rad` and `near_rad` are ε1 and ε2 of the paper.
        """
        far = self.distances(rotations, component)
        parent = PARENTS.get(component)
        known = parent is not None and parent in self.joints
        beside = self.distances(rotations, str(parent)) if known else np.zeros_like(far)
        best = np.where(beside <= parent_rad, far, np.inf).min(axis=-1)
        alike = (beside <= near_rad) @ self.counts
        common = ((beside <= near_rad) & (far <= own_rad)) @ self.counts / np.maximum(alike, 1)
        return np.asarray(np.exp(-best / sigma**2) * common)
