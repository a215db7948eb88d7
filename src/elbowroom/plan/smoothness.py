"""Limits of speed and roughness of joints where a clip is re-planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.limits import JointLimit, pose_excess
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array, continuous
from elbowroom.motion.clip import Clip
from elbowroom.motion.quality import BEYOND, JERK, joint_jerks, point_jerk, rms_jerk
from elbowroom.plan.actor import Actor
from elbowroom.plan.moving.timing import seen_by

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

    def rough(self, frames: Array) -> Array:
        """Return how fast and rough frames (N, T, n, 4) from first to last are, (N,): 1 is the most that is allowed of
        speed, jerk, and acceleration where they leave the motion and join it."""
        window, rate, count = self._window, self.now.fps, frames.shape[1]
        around = self.now.rotations[window][:, list(self.joints)]
        q = np.repeat(around[None], len(frames), axis=0)
        begin = self.first - window.start
        q[:, begin : begin + count] = frames
        turn = _turns(q, rate)
        speed = np.linalg.norm(turn[:, begin : begin + count - 1], axis=-1).max(axis=1, initial=0.0) / self.speed
        acceleration = (
            np.linalg.norm(np.diff(turn, axis=1), axis=-1).max(axis=1, initial=0.0) * rate / self._acceleration
        )
        ends = [k for k in (begin - 1, begin + count - 2) if 0 <= k < turn.shape[1] - 1]
        added = np.diff(turn - _turns(around, rate), axis=1)[:, ends] * (rate / _POP)
        jerk = joint_jerks(np.moveaxis(q, 0, 1), rate) / self._jerk
        pop = np.linalg.norm(added, axis=-1).max(axis=(1, 2), initial=0.0)
        return np.maximum(np.maximum(np.maximum(speed, acceleration), jerk).max(axis=-1), pop)


# Seconds before and after frames in which jerk is measured, too: a jolt at their ends shows there.
_ABOUT = 0.45

# Jerk of a hand below 6 Hz, m/s³, or so many times what the motion under it has: hands that reach have less.
_HAND, _HAND_ROUGHER = 250.0, 1.2

# Speed of a hand as the body sees it, m/s, or so many times its mean on the way, or what the motion under it has: the
# bell of people's reaches has 1.9 times its mean (Flash and Hogan 1985).
_SPEED, _BELL = 1.2, 2.2


@dataclass(frozen=True, eq=False)
class HandSmoothness:
    """Measures for frames of an arm's joints from one frame of a motion to another.

    `around` (T, J, 4) and `root` (T, 3) are the frames about them as they are, `begin` the first of theirs; `jerk` and
    `acceleration` (n,) the limits of the joints, `hand_jerk` that of the hand, `speed` how fast the hand is anyway.
    """

    actor: Actor
    hand: tuple[int, Array]
    arm: tuple[int, ...]
    around: Array
    root: Array
    begin: int
    jerk: Array
    acceleration: Array
    hand_jerk: float
    speed: float
    limits: tuple[JointLimit | None, ...]
    beyond: float

    @cached_property
    def enough(self) -> float:
        """Return how rough frames may be for no others to be looked for: no calmer way mends what comes before them."""
        before = self.around[: self.begin + 1][:, list(self.arm)]
        jerk, acceleration = (
            joint_jerks(continuous(before), self.actor.base.fps),
            angular_accelerations(before, self.actor.base.fps),
        )
        places = _places(self.actor, self.hand, self.root[: self.begin + 1], self.around[: self.begin + 1])[0]
        hand = point_jerk(places, self.actor.base.fps) / self.hand_jerk
        return max(1.0, float((jerk / self.jerk).max()), float((acceleration / self.acceleration).max()), hand)

    @staticmethod
    def over(actor: Actor, limb: str, rows: NDArray[np.int64], *, after: bool) -> HandSmoothness:
        """For frames (N,) of a limb; what follows them counts where it is there yet, `after` the way back."""
        base, about, body = actor.base, actor.frames(_ABOUT), actor.body
        arm = body.chain(limb).joints
        around = slice(max(int(rows[0]) - about, 0), int(rows[-1]) + 1 + (about if after else 0))
        old = actor.original.rotations[around]
        limits = tuple(body.limits[j] for j in arm)
        hand = body.hand(limb.removesuffix("_arm"))
        joints = old[:, list(arm)]
        was, seen = _places(actor, hand, actor.original.root[around], old)
        return HandSmoothness(
            actor,
            hand,
            arm,
            np.array(base.rotations[around]),
            base.root[around],
            int(rows[0]) - around.start,
            np.maximum(JERK, ROUGHER * joint_jerks(joints, base.fps)),
            np.maximum(ACCELERATION, OWN_ACCELERATION * angular_accelerations(joints, base.fps)),
            max(_HAND, _HAND_ROUGHER * point_jerk(was, base.fps)),
            float(_steps(seen).max() * base.fps),
            limits,
            max(float(pose_excess(limits, joints).max()), BEYOND),
        )

    def rough(self, q: Array) -> float:
        """Return how rough frames (N, n, 4) are: 1 is the most that is wanted; more where joints leave their ranges."""
        new = self.around.copy()
        new[self.begin : self.begin + len(q), list(self.arm)] = q
        places, seen = _places(self.actor, self.hand, self.root, new)
        hand = point_jerk(places, self.actor.base.fps) / self.hand_jerk
        speed = _steps(seen[self.begin : self.begin + len(q)]) * self.actor.base.fps
        haste = float(speed.max() / max(_SPEED, _BELL * speed.mean(), self.speed))
        beyond = bool(pose_excess(self.limits, q).max() > self.beyond)
        return max(float(self.roughs(q[None])[0]), hand, haste) + beyond

    def roughs(self, q: Array) -> Array:
        """Return how rough the joints are over frames (K, N, n, 4), (K,)."""
        new = np.repeat(self.around[None][:, :, list(self.arm)], len(q), axis=0)
        new[:, self.begin : self.begin + q.shape[1]] = q
        new = np.moveaxis(continuous(np.moveaxis(new, 1, 0)), 0, 1)
        fps = self.actor.base.fps
        jerk = joint_jerks(np.moveaxis(new, 0, 1), fps) / self.jerk
        acceleration = np.stack([angular_accelerations(some, fps) for some in new]) / self.acceleration
        return np.maximum(jerk, acceleration).max(axis=-1)


def _places(actor: Actor, hand: tuple[int, Array], root: Array, q: Array) -> tuple[Array, Array]:
    """Return where a hand is over frames, (T, 3), in the world and as the hips see it."""
    joint, T_hand = hand
    T = actor.body.transforms(root, q)
    places = np.asarray((T[:, joint] @ T_hand)[:, :3, 3])
    return places, seen_by(T[:, 0], places)


def _steps(places: Array) -> Array:
    """Lengths (T - 1,) of the steps of a point (T, 3)."""
    return np.asarray(np.linalg.norm(np.diff(places, axis=0), axis=1))
