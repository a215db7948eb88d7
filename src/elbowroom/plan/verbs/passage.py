"""A hand leaves the motion, meets a possibly moving target at a time, and returns, while the rest goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.limits import JointLimit, clamp_pose
from elbowroom.character.skeleton import Pose
from elbowroom.finish.settle import hit_at, rounded
from elbowroom.geometry.easing import smootherstep, smoothstep
from elbowroom.geometry.rotations import Array, conjugate, continuous, exp, log, multiply, slerp
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.quality import BEYOND
from elbowroom.plan.checks.accept import in_range, limb_meets
from elbowroom.plan.checks.episodes import CollisionEpisode, clip_of
from elbowroom.plan.checks.hands import joints_of
from elbowroom.plan.checks.margins import ladder
from elbowroom.plan.repair.arm_paths import LimbTrajectory
from elbowroom.plan.repair.limb import by_search, replanned, spliced
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.repair.stretch import Job, stretches
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, blamed
from elbowroom.plan.steps.director import Director
from elbowroom.plan.steps.give_way import require_free
from elbowroom.plan.tasks import Task
from elbowroom.plan.verbs.encounters import ContactTiming, moments
from elbowroom.plan.verbs.grasp_choice import ReachableGrasp
from elbowroom.posing.gaze import gazing
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.spaces.styles import CLOSE, style_of
from elbowroom.world.fast import LimbCheck

# Numbers of frames, (N,).
Frames = NDArray[np.int64]


def freed(
    d: Director,
    actor: Actor,
    limb: str,
    rows: Frames,
    exact: NDArray[np.bool_],
    what: str,
    checks: dict[bytes, LimbCheck],
    searches: bool = True,
) -> LimbTrajectory:
    """The motion of an arm in frames (N,) of the base, or the least change of it that is free.

    Frames in which the hand must be at its target, `exact` (N,), stay as they are. `checks` caches limb checks of
    earlier attempts by the frames of everything but the arm, in an otherwise equal world. Without `searches` offsets
    alone are tried. Raises `PlanningFailure`.
    """
    arm, who, tier = actor.body.chain(limb).joints, actor.who, d.settings.tier
    course, times = actor.base.rotations[rows][:, list(arm)], actor.base.start + rows / actor.base.fps
    plain = LimbTrajectory(course, "ik", checks=len(course))
    if tier == "ik":
        return plain
    span = (float(times[0]), float(times[-1]))
    key = rows[[0, -1]].tobytes() + np.delete(actor.base.rotations[rows], list(arm), axis=1).tobytes()
    widest = checks.get(key)
    if widest is None:
        widest = checks[key] = LimbCheck(d.world, who, limb, span, margin=d.settings.margin)
    check = widest.with_margin(0.0)
    there = hit_at(check, course[exact], times[exact])
    if there is not None:  # nothing that is done on the way would help
        pair = check.blame(course[int(np.argmin(np.abs(times - there)))], there)
        raise PlanningFailure(
            "target-in-collision", f"{what}: {blamed(pair) or 'something is in the way'} at the target"
        )
    episode = limb_meets(check, limb, course, times)
    if episode is None and tier != "plan":
        return plain
    moves = np.flatnonzero(~exact)
    low, high = max(int(moves[0]) - 1, 0), min(int(moves[-1]) + 1, len(rows) - 1)
    if episode is None:  # the search is asked for
        episode = CollisionEpisode(who, limb, (0.5 * float(times[low] + times[high]),) * 2, ())
    # ends with less clearance than the margin are left and entered with a smaller one
    ends, at = course[[low, high]], times[[low, high]]
    margin = next((m for m in ladder(d.settings.margin) if widest.with_margin(m).free_batch(ends, at).all()), 0.0)
    style, budget = style_of(d.settings.style, CLOSE), d.settings.search_budget
    options = RepairOptions({who: actor.clip()}, 0, style, budget, False, 0.0, margin=margin, brief=False)
    job = Job(d.world, episode, options, arm, int(rows[low]), int(rows[high]), widest)
    if tier == "plan":
        done = next((found for s in stretches(job) if (found := by_search(job, s, d.seed())) is not None), None)
    else:
        done = replanned(job, d.seed(), searches and tier != "avoid")
    if done is None:
        why = blamed(next(iter(episode.pairs), None)) or "the straight path is blocked"
        raise PlanningFailure("no-path", f"{what}: {why}")
    bent = clip_of(spliced(job, done), who).rotations[rows][:, list(arm)]
    limits = [actor.body.limits[j] for j in arm]
    if not in_range(limits, bent, course, BEYOND):
        raise PlanningFailure("no-path", f"{what}: a detour would bend the {limb.replace('_', ' ')} too far")
    return replace(done.trajectory, rotations=bent)


# Eyes and head are at the target after this share of the approach, and stay for this share of the return.
_GAZE_ARRIVES, _GAZE_STAYS = 0.6, 0.25

# Duration of a retreat in relation to the time for which the hand stays on its line.
_NEARLY = 1.4


@dataclass(frozen=True, eq=False)
class Encounter:
    """A hand at a possibly moving target: the frame of contact and the posture in it.

    `T_target` (N, 4, 4) is the target by frame of the motion, `T_hand` (N, 4, 4) the required transform of the hand.
    """

    hand: str
    k: int
    pose: Pose
    T_target: Array
    T_hand: Array

    @staticmethod
    def of(taking: ReachableGrasp, T_target: Array) -> Encounter:
        """Encounter of a hand that takes or touches a target at `T_target` (N, 4, 4) by frame."""
        hands = T_target @ (inverse(T_target[taking.k]) @ taking.T_world_hand)
        return Encounter(taking.hand, taking.k, taking.target, T_target, hands)


class Passage:
    """One task of a hand on top of a motion, during its frames `m`; without `searches`, by offsets of the arm alone."""

    def __init__(
        self,
        d: Director,
        actor: Actor,
        task: Task,
        at: Encounter,
        pace: ContactTiming,
        what: str,
        searches: bool = True,
    ) -> None:
        self.d, self.actor, self._task, self._at, self._pace, self._searches = d, actor, task, at, pace, searches
        self.m = moments(d, actor, at.hand, task, at.k, at.T_hand[at.k], actor.frames(pace.work), pace.early)
        # a chosen time is part of the reason
        self.what = what if task.at is not None else f"{what} at {actor.time(at.k):.2f} s"
        self._moved = False
        self._orbit: float | None = None  # elbow angle at contact
        self._checks: dict[bytes, LimbCheck] = {}  # of retreats that are tried in turn

    @property
    def limb(self) -> str:
        """Chain of the arm."""
        return f"{self._at.hand}_arm"

    @property
    def arm(self) -> list[int]:
        """Joints of the arm."""
        return list(self.actor.body.chain(self.limb).joints)

    @property
    def fingers(self) -> list[int]:
        """Joints of the fingers."""
        return list(finger_joints(self.actor.body, self._at.hand))

    def _fade(self, share: Array) -> Array:
        return smoothstep(share) if self._pace.quick else smootherstep(share)

    @property
    def near(self) -> float:
        """Time at which the final approach begins, seconds."""
        return self.actor.time(max(self.m.there - self.actor.frames(self._pace.slow), self.m.leaves))

    def help(self, focus: Array | None) -> None:
        """Let the trunk help and the eyes look at points (N, 3) by frame, over the whole passage.

        Without points the gaze stays that of the base.
        """
        d, actor, m = self.d, self.actor, self.m
        rows = np.arange(m.leaves, m.back + 1)
        root, q = actor.base.root[rows], actor.base.rotations[rows]
        mine = set(joints_of(actor, self._at.hand)) - set(actor.body.chain(self.limb).lead)
        may = actor.upper & ~np.isin(np.arange(len(actor.upper)), list(mine))
        share = _rising(rows, m.leaves, m.there) * (1.0 - _rising(rows, m.done, m.back))
        new, moved = with_posture(actor.body, q, m.there - m.leaves, self._at.pose, may, share)
        if d.settings.gaze and focus is not None:
            gaze_share = _rising(rows, m.leaves, m.leaves + _GAZE_ARRIVES * (m.there - m.leaves))
            off = m.done + _GAZE_STAYS * (m.back - m.done)
            new = gazing(actor.body, root, new, focus[rows], gaze_share * (1.0 - _rising(rows, off, m.back)))
        changed = np.flatnonzero((new != q).any(axis=(0, 2))).tolist()
        if changed:
            actor.edit(m.leaves, changed, new[:, changed])
        self._moved = bool(moved)

    def come(self, by: Array, opened: Array, closed: Array, by_frame: int | None = None) -> None:
        """Bring the hand to its target and keep it there until its work is done; the final approach starts at offset
        `by` (3,).

        The fingers become `opened` (n, 4) on the way, then `closed`, by a frame or else by the end of the work.
        """
        actor, m, pace = self.actor, self.m, self._pace
        closing = max(m.there - round(pace.closing * actor.base.fps), m.leaves + 1)
        rows = np.arange(m.leaves, m.done + 1)
        share = self._fade((rows - m.leaves) / (m.there - max(actor.frames(pace.early), 1) - m.leaves))
        share[rows >= m.there - 1] = 1.0
        shaped = slerp(opened, closed, pace.shaped) if pace.closing > 0.0 and self.fingers else opened
        self._shape(rows, [(m.leaves, closing, shaped), (closing, by_frame or m.done, closed)])
        slow = actor.frames(pace.slow)
        hands = self._beside(rows, by, 1.0 - smootherstep((rows - m.there + slow) / slow))
        self._go(rows, hands, actor.base.rotations[rows][:, self.arm], share, self.what)

    def leave(self, by: Array, what: str, *, home: Array | None = None, seconds: float = 0.0) -> None:
        """Retreat by `by` (3,) in the world and return arm and fingers to the base motion.

        With `home` (M, 3, 4), the arm's motion until the end of the base, the arm goes there and the fingers stay
        closed. The hand follows its target for `seconds`, and has nearly left it after them.
        """
        actor, m, keeps = self.actor, self.m, round(seconds * self.actor.base.fps)
        own = actor.original.rotations[m.done :]
        if self.fingers:
            fingers = np.repeat(actor.base.rotations[m.done, self.fingers][None], len(actor.base) - m.done, axis=0)
            if home is None:
                share = _rising(np.arange(m.done, len(actor.base)), m.done + keeps, m.back)
                fingers = faded(fingers, own[:, self.fingers], share)
            actor.edit(m.done, self.fingers, fingers)
        home = np.array(own[:, self.arm]) if home is None else home
        rows = np.arange(m.done, m.back + 1)
        actor.edit(m.back, self.arm, home[m.back - m.done :])
        # frames after which the hand has left its target, and after which the arm is back
        leaves, returns = ((0.3, 0.75) if self._pace.quick else (0.5, 1.0)) * np.array(m.back - m.done)
        share = 1.0 - self._fade((rows - m.done - keeps) / max(returns, 1.0))
        off = smootherstep((rows - m.done) / max(_NEARLY * keeps if keeps else leaves, 1.0))
        self._go(rows, self._beside(rows, by, off), home[: len(rows)], share, what, self._orbit)

    def _beside(self, rows: Frames, by: Array, share: Array) -> Array:
        """Hand transforms (N, 4, 4) offset from the target by `by` (3,), in the world at contact, times shares (N,)."""
        T, out = self._at.T_target, np.array(self._at.T_hand[rows])
        out[:, :3, 3] += share[:, None] * (T[rows, :3, :3] @ (T[self._at.k, :3, :3].T @ by))
        return out

    def finish(self) -> None:
        """Make the frames final; raises `PlanningFailure` where the helping body collides."""
        d, actor, m = self.d, self.actor, self.m
        actor.go_on(m.back)
        contacts = (*actor.contacts, (self._at.hand, m.there, m.done))
        actor.change(free_from={**actor.free_from, self._at.hand: m.done}, contacts=contacts)
        d.world = actor.placed(d.world)
        if self._moved:
            require_free(
                d, (actor.time(m.leaves), actor.time(m.back)), self.what, str(getattr(self._task, "object", ""))
            )

    def _shape(self, rows: Frames, turns: list[tuple[int, int, Array]]) -> None:
        """Rotate fingers to rotations (n, 4) between pairs of frames, one after another."""
        if not self.fingers:
            return
        q = np.array(self.actor.base.rotations[rows][:, self.fingers])
        for first, last, goal in turns:
            share = _rising(rows, first, last)
            after = rows >= first
            q[after] = slerp(q[after], goal, share[after, None])
        self.actor.edit(int(rows[0]), self.fingers, q)

    def _go(self, rows: Frames, hands: Array, base: Array, share: Array, what: str, orbit: float | None = None) -> None:
        """Blend the arm between its base (N, 3, 4) and a hand at transforms (N, 4, 4), by weights (N,).

        The elbow is at a given `orbit` angle, radians, or at one that is chosen.
        """
        d, actor = self.d, self.actor
        T = actor.body.transforms(actor.base.root[rows], actor.base.rotations[rows])
        tracking = Tracking(actor.body, self.limb, T, self._at.pose)
        there = tracking.postures(hands, share == 1.0, orbit)
        if there is None:
            raise PlanningFailure("target-out-of-reach", f"{what}: the arm cannot follow it while it is there")
        self._orbit = tracking.orbit
        course = faded(base, there, share, [actor.body.limits[j] for j in self.arm])
        actor.edit(int(rows[0]), self.arm, course)
        d.world = actor.placed(d.world)
        trajectory = freed(d, actor, self.limb, rows, share == 1.0, what, self._checks, self._searches)
        actor.edit(int(rows[0]), self.arm, trajectory.rotations)
        d.world = actor.placed(d.world)
        d.note(actor, self.limb, what, (actor.time(int(rows[0])), actor.time(int(rows[-1]))), trajectory)


def _rising(rows: Frames, first: float, last: float) -> Array:
    """Weights (N,) that rise from 0 in one frame to 1 in another."""
    return smootherstep((rows - first) / max(last - first, 1.0))


# Extension limits for targets that are still too far, as shares of the arm's length: from the first on extension slows
# down, up to the second.
_EASY, _MOST = 0.9, 0.985

# Offsets of the elbow's orbit angle that are tried for frames in which the hand tracks a target, radians.
_ORBITS = np.radians([0.0, 8.0, -8.0, 16.0, -16.0, 26.0, -26.0, 38.0, -38.0])

# Largest excess over joint limits while tracking, radians: too little to be seen.
_EXCESS_RAD = np.radians(0.4)


# Half-width, in frames, of the blend into a joint's limit.
_SOFTLY = 8


class Tracking:
    """An arm whose hand tracks transforms over frames of a body, T (N, J, 4, 4), near a posture's elbow angle."""

    def __init__(self, body: Character, limb: str, T: Array, pose: Pose) -> None:
        self.ik = LimbIK(body, limb, pose)
        self.parents = T[:, self.ik.parent]
        self.shoulders = T[:, self.ik.joints[0], :3, 3]
        self.orbit, self._keep = self.ik.orbit_of(pose), self.ik.keep_of(pose)

    def postures(self, hands: Array, exact: NDArray[np.bool_], orbit: float | None = None) -> Array | None:
        """Rotations (N, 3, 4) with the hand at transforms (N, 4, 4), pulled nearer where out of reach.

        None where the hand misses or joints leave their limits in a frame of `exact` (N,), at any elbow angle tried.
        With `orbit` the elbow stays at that angle, and a hand whose work is done turns as its wrist allows.
        """
        drawn = hands.copy()
        towards = hands[:, :3, 3] - self.shoulders
        far = np.linalg.norm(towards, axis=1)
        length = self.ik.reach[1]
        easy = max(_EASY * length, float(far[exact].max(initial=0.0)))
        most = max(_MOST * length, easy + 1e-3)
        over = np.maximum(far - easy, 0.0)
        near = np.where(over > 0.0, easy + (most - easy) * np.tanh(over / (most - easy)), far)
        drawn[:, :3, 3] = self.shoulders + towards * (near / np.maximum(far, 1e-9))[:, None]
        drawn[exact] = hands[exact]
        fixed = exact if orbit is None else np.arange(len(exact)) == 0
        for angle in self.orbit + _ORBITS if orbit is None else (orbit,):
            at = self.ik.solve(self.parents[exact], hands[exact], angle, self._keep)
            if at.reached.all() and (orbit is not None or (at.excess <= _EXCESS_RAD).all()):
                self.orbit = float(angle)
                q = self.ik.solve(self.parents, drawn, angle, self._keep).rotations
                return continuous(np.where(fixed[:, None, None], q, self._within(q)))
        return None

    def _within(self, q: Array) -> Array:
        """Rotations (N, 3, 4) within joint limits: on its way the hand need not have its final orientation yet."""
        limits = [self.ik.character.limits[j] for j in self.ik.joints]
        # a joint slows down before its limit
        return clamp_pose(limits, rounded(clamp_pose(limits, continuous(q)), _SOFTLY, continuous(q)))


