"""A hand leaves what a person does, is at a place that may move at a time, and comes back, while all else goes on."""

from __future__ import annotations

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.ease import ease, soft_step
from elbowroom.geometry.rotations import Array, slerp
from elbowroom.posing.gaze import gazing
from elbowroom.tasks.actor import Actor
from elbowroom.tasks.director import Director
from elbowroom.tasks.hands import joints_of
from elbowroom.tasks.stuck import Stuck
from elbowroom.tasks.timed_course import Tracking, faded
from elbowroom.tasks.timed_free import Frames, Free
from elbowroom.tasks.timed_layer import leaned
from elbowroom.tasks.timed_pace import Pace
from elbowroom.tasks.timed_when import Moments

# Eyes and head are at the target after this share of the approach, and stay on it for this share of the way back.
_LOOKS_BY, _LOOKS_ON = 0.6, 0.25

# Of the time for which a hand keeps to the way off a target: what it takes in all.
_NEARLY = 1.4


class Passage:
    """One task of a hand on top of a motion: frames `m` of it, for a posture at its target."""

    def __init__(
        self, d: Director, actor: Actor, hand: str, m: Moments, pose: Pose, what: str, *, quick: bool = False
    ) -> None:
        self.d, self.actor, self.hand, self.m, self.pose, self.what = d, actor, hand, m, pose, what
        self.limb = f"{hand}_arm"
        self.arm = list(actor.body.chain(self.limb).joints)
        self.fingers = list(finger_joints(actor.body, hand))
        self._moved = False
        self._orbit: float | None = None  # of the elbow when the hand has come
        self._fade = ease if quick else soft_step
        # frames after which the hand is off its target, and after which the arm is back
        self._off, self._home = ((0.3, 0.75) if quick else (0.5, 1.0)) * np.array(m.back - m.done)

    def help(self, focus: Array | None) -> None:
        """The trunk helps and the eyes look at points (N, 3) by frame, from the first to the last of the passage.

        Without points they look where they do anyway.
        """
        d, actor, m = self.d, self.actor, self.m
        rows = np.arange(m.leaves, m.back + 1)
        root, q = actor.base.root[rows], actor.base.rotations[rows]
        mine = set(joints_of(actor, self.hand)) - set(actor.body.chain(self.limb).lead)
        may = actor.upper & ~np.isin(np.arange(len(actor.upper)), list(mine))
        share = _risen(rows, m.leaves, m.there) * (1.0 - _risen(rows, m.done, m.back))
        new, moved = leaned(actor.body, q, m.there - m.leaves, self.pose, may, share)
        if d.settings.gaze and focus is not None:
            looks = _risen(rows, m.leaves, m.leaves + _LOOKS_BY * (m.there - m.leaves))
            off = m.done + _LOOKS_ON * (m.back - m.done)
            new = gazing(actor.body, root, new, focus[rows], looks * (1.0 - _risen(rows, off, m.back)))
        changed = np.flatnonzero((new != q).any(axis=(0, 2))).tolist()
        if changed:
            actor.edit(m.leaves, changed, new[:, changed])
        self._moved = bool(moved)

    def come(self, hands: Array, opened: Array, closed: Array, pace: Pace) -> None:
        """The hand goes to places (N, 4, 4) by frame from the first to the one in which its work is done.

        Fingers become `opened` (n, 4) on the way and then `closed`.
        """
        actor, m = self.actor, self.m
        closing = max(m.there - round(pace.closing * actor.base.fps), m.leaves + 1)
        rows = np.arange(m.leaves, m.done + 1)
        share = self._fade((rows - m.leaves) / (m.there - max(actor.frames(pace.early), 1) - m.leaves))
        share[rows >= m.there - 1] = 1.0
        shaped = slerp(opened, closed, pace.shaped) if pace.closing > 0.0 and self.fingers else opened
        self._shape(rows, [(m.leaves, closing, shaped), (closing, m.done, closed)])
        self._go(rows, hands, actor.base.rotations[rows][:, self.arm], share, 0, self.what)

    def leave(self, hands: Array, home: Array, fingers: Array | None, what: str, keeps: int = 0) -> None:
        """The hand goes from places (N, 4, 4) by frame to `home` (M, 3, 4), the arm's motion until the base ends.

        It `keeps` to its places for some frames. Fingers stay, or become those of a motion (M, n, 4) after them.
        """
        actor, m = self.actor, self.m
        if self.fingers and fingers is None:
            now = actor.base.rotations[m.done, self.fingers]
            actor.edit(m.done, self.fingers, np.repeat(now[None], len(actor.base) - m.done, axis=0))
        elif self.fingers and fingers is not None:
            share = _risen(np.arange(m.done, len(actor.base)), m.done + keeps, m.back)
            now = actor.base.rotations[m.done, self.fingers]
            actor.edit(m.done, self.fingers, faded(np.repeat(now[None], len(share), axis=0), fingers, share))
        rows = np.arange(m.done, m.back + 1)
        actor.edit(m.back, self.arm, home[m.back - m.done :])
        share = 1.0 - self._fade((rows - m.done - keeps) / max(self._home, 1.0))
        self._go(rows, hands, home[: len(rows)], share, 1, what)

    def away(self, keeps: int = 0) -> Array:
        """Shares (N,) of the way off the target, from the frame in which the work is done to the last.

        A hand that `keeps` to its places for some frames is nearly off after them.
        """
        m = self.m
        return soft_step(np.arange(m.back - m.done + 1) / max(_NEARLY * keeps if keeps else self._off, 1.0))

    def finish(self) -> None:
        """The frames are done; raises `Stuck` where the helping body meets something."""
        d, actor, m = self.d, self.actor, self.m
        actor.go_on(m.back)
        actor.free_from = {**actor.free_from, self.hand: m.done}
        actor.contacts = (*actor.contacts, (self.hand, m.there, m.done))
        d.world = actor.placed(d.world)
        if self._moved:
            d.require_free((actor.time(m.leaves), actor.time(m.back)), self.what)

    def _shape(self, rows: Frames, turns: list[tuple[int, int, Array]]) -> None:
        """Fingers turn to rotations (n, 4) between frames, one after another."""
        if not self.fingers:
            return
        q = np.array(self.actor.base.rotations[rows][:, self.fingers])
        for first, last, goal in turns:
            share = _risen(rows, first, last)
            after = rows >= first
            q[after] = slerp(q[after], goal, share[after, None])
        self.actor.edit(int(rows[0]), self.fingers, q)

    def _go(self, rows: Frames, hands: Array, base: Array, share: Array, fixed: int, what: str) -> None:
        """Frames of the arm between its base (N, 3, 4) and a hand at places (N, 4, 4), by shares (N,).

        The end `fixed`, 0 for the last and 1 for the first, is at the target.
        """
        d, actor = self.d, self.actor
        T = actor.body.transforms(actor.base.root[rows], actor.base.rotations[rows])
        tracking = Tracking(actor.body, self.limb, T, self.pose)
        there = tracking.postures(hands, share == 1.0, self._orbit if fixed == 1 else None)
        if there is None:
            raise Stuck("target-out-of-reach", f"{what}: the arm cannot follow it while it is there")
        self._orbit = tracking.orbit
        course = faded(base, there, share, [actor.body.limits[j] for j in self.arm])
        actor.edit(int(rows[0]), self.arm, course)
        d.world = actor.placed(d.world)
        way = Free(d, actor, self.limb, rows, course, share, fixed, what).find()
        actor.edit(int(rows[0]), self.arm, way.rotations)
        d.world = actor.placed(d.world)
        d.note(actor, self.limb, what, (actor.time(int(rows[0])), actor.time(int(rows[-1]))), way)


def _risen(rows: Frames, first: float, last: float) -> Array:
    """Shares (N,) that rise from 0 in one frame to 1 in another."""
    return soft_step((rows - first) / max(last - first, 1.0))
