"""One limb, one interval: a motion that is free, close to what was recorded, and joins it without a jerk."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.limits import sample_pose
from elbowroom.errors import BadValue
from elbowroom.finish.leans import FootLeans, Hanging, JointLeans
from elbowroom.finish.least import between, fewer, relax, rounder, shorter, smaller, surely
from elbowroom.finish.nudge import Core, Nudged, bump, nudge
from elbowroom.finish.settle import first_hit, hit_at, own_times, soften
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.plan.repair.cost import JERK_GAIN
from elbowroom.plan.repair.stretch import Clocks, Job, Stretch
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.search.birrt import Budget, Stats
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSpace
from elbowroom.spaces.limb_plan import plan_limb
from elbowroom.spaces.styles import Style
from elbowroom.world.fast import HIT
from elbowroom.world.world import World

# Metres that a foot is put elsewhere at most, and radians that it and its knee turn then; radians of the knee alone.
_FAR, _KNEE = 0.3, 0.7
# Share of its speed that a joint may use in a search: rounding needs some of it.
_SLOWER = 0.9
# Radians that what is searched may leave the intervals of a style by.
_ASTRAY = 0.05
# Postures that are drawn at some moments of an episode to see whether any is free.
_SAMPLES, _MOMENTS = 300, 4

# Frames of a lean that are looked at while the least of it is looked for, and twice as many so many seconds about what
# it is for.
_FEW, _ABOUT_S = 16, 0.1

Tier = Literal["avoid", "plan"]
Foot = Literal["lifted", "elsewhere", "knee"]


@dataclass(frozen=True)
class SearchStats:
    """How frames were found; `trees` are those of the search as lines (E, 2, 3), if they were kept."""

    tier: Tier
    first_solution_s: float
    smooth_s: float = 0.0
    stats: Stats = field(default_factory=Stats)
    trees: tuple[Array, ...] = ()


@dataclass(frozen=True, eq=False)
class Replanned:
    """A stretch with its new frames (T, n, 4)."""

    stretch: Stretch
    frames: Array
    way: SearchStats


def hopeless(job: Job, stretch: Stretch, seed: int, clocks: Clocks) -> bool:
    """Whether no posture of the joints seems to be free at some time of the episode: what they carry is stuck."""
    start = time.perf_counter()
    q = np.ascontiguousarray(sample_pose(job.limits, np.random.default_rng(seed), _SAMPLES))
    begin, end = np.clip(job.during, stretch.core.first, stretch.core.last)
    stuck = any(
        not (stretch.check.batch(q, float(t), resolve_uncertain=True) != HIT).any()
        for t in np.linspace(begin, end, _MOMENTS)
    )
    clocks.add("plan", start)
    return stuck


def leaned(job: Job, stretch: Stretch, seed: int, style: Style, clocks: Clocks) -> Replanned | None:
    """The clip leaned aside by turns of its joints."""
    if not style.close:
        return None
    start = time.perf_counter()
    weights = stretch.core.weights(stretch.times)
    within = style.within(job.clip.character, job.joints, job.limits)
    ways = JointLeans(job.limits, stretch.base, weights, job.scale, job.together, _hanging(job, stretch), within)
    largest = stretch.core.largest(job.jerk)
    if np.abs(ways.brought).max() > largest:
        return None
    rough = stretch.rough
    done = nudge(stretch.check, ways, stretch.base, stretch.times, weights, largest, seed, rough, clocks.until)
    if done.frames is not None and not clocks.hurried:
        return _least(job, stretch, ways, done, clocks.add("plan", start))
    return _nudged(stretch, done, clocks.add("plan", start))


def _least(job: Job, stretch: Stretch, ways: JointLeans, done: Nudged, took: float) -> Replanned:
    """As little of a lean as will do, for as short a time; its jerk may grow to what is allowed."""
    assert done.frames is not None and done.lean is not None
    start, every = time.perf_counter(), np.arange(len(stretch.times))
    few = _few(stretch.times, job.during)
    gain = stretch.pace.jerk_gain(done.frames)

    def frames(lean: Array, core: Core) -> Array:
        weights = core.weights(stretch.times)
        q = rot.continuous(replace(ways, weights=weights).frames(lean[None], every)[0])
        return np.where((weights == 0.0)[:, None, None], stretch.base, q)

    def smooth_enough(q: Array) -> bool:
        if not np.isfinite(q).all() or stretch.rough(q[None])[0] > 1.0:
            return False
        return stretch.pace.jerk_gain(q) <= max(JERK_GAIN, gain)

    def fits(lean: Array, core: Core) -> bool:
        q = frames(lean, core)
        return smooth_enough(q) and hit_at(stretch.check, q[few], stretch.times[few]) is None

    def fits_all(lean: Array, core: Core) -> bool:
        q = frames(lean, core)
        return smooth_enough(q) and first_hit(stretch.check, q, stretch.times) is None

    lean = fewer(fits, done.lean, ways.reach, stretch.core)
    lean = smaller(fits, lean, stretch.core)
    wide = rounder(fits, lean, stretch.core, job.during)
    gain = stretch.pace.jerk_gain(frames(lean, wide))
    core = shorter(fits, lean, wide)
    cores = (core, between(core, wide), between(wide, stretch.core), stretch.core)
    found = surely(fits_all, lean, cores) or (done.lean, stretch.core)
    stats = SearchStats("avoid", took, time.perf_counter() - start, Stats(done.checks))
    return Replanned(stretch.narrowed(found[1]), frames(*found)[stretch.rows(found[1])], stats)


def _few(times: Array, during: tuple[float, float]) -> NDArray[np.int64]:
    """Some of the frames at times (T,), most of them about the seconds `during` which something is hit."""
    inside = np.flatnonzero((times >= during[0] - _ABOUT_S) & (times <= during[1] + _ABOUT_S))
    rows = [np.linspace(0, len(times) - 1, _FEW)]
    rows += [np.linspace(inside[0], inside[-1], 2 * _FEW)] if len(inside) else []
    return np.unique(np.concatenate(rows).astype(np.int64))


def _nudged(stretch: Stretch, done: Nudged, took: float) -> Replanned | None:
    return (
        None
        if done.frames is None
        else Replanned(stretch, done.frames, SearchStats("avoid", took, 0.0, Stats(done.checks)))
    )


def _hanging(job: Job, stretch: Stretch) -> tuple[Hanging, ...]:
    parents = job.clip.character.parents
    frames = job.clip.rotations[stretch.first : stretch.last + 1]
    made = []
    for joint in job.hang:
        above: list[int] = []
        top = int(parents[joint])
        while top > 0 and any(j in job.joints for j in _way_up(parents, top)):
            above.insert(0, top)
            top = int(parents[top])
        places = tuple(job.joints.index(j) if j in job.joints else -1 for j in above)
        made.append(Hanging(job.joints.index(joint), places, frames[:, above]))
    return tuple(made)


def _way_up(parents: NDArray[np.int32], joint: int) -> list[int]:
    """A joint and those above it."""
    way = [joint]
    while parents[way[-1]] >= 0:
        way.append(int(parents[way[-1]]))
    return way


def stepped(job: Job, stretch: Stretch, seed: int, clocks: Clocks, how: Foot) -> Replanned | None:
    """A leg with its foot put elsewhere: lifted in the core, standing elsewhere there, or where it was while the knee
    goes aside."""
    body = job.clip.character
    limb = next((name for name, chain in body.chains.items() if chain.joints == job.joints), "")
    try:
        ik = LimbIK(body, limb)
    except BadValue:  # legs of some rigs have other joints
        return None
    start = time.perf_counter()
    T = job.clip.world()[stretch.first : stretch.last + 1]
    weights = stretch.core.weights(stretch.times)
    core, times = stretch.core, stretch.times
    if how == "elsewhere":
        # on its way there and back, and there is no way where the clip begins or ends with the foot there
        ways_there = [bump(times, core.first, core.begin), bump(times, core.end, core.last)]
        swings = [w for w, s in zip(ways_there, (core.begin - core.first, core.last - core.end), strict=True) if s > 0]
        place, lift = [weights, *swings], [4.0 * weights * (1.0 - weights), *swings]
    else:
        middle = 0.5 * (core.first + core.last)
        more = [bump(times, core.first, middle), bump(times, middle, core.last)] if how == "lifted" else []
        place = lift = [weights, *more]
    free = (0.0, 0.0, 0.0, 1.0, 0.0) if how == "knee" else (1.0,) * 5
    shapes = np.stack(place, axis=1), np.stack(lift, axis=1)
    ways = FootLeans(ik, T[:, ik.parent], T[:, ik.joints[2]], stretch.base, *shapes, free)
    far = _KNEE if how == "knee" else _FAR
    share = np.max(place, axis=0)
    done = nudge(stretch.check, ways, stretch.base, times, share, far, seed, stretch.rough, clocks.until)
    return _nudged(stretch, done, clocks.add("plan", start))


def searched(job: Job, stretch: Stretch, seed: int, style: Style, budget: Budget, clocks: Clocks) -> Replanned | None:
    """A path through limb and time from the clip to the clip, drawn back to it as far as may be."""
    if not stretch.closed or job.hang:
        return None
    start = time.perf_counter()
    space = LimbSpace.over(
        stretch.check,
        job.limits,
        timed=True,
        style=style,
        speed=_SLOWER * stretch.pace.speed,
    )
    begin, end = (space.state(stretch.base[k], float(stretch.times[k])) for k in (0, -1))
    path = plan_limb(space, begin, end, seed, budget)
    first = clocks.add("plan", start)
    if not path.found:
        return None
    start = time.perf_counter()
    better = smooth(space, path, seed)
    frames = own_times(space, better, stretch.times)
    within = style.within(job.clip.character, job.joints, job.limits)
    if style.close and within is None:
        frames = relax(stretch.check, frames, stretch.times, stretch.base, seed)
    settled = soften(stretch.check, frames, stretch.times, stretch.base, stretch.good)
    took = clocks.add("smooth", start)
    if not settled.free or (within is not None and not _mostly(within, job, stretch, settled.rotations)):
        return None
    return Replanned(stretch, settled.rotations, SearchStats("plan", first, took, path.stats, space.tree_lines(path)))


def _mostly(within: Array, job: Job, stretch: Stretch, frames: Array) -> bool:
    """Whether frames (T, n, 4) keep to intervals (n, 3, 2) for at least half of the episode: ends need not."""
    frame = 1.0 / job.clip.fps
    amid = (stretch.times >= job.during[0] - frame) & (stretch.times <= job.during[1] + frame)
    terms = np.stack([limit.coordinates(frames[amid, j]) for j, limit in enumerate(job.limits)], axis=1)
    inside = (terms >= within[..., 0] - _ASTRAY) & (terms <= within[..., 1] + _ASTRAY)
    return bool(np.mean(inside.all(axis=(1, 2))) >= 0.5)


def spliced(job: Job, done: Replanned) -> World:
    """The world with the new frames; all others are what they were, bit by bit."""
    clip, stretch = job.clip, done.stretch
    inner = slice(stretch.first + 1, stretch.last)
    if stretch.core.begin <= stretch.core.first:
        inner = slice(stretch.first, inner.stop)
    if stretch.core.end >= stretch.core.last:
        inner = slice(inner.start, stretch.last + 1)
    q = np.array(clip.rotations)
    new = done.frames[inner.start - stretch.first : inner.stop - stretch.first]
    view = q[inner]
    # of the two quaternions of a rotation the one nearer to the old: the frames after it keep their signs
    flips = np.sum(new * view[:, list(job.joints)], axis=-1, keepdims=True) < 0.0
    view[:, list(job.joints)] = np.where(flips, -new, new)
    return job.world.with_character(job.who, clip.with_(rotations=q))
