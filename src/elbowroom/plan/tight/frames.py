"""Frames of a whole-body path: rounded, timed as a reach, feet where they stand, free at every frame."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.finish.rounding import interpolate, rounded
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array, continuous
from elbowroom.plan.tight.chain import BodyProblem, body_path, shortened
from elbowroom.plan.tight.settings import TightSettings
from elbowroom.search.birrt import Stats
from elbowroom.spaces.component import PosePath

# Half widths of rounding, shares of the path, tried from wide to narrow; 0 keeps its corners.
_WINDOWS = (0.16, 0.1, 0.06, 0.03, 0.0)
# Clearance of frames, metres: less than that of the nodes that they pass.
_MARGIN_M = 0.001
# Places along the path at which it is rounded.
_PLACES = 160


@dataclass(frozen=True, eq=False)
class Planned:
    """Frames of a whole-body plan, roots (N + 1, 3) and rotations (N + 1, J, 4), or None; its path and statistics.

    `seconds` are those of the search and of smoothing, `blocked` the component that found no path.
    """

    frames: tuple[Array, Array] | None
    path: PosePath | None
    seconds: tuple[float, float]
    stats: Stats
    blocked: str


def planned_frames(
    problem: BodyProblem, seed_of: Callable[[], int], count_of: Callable[[PosePath], int], settings: TightSettings
) -> Planned:
    """Search a path and make its frames, with other samples where these are not free; as many as `count_of` says."""
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
    return Planned(frames, short, (search, smoothing), Stats(*map(int, checks)), found.blocked)


def frames_of(problem: BodyProblem, path: PosePath, count: int) -> tuple[Array, Array] | None:
    """Roots (N + 1, 3) and rotations (N + 1, J, 4) along a path in `count` frames, slow at both ends.

    The most rounded of some ways that is free and in balance at every frame; None where none is.
    """
    # between two nodes something may come nearer than at both
    problem = replace(problem, check=problem.check.with_margin(min(problem.check.margin, _MARGIN_M)))
    share = smootherstep(np.linspace(0.0, 1.0, count + 1))
    even = np.linspace(0.0, 1.0, _PLACES)
    root = np.stack([np.interp(even, path.along, path.root[:, k]) for k in range(3)], axis=1)
    q = continuous(interpolate(path.along, path.rotations, even))
    for window in _WINDOWS:
        soft = rounded(q, window * _PLACES)
        # a root is rounded as joints are: by the mean of its neighbours, held at both ends
        moved = _rounded_root(root, int(window * _PLACES))
        frames = _closed(problem, path, moved, soft, share)
        if frames is not None:
            return frames
    return None


def _rounded_root(root: Array, reach: int) -> Array:
    """Roots (N, 3) averaged over neighbours to either side, fewer of them near the ends, which stay."""
    out = root.copy()
    for k in range(1, len(root) - 1):
        half = min(reach, k, len(root) - 1 - k)
        weight = np.hanning(2 * half + 3)[1:-1]
        out[k] = weight @ root[k - half : k + half + 1] / weight.sum()
    return out


def _closed(problem: BodyProblem, path: PosePath, root: Array, q: Array, share: Array) -> tuple[Array, Array] | None:
    """Frames at shares (N + 1,) of places along a path, feet where they stand; None where one is not free."""
    even = np.linspace(0.0, 1.0, len(root))
    roots = np.stack([np.interp(share, even, root[:, k]) for k in range(3)], axis=1)
    rows = interpolate(even, q, share)
    out = [problem.start]
    for k in range(1, len(share) - 1):
        feet = path.feet(float(share[k]))
        pose = problem.balance.closed(Pose.of(roots[k], rows[k]), feet, path.at(float(share[k])))
        if pose is None or not problem.check.free(pose):
            return None
        out.append(pose)
    out.append(problem.goal)
    return np.array([p.root for p in out]), continuous(np.array([p.rotations for p in out]))
