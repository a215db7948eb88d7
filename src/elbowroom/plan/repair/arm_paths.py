"""Three ways to bring a hand from one posture of the arm to another while the body moves under it (K7, K8).

- ik: the hand goes straight, its turn by slerp, the elbow's orbit angle from the one to the other.
- avoid: the same hand, but the elbow goes wherever it is free.
- plan: a search over postures of the arm and time.

All of them have the bell-shaped speed of hands that reach.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.character.limits import EPS, JointLimit, clamp_pose, pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.finish.nudge import Sampling, bump, nudge
from elbowroom.finish.offsets import JointOffsets
from elbowroom.finish.settle import bell, between_free, hit_along, interpolate, settle, soften
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array, continuous, from_matrix, slerp
from elbowroom.geometry.transforms import transform
from elbowroom.motion.quality import BEYOND, JERK, ReachShape, joint_jerks, reach_shape
from elbowroom.plan.checks.accept import limb_meets, rougher
from elbowroom.plan.checks.elbow_angles import HandPath
from elbowroom.plan.state.result import Blocked, Status
from elbowroom.plan.state.settings import Settings
from elbowroom.posing.limb_ik import Keep, LimbIK
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSearchSpace, plan_limb
from elbowroom.spaces.styles import NATURAL, style_of
from elbowroom.world.edit import EditTier
from elbowroom.world.fast import LimbCheck
from elbowroom.world.pairs import Pair

# Number of orbit angles that 'avoid' samples over the paper's range.
_ORBITS = np.radians(np.linspace(-30.0, 150.0, 37))
# Changes of the orbit angle that are sampled around a hand's given path.
_OFFSETS = np.radians(np.linspace(-90.0, 90.0, 37))
# For hands at work, one of so many passes over frames is made first.
_AT_WORK = 4

# Fractions by which frames are pulled into the joint limits; the first that is free counts.
_DRAWN_IN = (1.0, 0.8, 0.6, 0.4, 0.2)

# Searches before the straight path is offset sideways instead. Of 60 reaches into a shelf (benchmarks/tiers.py) 17 are
# unlike people's after the first; of 14 that were searched again, 4 were like them after the second, 2 more after a
# third.
_SEARCHES = 2

# Share of a hand's mean speed below which it counts as turning in place.
_IN_PLACE = 0.15
# Penalty on the naturalness score of a path whose joints leave their limits.
_OUT_OF_RANGE = 5.0

# Ratio of roughness to that of the straight path up to which an offset path is accepted.
_ROUGHER = 1.5


@dataclass(frozen=True, eq=False)
class LimbTrajectory:
    """Rotations (N + 1, 3, 4) of an arm's joints by frame, with the tier, its cost, and search trees to draw."""

    rotations: Array
    tier: EditTier
    first_s: float = 0.0
    smooth_s: float = 0.0
    checks: int = 0
    nodes: int = 0
    trees: tuple[Array, ...] = ()

    @property
    def cost(self) -> tuple[EditTier, float, float, int, int, tuple[Array, ...]]:
        """Tier, seconds of search and smoothing, and numbers of checks, nodes and trees, as stored in an edit."""
        return self.tier, self.first_s, self.smooth_s, self.checks, self.nodes, self.trees


