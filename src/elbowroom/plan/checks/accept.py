"""One gate for planned motion: free between frames, smooth, in range, unlike other variants; and what it fails by.

An engine asks for the parts that concern it. `hits` proves a whole world, `limb_meets` checks frames of a limb,
`met_between` postures of a body from one frame to the next; `Smooth` limits speed, jerk and range against a recorded
clip, `rougher` and `in_range` against other frames; `Apart` keeps variants different.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.limits import JointLimit, pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.finish.settle import first_hit, looks
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array, continuous
from elbowroom.motion.clip import Clip
from elbowroom.motion.quality import JERK, joint_jerks, rms_jerk, velocity_jerks
from elbowroom.plan.checks.episodes import CollisionEpisode
from elbowroom.world.certificate import certify
from elbowroom.world.certificate_findings import Finding
from elbowroom.world.fast import LimbCheck
from elbowroom.world.paths import Interval
from elbowroom.world.world import World

Cause = TypeVar("Cause")


def hits(world: World, during: Interval, who: str = "") -> list[Finding]:
    """Collisions of a motion in an interval, and pairs not proven apart; with `who` only those of that character."""
    found = certify(world, during=during, clearance=False, contacts="never").hits
    return [hit for hit in found if not who or who in hit.who]


def limb_meets(check: LimbCheck, limb: str, q: Array, times: Array) -> CollisionEpisode | None:
    """Collisions of a limb's frames (N, n, 4) at times (N,), also between them, the first pair by name; None where they
    are free.
    """
    bad = np.flatnonzero(~check.free_batch(q, times))
    if len(bad):
        pair = check.blame(q[bad[0]], float(times[bad[0]]))
        during = float(times[bad[0]]), float(times[bad[-1]])
        return CollisionEpisode(check.who, limb, during, () if pair is None else (pair,))
    hit = first_hit(check, q, times)
    return None if hit is None else CollisionEpisode(check.who, limb, (hit, hit), ())


def met_between(
    root: Array, q: Array, counts: NDArray[np.int64], refuse: Callable[[Pose, int, float], Cause | None]
) -> Cause | None:
    """First cause against a posture between frames, roots (N, 3) and rotations (N, J, 4), in counts (N - 1,) of steps.

    `refuse` gets the posture, the frame before it, and the share of the way from that to the next.
    """
    for k, share in zip(*looks(counts), strict=True):
        turned = rot.slerp(q[k], q[k + 1], np.array(share))
        cause = refuse(Pose.of((1.0 - share) * root[k] + share * root[k + 1], turned), int(k), float(share))
        if cause is not None:
            return cause
    return None


def in_range(limits: Sequence[JointLimit | None], q: Array, like: Array, slack_rad: float) -> bool:
    """Return whether joints of frames (T, n, 4) exceed ranges by at most a slack, or half of it more than (M, n, 4)."""
    own = pose_excess(limits, like).max(axis=0)
    return bool((pose_excess(limits, q) <= np.maximum(own + 0.5 * slack_rad, slack_rad)).all())


def rougher(q: Array, like: Array, fps: float, gain: float) -> Array:
    """Angular jerk of frames (N, T, n, 4), (N,), relative to so many times that of frames (M, n, 4)."""
    allowed = np.maximum(JERK, gain * joint_jerks(like, fps))
    return np.asarray((joint_jerks(np.moveaxis(q, 0, 1), fps) / allowed).max(axis=-1))


# Speed limits of planned joints, rad/s, of legs and others, and relative to the clip's speed there. Knees reach 6 to 9
# in walking, 15 and more in running.
_LEGS_SPEED, _OTHERS, _FASTER = 12.0, 6.0, 1.3
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
    return np.asarray(np.maximum([_LEGS_SPEED if j in legs else _OTHERS for j in joints], _FASTER * own))


def _turns(q: Array, rate: float) -> Array:
    """Angular velocity (..., T - 1, n, 3) of rotations (..., T, n, 4)."""
    return rot.log(rot.multiply(rot.conjugate(q[..., :-1, :, :]), q[..., 1:, :, :])) * rate


def angular_accelerations(q: Array, rate: float) -> Array:
    """Largest angular acceleration between frames of each joint (n,) over rotations (T, n, 4), rad/s²."""
    return np.asarray(np.linalg.norm(np.diff(_turns(q, rate), axis=0), axis=-1).max(axis=0, initial=0.0) * rate)


@dataclass(frozen=True, eq=False)
class Smooth:
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
        return self.in_range(frames) and bool(self.rough(frames[None])[0] <= 1.0)

    def in_range(self, frames: Array) -> bool:
        """Return whether joints of frames (T, n, 4) keep their ranges, or what the recorded clip has beyond them."""
        limits = [self.now.character.limits[j] for j in self.joints]
        old = self.recorded.rotations[self.first : self.last + 1, list(self.joints)]
        return in_range(limits, frames, old, _EXCESS_RAD)

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
        return np.asarray(np.maximum(np.maximum(np.maximum(speed, acceleration), jerk).max(axis=-1), pop))


# Distance that some joint must have from its position in any other repair at some time, metres.
_APART = 0.09
# Most frames that are compared.
_MOMENTS = 12


@dataclass(frozen=True, eq=False)
class Apart:
    """Other repairs of a clip, from which new frames of some joints, `first` to `last`, should differ."""

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
        """Joint positions in the other repairs, (K, R, J, 3)."""
        return np.stack([clip.positions()[self._rows] for clip in self.others])

    def lack(self, frames: Array) -> Array:
        """Shortfall of frames (N, T, n, 4) from being different enough, (N,): 0 none, 1 identical."""
        if not self.others:
            return np.zeros(len(frames))
        rows = self._rows
        q = np.repeat(self.now.rotations[rows][None], len(frames), axis=0)
        q[:, :, list(self.joints)] = frames[:, rows - self.first]
        root = np.broadcast_to(self.now.root[rows], (len(frames), len(rows), 3))
        skeleton = self.now.character.skeleton
        p = skeleton.forward(root.reshape(-1, 3), q.reshape(-1, *q.shape[2:]))[..., :3, 3].reshape(*q.shape[:3], 3)
        away = np.linalg.norm(p[:, None] - self._theirs, axis=-1).max(axis=(2, 3))
        return np.asarray(np.clip(1.0 - away.min(axis=1) / _APART, 0.0, 1.0))
