"""Body frame of a stride: a frame on the floor that moves and turns uniformly while the body sways about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import UP, Array
from elbowroom.locomotion.course import facing, leftwards

_HARMONICS = 9  # harmonics of a cycle that are kept: about 9 Hz of a walk


@dataclass(frozen=True, eq=False)
class BodyFrame:
    """A frame that moves uniformly over a stride: at frame `begin` at `origin` (2,), heading `ahead`.

    velocity (3,): forwards, left, m/s, turn to the left, rad/s.
    """

    begin: int
    fps: float
    origin: Array
    ahead: float
    velocity: Array

    @staticmethod
    def of(pelvis: Array, heading: Array, begin: int, end: int, fps: float) -> BodyFrame:
        """The frame of a stride about whose origin the pelvis sways symmetrically."""
        seconds = (end - begin) / fps
        turn = float(heading[end] - heading[begin]) / seconds
        frames = np.arange(begin, end)
        ahead = float(np.mean(heading[frames] - turn * (frames - 0.5 * (begin + end)) / fps)) - 0.5 * turn * seconds
        way = pelvis[end, :2] - pelvis[begin, :2]
        half = 0.5 * turn * seconds
        even = way / (seconds * np.sinc(half / np.pi))
        velocity = np.array([even @ facing(ahead + half), even @ leftwards(ahead + half), turn])
        frame = BodyFrame(begin, fps, pelvis[begin, :2], ahead, velocity)
        return frame.moved(frame.seen(pelvis[frames], frames)[:, :2].mean(axis=0))

    def moved(self, by: Array) -> BodyFrame:
        """The frame rigidly attached to this one at (2,), forwards and left."""
        origin = self.origin + by[0] * facing(self.ahead) + by[1] * leftwards(self.ahead)
        turn = self.velocity[2]
        velocity = self.velocity + turn * np.array([-by[1], by[0], 0.0])
        return BodyFrame(self.begin, self.fps, origin, self.ahead, velocity)

    def along(self, mode: str) -> tuple[BodyFrame, Array]:
        """The frame rotated so that it moves purely forwards, back or sideways, and the rotation (4,) from it to this
        one.
        """
        if mode == "turn":
            return self, rot.IDENTITY
        v = self.velocity
        wanted = {"back": np.pi, "side": np.copysign(0.5 * np.pi, v[1])}.get(mode, 0.0)
        off = (np.arctan2(v[1], v[0]) - wanted + np.pi) % (2.0 * np.pi) - np.pi
        speed = np.hypot(v[0], v[1])
        velocity = np.array([speed * np.cos(wanted), speed * np.sin(wanted), v[2]])
        return BodyFrame(self.begin, self.fps, self.origin, self.ahead + off, velocity), rot.about(UP, np.array(-off))

    def heading(self, frames: ArrayLike) -> Array:
        """Heading (N,) at frames (N,)."""
        return self.ahead + self.velocity[2] * (np.asarray(frames, dtype=float) - self.begin) / self.fps

    def seen(self, points: Array, frames: ArrayLike) -> Array:
        """Points (N, 3) at frames (N,) in the frame's axes: forwards, left, up."""
        t = (np.asarray(frames, dtype=float) - self.begin) / self.fps
        half = 0.5 * self.velocity[2] * t
        middle = self.ahead + half
        run = (t * np.sinc(half / np.pi))[:, None]
        at = self.origin + run * (self.velocity[0] * facing(middle) + self.velocity[1] * leftwards(middle))
        off = points[:, :2] - at
        h = self.heading(frames)
        return np.stack([np.sum(off * facing(h), axis=1), np.sum(off * leftwards(h), axis=1), points[:, 2]], axis=-1)


def even_times(amid: float, count: int) -> Array:
    """Shares (P,) of a stride at P even phases, where the other foot lands at share `amid` and phase 0.5."""
    x = np.linspace(0.0, 1.0, 401)
    phase = x + (0.5 - amid) * np.sin(np.pi * x) ** 2 / np.sin(np.pi * amid) ** 2
    return np.interp(np.arange(count) / count, phase, x)


def closed(values: Array, begin: int, end: int, at: Array) -> Array:
    """Values (T, D) at frames (P,) of a stride whose ends are joined."""
    share = (at - begin) / (end - begin) - 0.5
    return band_limited(sampled(values, at) - share[:, None] * (values[end] - values[begin]))


def sampled(values: Array, at: Array) -> Array:
    """Values (T, D) interpolated at fractional frames (N,), (N, D)."""
    k = np.clip(at.astype(int), 0, len(values) - 2)
    s = (at - k)[:, None]
    return (1.0 - s) * values[k] + s * values[k + 1]


def band_limited(values: Array) -> Array:
    """Periodic values (P, D) without the high harmonics, which are noise."""
    waves = np.fft.rfft(values, axis=0)
    waves[_HARMONICS + 1 :] = 0.0
    return np.fft.irfft(waves, len(values), axis=0)
