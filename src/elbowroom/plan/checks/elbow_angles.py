"""Elbow angles over time with which an arm is free while its hand follows a path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from elbowroom.character.limits import EPS
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array
from elbowroom.posing.limb_ik import Keep, LimbIK
from elbowroom.world.fast import LimbCheck

# Frames are checked in passes with this stride.
_FAR_APART = 8

# Half-width, in frames, of the smoothing of the elbow angle.
_EVEN = 8

# Largest change of the orbit angle between frames, radians.
_TURN_RAD = np.radians(10.0)


@dataclass(frozen=True, eq=False)
class HandPath:
    """Hands (N, 4, 4) on arms whose parents are at (N, 4, 4), at times (N,) of a check."""

    ik: LimbIK
    check: LimbCheck
    parents: Array
    hands: Array
    when: Array

    def with_free_elbow(
        self, angles: Array, keep: Keep, ends: tuple[Array, Array | None], own: ArrayLike = 0.0, stride: int = 1
    ) -> tuple[Array | None, int]:
        """Rotations (N, 3, 4), each with one of some elbow angles (M,), changed the least; and the number of checks.

        Angles are added to those of `own` (N,). `ends` are masks (M,) of angles for the first and last frame, which
        count as free. Without one for the last the hand is at work there. One of `stride` passes over frames is made.
        """
        count, at_work = len(self.when), ends[1] is None
        own = np.broadcast_to(own, count)
        each = Keep(*(np.asarray(v)[:, None] for v in keep))
        out = self.ik.solve(self.parents[:, None], self.hands[:, None], own[:, None] + angles, each)
        fits = out.reached & (out.excess.max(axis=-1) <= EPS)
        fits[0], fits[-1] = ends[0], fits[-1] if at_work else ends[1]
        free, checks = fits.copy(), 0
        # coarse strides first: one frame without any free angle ends the attempt; a hand at work touches something,
        # which only exact tests decide
        for k in range(1, _FAR_APART + 1, stride):
            frames = np.arange(k, count if at_work else count - 1, _FAR_APART)
            frame, angle = np.nonzero(fits[frames])
            rotations, when = out.rotations[frames[frame], angle], self.when[frames[frame]]
            free[frames[frame], angle] = self.check.free_batch(rotations, when, exact=at_work)
            checks += len(frame)
            if not free[frames].any(axis=1).all():
                return None, checks
        if at_work:  # angles that stay free, where there are any: few frames were tested, and smoothing cuts corners
            lasting = scipy.ndimage.minimum_filter1d(free, 2 * _EVEN + 1, axis=0, mode="nearest")
            free[1:] = np.where(lasting[1:].any(axis=1, keepdims=True), lasting[1:], free[1:])
        chosen = _least(angles, free)
        if chosen is None:
            return None, checks
        # elbow angles on a grid would jerk: smooth them over neighbouring frames, and blend from and to both ends
        window = np.hanning(2 * _EVEN + 3)[1:-1]
        even = np.convolve(np.pad(angles[chosen], _EVEN, mode="edge"), window / window.sum(), "valid")
        near = smoothstep(np.arange(count) / (2.0 * _EVEN))
        a, b = angles[chosen[0]], angles[chosen[-1]]
        even = b + near[::-1] * (a + near * (even - a) - b)
        eased = self.ik.solve(self.parents, self.hands, own + even, keep)
        if not (eased.reached.all() and (eased.excess.max(axis=1) <= EPS).all()):
            return None, checks
        return eased.rotations, checks + count


def _least(angles: Array, free: Array) -> list[int] | None:
    """Indices of free angles, one per frame, with the smallest total change; None where there is no such sequence."""
    apart = np.abs(angles[:, None] - angles[None, :])
    step = np.where(apart <= _TURN_RAD, apart**2, np.inf)
    cost = np.where(free[0], 0.0, np.inf)
    came = np.zeros(free.shape, dtype=np.int64)
    for k in range(1, len(free)):
        through = cost[:, None] + step
        came[k] = np.argmin(through, axis=0)
        cost = np.where(free[k], through[came[k], np.arange(len(angles))], np.inf)
        if not np.isfinite(cost).any():
            return None
    chosen = [int(np.argmin(cost))]
    for k in range(len(free) - 1, 0, -1):
        chosen.append(int(came[k, chosen[-1]]))
    return chosen[::-1]
