"""Contacts of a recorded motion with itself and the floor that stay allowed while part of it is re-planned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.errors import UnknownName
from elbowroom.geometry.kept import kept
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.world.allowances import cap_of, supports
from elbowroom.world.contacts import Contact, fits
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import FLOOR
from elbowroom.world.paths import Interval
from elbowroom.world.things import Carried, Hold
from elbowroom.world.world import World

# Metres: how far a body yields; how much deeper than the clip a plan may go; what sampling at other times may add at
# the ends of an interval. Plans keep some of it in reserve for the proof.
_GIVES, _DEEPER, _ROUNDING, _RESERVE = 0.01, 0.005, 0.002, 0.0015
_WHY = "in the clip"


@dataclass(frozen=True, eq=False)
class OwnTouches:
    """Depths of parts moved by joints in the rest of the body and the floor.

    depth (P, K) of pairs at times (K,), metres, 0 where they do not touch.
    """

    who: str
    pairs: tuple[tuple[str, str], ...]
    times: Array
    depth: Array

    def contacts(self, during: Interval, *, planned: bool) -> list[Contact]:
        """Contacts to allow while re-planning: 10 mm, the depth at the interval's ends, or 5 mm more than in the clip.

        Plans may use a little less than proofs.
        """
        less = _RESERVE if planned else 0.0
        made = [Contact(self.who, other, during, "touch", _GIVES - less, _WHY) for other in (self.who, FLOOR)]
        ends = [int(np.argmin(np.abs(self.times - t))) for t in during]
        for (a, b), depth in zip(self.pairs, self.depth, strict=True):
            usual = max(_GIVES, float(depth[ends].max()) + _ROUNDING)
            if usual > _GIVES:
                made.append(Contact(a, b, during, "touch", usual - less, _WHY))
            for k, deep in enumerate(np.maximum(depth[:-1], depth[1:]) + _DEEPER):
                begin, end = max(float(self.times[k]), during[0]), min(float(self.times[k + 1]), during[1])
                if deep > usual and depth[k : k + 2].any() and begin < end:
                    made.append(Contact(a, b, (begin, end), "touch", float(deep) - less, _WHY))
        return made


def own_touches(exact: ExactWorld, who: str, joints: Iterable[int], times: Sequence[float] | Array) -> OwnTouches:
    """Measure contacts at times (K,) between parts of a body of which the joints move one or both.

    Overlaps deeper than the world's caps count as the caps: no repair may keep them.
    """
    body = exact.world.body(who)
    moved = {j for top in joints for j in body.subtree(top)}

    def concerns(k: int) -> bool:
        a, b = (exact.parts[int(i)] for i in exact.index[k])
        mine = [p for p in (a, b) if p.kind == "body" and p.owner == who]
        own = len(mine) == 2 or (len(mine) == 1 and b.kind == "floor")
        return own and any(p.joint in moved for p in mine)

    wanted = np.array([concerns(k) for k in range(len(exact.pairs))], dtype=bool)
    found: dict[tuple[str, str], Array] = {}
    record = exact.world.record(times)
    # each linkage and stretch of an episode asks again: pairs near each other by time, and depths once measured
    known: dict[float, tuple[NDArray[np.int64], dict[int, float]]] = kept(exact.world, ("own touches", who), dict)
    for i, t in enumerate(record.times.tolist()):
        near, depths = known.get(t) or (None, {})
        if near is None or any(k not in depths for k in near[wanted[near]].tolist()):
            exact.place_snapshot(record[i])
            near = exact.near(0.0)
            known[t] = near, depths
        for k in near[wanted[near]].tolist():
            if k not in depths:
                depths[k] = _depth(exact, who, k) if exact.hit(k) else -1.0
            if depths[k] >= 0.0:
                row = found.setdefault((exact.pairs[k].a, exact.pairs[k].b), np.zeros(len(record)))
                row[i] = max(row[i], depths[k])
    measured = np.array(list(found.values())).reshape(-1, len(record))
    return OwnTouches(who, tuple(found), record.times, measured)


def _depth(exact: ExactWorld, who: str, k: int) -> float:
    """Depth of a pair that overlaps, up to what the world allows, metres."""
    depth = exact.distance(k).value
    return 0.0 if depth is None else min(-depth, cap_of(exact, k, {who}) - _DEEPER)


def with_contacts(world: World, contacts: Iterable[Contact]) -> World:
    """The world for a check, with soles on the floor and the contacts allowed."""
    return world.with_(contacts=(*world.contacts, *supports(world), *contacts))


def at_work(world: World, who: str, span: Interval, joints: Iterable[int] = (0,)) -> bool:
    """Return whether parts moved by some joints take, leave or touch something during a span; by default the whole
    body.
    """
    return any((a < span[1] and span[0] < b) or span[0] < a == b < span[1] for a, b in works(world, who, joints))


@dataclass(frozen=True)
class Pin:
    """A hand or limb that must stay where it is for some seconds although it touches nothing.

    `part` is a hand (left, right) or a chain (left_arm, right_leg, spine).
    """

    who: str
    part: str
    during: Interval

    def joint(self, body: Character) -> int:
        """Joint at the end of the part."""
        if self.part in body.chains:
            return int(body.chains[self.part].joints[-1])
        if self.part not in ("left", "right"):
            raise UnknownName(f"limb of {self.who}", self.part, body.chains)
        return body.hand(self.part)[0]


def works(world: World, who: str, joints: Iterable[int]) -> list[Interval]:
    """Times at which parts moved by joints take or leave something, and intervals in which they touch it.

    Mostly hands, but a hat is taken off a head, and a foot presses a button.
    """
    body, (begin, end) = world.body(who), world.motion(who).span
    moved = {k for j in joints for k in body.subtree(j)}
    holds = [hold for hold in world.holds if hold.by == who and body.hand(hold.hand)[0] in moved]
    found = [(t, t) for hold in holds for t in hold.during if begin < t < end]
    found += [both for hold in holds for other in world.holds if (both := _together(hold, other)) is not None]
    parts = [f"{who}.{shape.name}" for shape in body.shapes if shape.joint in moved]
    return found + [c.during for c in world.contacts if c.kind in ("touch", "grip", "seat") and _of(c, who, parts)]


def _together(hold: Hold, other: Hold) -> Interval | None:
    """Interval in which two hands hold one object: neither can be moved alone then."""
    begin, end = max(hold.during[0], other.during[0]), min(hold.during[1], other.during[1])
    return (begin, end) if hold is not other and hold.object == other.object and begin < end else None


def _of(contact: Contact, who: str, parts: list[str]) -> bool:
    """Return whether a contact is between some parts of a character and something other than the floor."""
    for mine, other in ((contact.who, contact.on), (contact.on, contact.who)):
        if any(fits(mine, part) for part in parts) and not fits(who, other) and other != "floor":
            return True
    return False


def planted(clip: Clip, source: Clip, side: str) -> NDArray[np.bool_]:
    """Frames (T,) in which a foot stands in a clip or in the imported one: edits that raise the body hide contacts."""
    own, imported = (kept(c, "foot contacts", partial(foot_contacts, c)) for c in (clip, source))
    return own.foot(side) | imported.foot(side)


def freeze_grips(world: World) -> World:
    """Keep held objects at their current placements whatever the hand's motion becomes."""
    holds = []
    for hold in world.holds:
        path = world.things[hold.object].path
        assert isinstance(path, Carried)
        holds.append(replace(hold, T_hand_object=path.grip(hold)))
    return replace(world, holds=tuple(holds))
