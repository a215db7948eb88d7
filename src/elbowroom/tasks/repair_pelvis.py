"""Rungs for tight places: the pelvis goes aside or down for a while and feet stay, the whole body steps aside, or who
walks walks round what is in the way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.errors import BadValue, UnknownName
from elbowroom.finish.nudge import Core
from elbowroom.motion.clip import Clip
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.tasks.repair_find import Trouble
from elbowroom.tasks.repair_own import with_contacts
from elbowroom.tasks.repair_stretch import MARGIN, Clocks, Job, touches_of
from elbowroom.tasks.repair_sway import Moved, Offset, Sway
from elbowroom.world.certificate import Changed
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import Snapshot, World

# Directions in which it is gone aside.
_DIRECTIONS = 8
# Seconds about a trouble at which it is all the way there, and of the way there and back, at least.
_PAD, _LEAST = 0.15, 0.3
# Metres a second from which on somebody gets on, so that there is a left and a right to walk round things.
_WALKS = 0.4
# Looks a second, how many ways are followed up, and the share of the depth that they leave at most.
_LOOKS, _FOLLOWED, _GAIN = 30.0, 3, 0.7
# Looks within the trouble itself, at least.
_WITHIN = 5
# Metres that a hit counts for at least, and one whose depth is not known.
_SHALLOW, _DEEP = 0.002, 0.05
_LEGS = ("left_leg", "right_leg")


@dataclass(frozen=True)
class _Kind:
    """A way to go aside: metres `aside` and `down` that are tried in turn, with so many `seconds` for the way there and
    the way back; in steps or over the feet; in all directions, or to the two sides of where somebody walks."""

    aside: tuple[float, ...]
    seconds: float
    down: tuple[float, ...] = ()
    stepping: bool = True
    sides: bool = False


_OVER = _Kind((0.03, 0.06, 0.1), 0.6, (0.02, 0.05), stepping=False)
_STEPS = _Kind((0.05, 0.1, 0.15, 0.2), 1.2)
_ROUND = _Kind((0.3, 0.4, 0.5, 0.6, 0.8, 1.0), 2.0, sides=True)


@dataclass(frozen=True, eq=False)
class Swayed:
    """A world in which someone goes aside by `by` (3,) metres for a while, in steps or over the feet.

    `changed` are the joints of the legs, and when; `contacts` what may touch then; `leaves` is the share of the depth
    in things that is left, 0 where no look finds anything in anything, out of so many `checks`.
    """

    world: World
    by: Offset
    stepping: bool
    changed: Changed
    contacts: tuple[Contact, ...]
    leaves: float
    checks: int

    @property
    def told(self) -> str:
        """In words."""
        aside, down = np.hypot(*self.by[:2]), -self.by[2]
        told = [f"{100 * aside:.0f} cm aside"] if aside > 0.0 else []
        told += [f"{100 * down:.0f} cm down"] if down > 0.005 else []
        return " and ".join(told) or "up"

    @property
    def name(self) -> str:
        """What of the body is moved."""
        return "whole body" if self.stepping else "pelvis and legs"


def sways(
    world: World, source: Clip, trouble: Trouble, recorded: bool, max_aside: float, clocks: Clocks
) -> Iterator[Swayed]:
    """Ways aside that keep the trunk free: of the pelvis over its feet, in steps, round things, `max_aside` at most.

    Of each kind those that leave the least in trouble come first; none are looked at after the first, and least, that
    leaves nothing. `source` is the clip as it came; what is `recorded` may touch itself as it does.
    """
    for kind in (_OVER, _STEPS, _ROUND):
        amounts = tuple(a for a in kind.aside if a <= max_aside + 1e-9)
        if amounts:
            yield from _of_a_kind(world, source, trouble, recorded, replace(kind, aside=amounts), clocks)


def _of_a_kind(
    world: World,
    source: Clip,
    trouble: Trouble,
    recorded: bool,
    kind: _Kind,
    clocks: Clocks,
) -> Iterator[Swayed]:
    start = time.perf_counter()
    clip = world.motion(trouble.who)
    assert isinstance(clip, Clip)
    try:
        legs = [LimbIK(clip.character, name) for name in _LEGS]
    except (BadValue, UnknownName):  # bodies without legs of three joints
        return
    core = _core(clip, trouble, kind.seconds)
    if core is None:
        return
    sway = Sway(clip, source, legs, core, kind.stepping)
    joints = tuple(j for ik in legs for j in ik.joints)
    frames, span = (sway.first, sway.last), (core.first, core.last)
    contacts: tuple[Contact, ...] = ()
    planned: list[Contact] = []
    if recorded:
        job = Job(world, source, trouble.who, joints, joints, (), trouble.during, *frames, recorded, MARGIN)
        touches = touches_of(job, *frames)
        contacts, planned = tuple(touches.contacts(span, planned=False)), touches.contacts(span, planned=True)
    looks = _Looks(with_contacts(world, planned), trouble, sway)
    as_is = looks.depth(Moved(clip, (0.0, 0.0, 0.0), np.tile(np.eye(4), (len(sway.weights), 1, 1)))) or (0.0, 0.0)
    # parts in trouble are to be less deep in something than they were, and all else together no deeper
    most = _GAIN * as_is[0], max(as_is[1], _SHALLOW)
    found = []
    for number, by in enumerate(_offsets(kind, sway)):
        moved = sway.by(by)
        depth = None if moved is None else looks.depth(moved, most)
        if moved is not None and depth is not None:
            found.append((depth[1], number, moved))
            if depth[1] == 0.0:
                break
    clocks.add("plan", start)
    changed = Changed(trouble.who, joints, span)
    for left, _, moved in sorted(found, key=lambda f: f[:2])[:_FOLLOWED]:
        there = world.with_character(trouble.who, moved.clip)
        yield Swayed(there, moved.by, kind.stepping, changed, contacts, left / most[1], looks.count)


def _offsets(kind: _Kind, sway: Sway) -> Iterator[Offset]:
    """Small ones first."""
    for down in kind.down:
        yield 0.0, 0.0, -down
    angles = np.arange(_DIRECTIONS) * (2.0 * np.pi / _DIRECTIONS)
    if kind.sides:
        x, y = sway.travel[int(np.argmax(sway.weights))]
        angles = np.arctan2(y, x) + np.array([0.5, -0.5]) * np.pi if np.hypot(x, y) > _WALKS else angles[:0]
    for aside in kind.aside:
        for angle in angles:
            yield aside * float(np.cos(angle)), aside * float(np.sin(angle)), 0.0


def _core(clip: Clip, trouble: Trouble, way: float) -> Core | None:
    """When someone goes aside and comes back, with `way` seconds for either; None where there is too little time."""
    low, high = (float(clip.times[k]) for k in (clip.source.lead, -1))
    begin, end = trouble.during[0] - _PAD, trouble.during[1] + _PAD
    first, last = max(begin - way, low), min(end + way, high)
    begin, end = max(begin, first + _LEAST), min(end, last - _LEAST)
    if begin > trouble.during[0] or end < trouble.during[1]:
        return None
    return Core(first, begin, end, last)


class _Looks:
    """How often a moved clip hits what is around it, and legs each other, looked at a few times a second."""

    def __init__(self, world: World, trouble: Trouble, sway: Sway) -> None:
        who = self._who = trouble.who
        self.count = 0
        exact = self._exact = ExactWorld(world)
        step = max(round(sway.clip.fps / _LOOKS), 1)
        # trouble may be over between two looks
        begin, end = np.clip(np.searchsorted(sway.clip.times, trouble.during), sway.first, sway.last)
        rows = np.union1d(np.arange(sway.first, sway.last + 1, step), np.linspace(begin, end, _WITHIN).astype(int))
        # those of the trouble first: what does not get out of it shows there
        inside = (rows >= begin) & (rows <= end)
        rows = np.concatenate([rows[inside], rows[~inside]])
        self._record = world.record(sway.clip.times[rows])
        self._rows = rows - sway.first
        self._held = [hold.object for hold in world.holds if hold.by == who]
        body = world.body(who)
        limbs = {j for name, c in body.chains.items() if name.endswith(("leg", "arm")) for j in (*c.lead, *c.joints)}
        hips = {ik.joints[0] for ik in sway.legs}
        below = {k for j in limbs - hips for k in body.subtree(j)}
        legs = {k for j in hips for k in body.subtree(j)}
        pairs = [[exact.parts[int(i)] for i in row] for row in exact.index]
        mine = [[p for p in pair if p.owner == who or p.name in self._held] for pair in pairs]
        above = np.array([pair[1].kind != "floor" for pair in pairs], dtype=bool)  # feet stand as high as they did
        outer = above & np.array([len(own) == 1 for own in mine], dtype=bool)
        body_parts = [[p for p in own if p.owner == who] for own in mine]
        # held things and limbs may be planned anew afterwards; the trunk and thighs may not
        self._trunk = outer & np.array([len(own) == 1 and own[0].joint not in below for own in body_parts], dtype=bool)
        self._stuck = np.array([any(p.joint in trouble.joints for p in own) for own in body_parts], dtype=bool)
        self._counts = outer | above & np.array([any(p.joint in legs for p in own) for own in body_parts], dtype=bool)

    def depth(self, moved: Moved, most: tuple[float, float] | None = None) -> tuple[float, float] | None:
        """Depth of what hits and is not allowed, metres, over all looks: of parts in trouble, and of all; None where
        that is more than the `most`, if there is such, or the trunk comes too near to something."""
        T = moved.clip.world(self._record.times)
        own = total = 0.0
        for k in range(len(self._record)):
            self.count += 1
            here = self._record[k]
            along = moved.T_new_old[self._rows[k]]
            things = {name: along @ at if name in self._held else at for name, at in here.things.items()}
            exact = self._exact.place_snapshot(Snapshot(here.time, {**here.joints, self._who: T[k]}, things))
            for n in map(int, exact.near(MARGIN)):
                a, b = (int(i) for i in exact.index[n])
                if most is not None and self._trunk[n] and exact.placed.within(a, b, MARGIN):
                    return None
                if self._counts[n] and exact.hit(n):
                    depth = exact.distance(n).value
                    if exact.allowed(n, None if depth is None else -depth) is None:
                        deep = _DEEP if depth is None else max(-depth, _SHALLOW)
                        own, total = own + deep * self._stuck[n], total + deep
            if most is not None and (own > most[0] or total > most[1]):
                return None
        return own, total