def faded(base: Array, there: Array, share: Array, limits: Sequence[JointLimit | None] = ()) -> Array:
    """Blend rotations (N, n, 4) of two motions by weights (N,); exactly one of them where the weight is 0 or 1.

    Hinge joints blend in flexion and twist: a slerp between two of their rotations would leave the hinge.
    """
    q = slerp(base, there, share[:, None])
    for j, limit in enumerate(limits):
        if limit is not None and limit.kind == "hinge":
            a, b = limit.coordinates(base[:, j]), limit.coordinates(there[:, j])
            q[:, j] = limit.rotation(a + share[:, None] * (b - a))
    q = np.where((share == 0.0)[:, None, None], base, q)
    return continuous(np.where((share == 1.0)[:, None, None], there, q))


# Rotations below this count as none, radians.
_NOTHING = 1e-7


def with_posture(
    body: Character, q: Array, k: int, goal: Pose, joints: NDArray[np.bool_], share: Array
) -> tuple[Array, list[int]]:
    """Rotations (N, J, 4) with the change of a posture against frame k added by weights (N,); and the joints changed.

    `joints` (J,) says which may change. Joints that were within their limits stay so.
    """
    turn = log(multiply(conjugate(q[k]), goal.rotations))
    moved = [j for j in np.flatnonzero(joints).tolist() if np.linalg.norm(turn[j]) > _NOTHING]
    out = q.copy()
    for j in moved:
        out[:, j] = multiply(q[:, j], exp(share[:, None] * turn[j]))
        limit = body.limits[j] if j < len(body.limits) else None
        if limit is not None:
            within = limit.contains(q[:, j])
            out[within, j] = limit.clamp(out[within, j])
        out[share == 0.0, j] = q[share == 0.0, j]
    return out, moved
