"""A repair while something is moved: what was found before is taken later or sooner, more or less, until it is free.

It takes some milliseconds where a repair takes a second, and proves nothing. Only what was planned near the moved thing
is looked at; where nothing that is known will do, it says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.tasks.plan import Plan, Planned
from elbowroom.tasks.repair import holding_fast
from elbowroom.tasks.repair_stretch import MARGIN, TIGHT
from elbowroom.world.certificate_findings import Interval, merged
from elbowroom.world.exact import ExactWorld
from elbowroom.world.extent import box_corners
from elbowroom.world.fast import BAND, HIT, LimbCheck
from elbowroom.world.paths import Still, places
from elbowroom.world.world import World

# Seconds before and after a known way in which trouble may come up instead, and how often a second it is looked for.
_ASIDE, _RATE = 0.35, 60.0
# A known way is taken by so much more or less than last time, shares of it, in turn; and that much at most.
_STEPS = (0.0, 0.12, 0.3, 0.6, 1.0)
_MOST = 2.2
# Less is tried every so many times.
_LESS = 3
# Moments a second at which all else of a body is looked at against what is moved, and how near that has to be, metres.
_LOOKS, _NEAR = 10.0, 0.35
# One in so many frames is looked at first; so many doubts are looked at closely where it need not be sure.
_FEWER, _DOUBTS = 5, 5
# Seconds that are added at both ends of what is near.
_PAD = 0.05
# Ways that are kept.
_KNOWN = 12
_SAME = 1e-7
# Metres that are far from everybody.
_FAR = 1e3


@dataclass(eq=False)
class _Way:
    """How a stretch of frames of some joints differs from the motion below it.

    `frames` (F, n, 4) are what was planned from frame `first` on, `turns` (F, n, 3) what that adds to terms of the
    joints; `middle` is the time of the trouble that it gets out of. `share` is how much of it was needed last, `tight`
    how often that was taken since less was tried, `check` what it was looked at with, `margin` the clearance it keeps.
    """

    planned: Planned
    joints: tuple[int, ...]
    first: int
    frames: Array
    turns: Array
    middle: float
    share: float = 1.0
    check: LimbCheck | None = None
    tight: int = 0
    margin: float | None = None


@dataclass(eq=False)
class LiveRepair:
    """Repairs of one world while things in it are moved; `base` has the motions that are stayed close to."""

    base: World
    _ways: list[_Way] = field(default_factory=list)
    _boxes: dict[str, tuple[Array, Array, Array]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.base = holding_fast(self.base)

    def learn(self, plan: Plan) -> None:
        """Know the ways of a plan for the same motions, too."""
        for planned in plan.plans:
            way = _way_of(self.base, plan, planned)
            if way is not None:
                self._ways = [*self._ways, way][-_KNOWN:]

    def again(self, world: World, moved: Sequence[str], *, sure: bool = False) -> Plan | None:
        """A motion for a world in which some things have moved since; None where nothing that is known will do.

        What is `moved` has to be an object of the world, not a mesh of its scene, to be looked at quickly. If it is to
        be `sure`, the exact test decides wherever things come very near.
        """
        for name in moved:
            if name not in world.objects:
                raise UnknownName("object that was moved", name, world.objects)
        now = world.with_(characters=dict(self.base.characters), holds=self.base.holds)
        exact = ExactWorld(now)
        plans: list[Planned] = []
        done: set[tuple[str, tuple[int, ...]]] = set()
        for way in reversed(self._ways):
            key = (way.planned.who, way.joints)
            if key in done:
                continue
            found = self._fitted(now, exact, way, moved, sure)
            if found is None:
                continue
            done.add(key)
            clip, planned = found
            if planned is not None:
                now = now.with_(characters={**now.characters, planned.who: clip})
                plans.append(planned)
        if self._meets(now, exact, moved):
            return None
        return Plan("found", now, tuple(plans))

    def near_spans(self, world: World, moved: Sequence[str]) -> list[Interval]:
        """Intervals in which anybody could meet what is moved; at all other times it is far from everybody."""
        found: list[Interval] = []
        for who, motion in self.base.characters.items():
            times = np.arange(motion.span[0], motion.span[1] + 1.0 / _RATE, 1.0 / _RATE)
            found += [(float(t), float(t)) for t in times[self._near(world, who, moved, times)]]
        begin, end = self.base.span
        spans = merged(found, 2.0 * _PAD)
        return [(max(a - _PAD, begin), min(b + _PAD, end)) for a, b in spans]

    def _fitted(
        self, world: World, exact: ExactWorld, way: _Way, moved: Sequence[str], sure: bool
    ) -> tuple[Clip, Planned | None] | None:
        """The motion with as much of a way as is needed; without a plan where none is. None where it does not do."""
        clip = _clip(world, way.planned.who)
        reach = round(_ASIDE * clip.fps)
        low, high = max(way.first - reach, 0), min(way.first + len(way.turns) - 1 + reach, len(clip) - 1)
        near = self._near(world, way.planned.who, moved, clip.times[low : high + 1])
        if not near.any():
            return self._as_before(clip, way)
        rows = np.arange(low, high + 1)
        below = clip.rotations[rows][:, list(way.joints)]
        span = (clip.times[low], clip.times[high])
        if way.margin is None:
            way.margin = _margin(world, way, below, clip.times[rows], moved)
        check = self._check(world, exact, way, span, moved)
        hit = _hits(check, below, clip.times[rows], np.flatnonzero(near))
        if not hit.any():
            return clip, None
        trouble = clip.times[rows[hit]]
        later = round((0.5 * float(trouble[0] + trouble[-1]) - way.middle) * clip.fps)
        for share in _shares(way):
            frames = _leaned(clip, way, later, share, rows)
            bent = np.any(frames != below, axis=(1, 2)) | hit
            if _free(check, frames[bent], clip.times[rows[bent]], sure):
                return self._taken(clip, way, rows, frames, later, share)
        return None

    def _check(
        self, world: World, exact: ExactWorld, way: _Way, span: tuple[float, float], moved: Sequence[str]
    ) -> LimbCheck:
        """A check of a way's joints; the one from last time, if only what is moved has moved since."""
        last = way.check
        same = last is not None and all(last.world.characters[n] is m for n, m in world.characters.items())
        if last is None or not same:
            way.check = LimbCheck(
                world, way.planned.who, way.joints, span, rate=_RATE, margin=way.margin or 0.0, exact=exact
            )
        else:
            way.check = last.elsewhere(world, moved, exact)
        return way.check

    def _near(self, world: World, who: str, moved: Iterable[str], times: Array) -> NDArray[np.bool_]:
        """At which of some times (T,) someone, or what they hold, could meet what is moved: by boxes, with room."""
        if who not in self._boxes:
            self._boxes[who] = _boxes(self.base, who)
        at, low, high = self._boxes[who]
        rows = np.clip(np.searchsorted(at, times), 0, len(at) - 1)
        out = np.zeros(len(times), dtype=bool)
        for name in moved:
            corners = _corners(world, name, times)
            apart = np.maximum(corners.min(axis=1) - high[rows], low[rows] - corners.max(axis=1)).max(axis=1)
            out |= apart < _NEAR
        return out

    def _meets(self, world: World, exact: ExactWorld, moved: Sequence[str]) -> bool:
        """Whether anybody meets what was moved, at moments when they are near it."""
        begin, end = world.span
        times = np.linspace(begin, end, max(int((end - begin) * _LOOKS), 1) + 1)
        near = np.zeros(len(times), dtype=bool)
        for who in world.characters:
            near |= self._near(world, who, moved, times)
        held = {hold.object for hold in world.holds}
        mine = np.array([part.owner in moved for part in exact.parts], dtype=bool)
        bodies = np.array([part.kind == "body" or part.owner in held for part in exact.parts], dtype=bool)
        a, b = exact.index[:, 0], exact.index[:, 1]
        counts = (mine[a] & bodies[b]) | (mine[b] & bodies[a])
        record = world.record(times[near]) if near.any() else ()
        for k in range(len(record)):
            exact.place_snapshot(record[k])
            close = exact.near(0.0)
            if any(exact.hit(int(pair)) for pair in close[counts[close]]):
                return True
        return False

    @staticmethod
    def _as_before(clip: Clip, way: _Way) -> tuple[Clip, Planned | None]:
        """What is moved does not come near: the way stays."""
        rows = np.arange(way.first, way.first + len(way.turns))
        rotations = clip.rotations.copy()
        rotations[np.ix_(rows, np.array(way.joints))] = way.frames
        return clip.with_(rotations=rotations), way.planned

    @staticmethod
    def _taken(
        clip: Clip, way: _Way, rows: NDArray[np.int64], frames: Array, later: int, share: float
    ) -> tuple[Clip, Planned]:
        way.share = share
        rotations = clip.rotations.copy()
        rotations[np.ix_(rows, np.array(way.joints))] = rot.continuous(frames)
        begin, end = (
            float(np.clip(t + later / clip.fps, clip.times[rows[0]], clip.times[rows[-1]])) for t in way.planned.during
        )
        return clip.with_(rotations=rotations), replace(way.planned, during=(begin, end), checks=0, nodes=0, trees=())


