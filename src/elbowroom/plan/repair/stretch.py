"""Stretch of a motion that is re-planned: its frames, limb, and allowed contacts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.limits import JointLimit
from elbowroom.finish.nudge import Core
from elbowroom.geometry.kept import kept
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import without_lead
from elbowroom.motion.quality import peak_jerk
from elbowroom.plan.checks.accept import Apart, Smooth
from elbowroom.plan.checks.allowed import own_touches, with_contacts
from elbowroom.plan.checks.episodes import CollisionEpisode, clip_of
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.extent import outline
from elbowroom.world.fast import LimbCheck
from elbowroom.world.paths import Interval
from elbowroom.world.world import World

# Distance that counts as near, metres: the range of any check.
_NEAR = 0.3


def within_reach(world: World, who: str, during: tuple[float, float]) -> World:
    """A world without characters that cannot touch a given one during an interval in any posture.

    Characters that hold something or have no clip stay, as do all objects.
    """
    me = world.motion(who)
    if not isinstance(me, Clip):
        return world
    busy = {who, *(hold.by for hold in world.holds)}
    mine = any(hold.by == who for hold in world.holds)
    far = [
        name
        for name, motion in world.characters.items()
        if name not in busy and not mine and isinstance(motion, Clip) and _apart(me, motion, during) > _NEAR
    ]
    if not far:
        return world
    return world.with_(characters={name: m for name, m in world.characters.items() if name not in far})


def _apart(a: Clip, b: Clip, during: tuple[float, float]) -> float:
    """Lower bound of the distance between two characters during an interval, metres, from roots and lengths."""
    times = np.unique(np.concatenate([np.clip(clip.times, *during) for clip in (a, b)] + [np.asarray(during)]))
    # roots are interpolated linearly, and so is their difference
    roots = [np.stack([np.interp(times, c.times, c.root[:, k]) for k in range(3)], axis=1) for c in (a, b)]
    between = roots[0] - roots[1]
    steps = np.linalg.norm(np.diff(between, axis=0), axis=1).max(initial=0.0)
    nearest = float(np.linalg.norm(between, axis=1).min()) - 0.5 * float(steps)
    return nearest - _length(a.character) - _length(b.character)


def _length(body: Character) -> float:
    """Largest distance of any point of a body from its root, metres."""

    def make() -> float:
        parents, offsets = body.skeleton.parents, body.skeleton.offsets
        along = np.zeros(len(parents))
        for j in range(1, len(parents)):
            along[j] = along[parents[j]] + np.linalg.norm(offsets[j])
        joints, points = outline(body.with_(skin=None))
        return float((along[joints] + np.linalg.norm(points, axis=1)).max())

    return kept(body, "length", make)


# Seconds to leave the clip and to return, tried in turn; and those added to an episode at both ends: a body that leans
# forwards hits things earlier.
GROWTHS = ((0.4, 0.03), (0.7, 0.12), (1.0, 0.35))
# Samples per second of a clip's contacts with itself.
_SAMPLES_PER_S = 120.0
# Seconds: a clip that begins or ends within this of a collision does so in collision; the shortest stretch; and the
# shortest time to leave or return.
_SHORTEST, _LEAST, _RAMP = 0.12, 0.3, 0.22
# Angular jerk that an offset may add, rad/s³, and relative to the clip's.
_JERK, _OWN_JERK = 1300.0, 1.8
# Weight of joints above the limb.
_LEADING = 0.35


@dataclass(frozen=True, eq=False)
class Job:
    """Joints of a character that must resolve an episode.

    `world` is the current one; frames `low` to `high` may be changed. Joints of the limb to blame have the largest
    weight. `check` is one of the joints in these frames with no
    smaller margin than that of the options, where the clip already has it.
    """

    world: World
    episode: CollisionEpisode
    options: RepairOptions
    joints: tuple[int, ...]
    low: int
    high: int
    check: LimbCheck | None = None

    @property
    def during(self) -> Interval:
        """Interval of the episode, seconds."""
        return self.episode.during

    @property
    def source(self) -> Clip:
        """The imported motion."""
        return self.options.sources[self.episode.who]

    @property
    def limb(self) -> tuple[int, ...]:
        """Joints of the limb to blame."""
        chain = self.source.character.chains.get(self.episode.limb)
        return () if chain is None else chain.joints

    @property
    def clip(self) -> Clip:
        """The current motion."""
        return clip_of(self.world, self.episode.who)

    @cached_property
    def limits(self) -> tuple[JointLimit, ...]:
        """Limits of the joints."""
        body = self.clip.character
        found = [body.limits[j] for j in self.joints]
        return tuple(limit for limit in found if limit is not None)

    @cached_property
    def jerk(self) -> float:
        """Angular jerk that may be added, rad/s³, from that of the imported clip, which is measured once."""
        own = kept(self.source, "peak jerk", lambda: peak_jerk(without_lead(self.source)))
        return max(_JERK, _OWN_JERK * own)

    @property
    def scale(self) -> list[float]:
        """Weight of each joint."""
        return [1.0 if j in self.limb else _LEADING for j in self.joints]

    @property
    def together(self) -> tuple[int, ...]:
        """Indices among the joints of those of the spine, where there are several."""
        chain = self.clip.character.chains.get("spine")
        found = tuple(k for k, j in enumerate(self.joints) if chain is not None and j in chain.joints)
        return found if len(found) > 1 else ()


@dataclass(frozen=True, eq=False)
class Stretch:
    """Frames `first` to `last` that are re-planned, an interval (core) of full effect, and the collision check."""

    first: int
    last: int
    core: Core
    contacts: tuple[Contact, ...]
    check: LimbCheck
    times: Array
    base: Array
    pace: Smooth
    apart: Apart

    @property
    def closed(self) -> bool:
        """Return whether it begins and ends with the base motion."""
        return self.core.first < self.core.begin and self.core.end < self.core.last

    def rough(self, frames: Array) -> Array:
        """Roughness of frames (N, T, n, 4), (N,), relative to the limit; likeness to other repairs adds to it."""
        return np.maximum(self.pace.rough(frames), 1.0 + self.apart.lack(frames))

    def rows(self, core: Core) -> slice:
        """Frames of this stretch from the last before a core to the first after it."""
        first = int(np.searchsorted(self.times, core.first + 1e-9)) - 1
        last = int(np.searchsorted(self.times, core.last - 1e-9))
        return slice(max(first, 0), min(last, len(self.times) - 1) + 1)

    def narrowed(self, core: Core) -> Stretch:
        """This stretch with a smaller core; allowed contacts stay."""
        rows = self.rows(core)
        times = self.times[rows]
        opens, closes = core.begin <= core.first, core.end >= core.last
        first, last = float(times[0]), float(times[-1])
        narrow = Core(first, first if opens else core.begin, last if closes else core.end, last)
        begin, end = self.first + rows.start, self.first + rows.start + len(times) - 1
        pace = replace(self.pace, first=begin, last=end)
        return replace(self, first=begin, last=end, core=narrow, times=times, base=self.base[rows], pace=pace)

    def good(self, frames: Array) -> bool:
        """Return whether frames (T, n, 4) are smooth, within limits, and unlike other repairs."""
        return self.pace.good(frames) and not self.apart.lack(frames[None])[0] > 0.0


def stretches(job: Job) -> Iterator[Stretch]:
    """Stretches of growing length around the episode, each with a check of its own."""
    clip = job.clip
    times, lead = clip.times, clip.source.lead
    known = set()
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
        yield _stretch(job, first, last, _core(times, (first, begin, end, last), opens, closes))


def _stretch(job: Job, first: int, last: int, core: Core) -> Stretch:
    start, who, options = time.perf_counter(), job.episode.who, job.options
    span, clip, frames = (core.first, core.last), job.clip, slice(first, last + 1)
    planned, proven = touches_in(job.world, who, job.joints, (first, last), span) if options.recorded(who) else ((), ())
    if job.check is not None and not planned:
        check = job.check.with_margin(options.margin)
    else:
        around = within_reach(with_contacts(job.world, planned), who, span)
        check = LimbCheck(around, who, job.joints, span, margin=options.margin)
    options.clocks.add("prepare", start)
    base = clip.rotations[frames][:, list(job.joints)]
    pace = Smooth(job.source, clip, job.joints, first, last)
    apart = Apart(options.apart.get(who, ()), clip, job.joints, first, last)
    return Stretch(first, last, core, proven, check, clip.times[frames], base, pace, apart)


def _core(times: Array, frames: tuple[int, int, int, int], opens: bool, closes: bool) -> Core:
    """Core of a stretch from its frames: first, begin and end of the episode, last.

    Where there is little time to leave or return, the peak passes before the episode ends. Where the clip begins or
    ends in collision there is nothing to leave or join.
    """
    first, begin, end, last = (float(times[k]) for k in frames)
    ramp = min(_RAMP, 0.5 * (last - first))
    begin = first if opens else max(begin, first + ramp)
    end = last if closes else min(end, last - ramp)
    if begin > end:
        begin = end = 0.5 * (begin + end) if not (opens or closes) else (first if opens else last)
    return Core(first, begin, end, last)


def touches_in(
    world: World, who: str, joints: Sequence[int], frames: tuple[int, int], span: Interval
) -> tuple[tuple[Contact, ...], tuple[Contact, ...]]:
    """Contacts of a clip with itself that are allowed during an interval, for plans and for proofs.

    `frames`, first and last, are sampled densely enough to see an arm swing by.
    """
    clip = clip_of(world, who)
    rows = np.unique(np.append(np.arange(*frames, max(int(clip.fps / _SAMPLES_PER_S), 1)), frames[1]))
    touches = own_touches(ExactWorld(world), who, joints, clip.times[rows])
    return tuple(touches.contacts(span, planned=True)), tuple(touches.contacts(span, planned=False))