class ArmPaths:
    """Paths of one arm over frames of a body: world transforms T (N + 1, J, 4, 4) at times (N + 1,).

    `pose` has the fixed rotations of joints inside the arm, such as the twist joints of some rigs.
    """

    def __init__(
        self, body: Character, limb: str, pose: Pose, times: Array, T: Array, check: LimbCheck, settings: Settings
    ) -> None:
        self.body, self.times, self.check, self.settings = body, times, check, settings
        self._between = pose.rotations
        self.ik = LimbIK(body, limb, pose)
        self.parents = T[:, self.ik.parent]
        self.moving = bool(np.isfinite(check.span[0]))

    def find(self, start: Array, goal: Array, seed: int, *, straight: bool = False) -> LimbTrajectory | Blocked:
        """Return the first free trajectory among the allowed tiers, from rotations (3, 4) to rotations (3, 4).

        `straight` excludes the search: the hand moves straight or not at all.
        """
        tier = self.settings.tier
        begun = time.perf_counter()
        if tier != "plan" or straight:
            direct = self.straight(start, goal)
            if direct is not None and (tier == "ik" or self.free(direct)):
                return LimbTrajectory(direct, "ik", time.perf_counter() - begun, checks=len(direct))
            if tier == "ik":
                return Blocked("target-out-of-reach")
            around, checks = self.avoiding(start, goal)
            if around is not None and self.free(around):
                return LimbTrajectory(around, "avoid", time.perf_counter() - begun, checks=checks)
            if tier == "avoid" or straight:
                return Blocked("no-path", self.blame(start, goal))
        return self.planned(start, goal, seed)

    def hands(self, start: Array, goal: Array) -> Array:
        """Hand transforms (N + 1, 4, 4) of the straight path: lerp and slerp with a bell-shaped speed."""
        first, last = self._hands(np.stack([start, goal]), self.parents[[0, -1]])
        s = smoothstep(np.linspace(0.0, 1.0, len(self.times)))
        turns = slerp(from_matrix(first[:3, :3]), from_matrix(last[:3, :3]), s)
        return transform(first[:3, 3] + s[:, None] * (last[:3, 3] - first[:3, 3]), turns)

    def straight(self, start: Array, goal: Array) -> Array | None:
        """The straight path regardless of obstacles; None where it leaves the reach or the joint limits."""
        (a, keep_a), (b, keep_b) = (self._orbit(q, k) for q, k in ((start, 0), (goal, -1)))
        s = smoothstep(np.linspace(0.0, 1.0, len(self.times)))
        out = self.ik.solve(self.parents, self.hands(start, goal), a + s * _turn(b - a), _between(keep_a, keep_b, s))
        if not (out.reached.all() and (out.excess.max(axis=1) <= EPS).all()):
            return None
        return _pinned(out.rotations, start, goal)

    def avoiding(self, start: Array, goal: Array) -> tuple[Array | None, int]:
        """The straight hand path with free elbow angles that change the least; and the number of checks."""
        (a, keep_a), (b, keep_b) = (self._orbit(q, k) for q, k in ((start, 0), (goal, -1)))
        keep = _between(keep_a, keep_b, smoothstep(np.linspace(0.0, 1.0, len(self.times))))
        angles = np.unique(np.concatenate([_ORBITS, [a, b]]))
        path = self._hand_path(self.hands(start, goal))
        around, checks = path.with_free_elbow(angles, keep, (angles == a, angles == b))
        return (None if around is None else _pinned(around, start, goal)), checks

    def around(self, q: Array) -> Array | None:
        """Frames (N + 1, 3, 4) of a hand at work, with the elbow where it is free; None if nowhere."""
        orbits, keep = self.ik.describe(self.parents, q)
        path, own = self._hand_path(self._hands(q, self.parents)), np.unwrap(orbits)
        for stride in (_AT_WORK, 1):
            found, _ = path.with_free_elbow(_OFFSETS, keep, (_OFFSETS == 0.0, None), own, stride)
            if found is None or self.free(found):
                return found
        return None

    def planned(self, start: Array, goal: Array, seed: int) -> LimbTrajectory | Blocked:
        """The most natural of a few searched paths or, if none resembles human reaches, of the straight path with an
        offset.

        The offset comes last because it takes as long as several searches.
        """
        candidates: list[LimbTrajectory] = []
        for attempt in range(_SEARCHES):
            found = self.searched(start, goal, seed + 7919 * attempt)
            if isinstance(found, Blocked):
                if not candidates and (attempt == _SEARCHES - 1 or found.pair is None or found.status != "no-path"):
                    return found  # a path that is free before its corners are rounded may have a better sibling
                continue
            candidates.append(found)
            if self.shape(candidates[-1].rotations).human:
                return candidates[-1]
        offset_path = self._by_offset(start, goal, seed)
        candidates += [] if offset_path is None else [self._evened(offset_path)]
        return min(candidates, key=lambda trajectory: self._strange(trajectory.rotations))

    def searched(self, start: Array, goal: Array, seed: int) -> LimbTrajectory | Blocked:
        """One searched path with rounded corners, at a bell-shaped speed where that is free and more natural."""
        found = self._searched(start, goal, seed)
        return found if isinstance(found, Blocked) else self._evened(found)

    def _strange(self, q: Array) -> float:
        """Penalty of frames (N + 1, 3, 4) that are unlike human reaches, from the hand's path and the joints' jerk."""
        rough = float(joint_jerks(continuous(q), self._rate).max(initial=0.0)) / JERK
        beyond = float(pose_excess(self._limits, q).max(initial=0.0)) > BEYOND
        return float(self.shape(q).strange + max(rough - 1.0, 0.0) + _OUT_OF_RANGE * beyond)

    def _evened(self, trajectory: LimbTrajectory) -> LimbTrajectory:
        """A path re-timed to a bell-shaped speed along the hand's path, where that is free and more natural."""
        q = trajectory.rotations
        steps = np.linalg.norm(np.diff(self._hands(q, self.parents)[:, :3, 3], axis=0), axis=-1)
        steps += _IN_PLACE * steps.mean()
        if not steps.mean() > 0.0 or self.shape(q).human:
            return trajectory
        along = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
        even, strange = _pinned(interpolate(along, q, bell(self.times)), q[0], q[-1]), self._strange(q)
        if not any(self._strange(some) < strange for some in (clamp_pose(self._limits, even), even)):
            return trajectory
        even, known = self._drawn_in(even)
        better = self._strange(even) < strange and (known or self.free(even))
        return replace(trajectory, rotations=even) if better else trajectory

    def shape(self, q: Array) -> ReachShape:
        """The hand's path over frames (N + 1, 3, 4), relative to the body."""
        return reach_shape(self._hands(q, self.parents)[:, :3, 3], self._rate)

    @property
    def _rate(self) -> float:
        return float((len(self.times) - 1) / (self.times[-1] - self.times[0]))

    def _by_offset(self, start: Array, goal: Array, seed: int) -> LimbTrajectory | None:
        """The straight hand path, or the straight path in joint space, with a smooth offset that makes it free."""
        begun = time.perf_counter()
        joints = [limit for limit in self._limits if limit is not None]
        if len(joints) < len(self._limits):
            return None
        s = smoothstep(np.linspace(0.0, 1.0, len(self.times)))
        direct = self.straight(start, goal)
        # between two rotations of an elbow slerp leaves the axis of its hinge
        base = continuous(clamp_pose(self._limits, slerp(start, goal, s[:, None])) if direct is None else direct)
        rough = partial(rougher, like=base, fps=self._rate, gain=_ROUGHER)
        weights = bump(self.times, *self.times[[0, -1]])
        offsets = JointOffsets(joints, base, weights, (1.0,) * len(joints))
        done = nudge(
            self.check, offsets, base, self._when(self.times), weights, rough, Sampling(seed=seed, thorough=False)
        )
        if done.frames is None:
            return None
        eased = soften(self.check, np.array(done.frames), self.times, base).rotations  # before a joint's limit
        frames, _ = self._drawn_in(_pinned(np.array(eased), start, goal))
        return LimbTrajectory(frames, "plan", time.perf_counter() - begun, checks=done.checks)

    def _searched(self, start: Array, goal: Array, seed: int) -> LimbTrajectory | Blocked:
        """A searched path with rounded corners."""
        space = LimbSearchSpace.over(self.check, timed=self.moving, style=style_of(self.settings.style, NATURAL))
        t0, t1 = (float(self.times[0]), float(self.times[-1])) if self.moving else (0.0, 0.0)
        begun = time.perf_counter()
        path = plan_limb(space, space.state(start, t0), space.state(goal, t1), seed, self.settings.search_budget)
        first = time.perf_counter() - begun
        if not path.found:
            kinds: dict[str, Status] = {
                "start-in-collision": "start-in-collision",
                "goal-in-collision": "target-in-collision",
                "budget-spent": "no-path",
            }
            end = start if path.status == "start-in-collision" else goal
            when = t0 if path.status == "start-in-collision" else t1
            pair = None if path.status == "budget-spent" else self._pair(end, when)
            return Blocked(kinds[path.status], pair)
        begun = time.perf_counter()
        short = smooth(space, path, seed)
        settled = settle(space, short, self.times)
        if not settled.free:
            return Blocked("no-path", self.blame(start, goal))
        stats = (path.stats.checks + short.stats.checks, path.stats.nodes)
        q, _ = self._drawn_in(settled.rotations)
        return LimbTrajectory(q, "plan", first, time.perf_counter() - begun, *stats, trees=space.tree_lines(path))

    @property
    def _limits(self) -> list[JointLimit | None]:
        return [self.body.limits[j] for j in self.ik.joints]

    def _drawn_in(self, q: Array) -> tuple[Array, bool]:
        """Frames (N + 1, 3, 4) pulled into their joint limits, which rounded corners exceed slightly.

        Pulled as far as stays free; the second value is whether the result was found to be free.
        """
        if not pose_excess(self._limits, q).any():
            return q, False
        within = clamp_pose(self._limits, q)
        when, hit = self._when(self.times), None
        for share in _DRAWN_IN:
            some = slerp(q, within, share)
            if hit is not None:  # what the last share has met is met by most others
                k, part = hit
                posture = slerp(some[k], some[k + 1], part) if part else some[k]
                if not self.check.free(posture, float(when[k] + part * (when[min(k + 1, len(when) - 1)] - when[k]))):
                    continue
            hit = hit_along(self.check, some, when)
            if hit is None:
                return some, True
        return q, False

    def free(self, q: Array) -> bool:
        """Return whether frames (N + 1, 3, 4) are free, also between frames."""
        return between_free(self.check, q, self._when(self.times))

    def blame(self, start: Array, goal: Array) -> Pair | None:
        """Name the obstacle of the straight path."""
        straight = self.straight(start, goal)
        met = None if straight is None else limb_meets(self.check, "", straight, self._when(self.times))
        return None if met is None else next(iter(met.pairs), None)

    def _pair(self, q: Array, t: float) -> Pair | None:
        pairs = self.check.verdict(q, t)[1]
        return pairs[0] if pairs else None

    def _hand_path(self, hands: Array) -> HandPath:
        return HandPath(self.ik, self.check, self.parents, hands, self._when(self.times))

    def _when(self, times: Array) -> Array:
        return np.asarray(times) if self.moving else np.zeros(len(np.atleast_1d(times)))

    def _orbit(self, q: Array, k: int) -> tuple[float, Keep]:
        angle, keep = self.ik.describe(self.parents[k], q)
        return float(angle), keep

    def _hands(self, q: Array, parents: Array) -> Array:
        """`T_world_hand` (N, 4, 4) of an arm's rotations (N, 3, 4) on parents (N, 4, 4)."""
        T, skeleton = parents, self.body.skeleton
        joint, chain = self.ik.joints[-1], []
        while joint != self.ik.parent:
            chain.append(joint)
            joint = int(skeleton.parents[joint])
        for joint in reversed(chain):
            turn = q[:, self.ik.joints.index(joint)] if joint in self.ik.joints else self._between[joint]
            T = T @ transform(skeleton.offsets[joint], turn)
        return T


def _between(a: Keep, b: Keep, s: Array) -> Keep:
    def mix(x: ArrayLike, y: ArrayLike) -> Array:
        return np.asarray(np.asarray(x) + s * (np.asarray(y) - np.asarray(x)))

    return Keep(mix(a.off_axis, b.off_axis), mix(a.twist, b.twist), np.where(s < 0.5, a.backwards, b.backwards))


def _turn(angle: float) -> float:
    """The equivalent angle of the shortest rotation."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


def _pinned(q: Array, start: Array, goal: Array) -> Array:
    """Frames whose first and last are exactly the requested ones."""
    q[0], q[-1] = start, goal
    return q
