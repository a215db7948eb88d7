"""A body moved aside or down for a while: its legs are solved anew, and feet that stand keep standing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from elbowroom.finish.nudge import Core
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.ease import soft_step
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import Flags, foot_contacts, runs
from elbowroom.posing.limb_ik import Keep, LimbIK, Solution
from elbowroom.tasks.repair_pace import Pace

# Metres that a body goes down beside what is asked for, tried in turn, so that its legs reach.
_SINKS = (0.0, 0.01, 0.025, 0.045)
# Radians that a leg may be out of its range beyond what it is anyway.
_BEYOND = 0.02

Offset = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Moved:
    """A clip that was moved, and by how much at most, metres."""

    clip: Clip
    by: Offset


@dataclass(frozen=True, eq=False)
class Sway:
    """A clip whose root is moved during a core; `source` is the clip as it came.

    Feet stay where they are, or with `stepping` go along: one that stands all the while by as much as the body is
    aside half way through its stance, one that swings from there to there.
    """

    clip: Clip
    source: Clip
    legs: Sequence[LimbIK]
    core: Core
    stepping: bool

    @cached_property
    def first(self) -> int:
        """First frame, which is as it was."""
        return max(int(np.searchsorted(self.clip.times, self.core.first - 1e-9)), self.clip.source.lead)

    @cached_property
    def last(self) -> int:
        """Last frame, which is as it was."""
        return int(np.searchsorted(self.clip.times, self.core.last + 1e-9)) - 1

    @property
    def _frames(self) -> slice:
        return slice(self.first, self.last + 1)

    @cached_property
    def weights(self) -> Array:
        """Share of the way at each frame (T,)."""
        return self.core.weights(self.clip.times[self._frames])

    @cached_property
    def _feet(self) -> list[Array]:
        """Share of the way of each foot at each frame (T,)."""
        if not self.stepping:
            return [np.zeros(len(self.weights)) for _ in self.legs]
        on = foot_contacts(self.clip)
        return [_stepping(self.weights, on.foot(ik.limb.partition("_")[0])[self._frames]) for ik in self.legs]

    @cached_property
    def _world(self) -> Array:
        return self.clip.world()[self._frames]

    @cached_property
    def _told(self) -> list[tuple[Array, Keep, Solution]]:
        """Orbit, what is kept and the solution as it is, for each leg."""
        out = []
        for ik in self.legs:
            parent, foot = self._world[:, ik.parent], self._world[:, ik.joints[2]]
            orbit, keep = ik.describe(parent, self.clip.rotations[self._frames][:, list(ik.joints)])
            out.append((orbit, keep, ik.solve(parent, foot, orbit, keep)))
        return out

    @cached_property
    def _paces(self) -> list[Pace]:
        return [Pace(self.source, self.clip, ik.joints, self.first, self.last) for ik in self.legs]

    def by(self, offset: Offset) -> Moved | None:
        """The clip moved, a bit lower where legs do not reach otherwise; None where they cannot do it."""
        for sink in _SINKS:
            by = (offset[0], offset[1], offset[2] - sink)
            legs = self._legs(np.array(by))
            if legs is None:
                continue
            if not all(pace.good(q) for pace, q in zip(self._paces, legs, strict=True)):
                return None
            root, q = np.array(self.clip.root), np.array(self.clip.rotations)
            root[self._frames] += self.weights[:, None] * by
            for ik, new in zip(self.legs, legs, strict=True):
                q[self._frames, list(ik.joints)] = new
            return Moved(self.clip.with_(root=root, rotations=q), by)
        return None

    def _legs(self, by: Array) -> list[Array] | None:
        """Rotations (T, 3, 4) of each leg."""
        out = []
        same = (self.weights == 0.0)[:, None, None]
        for ik, (orbit, keep, was), share in zip(self.legs, self._told, self._feet, strict=True):
            parent, foot = self._world[:, ik.parent].copy(), self._world[:, ik.joints[2]].copy()
            parent[:, :3, 3] += self.weights[:, None] * by
            foot[:, :2, 3] += share[:, None] * by[:2]
            found = ik.solve(parent, foot, orbit, keep)
            if not found.reached.all() or (found.excess > was.excess + _BEYOND).any():
                return None
            old = self.clip.rotations[self._frames][:, list(ik.joints)]
            new = np.where(np.sum(found.rotations * old, axis=-1, keepdims=True) < 0.0, -1.0, 1.0) * found.rotations
            out.append(np.where(same, old, rot.normalize(new)))
        return out


def _stepping(weights: Array, stands: Flags) -> Array:
    """Share of the way (T,) of a foot that stands in some frames (T,): the same throughout a stance, 0 in one that goes
    on outside, and softly from one to the next in between."""
    last = len(weights) - 1
    knots = [(0, 0, 0.0)] if not stands[0] else []
    for a, b in runs(stands):
        knots.append((a, b, 0.0 if a == 0 or b == last else float(weights[(a + b) // 2])))
    if not stands[-1]:
        knots.append((last, last, 0.0))
    out = np.zeros(len(weights))
    for a, b, share in knots:
        out[a : b + 1] = share
    for (_, b, before), (a, _, after) in pairwise(knots):
        s = (np.arange(b, a + 1) - b) / max(a - b, 1)
        out[b : a + 1] = before + (after - before) * soft_step(s)
    return out
