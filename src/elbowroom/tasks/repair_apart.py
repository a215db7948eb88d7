"""Repairs that look different: how far new frames of a limb lead it from where other repairs have it (X6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip

# Metres that some joint is to be away from where it is in any other repair at some time.
_APART = 0.09
# Frames that are compared, at most.
_MOMENTS = 12


@dataclass(frozen=True, eq=False)
class Apart:
    """Other repairs of a clip, of which new frames of some joints, from frame `first` to `last`, are to differ."""

    others: tuple[Clip, ...]
    now: Clip
    joints: Sequence[int]
    first: int
    last: int

    @cached_property
    def _rows(self) -> Array:
        return np.unique(np.linspace(self.first, self.last, _MOMENTS).astype(int))

    @cached_property
    def _theirs(self) -> Array:
        """Where joints are in the other repairs, (K, R, J, 3)."""
        return np.stack([clip.positions()[self._rows] for clip in self.others])

    def lack(self, frames: Array) -> Array:
        """How much frames (N, T, n, 4) lack of being different enough, (N,): 0 nothing, 1 they are the same."""
        if not self.others:
            return np.zeros(len(frames))
        rows = self._rows
        q = np.repeat(self.now.rotations[rows][None], len(frames), axis=0)
        q[:, :, list(self.joints)] = frames[:, rows - self.first]
        root = np.broadcast_to(self.now.root[rows], (len(frames), len(rows), 3))
        skeleton = self.now.character.skeleton
        p = skeleton.forward(root.reshape(-1, 3), q.reshape(-1, *q.shape[2:]))[..., :3, 3].reshape(*q.shape[:3], 3)
        away = np.linalg.norm(p[:, None] - self._theirs, axis=-1).max(axis=(2, 3))
        return np.clip(1.0 - away.min(axis=1) / _APART, 0.0, 1.0)
