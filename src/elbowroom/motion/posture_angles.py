"""Postures of recorded people in joint angles, by component of the body, with how often each was taken (P8, P4).

Greedy clusters: a posture within a threshold of one that is kept counts for that one. Posture similarity asks how near
a component is to recorded ones whose parent component is alike, and how common those are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
    joints of each component. `folds` (F, N) are those counts by part of the recordings."""

    rotations: Array
    counts: NDArray[np.int64]
    joints: Mapping[str, tuple[int, ...]]
    folds: NDArray[np.int64]
    # Rotations (..., K, 4) of each component's joints that were compared last, and their distances: who changes one
    # component after another asks for the others again.
    _last: dict[str, tuple[Array, Array]] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(
        frames: ArrayLike, joints: Mapping[str, Sequence[int]], alike_rad: float = _ALIKE_RAD, *,
        folds: ArrayLike | None = None,
    ) -> AngleDatabase:  # fmt: skip
        """Clusters of local rotations (T, J, 4); `folds` (T,) number the part of the recordings that each is from."""
        q = np.asarray(frames, dtype=float)
        own = {name: tuple(some) for name, some in joints.items()}
        if q.ndim != 3 or not len(q) or not np.isfinite(q).all():
            raise BadValue("a posture database needs at least one posture, its rotations (T, J, 4) finite.")
        every = sorted({j for some in own.values() for j in some})
        angles = log(q[:, every]).reshape(len(q), -1)
        kept: list[int] = []
        clusters = np.zeros(len(q), np.int64)
        reach = alike_rad * np.sqrt(len(every))
        for k, row in enumerate(angles):
            if kept:
                far = np.linalg.norm(angles[kept] - row, axis=1)
                nearest = int(far.argmin())
                if far[nearest] <= reach:
                    clusters[k] = nearest
                    continue
            clusters[k] = len(kept)
            kept.append(k)
        part = np.zeros(len(q), np.int64) if folds is None else np.asarray(folds, np.int64)
        each = np.stack([np.bincount(clusters[part == f], minlength=len(kept)) for f in range(part.max() + 1)])
        return AngleDatabase(frozen(q[kept]), each.sum(axis=0), own, each)

    def __len__(self) -> int:
        return len(self.rotations)

    def distances(self, rotations: Array, component: str) -> Array:
        """Root-mean-square angles (..., N) in radians from postures (..., J, 4) to all, over a component's joints."""
        mine = list(self.joints[component])
        own = rotations[..., mine, :]
        known = self._last.get(component)
        if known is not None and np.array_equal(known[0], own):
            return known[1]
        between = np.abs(np.einsum("nji,...ji->...nj", self.rotations[:, mine], own)).clip(0.0, 1.0)
        far = np.asarray(np.sqrt(np.mean((2.0 * np.arccos(between)) ** 2, axis=-1)))
        self._last[component] = own, far
        return far

    def conditional(self, rotations: Array, component: str, parent_rad: float) -> Array:
        """Distances (N,) in a component of postures whose parent component is within an angle, infinite elsewhere."""
        far = self.distances(rotations, component)
        parent = PARENTS.get(component)
        if parent is None or parent not in self.joints:
            return far
        return np.where(self.distances(rotations, parent) <= parent_rad, far, np.inf)

    def similarity(
        self, rotations: Array, *, sigma: float, parent_rad: float, own_rad: float, near_rad: float
    ) -> dict[str, tuple[Array, Array]]:
        """Posture similarities (...) of components in postures (..., J, 4), 0 to 1, to all recordings, and (F, ...) to
        each fold: nearness of the nearest, times how common it is.

        `parent_rad` is ε, `own_rad` and `near_rad` are ε1 and ε2 of the paper.
        """
        far = {name: self.distances(rotations, name) for name in self.joints}
        counts = np.concatenate([self.counts[None], self.folds]).T.astype(float)
        out = {}
        for name, own in far.items():
            beside = far.get(PARENTS.get(name, ""), np.zeros_like(own))
            nearness = np.exp(-np.where(beside <= parent_rad, own, np.inf) / sigma**2)
            alike = (beside <= near_rad).astype(float)
            common = (alike * (own <= own_rad)) @ counts / np.maximum(alike @ counts, 1.0)
            nearest = [nearness.max(axis=-1, initial=0.0, where=some > 0.0) for some in counts.T]
            rated = np.stack(nearest) * np.moveaxis(common, -1, 0)
            out[name] = (rated[0], rated[1:])
        return out