def _margin(world: World, way: _Way, below: Array, times: Array, moved: Sequence[str]) -> float:
    """The clearance that the motion below a way (F, n, 4) keeps from all but what is moved: hands that put things down
    come very near to others, and are not to go aside for that."""
    for margin in (MARGIN, TIGHT, 0.0):
        span = (float(times[0]), float(times[-1]))
        check = LimbCheck(_far_away(world, moved), way.planned.who, way.joints, span, rate=_RATE, margin=margin)
        if check.free_batch(below, times).all():
            return margin
    return MARGIN  # it meets something else, too


def _far_away(world: World, moved: Sequence[str]) -> World:
    """The world with what is moved where nobody is."""
    far = Still(transform([_FAR, _FAR, 0.0]))
    return world.with_(objects={**world.objects, **{n: replace(world.objects[n], path=far) for n in moved}})


def _hits(check: LimbCheck, frames: Array, times: Array, near: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of some frames (F, n, 4) are not free: sure ones of every other one that is near, else of all of those."""
    out = np.zeros(len(frames), dtype=bool)
    out[near[::2]] = check.batch(frames[near[::2]], times[near[::2]], keen=True) == HIT
    if not out.any():
        out[near] = ~check.free_batch(frames[near], times[near])
    return out


def _free(check: LimbCheck, frames: Array, times: Array, sure: bool) -> bool:
    """Whether frames (F, n, 4) are free; those that are not mostly show it at a few of them. Some doubts are
    left to the exact test, all of them if it is to be `sure`."""
    for some in (slice(None, None, _FEWER), slice(None)):
        codes = check.batch(frames[some], times[some], keen=True)
        if (codes == HIT).any():
            return False
    doubts = np.flatnonzero(codes == BAND)
    if not sure and len(doubts) > _DOUBTS:
        doubts = doubts[np.linspace(0, len(doubts) - 1, _DOUBTS).astype(int)]
    return all(check.free(frames[k], float(times[k])) for k in doubts)


def _boxes(world: World, who: str) -> tuple[Array, Array, Array]:
    """Times (T,) and the corners (T, 3) of the box around someone's joints and what they hold then."""
    motion = world.motion(who)
    times = np.arange(motion.span[0], motion.span[1] + 1.0 / _RATE, 1.0 / _RATE)
    joints = motion.body.transforms(*motion.sample(times))[..., :3, 3]
    low, high = joints.min(axis=1), joints.max(axis=1)
    for hold in world.holds:
        if hold.by == who:
            corners = _corners(world, hold.object, times)
            low, high = np.minimum(low, corners.min(axis=1)), np.maximum(high, corners.max(axis=1))
    return times, low, high


def _corners(world: World, name: str, times: Array) -> Array:
    """Corners (T, 8, 3) of a thing's box."""
    T = places(world.things[name].path, times)
    return box_corners(world.things[name].mesh.bounds) @ np.swapaxes(T[:, :3, :3], 1, 2) + T[:, None, :3, 3]


def _way_of(base: World, plan: Plan, planned: Planned) -> _Way | None:
    """What a plan has changed in its interval, None where that is more than turns of joints."""
    if planned.who not in base.characters:
        return None
    clip, changed = _clip(base, planned.who), _clip(plan.world, planned.who)
    if len(clip) != len(changed) or not np.array_equal(clip.root, changed.root):
        return None
    first, last = (int(k) for k in np.clip(np.searchsorted(clip.times, planned.during), 0, len(clip) - 1))
    rows = slice(first, last + 1)
    differ = np.abs(clip.rotations[rows] - changed.rotations[rows]).max(axis=(0, 2)) > _SAME
    joints = tuple(int(j) for j in np.flatnonzero(differ))
    limits = clip.character.limits
    if not joints or any(limits[j] is None for j in joints):
        return None
    turns = np.stack(
        [_terms(clip.character, changed, j, rows) - _terms(clip.character, clip, j, rows) for j in joints], 1
    )
    hits = [c.during for c in plan.collisions if c.during[0] <= planned.during[1] and planned.during[0] <= c.during[1]]
    middle = 0.5 * (min(h[0] for h in hits) + max(h[1] for h in hits)) if hits else 0.5 * sum(planned.during)
    return _Way(planned, joints, first, changed.rotations[rows][:, list(joints)], turns, middle)


def _terms(body: Character, clip: Clip, joint: int, rows: slice | NDArray[np.int64]) -> Array:
    limit = body.limits[joint]
    assert limit is not None
    return limit.coordinates(clip.rotations[rows, joint])


def _leaned(clip: Clip, way: _Way, later: int, share: float, rows: NDArray[np.int64]) -> Array:
    """Rotations (R, n, 4) at some frames with a share of a way, so many frames later."""
    out = np.array(clip.rotations[rows][:, list(way.joints)])
    at = rows - way.first - later
    inside = (at >= 0) & (at < len(way.turns))
    for n, joint in enumerate(way.joints):
        limit = clip.character.limits[joint]
        assert limit is not None
        own = _terms(clip.character, clip, joint, rows[inside])
        beyond = own - limit.clamp_coordinates(own)
        wanted = own + share * way.turns[at[inside], n]
        out[inside, n] = limit.rotation(limit.clamp_coordinates(wanted) + beyond)
    return out


def _shares(way: _Way) -> list[float]:
    """How much of a way is tried: as much as last time, now and then a little less, then more and more."""
    way.tight = (way.tight + 1) % _LESS
    less = [max(0.85 * way.share, 0.05)] if way.tight == 0 else []
    return [*less, *(min(way.share + step, _MOST) for step in _STEPS)]


def _clip(world: World, who: str) -> Clip:
    motion = world.motion(who)
    if not isinstance(motion, Clip):
        raise BadValue(f"the motion of '{who}' is not made of frames: only clips are repaired.")
    return motion
