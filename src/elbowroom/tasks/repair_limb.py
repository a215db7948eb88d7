"""One limb, one interval: a motion that is free, close to what was recorded, and joins it without a jerk."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.limits import JointLimit, sample_pose
from elbowroom.errors import BadValue
from elbowroom.finish.leans import FootLeans, Hanging, JointLeans
from elbowroom.finish.nudge import Core, nudge
from elbowroom.finish.relax import relax
from elbowroom.finish.settle import own_times, soften
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import without_lead
from elbowroom.motion.quality import peak_jerk
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.search.birrt import Budget, Stats
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSpace, Style
from elbowroom.spaces.limb_plan import plan_limb
from elbowroom.tasks.repair_own import OwnTouches, own_touches, with_contacts
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast import HIT, LimbCheck
from elbowroom.world.world import World

# Seconds that a motion has to leave the clip, and to return to it, tried in turn; and those that are added to trouble
# at both ends: who leans forwards meets things sooner.
GROWTHS = ((0.4, 0.03), (0.7, 0.12), (1.0, 0.35))
# How often a second contacts of the clip with itself are looked at.
_LOOKS = 60.0
# Seconds: a clip that begins or ends less than this after or before trouble does so in trouble; the least that a
# stretch lasts; and the least time to leave or return in.
_SHORTEST, _LEAST, _RAMP = 0.12, 0.3, 0.22
# Angular jerk that a lean may bring, rad/s³, and as a share of what the clip has anyway.
_JERK, _OWN_JERK = 1300.0, 1.8
# Metres that planned motion keeps off everything.
MARGIN = 0.005
# Radians a second that planned joints turn, or a bit more than they do in the clip.
_SPEED, _FASTER = 4.0, 1.3
# Metres that a foot is put elsewhere at most, and radians that its knee turns.
_FAR = 0.3
# How much joints take part, by how they serve in a linkage: the limb itself, what leads to it.
_LEADING = 0.35

# Postures that are drawn at some moments of a trouble to see whether any is free.
_SAMPLES, _MOMENTS = 600, 5

Tier = Literal["avoid", "plan"]


@dataclass
class Clocks:
    """Seconds that stages took, added up."""

    seconds: dict[str, float] = field(default_factory=lambda: {"prepare": 0.0, "plan": 0.0, "smooth": 0.0})

    def add(self, stage: str, since: float) -> float:
        """Add the time since a moment to a stage; that time."""
        took = time.perf_counter() - since
        self.seconds[stage] = self.seconds.get(stage, 0.0) + took
        return took


@dataclass(frozen=True)
class Way:
    """How frames were found."""

    tier: Tier
    first_solution_s: float
    smooth_s: float = 0.0
    stats: Stats = field(default_factory=Stats)


@dataclass(frozen=True, eq=False)
class Job:
    """Joints of a character that have to get out of trouble during some seconds.

    `world` is as it is now; frames from `low` to `high` may be changed. Of the joints, those of the `limb` take part
    most, and those that `hang` keep their turn in the world. `recorded`: its contacts with itself are
    allowed as deep as they are in the clip.
    """

    world: World
    who: str
    joints: tuple[int, ...]
    limb: tuple[int, ...]
    hang: tuple[int, ...]
    during: tuple[float, float]
    low: int
    high: int
    recorded: bool

    @property
    def clip(self) -> Clip:
        """The motion as it is."""
        motion = self.world.motion(self.who)
        assert isinstance(motion, Clip)
        return motion

    @cached_property
    def limits(self) -> tuple[JointLimit, ...]:
        """Ranges of the joints."""
        body = self.clip.character
        found = [body.limits[j] for j in self.joints]
        return tuple(limit for limit in found if limit is not None)

    @cached_property
    def jerk(self) -> float:
        """Angular jerk that may be added, rad/s³."""
        return max(_JERK, _OWN_JERK * peak_jerk(without_lead(self.clip)))

    @property
    def scale(self) -> list[float]:
        """How much each joint takes part."""
        return [0.0 if j in self.hang else 1.0 if j in self.limb else _LEADING for j in self.joints]

    @property
    def together(self) -> tuple[int, ...]:
        """Places among the joints of those of the spine, where there are several."""
        chain = self.clip.character.chains.get("spine")
        found = tuple(k for k, j in enumerate(self.joints) if chain is not None and j in chain.joints)
        return found if len(found) > 1 else ()


@dataclass(frozen=True, eq=False)
class Stretch:
    """Frames from `first` to `last` that are planned anew, a core of seconds in it, and the check for them."""

    first: int
    last: int
    core: Core
    contacts: tuple[Contact, ...]
    check: LimbCheck
    times: Array
    base: Array

    @property
    def closed(self) -> bool:
        """Whether it begins and ends with the base."""
        return self.core.first < self.core.begin and self.core.end < self.core.last


@dataclass(frozen=True, eq=False)
class Replanned:
    """A stretch with its new frames (T, n, 4)."""

    stretch: Stretch
    frames: Array
    way: Way


def stretches(job: Job, clocks: Clocks) -> Iterator[Stretch]:
    """Stretches of growing length about the trouble, each with a check of its own."""
    clip = job.clip
    times, lead = clip.times, clip.source.lead
    start = time.perf_counter()
    known = set()
    touches: OwnTouches | None = None
    for growth, pad in GROWTHS:
        wanted = np.searchsorted(times, (job.during[0] - pad, job.during[1] + pad))
        begin, end = (int(k) for k in np.clip(wanted, job.low, job.high))
        opens = job.low == lead and job.during[0] - times[job.low] < _SHORTEST
        closes = job.high == len(clip) - 1 and times[job.high] - job.during[1] < _SHORTEST
        reach = round(growth * clip.fps)
        first = job.low if opens else max(begin - reach, job.low)
        last = job.high if closes else min(end + reach, job.high)
        if (first, last) in known or last - first < _LEAST * clip.fps:
            continue
        known.add((first, last))
        if job.recorded:
            touches = _touches(job, first, last)
        clocks.add("prepare", start)
        yield _stretch(job, first, last, _core(times, (first, begin, end, last), opens, closes), touches, clocks)
        start = time.perf_counter()


def stance(job: Job, begin: int, end: int, clocks: Clocks) -> Stretch:
    """The stretch of a foot that stands from frame `begin` to `end`, with the swings before and after it."""
    core = Core(*(float(job.clip.times[k]) for k in (job.low, begin, end, job.high)))
    start = time.perf_counter()
    touches = _touches(job, job.low, job.high) if job.recorded else None
    clocks.add("prepare", start)
    return _stretch(job, job.low, job.high, core, touches, clocks)


def _stretch(job: Job, first: int, last: int, core: Core, touches: OwnTouches | None, clocks: Clocks) -> Stretch:
    start = time.perf_counter()
    span, clip, frames = (core.first, core.last), job.clip, slice(first, last + 1)
    planned = () if touches is None else touches.contacts(span, planned=True)
    proven = () if touches is None else tuple(touches.contacts(span, planned=False))
    check = LimbCheck(with_contacts(job.world, planned), job.who, job.joints, span, margin=MARGIN)
    clocks.add("prepare", start)
    return Stretch(first, last, core, proven, check, clip.times[frames], clip.rotations[frames][:, list(job.joints)])


def _core(times: Array, frames: tuple[int, int, int, int], opens: bool, closes: bool) -> Core:
    """The core of a stretch from its frames: first, begin and end of the trouble, last.

    Where there is little time to leave or return, the height of the lean is passed sooner than the trouble ends. Where
    the clip begins or ends in trouble there is nothing to leave or join.
    """
    first, begin, end, last = (float(times[k]) for k in frames)
    ramp = min(_RAMP, 0.5 * (last - first))
    begin = first if opens else max(begin, first + ramp)
    end = last if closes else min(end, last - ramp)
    if begin > end:
        begin = end = 0.5 * (begin + end) if not (opens or closes) else (first if opens else last)
    return Core(first, begin, end, last)


def _touches(job: Job, first: int, last: int) -> OwnTouches:
    """What the clip touches of itself, often enough to see an arm swing by."""
    step = max(int(job.clip.fps / _LOOKS), 1)
    rows = np.unique(np.append(np.arange(first, last + 1, step), last))
    return own_touches(ExactWorld(job.world), job.who, job.joints, job.clip.times[rows])


def hopeless(job: Job, stretch: Stretch, seed: int, clocks: Clocks) -> bool:
    """Whether no posture of the joints seems to be free at some time of the trouble: what they carry is stuck."""
    start = time.perf_counter()
    q = np.ascontiguousarray(sample_pose(job.limits, np.random.default_rng(seed), _SAMPLES))
    begin, end = np.clip(job.during, stretch.core.first, stretch.core.last)
    stuck = any(
        not (stretch.check.batch(q, float(t), keen=True) != HIT).any() for t in np.linspace(begin, end, _MOMENTS)
    )
    clocks.add("plan", start)
    return stuck


def leaned(job: Job, stretch: Stretch, seed: int, clocks: Clocks) -> Replanned | None:
    """The clip leaned aside by turns of its joints."""
    start = time.perf_counter()
    weights = stretch.core.weights(stretch.times)
    ways = JointLeans(job.limits, stretch.base, weights, job.scale, job.together, _hanging(job, stretch))
    largest = stretch.core.largest(job.jerk)
    q = nudge(stretch.check, ways, stretch.base, stretch.times, weights, largest, seed)
    took = clocks.add("plan", start)
    return None if q is None else Replanned(stretch, q, Way("avoid", took))


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


def stepped(job: Job, stretch: Stretch, seed: int, clocks: Clocks, *, lifted: bool) -> Replanned | None:
    """The foot of a leg put elsewhere: `lifted` in the core, or standing there."""
    body = job.clip.character
    limb = next((name for name, chain in body.chains.items() if chain.joints == job.joints), "")
    try:
        ik = LimbIK(body, limb)
    except BadValue:  # legs of some rigs have other joints
        return None
    start = time.perf_counter()
    T = job.clip.world()[stretch.first : stretch.last + 1]
    weights = stretch.core.weights(stretch.times)
    # a foot that stands is lifted more on its way there and back
    lift = weights if lifted else 4.0 * weights * (1.0 - weights)
    ways = FootLeans(ik, T[:, ik.parent], T[:, ik.joints[2]], stretch.base, weights, lift)
    q = nudge(stretch.check, ways, stretch.base, stretch.times, weights, _FAR, seed)
    took = clocks.add("plan", start)
    return None if q is None else Replanned(stretch, q, Way("avoid", took))


def searched(job: Job, stretch: Stretch, seed: int, style: Style, budget: Budget, clocks: Clocks) -> Replanned | None:
    """A path through limb and time from the clip to the clip, drawn back to it as far as may be."""
    if not stretch.closed or job.hang:
        return None
    start = time.perf_counter()
    rate = job.clip.fps
    own = rot.angle_between(stretch.base[:-1], stretch.base[1:]).max(axis=0) * rate
    names = [job.clip.character.joint_names[j] for j in job.joints]
    space = LimbSpace.over(
        stretch.check,
        job.limits,
        timed=True,
        style={name: terms for name, terms in style.items() if name in names},
        speed=np.maximum(_SPEED, _FASTER * own),
    )
    begin, end = (space.state(stretch.base[k], float(stretch.times[k])) for k in (0, -1))
    path = plan_limb(space, begin, end, seed, budget)
    first = clocks.add("plan", start)
    if not path.found:
        return None
    start = time.perf_counter()
    better = smooth(space, path, seed)
    frames = own_times(space, better, stretch.times)
    frames = relax(stretch.check, frames, stretch.times, stretch.base, seed)
    settled = soften(stretch.check, frames, stretch.times, stretch.base)
    took = clocks.add("smooth", start)
    if not settled.free:
        return None
    return Replanned(stretch, settled.rotations, Way("plan", first, took, path.stats))


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
