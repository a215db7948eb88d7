"""Strategies for tight places: the pelvis moves over fixed feet, the body sidesteps, or walks around."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.allowed import at_work, with_contacts
from elbowroom.plan.checks.episodes import CollisionEpisode, clip_of
from elbowroom.plan.checks.margins import USUAL_M
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.repair.pelvis import BodyDetour, Offset, OffsetClip, PelvisOffset, core_about
from elbowroom.plan.repair.stretch import touches_in
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.world.allowances import Changed
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import Snapshot, World

# Directions of a sideways offset.
_DIRECTIONS = 8
# Seconds for the way around obstacles, and for the way back.
ROUND = 2.0
# Speed from which on a character counts as walking, m/s, so that there is a left and a right.
_WALKS = 0.4
# Candidates that are followed up, and the largest share of the collision depth that they may leave.
_FOLLOWED, _GAIN = 3, 0.7
_LEGS = ("left_leg", "right_leg")


@dataclass(frozen=True)
class _Kind:
    """A kind of detour: distances `aside` and `down` tried in turn, metres, with `seconds` for either way.

    In steps or over fixed feet; in all directions, or to both sides of the walking direction.
    """

    aside: tuple[float, ...]
    seconds: float
    down: tuple[float, ...] = ()
    stepping: bool = True
    sides: bool = False


_OVER = _Kind((0.03, 0.06, 0.1), 0.6, (0.02, 0.05), stepping=False)
_STEPS = _Kind((0.05, 0.1, 0.15, 0.2), 1.2)
_ROUND = _Kind((0.3, 0.4, 0.5, 0.6, 0.8, 1.0), ROUND, sides=True)


def offset_text(by: Offset) -> str:
    """Describe an offset (3,), metres, in words."""
    aside, down = np.hypot(*by[:2]), -by[2]
    texts = [f"{100 * aside:.0f} cm aside"] if aside > 0.0 else []
    texts += [f"{100 * down:.0f} cm down"] if down > 0.005 else []
    return " and ".join(texts) or "up"


def pelvis_detours(
    world: World, episode: CollisionEpisode, options: RepairOptions, *, far: bool
) -> Iterator[BodyDetour]:
    """Detours that keep the trunk free: the pelvis over its feet, in steps, or with `far` around obstacles.

    For each kind, those that leave the least collision come first; the search ends at the first, smallest one that
    leaves none.
    """
    for kind in (_ROUND,) if far else (_OVER, _STEPS):
        amounts = tuple(a for a in kind.aside if a <= options.max_aside + 1e-9)
        if amounts:
            yield from _of_a_kind(world, episode, options, replace(kind, aside=amounts))


@dataclass(frozen=True, eq=False)
class _Window:
    """A character that may be displaced during an episode, the contacts allowed then, and the collision samples."""

    shift: PelvisOffset
    sampler: CollisionSampler
    changed: Changed
    contacts: tuple[Contact, ...]
    as_is: tuple[float, float]

    def moved(self, world: World, to: OffsetClip, name: str, text: str, leaves: float) -> BodyDetour:
        """The world with the displaced character."""
        there = world.with_character(self.changed.who, to.clip)
        return BodyDetour(there, name, text, self.changed, self.contacts, leaves, self.sampler.count)


def _window(
    world: World,
    episode: CollisionEpisode,
    options: RepairOptions,
    seconds: float,
    *,
    stepping: bool = False,
    bends: bool = False,
) -> _Window | None:
    """A window around an episode with `seconds` for either way, in which the trunk may bend; None without any."""
    clip = clip_of(world, episode.who)
    legs, core = legs_of(clip), core_about(clip, episode.during, seconds)
    if not legs or core is None or at_work(world, episode.who, (core.first, core.last)):
        return None
    shift = PelvisOffset(clip, options.sources[episode.who], legs, core, stepping)
    joints = tuple(j for ik in legs for j in ik.joints) + (tuple(shift.trunk) if bends else ())
    frames, span = (shift.first, shift.last), (core.first, core.last)
    own = options.recorded(episode.who)
    planned, contacts = touches_in(world, episode.who, joints, frames, span) if own else ((), ())
    sampler = CollisionSampler(with_contacts(world, planned), episode, shift)
    as_is = sampler.depth(clip) or (0.0, 0.0)
    return _Window(shift, sampler, Changed(episode.who, joints, span), contacts, as_is)


def _of_a_kind(world: World, episode: CollisionEpisode, options: RepairOptions, kind: _Kind) -> Iterator[BodyDetour]:
    start = time.perf_counter()
    window = _window(world, episode, options, kind.seconds, stepping=kind.stepping)
    if window is None:
        return
    # the parts in collision must come out at least partly, and everything else must not get deeper
    most = _GAIN * window.as_is[0], max(window.as_is[1], SHALLOW)
    found = []
    for number, by in enumerate(_offsets(kind, window.shift)):
        moved = window.shift.by(by)
        depth = None if moved is None else window.sampler.depth(moved.clip, most)
        if moved is not None and depth is not None:
            found.append((depth[1], number, moved))
            if depth[1] == 0.0:
                break
    options.clocks.add("plan", start)
    name = "whole body" if kind.stepping else "pelvis and legs"
    for left, _, moved in sorted(found, key=lambda f: f[:2])[:_FOLLOWED]:
        yield window.moved(world, moved, name, offset_text(moved.by), left / most[1])


# Descent over the feet, metres, and shoulder rotation to either side, radians, tried in turn; seconds for either way,
# until one works: a knee that is straight at an end would jerk.
_DOWN_M, _TURN_RAD, _POSTURE_S = (0.04, 0.08, 0.14, 0.22), (0.35, 0.7), (0.4, 0.6, 0.8)
# For ducking: spine flexion per metre of descent, radians, and the share of it by which the hips move back. Tuned on
# strips of benchmarks/repair_made.py.
_BEND_RAD_PER_M, _BACK = 2.5, 0.4
# Spine lean to either side, radians, tried in turn, and the counter-movement of the hips per radian, metres: the weight
# stays over the feet, since three fifths of the body are some 0.3 m above the hips (de Leva 1996).
_LEAN_RAD = (0.15, 0.3)
_HIPS_M_PER_RAD = 0.15
# Displacement to either side over the feet, metres, tried in turn: a shoulder that brushes a wall needs no more.
_ASIDE_M = (0.03, 0.06)
# Ascent over the feet, metres, tried in turn, and the share of it by which hips move along in any direction, so that
# ankles stay within limits.
_UP_M, _ALONG_WHILE_UP = (0.03, 0.06, 0.1), 0.3
# Bisections of the smallest amount that leaves no collision; the largest share of the depth that other candidates may
# leave, and how many of those are followed up.
_HALVES, _LEFT, _HELPFUL = 2, 0.85, 2

# A clip with a body adjustment of some amount, and its description.
_Posture = Callable[[float], tuple[OffsetClip | None, str]]


def postures(world: World, episode: CollisionEpisode, options: RepairOptions) -> Iterator[BodyDetour]:
    """Whole-body adjustments over fixed feet that reduce a collision; those that leave none come first.

    Ducking and bent knees get head or trunk under an obstacle; leaning, turned shoulders and hips moved aside get it
    between obstacles; higher hips unbend knees whose thigh and shin overlap.
    `leaves` counts the parts in collision and the trunk only: arms that hit the thighs of a ducking body are repaired
    afterwards.
    """
    found: list[BodyDetour] = []
    for seconds in _POSTURE_S if not episode.limb.endswith("leg") or _knee_bent_too_far(world, episode) else ():
        start = time.perf_counter()
        window = _window(world, episode, options, seconds, bends=True)
        found = [] if window is None else _each_posture(world, window, episode)
        options.clocks.add("plan", start)
        if found or window is None:
            break
    yield from (d for d in found if d.leaves == 0.0)
    yield from sorted((d for d in found if d.leaves > 0.0), key=lambda d: d.leaves)[:_HELPFUL]


def _each_posture(world: World, window: _Window, episode: CollisionEpisode) -> list[BodyDetour]:
    """Candidates: ducked unless an arm collides, leaned to both sides; turned and aside unless the head collides."""
    shift = window.shift
    left = np.cross((0.0, 0.0, 1.0), shift.ahead)

    def ducked(down: float) -> tuple[OffsetClip | None, str]:
        x, y, _ = -_BACK * down * shift.ahead
        return shift.by((float(x), float(y), -down), bend=_BEND_RAD_PER_M * down), f"ducked by {100 * down:.0f} cm"

    def lowered(down: float) -> tuple[OffsetClip | None, str]:
        return shift.by((0.0, 0.0, -down)), f"knees bent, {100 * down:.0f} cm lower"

    def leaned(by: float) -> tuple[OffsetClip | None, str]:
        x, y, _ = -_HIPS_M_PER_RAD * by * left
        return shift.by((float(x), float(y), 0.0), lean=by), f"leaned aside by {abs(np.degrees(by)):.0f} degrees"

    def turned(by: float) -> tuple[OffsetClip | None, str]:
        return shift.by((0.0, 0.0, 0.0), turn=by), f"shoulders turned by {abs(np.degrees(by)):.0f} degrees"

    def moved_aside(by: float) -> tuple[OffsetClip | None, str]:
        x, y, _ = by * left
        return shift.by((float(x), float(y), 0.0)), f"{100 * abs(by):.0f} cm aside"

    def raised(toward: Array) -> _Posture:
        def by(up: float) -> tuple[OffsetClip | None, str]:
            x, y, _ = _ALONG_WHILE_UP * up * toward
            return shift.by((float(x), float(y), up)), f"knees unbent, {100 * up:.0f} cm higher"

        return by

    tries: list[tuple[_Posture, tuple[float, ...]]] = []
    if episode.limb.endswith("leg"):
        angles = np.arange(_DIRECTIONS) * (2.0 * np.pi / _DIRECTIONS)
        aside = np.outer(np.cos(angles), shift.ahead) + np.outer(np.sin(angles), left)
        tries = [(raised(toward), _UP_M) for toward in (np.zeros(3), *aside)]
        return [done for posture, amounts in tries for done in _helpful(world, window, posture, amounts)]
    if not episode.limb.endswith("arm"):
        tries += [(ducked, _DOWN_M), (lowered, _DOWN_M)]
    for sign in (1.0, -1.0):
        tries.append((leaned, tuple(sign * by for by in _LEAN_RAD)))
        if episode.limb != "neck":
            tries.append((turned, tuple(sign * by for by in _TURN_RAD)))
            tries.append((moved_aside, tuple(sign * by for by in _ASIDE_M)))
    return [done for posture, amounts in tries for done in _helpful(world, window, posture, amounts)]


def _knee_bent_too_far(world: World, episode: CollisionEpisode) -> bool:
    """Return whether two parts of one leg collide, or one with the pelvis."""
    body = world.body(episode.who)
    leg = {k for j in body.chains[episode.limb].joints for k in body.subtree(j)} | {body.pelvis}
    own = {f"{episode.who}.{shape.name}" for shape in body.shapes if shape.joint in leg}
    return any(own.issuperset(pair) for pair in episode.pairs)


def _helpful(world: World, window: _Window, posture: _Posture, amounts: Sequence[float]) -> list[BodyDetour]:
    """Adjustments of growing amounts that reduce the collision, up to the smallest that leaves none."""
    found, low = [], 0.0
    own, total = window.as_is

    def sampled(amount: float) -> BodyDetour | None:
        moved, text = posture(amount)
        depth = None if moved is None else window.sampler.depth(moved.clip, at_most=(_LEFT * own, total))
        if moved is None or depth is None:
            return None
        # free samples may still be nearer to something than the trunk should be
        clear = depth[0] == 0.0 and window.sampler.depth(moved.clip, (0.0, np.inf)) is not None
        leaves = 0.0 if clear else max(depth[0], SHALLOW) / max(own, SHALLOW)
        return window.moved(world, moved, "whole body", text, leaves)

    for high in amounts:
        done = sampled(high)
        if done is None or done.leaves > 0.0:
            found += [] if done is None else [done]
            low = high
            continue
        for _ in range(_HALVES):
            less = sampled(0.5 * (low + high))
            if less is not None and less.leaves == 0.0:
                done, high = less, 0.5 * (low + high)
            else:
                low = 0.5 * (low + high)
        found.append(done)
        break
    return found


def _offsets(kind: _Kind, shift: PelvisOffset) -> Iterator[Offset]:
    """Offsets of a kind, small ones first."""
    for down in kind.down:
        yield 0.0, 0.0, -down
    angles = np.arange(_DIRECTIONS) * (2.0 * np.pi / _DIRECTIONS)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if kind.sides:
        left = left_of(shift)
        directions = np.zeros((0, 2)) if left is None else np.stack([left, -left])
    for aside in kind.aside:
        for x, y in aside * directions:
            yield float(x), float(y), 0.0


def legs_of(clip: Clip) -> list[LimbIK]:
    """The left and right leg of a clip's body; none for bodies without legs of three joints."""
    try:
        return [LimbIK(clip.character, name) for name in _LEGS]
    except (BadValue, UnknownName):
        return []


