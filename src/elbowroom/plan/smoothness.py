"""Limits of speed and roughness of joints where a clip is re-planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elbowroom.character.limits import pose_excess
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array, continuous
from elbowroom.motion.clip import Clip
from elbowroom.motion.quality import JERK, joint_jerks, rms_jerk, velocity_jerks

# Radians a second that planned joints turn, those of legs and others, or so many times what they do in the clip there.
# Knees of people who walk reach 6 to 9, of those who run 15 and more.
_LEGS, _OTHERS, _FASTER = 12.0, 6.0, 1.3
# Angular jerk as a multiple of the recording's, where that is more than `JERK`; a little is kept in reserve.
ROUGHER, _RESERVE = 2.0, 0.97
# Radians that joints may be out of their range where they were not.
_BEYOND = 0.02
# Seconds about an interval in which jerk is measured, too: a pop at its ends shows there.
ABOUT = 0.3
# Angular acceleration from frame to frame, rad/s², or so many times the recording's; and what may be added to the
# recording's where a motion leaves and joins it: more is a pop.
ACCELERATION, OWN_ACCELERATION, _POP = 200.0, 1.2, 80.0


def speed_limits(clip: Clip, joints: Sequence[int], first: int, last: int) -> Array:
    """Most radians a second of joints (n,) that are re-planned from one frame of a recorded clip to another."""
    legs = {j for chain in clip.character.chains.values() if chain.kind == "leg" for j in chain.joints}
    q = clip.rotations[first : last + 1, list(joints)]
    own = rot.angle_between(q[:-1], q[1:]).max(axis=0, initial=0.0) * clip.fps
    return np.maximum([_LEGS if j in legs else _OTHERS for j in joints], _FASTER * own)


def _turns(q: Array, rate: float) -> Array:
    """Angular velocity (..., T - 1, n, 3) of rotations (..., T, n, 4)."""
    return rot.log(rot.multiply(rot.conjugate(q[..., :-1, :, :]), q[..., 1:, :, :])) * rate


def angular_accelerations(q: Array, rate: float) -> Array:
    """Largest angular acceleration from frame to frame of each joint (n,) over rotations (T, n, 4), rad/s²."""
    return np.linalg.norm(np.diff(_turns(q, rate), axis=0), axis=-1).max(axis=0, initial=0.0) * rate


@dataclass(frozen=True, eq=False)
class SmoothnessLimits:
    """Limits for new frames of joints from frame `first` to `last`: `recorded` is the clip as it came, `now` as it is
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
    def _acceleration(self) -> Array:
        return np.maximum(ACCELERATION, OWN_ACCELERATION * angular_accelerations(self._old, self.now.fps))

    @cached_property
    def _jerk(self) -> Array:
        return np.maximum(JERK, ROUGHER * joint_jerks(self._old, self.now.fps)) * _RESERVE

    def good(self, frames: Array) -> bool:
        """Return whether frames (T, n, 4) from first to last are smooth enough, and joints not out of range."""
        limits = [self.now.character.limits[j] for j in self.joints]
        old = self.recorded.rotations[self.first : self.last + 1, list(self.joints)]
        beyond = pose_excess(limits, frames) > np.maximum(pose_excess(limits, old).max(axis=0), _BEYOND)
        return not beyond.any() and bool(self.rough(frames[None])[0] <= 1.0)

    @cached_property
    def _squares(self) -> tuple[Array, Array]:
        """Squares of the jerk of each joint (n,), summed over the recorded clip and over the window."""
        joints, lead = list(self.joints), self.recorded.source.lead
        whole = rms_jerk(self.recorded.rotations[lead:][:, joints], self.now.fps) ** 2 * (len(self.recorded) - lead)
        return whole, rms_jerk(self._old, self.now.fps) ** 2 * len(self._old)

    def jerk_gain(self, frames: Array) -> float:
        """RMS jerk over the whole clip of the joint that frames (T, n, 4) turn most, as a multiple of the recorded."""
        q = np.array(self._old)
        begin = self.first - self._window.start
        turned = rot.angle_between(q[begin : begin + len(frames)], frames).sum(axis=0)
        q[begin : begin + len(frames)] = frames
        whole, window = self._squares
        new = whole - window + rms_jerk(continuous(q), self.now.fps) ** 2 * len(q)
        j = int(np.argmax(turned))
        return float(np.sqrt(max(new[j], 0.0) / max(whole[j], 1e-9)))

    @cached_property
    def _around(self) -> tuple[Array, Array]:
        """Rotations (T, n, 4) as they are in the window, and their angular velocities (T - 1, n, 3)."""
        q = self.now.rotations[self._window][:, list(self.joints)]
        return q, _turns(q, self.now.fps)

    def rough(self, frames: Array) -> Array:
        """Return how fast and rough frames (N, T, n, 4) from first to last are, (N,): 1 is the most that is allowed of
        speed, jerk, and acceleration where they leave the motion and join it."""
        rate, count = self.now.fps, frames.shape[1]
        around, turns_around = self._around
        q = np.repeat(around[None], len(frames), axis=0)
        begin = self.first - self._window.start
        q[:, begin : begin + count] = frames
        turn = _turns(q, rate)
        speed = np.linalg.norm(turn[:, begin : begin + count - 1], axis=-1).max(axis=1, initial=0.0) / self.speed
        acceleration = (
            np.linalg.norm(np.diff(turn, axis=1), axis=-1).max(axis=1, initial=0.0) * rate / self._acceleration
        )
        ends = [k for k in (begin - 1, begin + count - 2) if 0 <= k < turn.shape[1] - 1]
        added = np.diff(turn - turns_around, axis=1)[:, ends] * (rate / _POP)
        jerk = velocity_jerks(np.moveaxis(turn, 0, 1), rate) / self._jerk
        pop = np.linalg.norm(added, axis=-1).max(axis=(1, 2), initial=0.0)
        return np.maximum(np.maximum(np.maximum(speed, acceleration), jerk).max(axis=-1), pop)
