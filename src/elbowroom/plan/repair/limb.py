"""Re-planning of one limb in one interval: free, close to the recording, and joined without a jerk."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.finish.least import between, confirmed, fewer, narrower, relax, rounder, shorter, smaller
from elbowroom.finish.nudge import Core, Nudged, Sampling, nudge
from elbowroom.finish.offsets import JointOffsets
from elbowroom.finish.settle import first_hit, hit_at, own_times, soften
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.plan.repair.arm_paths import LimbTrajectory
from elbowroom.plan.repair.cost import JERK_GAIN
from elbowroom.plan.repair.stretch import Job, Stretch, stretches
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSearchSpace, plan_limb
from elbowroom.world.world import World

# Share of its speed limit that a joint may use in a search: rounding needs the rest.
_SLOWER = 0.9
# Searches for a path that can be made smooth, and the distance between their seeds, more than there are linkages.
_SEARCHES, _NEXT_SEED = 5, 101
# Tolerance of searched postures around the intervals of a style, radians.
_ASTRAY = 0.05
# Frames of an offset that are checked while it is minimised; twice as many within this many seconds of the episode.
_FEW, _ABOUT_S = 16, 0.1


@dataclass(frozen=True, eq=False)
class Replanned:
    """A stretch with new frames, and the method."""

    stretch: Stretch
    trajectory: LimbTrajectory

    @property
    def frames(self) -> Array:
        """Rotations (T, n, 4)."""
        return self.trajectory.rotations

    @property
    def departure(self) -> float:
        """Squared joint rotations from the clip, summed over joints and frames, rad²."""
        return float(np.sum(rot.angle_between(self.stretch.base, self.frames) ** 2))


def replanned(job: Job, seed: int, searches: bool) -> Replanned | None:
    """New frames for one limb by offsets or, with `searches`, by the search that departs least from the clip."""
    tried: list[Stretch] = []
    for stretch in stretches(job):
        tried.append(stretch)
        done = by_offset(job, stretch, seed)
        if done is not None:
            return done
    # searches need time, so the shortest stretch comes last
    found = [by_search(job, stretch, seed) for stretch in (*tried[1:], *tried[:1])] if searches else []
    return min((one for one in found if one is not None), key=lambda one: one.departure, default=None)


def by_offset(job: Job, stretch: Stretch, seed: int) -> Replanned | None:
    """The clip with smooth joint offsets."""
    style, clocks = job.options.style, job.options.clocks
    if not style.close:
        return None
    start = time.perf_counter()
    weights = stretch.core.weights(stretch.times)
    within = style.within(job.clip.character, job.joints, job.limits)
    offsets = JointOffsets(job.limits, stretch.base, weights, job.scale, job.together, within)
    largest = stretch.core.largest(job.jerk)
    if np.abs(offsets.initial).max() > largest:
        return None
    rough = stretch.rough
    done = nudge(
        stretch.check, offsets, stretch.base, stretch.times, weights, rough, Sampling(largest, seed, clocks.until)
    )
    found = _nudged(stretch, done, clocks.add("plan", start))
    if found is None or done.offset is None or clocks.hurried:
        return found
    start = time.perf_counter()
    least = (
        _minimised(job, stretch, _joint_offsets(stretch, offsets), found.frames, done.offset, offsets.reach) or found
    )
    trajectory = replace(found.trajectory, rotations=least.frames, smooth_s=clocks.add("smooth", start))
    return Replanned(least.stretch, trajectory)


# Frames (T, n, 4) of an offset (K,) at full height in a core.
OffsetFrames = Callable[[Array, Core], Array]


def _joint_offsets(stretch: Stretch, offsets: JointOffsets) -> OffsetFrames:
    """Function from offset to frames, equal to the clip outside the core."""
    every = np.arange(len(stretch.times))

    def frames(offset: Array, core: Core) -> Array:
        weights = core.weights(stretch.times)
        q = rot.continuous(replace(offsets, weights=weights).frames(offset[None], every)[0])
        return np.where((weights == 0.0)[:, None, None], stretch.base, q)

    return frames


def _shares(stretch: Stretch, whole: Array) -> OffsetFrames:
    """Function from a factor (1,) to frames that scale the departure of frames (T, n, 4) from the clip."""

    def frames(share: Array, core: Core) -> Array:
        weights = core.weights(stretch.times)
        q = rot.continuous(rot.slerp(stretch.base, whole, (share * weights)[:, None]))
        return np.where((weights == 0.0)[:, None, None], stretch.base, q)

    return frames


def _minimised(
    job: Job, stretch: Stretch, frames: OffsetFrames, whole: Array, offset: Array, reach: Array
) -> Replanned | None:
    """Minimise an offset (K,) in size and duration; None where nothing fits.

    `whole` are its frames (T, n, 4), whose jerk may grow to the limit, and `reach` (K,) weights the use of each number.
    """
    few = _few(stretch.times, job.during)
    gain = stretch.pace.jerk_gain(whole)

    def smooth_enough(q: Array) -> bool:
        if not np.isfinite(q).all() or stretch.rough(q[None])[0] > 1.0:
            return False
        return stretch.pace.jerk_gain(q) <= max(JERK_GAIN, gain)

    def fits(offset: Array, core: Core) -> bool:
        q = frames(offset, core)
        return smooth_enough(q) and hit_at(stretch.check, q[few], stretch.times[few]) is None

    def fits_all(offset: Array, core: Core) -> bool:
        q = frames(offset, core)
        # speeds acceptable over the whole stretch may be too high for a shorter part
        part = stretch.narrowed(core).pace.rough(q[None, stretch.rows(core)])[0]
        return smooth_enough(q) and part <= 1.0 and first_hit(stretch.check, q, stretch.times) is None

    least = smaller(fits, fewer(fits, offset, reach, stretch.core), stretch.core)
    wide = rounder(fits, least, stretch.core, job.during)
    gain = stretch.pace.jerk_gain(frames(least, wide))
    core = stretch.core
    # smooth clips and reaches need long fades
    if not job.options.brief or stretch.pace.jerk_gain(frames(least, core)) > JERK_GAIN:
        core = shorter(fits, least, wide)
    else:
        brief = narrower(fits, least, shorter(fits, least, core), job.during)
        core = rounder(fits, least, brief, job.during)
        wide = between(core, stretch.core)
    cores = (core, between(core, wide), wide, stretch.core)
    found = confirmed(fits_all, least, cores) or confirmed(fits_all, offset, cores)
    if found is None:
        return None
    offset, core = found
    return Replanned(stretch.narrowed(core), LimbTrajectory(frames(offset, core)[stretch.rows(core)], "avoid"))


def _few(times: Array, during: tuple[float, float]) -> NDArray[np.int64]:
    """A subset of frames at times (T,), most of them around the seconds `during` the collision."""
    inside = np.flatnonzero((times >= during[0] - _ABOUT_S) & (times <= during[1] + _ABOUT_S))
    rows = [np.linspace(0, len(times) - 1, _FEW)]
    rows += [np.linspace(inside[0], inside[-1], 2 * _FEW)] if len(inside) else []
    return np.unique(np.concatenate(rows).astype(np.int64))


def _nudged(stretch: Stretch, done: Nudged, took: float) -> Replanned | None:
    if done.frames is None:
        return None
    return Replanned(stretch, LimbTrajectory(done.frames, "avoid", took, checks=done.checks))


def by_search(job: Job, stretch: Stretch, seed: int) -> Replanned | None:
    """A searched path through posture and time from the clip to the clip, pulled towards it as far as is free.

    A path that cannot be made smooth is searched again with other seeds: swings between obstacles often have few ways.
    """
    if not stretch.closed:
        return None
    style = job.options.style
    space = LimbSearchSpace.over(stretch.check, job.limits, timed=True, style=style, speed=_SLOWER * stretch.pace.speed)
    for number in range(_SEARCHES):
        done, found = _searched(job, stretch, space, seed + number * _NEXT_SEED)
        if done is not None or not found:
            return done
    return None


def _searched(job: Job, stretch: Stretch, space: LimbSearchSpace, seed: int) -> tuple[Replanned | None, bool]:
    """A smooth path of one search, None without any; and whether the search itself found a path."""
    start, style, clocks = time.perf_counter(), job.options.style, job.options.clocks
    begin, end = (space.state(stretch.base[k], float(stretch.times[k])) for k in (0, -1))
    path = plan_limb(space, begin, end, seed, job.options.budget)
    first = clocks.add("plan", start)
    if not path.found:
        return None, False
    start = time.perf_counter()
    better = smooth(space, path, seed)
    frames = own_times(space, better, stretch.times)
    within = style.within(job.clip.character, job.joints, job.limits)
    if style.close and within is None:
        frames = relax(stretch.check, frames, stretch.times, stretch.base, seed)
    settled = soften(stretch.check, frames, stretch.times, stretch.base, stretch.good)
    least, whole = None, settled.rotations
    if settled.free and style.close and not clocks.hurried:
        least = _minimised(job, stretch, _shares(stretch, whole), whole, np.ones(1), np.ones(1))
    took = clocks.add("smooth", start)
    if not settled.free or (within is not None and not _mostly(within, job, stretch, settled.rotations)):
        return None, True
    trajectory = LimbTrajectory(whole, "plan", first, took, path.stats.checks, path.stats.nodes, space.tree_lines(path))
    if least is None:
        return Replanned(stretch, trajectory), True
    return Replanned(least.stretch, replace(trajectory, rotations=least.frames)), True


def _mostly(within: Array, job: Job, stretch: Stretch, frames: Array) -> bool:
    """Return whether frames (T, n, 4) are within intervals (n, 3, 2) for at least half of the episode."""
    frame = 1.0 / job.clip.fps
    amid = (stretch.times >= job.during[0] - frame) & (stretch.times <= job.during[1] + frame)
    terms = np.stack([limit.coordinates(frames[amid, j]) for j, limit in enumerate(job.limits)], axis=1)
    inside = (terms >= within[..., 0] - _ASTRAY) & (terms <= within[..., 1] + _ASTRAY)
    return bool(np.mean(inside.all(axis=(1, 2))) >= 0.5)


def spliced(job: Job, done: Replanned) -> World:
    """The world with the new frames; all others stay bit by bit the same."""
    clip, stretch = job.clip, done.stretch
    inner = slice(stretch.first + 1, stretch.last)
    if stretch.core.begin <= stretch.core.first:
        inner = slice(stretch.first, inner.stop)
    if stretch.core.end >= stretch.core.last:
        inner = slice(inner.start, stretch.last + 1)
    q = np.array(clip.rotations)
    new = done.frames[inner.start - stretch.first : inner.stop - stretch.first]
    view = q[inner]
    # later frames keep their signs
    view[:, list(job.joints)] = rot.nearest(new, view[:, list(job.joints)])
    return job.world.with_character(job.episode.who, clip.with_(rotations=q))