def left_of(shift: PelvisOffset) -> Array | None:
    """Direction (2,) to the left of the walking direction at the largest offset; None where the character does not
    walk.
    """
    x, y = shift.travel[int(np.argmax(shift.weights))]
    speed = float(np.hypot(x, y))
    return np.array([-y, x]) / speed if speed > _WALKS else None


# Default sample rate per second, and the smallest number of samples within the episode.
USUAL, _WITHIN = 30.0, 5
# Smallest depth that counts for a hit, and that of a hit of unknown depth, metres.
SHALLOW, _DEEP = 0.002, 0.05


class CollisionSampler:
    """Samples a displaced clip at a few times per second for collisions with its surroundings and between its legs."""

    def __init__(
        self,
        world: World,
        episode: CollisionEpisode,
        shift: PelvisOffset,
        *,
        rate: float = USUAL,
        exact: ExactWorld | None = None,
    ) -> None:
        who = self._who = episode.who
        self.count = 0
        exact = self._exact = exact or ExactWorld(world)
        step = max(round(shift.clip.fps / rate), 1)
        # the episode may fall between two samples
        begin, end = np.clip(np.searchsorted(shift.clip.times, episode.during), shift.first, shift.last)
        rows = np.union1d(np.arange(shift.first, shift.last + 1, step), np.linspace(begin, end, _WITHIN).astype(int))
        # samples in the episode first: most failures show there
        inside = (rows >= begin) & (rows <= end)
        rows = np.concatenate([rows[inside], rows[~inside]])
        self._record = world.record(shift.clip.times[rows])
        body = world.body(who)
        self._grips = [(hold, body.hand(hold.hand)[0]) for hold in world.holds if hold.by == who]
        held = [hold.object for hold, _ in self._grips]
        limbs = {j for name, c in body.chains.items() if name.endswith(("leg", "arm")) for j in (*c.lead, *c.joints)}
        hips = {ik.joints[0] for ik in shift.legs}
        below = {k for j in limbs - hips for k in body.subtree(j)}
        legs = {k for j in hips for k in body.subtree(j)}
        pairs = [[exact.parts[int(i)] for i in row] for row in exact.index]
        mine = [[p for p in pair if p.owner == who or p.name in held] for pair in pairs]
        above = np.array([pair[1].kind != "floor" for pair in pairs], dtype=bool)  # feet keep their height
        outer = above & np.array([len(own) == 1 for own in mine], dtype=bool)
        body_parts = [[p for p in own if p.owner == who] for own in mine]
        # held objects and limbs may be re-planned afterwards; trunk and thighs may not
        self._trunk = outer & np.array([len(own) == 1 and own[0].joint not in below for own in body_parts], dtype=bool)
        self._colliding = np.array([any(p.joint in episode.joints for p in own) for own in body_parts], dtype=bool)
        self._counts = outer | above & np.array([any(p.joint in legs for p in own) for own in body_parts], dtype=bool)
        self._pairs = np.flatnonzero(self._trunk | self._counts)

    def depth(
        self,
        clip: Clip,
        most: tuple[float, float] | None = None,
        at_most: tuple[float, float] = (np.inf, np.inf),
    ) -> tuple[float, float] | None:
        """Depth of collisions of a displaced clip, metres, summed over samples: of the parts in collision, and of all.

        None where it exceeds `most`, if given, or the trunk comes too near to something; and where that of the parts in
        collision, or of all others, exceeds `at_most`.
        """
        T = clip.world(self._record.times)
        own = total = 0.0
        for k in range(len(self._record)):
            self.count += 1
            here = self._record[k]
            things = dict(here.things)
            for hold, joint in self._grips:
                if hold.during[0] <= here.time <= hold.during[1]:
                    along = T[k, joint] @ np.linalg.inv(here.joints[self._who][joint])
                    things[hold.object] = along @ things[hold.object]
            exact = self._exact.place_snapshot(Snapshot(here.time, {**here.joints, self._who: T[k]}, things))
            for n in map(int, exact.near(USUAL_M, self._pairs)):
                a, b = (int(i) for i in exact.index[n])
                if most is not None and self._trunk[n] and exact.placed.within(a, b, USUAL_M):
                    return None
                if self._counts[n] and exact.hit(n):
                    depth = exact.distance(n).value
                    if exact.allowed(n, None if depth is None else -depth) is None:
                        deep = _DEEP if depth is None else max(-depth, SHALLOW)
                        own, total = own + deep * self._colliding[n], total + deep
            if most is not None and (own > most[0] or total > most[1]):
                return None
            if own > at_most[0] or total - own > at_most[1]:
                return None
        return own, total
