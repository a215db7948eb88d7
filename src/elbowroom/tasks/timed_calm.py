"""How calmly an arm moves over a motion: jerk of its joints, jerk and speed of its hand, against what people do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.limits import JointLimit, pose_excess
from elbowroom.geometry.rotations import Array, continuous
from elbowroom.motion.quality import BEYOND, joint_jerks, point_jerk
from elbowroom.tasks.actor import Actor
from elbowroom.tasks.repair_pace import JERK, OWN_SNAP, ROUGHER, SNAP, snaps
from elbowroom.tasks.timed_when import seen_by

# Seconds before and after frames in which jerk is measured, too: a jolt at their ends shows there.
_ABOUT = 0.45

# Jerk of a hand below 6 Hz, m/s³, or so many times what the motion under it has: hands that reach have less.
_HAND, _HAND_ROUGHER = 250.0, 1.2

# Speed of a hand as the body sees it, m/s, or so many times its mean on the way, or what the motion under it has: the
# bell of people's reaches has 1.9 times its mean (Flash and Hogan 1985).
_SPEED, _BELL = 1.2, 2.2


@dataclass(frozen=True, eq=False)
class Calm:
    """What frames of an arm's joints from one frame of a motion to another are measured against.

    `around` (T, J, 4) and `root` (T, 3) are the frames about them as they are, `begin` the first of theirs; `jerk` and
    `snap` (n,) the most that joints may have, `hand_jerk` the most of the hand, `speed` how fast that is anyway.
    """

    actor: Actor
    hand: tuple[int, Array]
    arm: tuple[int, ...]
    around: Array
    root: Array
    begin: int
    jerk: Array
    snap: Array
    hand_jerk: float
    speed: float
    limits: tuple[JointLimit | None, ...]
    beyond: float

    @cached_property
    def enough(self) -> float:
        """How rough frames may be for no others to be looked for: no calmer way mends what comes before them."""
        before = self.around[: self.begin + 1][:, list(self.arm)]
        jerk, snap = joint_jerks(continuous(before), self.actor.base.fps), snaps(before, self.actor.base.fps)
        places = _places(self.actor, self.hand, self.root[: self.begin + 1], self.around[: self.begin + 1])[0]
        hand = point_jerk(places, self.actor.base.fps) / self.hand_jerk
        return max(1.0, float((jerk / self.jerk).max()), float((snap / self.snap).max()), hand)

    @staticmethod
    def over(actor: Actor, limb: str, rows: NDArray[np.int64], *, after: bool) -> Calm:
        """For frames (N,) of a limb; what follows them counts where it is there yet, `after` the way back."""
        base, about, body = actor.base, actor.frames(_ABOUT), actor.body
        arm = body.chain(limb).joints
        around = slice(max(int(rows[0]) - about, 0), int(rows[-1]) + 1 + (about if after else 0))
        old = actor.original.rotations[around]
        limits = tuple(body.limits[j] for j in arm)
        hand = body.hand(limb.removesuffix("_arm"))
        joints = old[:, list(arm)]
        was, seen = _places(actor, hand, actor.original.root[around], old)
        return Calm(
            actor,
            hand,
            arm,
            np.array(base.rotations[around]),
            base.root[around],
            int(rows[0]) - around.start,
            np.maximum(JERK, ROUGHER * joint_jerks(joints, base.fps)),
            np.maximum(SNAP, OWN_SNAP * snaps(joints, base.fps)),
            max(_HAND, _HAND_ROUGHER * point_jerk(was, base.fps)),
            float(_steps(seen).max() * base.fps),
            limits,
            max(float(pose_excess(limits, joints).max()), BEYOND),
        )

    def rough(self, q: Array) -> float:
        """How rough frames (N, n, 4) are: 1 is the most that is wanted; more where joints leave their ranges."""
        new = self.around.copy()
        new[self.begin : self.begin + len(q), list(self.arm)] = q
        places, seen = _places(self.actor, self.hand, self.root, new)
        hand = point_jerk(places, self.actor.base.fps) / self.hand_jerk
        speed = _steps(seen[self.begin : self.begin + len(q)]) * self.actor.base.fps
        haste = float(speed.max() / max(_SPEED, _BELL * speed.mean(), self.speed))
        beyond = bool(pose_excess(self.limits, q).max() > self.beyond)
        return max(float(self.roughs(q[None])[0]), hand, haste) + beyond

    def roughs(self, q: Array) -> Array:
        """How rough the joints are over frames (K, N, n, 4), (K,)."""
        new = np.repeat(self.around[None][:, :, list(self.arm)], len(q), axis=0)
        new[:, self.begin : self.begin + q.shape[1]] = q
        new = np.moveaxis(continuous(np.moveaxis(new, 1, 0)), 0, 1)
        fps = self.actor.base.fps
        jerk = joint_jerks(np.moveaxis(new, 0, 1), fps) / self.jerk
        snap = np.stack([snaps(some, fps) for some in new]) / self.snap
        return np.maximum(jerk, snap).max(axis=-1)


def _places(actor: Actor, hand: tuple[int, Array], root: Array, q: Array) -> tuple[Array, Array]:
    """Where a hand is over frames, (T, 3), in the world and as the hips see it."""
    joint, T_hand = hand
    T = actor.body.transforms(root, q)
    places = np.asarray((T[:, joint] @ T_hand)[:, :3, 3])
    return places, seen_by(T[:, 0], places)


def _steps(places: Array) -> Array:
    """Lengths (T - 1,) of the steps of a point (T, 3)."""
    return np.asarray(np.linalg.norm(np.diff(places, axis=0), axis=1))
