"""A course of an arm over a motion made free: as it is, leaned aside, or searched, and the calmest of several."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import cycle, islice

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.limits import JointLimit
from elbowroom.finish.leans import JointLeans
from elbowroom.finish.least import relax
from elbowroom.finish.nudge import Core, nudge
from elbowroom.finish.settle import Settled, between_free, own_times, settle, soften
from elbowroom.geometry.rotations import Array, angle_between
from elbowroom.plan.actor import Actor
from elbowroom.plan.arm_paths import LimbTrajectory
from elbowroom.plan.director import Director
from elbowroom.plan.result import PlanningFailure, blamed
from elbowroom.plan.smoothness import HandSmoothness
from elbowroom.search.birrt import Path
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSpace
from elbowroom.spaces.limb_plan import plan_limb
from elbowroom.spaces.styles import NATURAL, style_of
from elbowroom.world.fast import HIT, LimbCheck

# Numbers of frames, (N,).
Frames = NDArray[np.int64]

# Clearance of searched ways whose ends have no more, metres.
_TIGHT = 0.001

# A search leads to where the hand is this near to its target, shares tried in turn: the nearer, the more time it has.
# And so many frames after what the course meets.
_NEAR, _CLEAR = (0.95, 0.75, 0.5), 3

# Searches that are made where the first give ways that are too rough, and how many may be in vain.
_SEARCHES, _VAIN = 6, 1

# Share by which the best way may be rougher than is enough, for each way that was found before: six searches often
# bring nothing calmer than the first two (tuned on cheese-and-hat).
_LENIENT = 0.025

# Joints may turn this much faster than those of the motion under them do.
_FASTER = 1.3

# A lean helps frames in which there is so much of it at least, a share.
_LEANS = 0.3

# The least time in which a lean comes and goes, seconds, and the angular jerk that it may bring, rad/s³.
_RAMP, _LEAN_JERK = 0.15, 1300.0


@dataclass(frozen=True, eq=False)
class Free:
    """Frames `rows` (N,) of an arm whose `course` (N, 3, 4) is at its target by shares (N,).

    The end `fixed`, 0 for the last and 1 for the first, is at the target: frames there stay as they are.
    """

    d: Director
    actor: Actor
    limb: str
    rows: Frames
    course: Array
    share: Array
    fixed: int
    what: str

    def find(self) -> LimbTrajectory:
        """The course where it is free, or the smoothest path that joins it at the target; raises `PlanningFailure`."""
        settings, begun = self.d.settings, time.perf_counter()
        plain = LimbTrajectory(self.course, "ik", 0.0, checks=len(self.course))
        if settings.tier == "ik":
            return plain
        hits = np.flatnonzero(self._check.batch(self.course, self._times, resolve_uncertain=True) == HIT)
        if settings.tier != "plan" and not len(hits) and between_free(self._check, self.course, self._times):
            return replace(plain, first_s=time.perf_counter() - begun)
        best: tuple[float, LimbTrajectory] | None = None
        failed: PlanningFailure | None = None
        lenient = 1.0
        for way in self._ways(hits):
            if isinstance(way, PlanningFailure):
                failed = failed or way
                continue
            rough = self._calm.rough(way.rotations)
            if best is None or rough < best[0]:
                best = rough, way
            if best[0] <= self._calm.enough * lenient:
                break
            lenient += _LENIENT
        if best is not None:
            return best[1]
        if failed is None:
            pair = self._check.blame(self.course[hits[0]], float(self._times[hits[0]])) if len(hits) else None
            failed = PlanningFailure("no-path", f"{self.what}: {blamed(pair) or 'the straight way is not free'}")
        raise failed

    @cached_property
    def _times(self) -> Array:
        return np.asarray(self.actor.base.start + self.rows / self.actor.base.fps)

    @cached_property
    def _check(self) -> LimbCheck:
        return LimbCheck(self.d.world, self.actor.who, self.limb, (float(self._times[0]), float(self._times[-1])))

    @cached_property
    def _checks(self) -> dict[tuple[float, float, float], LimbCheck]:
        return {}

    def _with_margin(self, begin: float, end: float, margin: float) -> LimbCheck:
        """Check of the arm with a clearance, metres, made once for each interval of seconds: several are searched."""
        key = (begin, end, margin)
        if key not in self._checks:
            self._checks[key] = LimbCheck(
                self.d.world, self.actor.who, self.limb, (begin, end), margin=margin, exact=self._check.exact
            )
        return self._checks[key]

    @cached_property
    def _calm(self) -> HandSmoothness:
        return HandSmoothness.over(self.actor, self.limb, self.rows, after=self.fixed == 1)

    @cached_property
    def _limits(self) -> tuple[JointLimit, ...]:
        found = [self.actor.body.limits[j] for j in self.actor.body.chain(self.limb).joints]
        return tuple(limit for limit in found if limit is not None)

    def _ways(self, hits: Frames) -> Iterator[LimbTrajectory | PlanningFailure]:
        """Ways that are free, those near the course first."""
        tier = self.d.settings.tier
        if tier != "plan":
            leaned = self._leaned()
            if leaned is not None:
                yield leaned
        if tier == "avoid":
            return
        try:
            parts = self._parts(hits)
        except PlanningFailure as reason:
            yield reason
            return
        vain = 0
        for part in islice(cycle(parts), _SEARCHES):
            found = False
            for way in self._searched(part):
                found = True
                yield way
            vain += not found
            if vain >= _VAIN:
                yield PlanningFailure("no-path", f"{self.what}: no free way was found")
                break

    def _leaned(self) -> LimbTrajectory | None:
        """The course leaned aside while it would meet something."""
        begun = time.perf_counter()
        t = self._times
        bad = np.flatnonzero(~self._check.free_batch(self.course, t))
        moves = np.flatnonzero(self.share < 1.0)
        if not len(bad) or len(self._limits) != self.course.shape[1] or len(moves) < 3:
            return None
        ends = (max(int(moves[0]) - 1, 0), min(int(moves[-1]) + 1, len(t) - 1))
        first, last = (float(t[k]) for k in ends)
        begin, end = max(float(t[bad[0]]), first + _RAMP), min(float(t[bad[-1]]), last - _RAMP)
        if begin > end:
            begin = end = 0.5 * (begin + end)
        core = Core(first, begin, end, last)
        if not first < begin <= end < last:
            return None
        weights = core.weights(t)
        if weights[bad].min() < _LEANS:
            return None  # a lean is of no use to frames that keep to the course
        leans = JointLeans(self._limits, self.course, weights, (1.0,) * len(self._limits))
        for margin in dict.fromkeys((self.d.settings.margin, _TIGHT)):
            check = self._with_margin(float(t[0]), float(t[-1]), margin)
            largest = core.largest(_LEAN_JERK)
            done = nudge(check, leans, self.course, t, weights, largest, self.d.seed(), self._calm.roughs)
            if done.frames is not None:
                return LimbTrajectory(done.frames, "avoid", time.perf_counter() - begun, checks=done.checks)
        return None

    def _parts(self, hits: Frames) -> list[slice]:
        """Frames that may be searched: all but some near the target in which the course is free."""
        n = len(self.course) - 1
        found: list[slice] = []
        # where the hand has to be at its target nothing else will do
        exact = np.flatnonzero(self.share == 1.0)
        last = n - 2 if not len(exact) else n - int(exact[-1]) if self.fixed else int(exact[0])
        for near in _NEAR:
            far = np.flatnonzero(self.share > near)
            # as seen from the end that is far from the target
            first = max(n - int(hits[0]) if self.fixed else int(hits[-1]), 0) + _CLEAR if len(hits) else 0
            first = max(first, n - int(far[-1]) if self.fixed else int(far[0]))
            for joint in [*range(first, last, _CLEAR), *([last] if first <= last else [])]:
                if self.fixed == 0:
                    kept, searched = slice(joint, n + 1), slice(0, joint + 1)
                else:
                    kept, searched = slice(0, n - joint + 1), slice(n - joint, n + 1)
                if between_free(self._check, self.course[kept], self._times[kept]):
                    found += [searched] if searched not in found else []
                    break
        if found:
            return found
        worst = int(hits[0] if self.fixed else hits[-1]) if len(hits) else (0 if self.fixed else n)
        pair = self._check.blame(self.course[worst], float(self._times[worst]))
        raise PlanningFailure(
            "target-in-collision", f"{self.what}: {blamed(pair) or 'something is in the way'} at the target"
        )

    def _searched(self, part: slice) -> Iterator[LimbTrajectory]:
        """Ways along one that was searched through postures and time from the first to the last frame of a part."""
        d, times, course = self.d, self._times[part], self.course[part]
        during = (float(times[0]), float(times[-1]))
        speed = angle_between(course[:-1], course[1:]).max(axis=0) * self.actor.base.fps
        for margin in dict.fromkeys((d.settings.margin, _TIGHT, 0.0)):
            check = self._with_margin(*during, margin)
            style = style_of(d.settings.style, NATURAL)
            top = np.maximum(2.0 * np.pi, _FASTER * speed)
            space = LimbSpace.over(check, timed=True, style=style, speed=top)
            begun = time.perf_counter()
            begin, end = (space.state(course[k], during[k]) for k in (0, -1))
            path = plan_limb(space, begin, end, d.seed(), d.settings.search_budget)
            first = time.perf_counter() - begun
            if path.status in ("start-in-collision", "goal-in-collision"):
                continue
            if not path.found:
                return
            begun = time.perf_counter()
            short = smooth(space, path, d.seed())
            for some in self._settled(space, short, part):
                if some.free:
                    # rounded corners leave the ranges of joints by a little
                    within = np.stack([x.clamp(some.rotations[:, j]) for j, x in enumerate(space.limits)], axis=1)
                    q = self.course.copy()
                    inner = slice(part.start + 1, part.stop - 1)  # the ends are those of the course, bit by bit
                    q[inner] = (within if between_free(check, within, times) else some.rotations)[1:-1]
                    took = time.perf_counter() - begun
                    checks = path.stats.checks + short.stats.checks
                    yield LimbTrajectory(q, "plan", first, took, checks, path.stats.nodes, space.tree_lines(path))
            return

    def _settled(self, space: LimbSpace, path: Path, part: slice) -> Iterator[Settled]:
        """Frames of a part along a path: drawn to the course, whose speed is a bell; then by a bell of their own."""
        times, course = self._times[part], self.course[part]
        near = relax(space.check, own_times(space, path, times), times, course, self.d.seed())
        yield soften(space.check, near, times, course)
        yield settle(space, path, times, course)
