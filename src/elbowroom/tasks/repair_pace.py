"""How fast and how roughly joints may turn where a clip is planned anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elbowroom.character.limits import pose_excess
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.quality import joint_jerks

# Radians a second that planned joints turn, those of legs and others, or so many times what they do in the clip there.
# Knees of people who walk reach 6 to 9, of those who run 15 and more.
_LEGS, _OTHERS, _FASTER = 12.0, 6.0, 1.3
# Angular jerk after a 6 Hz low-pass, rad/s³, or so many times the recording's; a little is kept in reserve.
JERK, ROUGHER, _RESERVE = 1500.0, 2.0, 0.97
# Radians that joints may be out of their range where they were not.
_BEYOND = 0.02
# Seconds about an interval in which jerk is measured, too: a pop at its ends shows there.
ABOUT = 0.3
# Angular acceleration from frame to frame, rad/s², or so many times the recording's; and what may be added to the
# recording's where a motion leaves and joins it: more is a pop.
SNAP, OWN_SNAP, _POP = 200.0, 1.2, 80.0


def speed_limits(clip: Clip, joints: Sequence[int], first: int, last: int) -> Array:
    """Most radians a second of joints (n,) that are planned anew from one frame of a recorded clip to another."""
    legs = {j for chain in clip.character.chains.values() if chain.kind == "leg" for j in chain.joints}
    q = clip.rotations[first : last + 1, list(joints)]
    own = rot.angle_between(q[:-1], q[1:]).max(axis=0, initial=0.0) * clip.fps
    return np.maximum([_LEGS if j in legs else _OTHERS for j in joints], _FASTER * own)


def _turns(q: Array, rate: float) -> Array:
    """Angular velocity (..., T - 1, n, 3) of rotations (..., T, n, 4)."""
    return rot.log(rot.multiply(rot.conjugate(q[..., :-1, :, :]), q[..., 1:, :, :])) * rate


def snaps(q: Array, rate: float) -> Array:
    """Largest angular acceleration from frame to frame of each joint (n,) over rotations (T, n, 4), rad/s²."""
    return np.linalg.norm(np.diff(_turns(q, rate), axis=0), axis=-1).max(axis=0, initial=0.0) * rate


@dataclass(frozen=True, eq=False)
class Pace:
    """What new frames of joints may be from frame `first` to `last`: `recorded` is the clip as it came, `now` as it is
    with what was planned before."""

    recorded: Clip
    now: Clip
    joints: tuple[int, ...]
    first: int
    last: int

    @property
    def _window(self) -> slice:
        more, clip = round(ABOUT * self.now.fps), self.now
        return slice(max(self.first - more, min(clip.source.lead, self.first)), self.last + more + 1)

    @cached_property
    def speed(self) -> Array:
        """Most radians a second of each joint (n,)."""
        return speed_limits(self.recorded, self.joints, self.first, self.last)

    @cached_property
    def _old(self) -> Array:
        return self.recorded.rotations[self._window][:, list(self.joints)]

    @cached_property
    def _snap(self) -> Array:
        return np.maximum(SNAP, OWN_SNAP * snaps(self._old, self.now.fps))

    @cached_property
    def _jerk(self) -> Array:
        return np.maximum(JERK, ROUGHER * joint_jerks(self._old, self.now.fps)) * _RESERVE

    def good(self, frames: Array) -> bool:
        """Whether frames (T, n, 4) from first to last are smooth enough, and joints not out of range."""
        limits = [self.now.character.limits[j] for j in self.joints]
        old = self.recorded.rotations[self.first : self.last + 1, list(self.joints)]
        beyond = pose_excess(limits, frames) > np.maximum(pose_excess(limits, old).max(axis=0), _BEYOND)
        return not beyond.any() and bool(self.rough(frames[None])[0] <= 1.0)

    def rough(self, frames: Array) -> Array:
        """How fast and rough frames (N, T, n, 4) from first to last are, (N,): 1 is the most that is allowed of speed,
        jerk, and acceleration where they leave the motion and join it."""
        window, rate, count = self._window, self.now.fps, frames.shape[1]
        around = self.now.rotations[window][:, list(self.joints)]
        q = np.repeat(around[None], len(frames), axis=0)
        begin = self.first - window.start
        q[:, begin : begin + count] = frames
        turn = _turns(q, rate)
        speed = np.linalg.norm(turn[:, begin : begin + count - 1], axis=-1).max(axis=1, initial=0.0) / self.speed
        snap = np.linalg.norm(np.diff(turn, axis=1), axis=-1).max(axis=1, initial=0.0) * rate / self._snap
        ends = [k for k in (begin - 1, begin + count - 2) if 0 <= k < turn.shape[1] - 1]
        added = np.diff(turn - _turns(around, rate), axis=1)[:, ends] * (rate / _POP)
        jerk = joint_jerks(np.moveaxis(q, 0, 1), rate) / self._jerk
        pop = np.linalg.norm(added, axis=-1).max(axis=(1, 2), initial=0.0)
        return np.maximum(np.maximum(np.maximum(speed, snap), jerk).max(axis=-1), pop)
