"""A hand leaves what a person does, is at a place that may move at a time, and comes back, while all else goes on."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.limits import pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.finish.settle import between_free, settle
from elbowroom.geometry.ease import ease, soft_step
from elbowroom.geometry.rotations import Array, angle_between, continuous, slerp
from elbowroom.motion.quality import BEYOND, joint_jerks
from elbowroom.posing.gaze import gazing
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSpace
from elbowroom.spaces.limb_plan import plan_limb
from elbowroom.spaces.styles import NATURAL, style_of
from elbowroom.tasks.actor import Actor
from elbowroom.tasks.arm_ways import Way
from elbowroom.tasks.director import Director
from elbowroom.tasks.hands import joints_of
from elbowroom.tasks.repair_pace import ABOUT, JERK, OWN_SNAP, ROUGHER, SNAP, snaps
from elbowroom.tasks.stuck import Stuck, blamed
from elbowroom.tasks.timed_course import Tracking, faded
from elbowroom.tasks.timed_layer import leaned
from elbowroom.tasks.timed_pace import Pace
from elbowroom.tasks.timed_when import Moments
from elbowroom.world.fast import HIT, LimbCheck

# Numbers of frames, (N,).
Frames = NDArray[np.int64]

# Eyes and head are at the target after this share of the approach, and stay on it for this share of the way back.
_LOOKS_BY, _LOOKS_ON = 0.6, 0.25

# Clearance of searched ways whose ends have no more, metres.
_TIGHT = 0.001

# A search leads to where the hand is this near to its target at least, a share, and so many frames after what it meets.
_NEAR, _CLEAR = 0.5, 3

# Of the time for which a hand keeps to the way off a target: what it takes in all.
_NEARLY = 1.4

# Searches that are made where the first gives a way that is too rough.
_SEARCHES = 4

# Joints may turn this much faster than those of the motion under them do.
_FASTER = 1.3


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
        way = self._free(rows, course, share, fixed, what)
        actor.edit(int(rows[0]), self.arm, way.rotations)
        d.world = actor.placed(d.world)
        d.note(actor, self.limb, what, (actor.time(int(rows[0])), actor.time(int(rows[-1]))), way)

    def _free(self, rows: Frames, course: Array, share: Array, fixed: int, what: str) -> Way:
        """The course where it is free, or a searched way that joins it at the target."""
        d, actor = self.d, self.actor
        begun = time.perf_counter()
        times = actor.base.start + rows / actor.base.fps
        if d.settings.tier == "ik":
            return Way(course, "ik", time.perf_counter() - begun, checks=len(course))
        check = LimbCheck(d.world, actor.who, self.limb, (float(times[0]), float(times[-1])))
        hits = np.flatnonzero(check.batch(course, times, keen=True) == HIT)
        if d.settings.tier != "plan" and not len(hits) and between_free(check, course, times):
            return Way(course, "ik", time.perf_counter() - begun, checks=len(course))
        if d.settings.tier == "avoid":
            pair = check.blame(course[hits[0]], float(times[hits[0]])) if len(hits) else None
            raise Stuck("no-path", f"{what}: {blamed(pair) or 'the straight way is not free'}")
        searched = self._halves(check, course, times, share, hits, fixed, what)
        inner = slice(searched.start + 1, searched.stop - 1)  # the ends are those of the course, bit by bit
        best: tuple[float, Way] | None = None
        for _ in range(_SEARCHES):
            found = self._searched(times[searched], course[searched], what)
            q = course.copy()
            q[inner] = found.rotations[1:-1]
            rough = self._roughness(rows, q, fixed)
            if best is None or rough < best[0]:
                best = rough, replace(found, rotations=q)
            if rough <= 1.0:
                break
        assert best is not None
        return best[1]

    def _roughness(self, rows: Frames, q: Array, fixed: int) -> float:
        """Jerk and snap of frames (N, 3, 4) of the arm against what is allowed: 1 is the most; more where joints leave
        ranges.

        What follows the frames counts where it is there yet, after the way back.
        """
        base, about = self.actor.base, self.actor.frames(ABOUT)
        first, last = int(rows[0]), int(rows[-1])
        around = slice(max(first - about, 0), last + 1 + (about if fixed else 0))
        new = np.array(base.rotations[around][:, self.arm])
        new[first - around.start : last + 1 - around.start] = q
        old = self.actor.original.rotations[around][:, self.arm]
        limits = [self.actor.body.limits[j] for j in self.arm]
        beyond = pose_excess(limits, q).max() > max(float(pose_excess(limits, old).max()), BEYOND)
        jerk = joint_jerks(continuous(new), base.fps) / np.maximum(JERK, ROUGHER * joint_jerks(old, base.fps))
        snap = snaps(new, base.fps) / np.maximum(SNAP, OWN_SNAP * snaps(old, base.fps))
        return float(max(jerk.max(), snap.max()) + beyond)

    def _halves(
        self, check: LimbCheck, course: Array, times: Array, share: Array, hits: Frames, fixed: int, what: str
    ) -> slice:
        """Frames that are to be searched: all but those near the target in which the course is free."""
        n = len(course) - 1
        far = np.flatnonzero(share > _NEAR)
        # as seen from the end that is far from the target
        first = max(n - int(hits[0]) if fixed else int(hits[-1]), 0) + _CLEAR if len(hits) else 0
        first = max(first, n - int(far[-1]) if fixed else int(far[0]))
        for joint in range(first, n - 1, _CLEAR):
            if fixed == 0:
                kept, searched = slice(joint, n + 1), slice(0, joint + 1)
            else:
                kept, searched = slice(0, n - joint + 1), slice(n - joint, n + 1)
            if between_free(check, course[kept], times[kept]):
                return searched
        worst = int(hits[0] if fixed else hits[-1]) if len(hits) else (0 if fixed else n)
        pair = check.blame(course[worst], float(times[worst]))
        raise Stuck("target-in-collision", f"{what}: {blamed(pair) or 'something is in the way'} at the target")

    def _searched(self, times: Array, course: Array, what: str) -> Way:
        """A way through postures and time from the first to the last of a course (N, 3, 4)."""
        d, actor = self.d, self.actor
        during = (float(times[0]), float(times[-1]))
        speed = angle_between(course[:-1], course[1:]).max(axis=0) * actor.base.fps
        for margin in dict.fromkeys((d.settings.margin, _TIGHT, 0.0)):
            check = LimbCheck(d.world, actor.who, self.limb, during, margin=margin)
            style = style_of(d.settings.style, NATURAL)
            top = np.maximum(2.0 * np.pi, _FASTER * speed)
            space = LimbSpace.over(check, timed=True, style=style, speed=top)
            begun = time.perf_counter()
            begin, end = (space.state(course[k], during[k]) for k in (0, -1))
            path = plan_limb(space, begin, end, d.seed(), d.settings.budget)
            first = time.perf_counter() - begun
            if path.status in ("start-in-collision", "goal-in-collision"):
                continue
            if not path.found:
                break
            begun = time.perf_counter()
            short = smooth(space, path, d.seed())
            settled = settle(space, short, times, course)
            if settled.free:
                # rounded corners leave the ranges of joints by a little
                within = np.stack([x.clamp(settled.rotations[:, j]) for j, x in enumerate(space.limits)], axis=1)
                q = within if between_free(check, within, times) else settled.rotations
                took = time.perf_counter() - begun
                checks = path.stats.checks + short.stats.checks
                return Way(q, "plan", first, took, checks, path.stats.nodes, space.tree_lines(path))
        raise Stuck("no-path", f"{what}: no free way was found")


def _risen(rows: Frames, first: float, last: float) -> Array:
    """Shares (N,) that rise from 0 in one frame to 1 in another."""
    return soft_step((rows - first) / max(last - first, 1.0))
