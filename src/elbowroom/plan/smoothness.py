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

# Speed limits of planned joints, rad/s, of legs and others, and relative to the clip's speed there. Knees reach 6 to 9
# in walking, 15 and more in running.
_LEGS, _OTHERS, _FASTER = 12.0, 6.0, 1.3
# Largest angular jerk relative to the recording's, where that exceeds `JERK`; a little is kept in reserve.
ROUGHER, _RESERVE = 2.0, 0.97
# Excess over joint limits where there was none, radians.
_EXCESS_RAD = 0.02
# Seconds around an interval in which jerk is measured, too: pops at its ends show there.
ABOUT = 0.3
# Angular acceleration between frames, rad/s², and relative to the recording's; and what may be added where a motion
# leaves and joins the recording: more is a pop.
ACCELERATION, OWN_ACCELERATION, _POP = 200.0, 1.2, 80.0


def speed_limits(clip: Clip, joints: Sequence[int], first: int, last: int) -> Array:
    """Speed limits of joints (n,), rad/s, that are re-planned between two frames of a recorded clip."""
    legs = {j for chain in clip.character.chains.values() if chain.kind == "leg" for j in chain.joints}
    q = clip.rotations[first : last + 1, list(joints)]
    own = rot.angle_between(q[:-1], q[1:]).max(axis=0, initial=0.0) * clip.fps
    return np.maximum([_LEGS if j in legs else _OTHERS for j in joints], _FASTER * own)


def _turns(q: Array, rate: float) -> Array:
    """Angular velocity (..., T - 1, n, 3) of rotations (..., T, n, 4)."""
    return rot.log(rot.multiply(rot.conjugate(q[..., :-1, :, :]), q[..., 1:, :, :])) * rate


def angular_accelerations(q: Array, rate: float) -> Array:
    """Largest angular acceleration between frames of each joint (n,) over rotations (T, n, 4), rad/s²."""
    return np.linalg.norm(np.diff(_turns(q, rate), axis=0), axis=-1).max(axis=0, initial=0.0) * rate


@dataclass(frozen=True, eq=False)
class SmoothnessLimits:
    """Limits for new frames of joints from `first` to `last`.

    `recorded` is the imported clip, `now` the current one with earlier edits.
    """

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
        """Speed limit of each joint (n,), rad/s."""
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
        """Return whether frames (T, n, 4) from first to last are smooth enough, and joints within limits."""
        limits = [self.now.character.limits[j] for j in self.joints]
        old = self.recorded.rotations[self.first : self.last + 1, list(self.joints)]
        beyond = pose_excess(limits, frames) > np.maximum(pose_excess(limits, old).max(axis=0), _EXCESS_RAD)
        return not beyond.any() and bool(self.rough(frames[None])[0] <= 1.0)

    @cached_property
    def _squares(self) -> tuple[Array, Array]:
        """Squared jerk of each joint (n,), summed over the recorded clip and over the window."""
        joints, lead = list(self.joints), self.recorded.source.lead
        whole = rms_jerk(self.recorded.rotations[lead:][:, joints], self.now.fps) ** 2 * (len(self.recorded) - lead)
        return whole, rms_jerk(self._old, self.now.fps) ** 2 * len(self._old)

    def jerk_gain(self, frames: Array) -> float:
        """RMS jerk over the whole clip of the joint that frames (T, n, 4) change most, relative to the recorded."""
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
        """Roughness of frames (N, T, n, 4) from first to last, (N,), relative to the limits: at most 1 is smooth.

        Covers speed, jerk, and acceleration where they leave and join the motion.
        """
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
