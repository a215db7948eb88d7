"""Frames of a whole-body path: rounded, timed as a reach, feet in place, every frame free."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.finish.settle import interpolate, rounded
from elbowroom.geometry.easing import averaged, covering, smootherstep
from elbowroom.geometry.rotations import Array, conjugate, continuous, exp, log, multiply
from elbowroom.motion.pace import Timing
from elbowroom.plan.tight.chain import BodyProblem, between_check, body_path, free_between, shortened
from elbowroom.plan.tight.settings import TightSettings
from elbowroom.search.birrt import Stats
from elbowroom.spaces.component import PosePath
from elbowroom.world.edit import CaptureBlend

# Half-width of rounding, share of the path; how often it is halved around colliding frames, and the smallest.
_WINDOW = 0.16
_HALVINGS = 6
_LEAST_WINDOW = 0.01
# Share of all frames over which the change of one that had to be brought into balance fades away, to either side.
_SPREAD = 0.06
# Samples of the path for rounding.
_PLACES = 160


@dataclass(frozen=True, eq=False)
class Planned:
    """Frames of a whole-body plan, roots (N + 1, 3) and rotations (N + 1, J, 4), or None; its path and statistics.

    `searched` is the path before it was shortened to `path`; `seconds` are those of search and smoothing, `blocked` the
    component that failed; `blend` says what recordings have in it; `zmp_m` is how far inside the support the zero
    moment point stays, metres, None where that was not computed. `share` (N + 1,) are the shares of the path at frames,
    None for the usual ones.
    """

    frames: tuple[Array, Array] | None
    path: PosePath | None
    searched: PosePath | None
    seconds: tuple[float, float]
    stats: Stats
    blocked: str
    blend: CaptureBlend | None = None
    zmp_m: float | None = None
    share: Array | None = None

    @property
    def shares(self) -> Array:
        """Shares (N + 1,) of the path at all frames."""
        assert self.frames is not None
        return Timing.eased(1.0, len(self.frames[0]) - 1).places if self.share is None else self.share


def planned_frames(
    problem: BodyProblem, seed_of: Callable[[], int], count_of: Callable[[PosePath], int], settings: TightSettings
) -> Planned:
    """Search a path and make its frames, `count_of` of them, with other samples where they are not free."""
    search, smoothing, checks = 0.0, 0.0, np.zeros(4, np.int64)
    for _ in range(max(settings.searches, 1)):
        seed, begun = seed_of(), time.perf_counter()
        found = body_path(problem, seed, settings)
        search, begun = search + time.perf_counter() - begun, time.perf_counter()
        checks += astuple(found.stats)
        short, frames = None, None
        if found.path is not None:
            short = shortened(problem, found.path, seed, settings)
            frames = frames_of(problem, short, count_of(short))
        smoothing += time.perf_counter() - begun
        if frames is not None or short is None:
            break
    return Planned(frames, short, found.path, (search, smoothing), Stats(*map(int, checks)), found.blocked)


def frames_of(
    problem: BodyProblem, path: PosePath, count: int, share: Array | None = None
) -> tuple[Array, Array] | None:
    """Roots (N + 1, 3) and rotations (N + 1, J, 4) along a path in `count` frames, slow at both ends.

    With `share` (N + 1,) the path is at these shares instead. Corners are rounded widely, and less around frames that
    are not free or balanced; None where that is not enough.
    """
    problem = replace(problem, check=between_check(problem, path))
    share = Timing.eased(1.0, count).places if share is None else share
    even = np.linspace(0.0, 1.0, _PLACES)
    root = np.stack([np.interp(even, path.along, path.root[:, k]) for k in range(3)], axis=1)
    q = continuous(interpolate(path.along, path.rotations, even))
    window, closed = np.full(_PLACES, _WINDOW), _ClosedFrames(problem, path, share)
    for _ in range(_HALVINGS + 1):
        poses = closed.with_(averaged(root, window * _PLACES), rounded(q, window * _PLACES))
        bad = share[[k for k, pose in enumerate(poses) if pose is None]]
        if not len(bad):
            done = [pose for pose in poses if pose is not None]
            return np.array([p.root for p in done]), continuous(np.array([p.rotations for p in done]))
        near = (np.abs(even[:, None] - bad) <= np.maximum(window, 0.03)[:, None]).any(axis=1)
        if not window[near].any():
            return None
        window = np.where(near, np.where(window > _LEAST_WINDOW, 0.5 * window, 0.0), window)
        # limit the slope of the width, so that rounding has no corners of its own
        window = (window + np.abs(even[:, None] - even)).min(axis=1)
    return None


class _ClosedFrames:
    """Frames at shares (N + 1,) of a path, feet in place. Those that a rounding does not change are kept."""

    def __init__(self, problem: BodyProblem, path: PosePath, share: Array) -> None:
        self.problem, self.path, self.share = problem, path, share
        count, joints = len(share), len(problem.start.rotations)
        self._closed: list[Pose | None] = [problem.start, *[None] * (count - 2), problem.goal]
        self._free, self._between = np.ones(count, bool), np.ones(count - 1, bool)
        self._rows = np.full((count, 3 + 4 * joints), np.nan)

    def with_(self, root: Array, q: Array) -> list[Pose | None]:
        """Frames of roots (M, 3) and rotations (M, J, 4) that are even along the path; None for those not free."""
        even, share = np.linspace(0.0, 1.0, len(root)), self.share
        roots = np.stack([np.interp(share, even, root[:, k]) for k in range(3)], axis=1)
        rotations = self.problem.within_limits(interpolate(even, q, share))
        changed = self._close(roots, rotations)
        lost = [k for k, pose in enumerate(self._closed) if pose is None]
        if lost:
            changed |= self._close(*self._shifted(roots, rotations, lost))
        for k in changed:
            pose = self._closed[k]
            self._free[k] = pose is not None and self.problem.check.free(pose)
        # a fast hand passes a corner between two frames
        for k in sorted({k + i for k in changed for i in (-1, 0)}):
            a, b = self._closed[k : k + 2]
            if a is not None and b is not None and self._free[k] and self._free[k + 1]:
                ends = np.stack([a.root, b.root]), np.stack([a.rotations, b.rotations])
                self._between[k] = free_between(self.problem.check, *ends)
            else:
                self._between[k] = True
        inner = np.concatenate([[True], self._between[:-1] & self._between[1:], [True]])
        return [pose if free else None for pose, free in zip(self._closed, self._free & inner, strict=True)]

    def _close(self, roots: Array, rotations: Array) -> set[int]:
        """Put feet in place by the legs alone, in frames that have changed, and return their numbers."""
        rows = np.concatenate([roots, rotations.reshape(len(roots), -1)], axis=1)
        changed: list[int] = (np.flatnonzero((rows != self._rows).any(axis=1)[1:-1]) + 1).tolist()
        self._rows = rows
        for k in changed:
            self._closed[k] = self.problem.balance.by_limbs(Pose.of(roots[k], rotations[k]), *self._feet(k))
        return set(changed)

    def _feet(self, k: int) -> tuple[dict[str, Array], Pose]:
        """Transforms (4, 4) of the feet in a frame, and a posture with the feet there."""
        share = float(self.share[k])
        return self.path.feet(share), self.path.at(share)

    def _shifted(self, roots: Array, rotations: Array, lost: list[int]) -> tuple[Array, Array]:
        """Roots (N + 1, 3) and rotations (N + 1, J, 4) moved to where legs alone are enough.

        The whole-body solver brings each frame of `lost` into balance, which may move it by centimetres next to one
        that stays: all frames around share its change, so that nothing jumps.
        """
        turns, moves, known = [], [], []
        for k in lost:
            found = self.problem.balance.projected(Pose.of(roots[k], rotations[k]), *self._feet(k))
            if found is not None:
                known.append(k)
                moves.append(found.root - roots[k])
                turns.append(log(multiply(conjugate(rotations[k]), found.rotations)))
        if not known:
            return roots, rotations
        count, frames = len(roots), np.arange(len(roots))
        width = max(int(_SPREAD * count), 1)
        need = np.zeros(count)
        need[known] = 1.0
        ends = smootherstep(np.minimum(frames, frames[::-1]) / width)
        part = np.exp(-(((frames[:, None] - known) / (0.5 * width)) ** 2)) + 1e-12
        part *= (ends * covering(need, 2 * width + 1) / part.sum(axis=1))[:, None]
        turned = multiply(rotations, exp(np.tensordot(part, np.array(turns), axes=1)))
        return roots + part @ np.array(moves), self.problem.within_limits(turned)
