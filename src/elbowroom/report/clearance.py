"""Clearance over time: minimum distance between bodies that must not touch, sampled, and the pair it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.report.parts import Light, Measure, Moment, counted, listed
from elbowroom.report.people import segment_words
from elbowroom.world.allowances import allow, is_foot, recorded_people, supports
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.certificate_findings import Collision
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_placed import TINY
from elbowroom.world.extent import frame_times
from elbowroom.world.own_pairs import belonging, limbs_apart
from elbowroom.world.pairs import FLOOR, Pair, parts_of
from elbowroom.world.world import World

# Distances are measured up to this, metres: what is further away is no news.
REACH = 0.5
# Looks a second, and how many at most: a distance is exact, and takes a millisecond or more. Around the nearest of them
# as many more are taken.
_SAMPLES_PER_S, _MOST, _MORE = 30.0, 600, 16

# Distances (N,) and the pairs they are of.
Nearest = tuple[Array, tuple[Pair | None, ...]]
# A distance, the pair it is of, and when.
Tightest = tuple[float, Pair, float]


def sampled(
    world: World, own_contacts: bool = True, also: float | None = None
) -> tuple[Array, Nearest, Nearest, dict[str, Nearest]]:
    """Times (N,), and nearest pairs of bodies that must not touch: of different bodies, and of each body with itself
    and the objects it holds; and by character the deepest overlaps of its limbs with the rest of it, allowed or not.
    `also` is an additional time to sample, seconds.

    Feet may stand on the floor; with `own_contacts` recorded clips may touch themselves and the floor.
    """
    exact = ExactWorld(replace(world, contacts=(*world.contacts, *supports(world))))
    allow(exact, recorded_people(world) if own_contacts else set())
    excused = _excused(world) if own_contacts else set()
    begin, end = _span(world)
    regular = frame_times((begin, end), min(_SAMPLES_PER_S, _MOST / max(end - begin, 1e-9)))
    first = regular if also is None else np.union1d(regular, np.clip(also, begin, end))
    found = _looked(world, exact, first, excused)
    others = np.array([d for (d, _), *_ in found])
    if np.isfinite(others).any() and len(first) > 1:
        k = int(np.nanargmin(others))
        around = np.linspace(first[max(k - 1, 0)], first[min(k + 1, len(first) - 1)], _MORE + 2)[1:-1]
        more = _looked(world, exact, around, excused)
        every = np.concatenate([first, around])
        order = np.argsort(every, kind="stable")
        found, first = [(found + more)[i] for i in order], every[order]
    to_others = np.array([d for (d, _), *_ in found]), tuple(pair for (_, pair), *_ in found)
    to_itself = np.array([d for _, (d, _), _ in found]), tuple(pair for _, (_, pair), _ in found)
    none: tuple[float, Pair | None] = (0.0, None)
    overlaps = {}
    for who in world.characters:
        rows = [deep.get(who, none) for *_, deep in found]
        overlaps[who] = np.array([depth for depth, _ in rows]), tuple(pair for _, pair in rows)
    return first, to_others, to_itself, overlaps


# A distance or depth, and the pair it is of; the deepest overlaps by character.
_NearestPair = tuple[float, Pair | None]
_Overlaps = dict[str, _NearestPair]


def _looked(
    world: World, exact: ExactWorld, times: Array, excused: set[frozenset[str]]
) -> list[tuple[_NearestPair, _NearestPair, _Overlaps]]:
    """Nearest pair with other bodies, nearest pair of own parts, and deepest overlaps of limbs at each time."""
    owners = np.array([part.owner for part in exact.parts])[exact.index]
    same, held = belonging(world, owners)
    record = world.record(times)
    found = []
    for k, t in enumerate(times):
        exact.place_snapshot(record[k])
        gaps, near = exact.gaps(), exact.near(REACH)
        own = same.copy()
        for begin, end, pairs in held:
            if begin <= t <= end:
                own |= pairs
        deep: _Overlaps = {}
        others = _nearest(exact, near[~own[near]], gaps, excused)
        found.append((others, _nearest(exact, near[own[near]], gaps, excused, deep), deep))
    return found


def smallest(times: Array, distance: Array, pairs: tuple[Pair | None, ...]) -> Tightest | None:
    """Minimum of distances (N,), its pair and time."""
    if not np.isfinite(distance).any():
        return None
    k = int(np.nanargmin(distance))
    pair = pairs[k]
    return None if pair is None else (float(distance[k]), pair, float(times[k]))


def _nearest(
    exact: ExactWorld,
    numbers: NDArray[np.int64],
    gaps: Array,
    excused: set[frozenset[str]],
    deep: _Overlaps | None = None,
) -> _NearestPair:
    """Minimum distance of some pairs, nearest boxes first, and its pair; NaN and None beyond reach. Overlaps of limbs
    go to `deep`.

    A pair that may touch counts only if it is deeper than allowed, one that is `excused` only where it is apart; shins
    are always near the floor, so the floor counts only if something penetrates it.
    """
    best: tuple[float, Pair | None] = (float("nan"), None)
    reach = REACH
    for k in numbers.tolist():
        if gaps[k] > max(reach, 0.0):
            break
        d = exact.distance(k, max(reach, TINY))
        value = 0.0 if d.value is None else d.value
        if deep is not None and value < 0.0:
            a, b = (exact.parts[int(i)] for i in exact.index[k])
            if a.owner == b.owner and limbs_apart(a.role, b.role) and -value > deep.get(a.owner, (0.0, None))[0]:
                deep[a.owner] = (-value, d.pair)
        if value <= 0.0 and frozenset(d.pair) in excused:
            continue
        touching = FLOOR in d.pair or any(c.during[0] <= exact.time <= c.during[1] for c in exact.contacts.get(k, ()))
        if touching and (value > 0.0 or exact.allowed(k, None if d.value is None else -d.value) is not None):
            continue
        if (d.points is not None or d.hit) and value < reach:
            best, reach = (value, d.pair), value
    return best


def _span(world: World) -> tuple[float, float]:
    """Span of the world without artificial frames at the start of clips."""
    begin, end = world.span
    leads = [m.start + m.source.lead / m.fps for m in world.characters.values() if isinstance(m, Clip)]
    return min(max(min(leads), begin), end) if leads else begin, end


# Nearer than this is worth a look, metres: a sleeve, a mesh finer than the collision shapes, a render at another rate.
# Not so for the own body and what is in its hands: thighs brush each other in every walk.
NEAR = 0.005
# Floors of recordings lie off and lean by up to this under a clip, metres: what is in them no deeper is worth a look.
_OFF_M = 0.060
_LISTED = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class ClearanceMeasure(Measure):
    """Minimum distance (N,) in metres between different bodies at times (N,), and the pair it belongs to.

    `own` and `own_pairs` are the same for parts of one body and the objects it holds. Negative in overlap, NaN beyond
    reach. `hits` are the collisions that count here, without a recorded person's overlaps with itself and soles in the
    floor, which have measures of their own; `undecided` says whether others are too close to decide. `overlaps` are the
    deepest of each character's limbs in the rest of it by name, metres (N,), and their pairs. `certificate` covers the
    time between the samples.
    """

    times: Array
    distance: Array
    pairs: tuple[Pair | None, ...]
    own: Array
    own_pairs: tuple[Pair | None, ...]
    certificate: Certificate
    hits: tuple[Collision, ...] = ()
    undecided: bool = False
    overlaps: Mapping[str, Nearest] = field(default_factory=dict)

    @property
    def smallest(self) -> Tightest | None:
        """Minimum distance to other bodies, its pair and time; None if nothing is in reach."""
        return smallest(self.times, self.distance, self.pairs)

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        near, own = self.smallest, smallest(self.times, self.own, self.own_pairs)
        proven = self.certificate
        return super().facts() | {
            "free": proven.free,
            "continuous": proven.continuous,
            "clearance_m": None if near is None else near[0],
            "clearance_at_s": None if near is None else near[2],
            "clearance_pair": None if near is None else list(near[1]),
            "own_clearance_m": None if own is None else own[0],
            "own_clearance_at_s": None if own is None else own[2],
            "own_clearance_pair": None if own is None else list(own[1]),
            "collisions": [
                {"pair": list(c.pair), "during_s": list(c.during), "at_s": c.at_s, "depth_m": c.depth_m}
                for c in proven.collisions
            ],
            "unproven": [{"pair": list(u.pair), "during_s": list(u.during)} for u in proven.unproven],
            "allowed_touches": [
                {"pair": list(a.pair), "during_s": list(a.during), "depth_m": a.depth_m, "why": a.why}
                for a in proven.allowed
            ],
        }

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        return {
            "times_s": listed(self.times),
            "clearance_m": listed(self.distance, 5),
            "pairs": [None if p is None else list(p) for p in self.pairs],
            "own_clearance_m": listed(self.own, 5),
            "own_pairs": [None if p is None else list(p) for p in self.own_pairs],
        }

    def nearest(self) -> list[tuple[Pair, float, float]]:
        """Pairs that are ever the nearest, with minimum distance and time: other bodies first, then own body.

        Pieces of a part with a common everyday name count as one.
        """
        out = []
        for distance, pairs in ((self.distance, self.pairs), (self.own, self.own_pairs)):
            best: dict[tuple[str, str], tuple[Pair, float, float]] = {}
            for t, d, pair in zip(self.times, distance, pairs, strict=True):
                if pair is not None:
                    key = (plain(pair.a), plain(pair.b))
                    if key not in best or d < best[key][1]:
                        best[key] = (pair, float(d), float(t))
            out += sorted(best.values(), key=lambda row: row[1])[:_LISTED]
        return out


def clearance_of(world: World, certificate: Certificate | None = None, own_contacts: bool = True) -> ClearanceMeasure:
    """Measure clearances over time, and certify the motion unless a certificate is given."""
    proven = certificate or certify(world, own_contacts=own_contacts)
    times, (distance, pairs), (own, own_pairs), overlaps = sampled(world, own_contacts, proven.at_s)
    nearest = smallest(times, distance, pairs)
    alone = not (world.static or world.things or len(world.characters) > 1)
    excused = _excused(world) if own_contacts else set()
    hits = tuple(
        c for c in proven.collisions if frozenset(c.pair) not in excused and not (own_contacts and _shallow(world, c))
    )
    unproven = any(frozenset(u.pair) not in excused for u in proven.unproven)
    light, says = _verdict(hits, unproven, proven.continuous, nearest)
    if alone and light == "good":
        own_touches = own_contacts and bool(recorded_people(world))
        itself = "self-contacts count as recorded" if own_touches else "there is no self-collision"
        says = f"There are no obstacles, and {itself}."
    figures = {"collisions": str(len(hits)), "allowed contacts": _touches(proven)}
    to_itself = smallest(times, own, own_pairs)
    if not hits and to_itself is not None:
        figures = {"to its own body and held objects": f"{1000 * to_itself[0]:.1f} mm"} | figures
    if not hits and nearest is not None:
        figures = {"minimum clearance": f"{1000 * nearest[0]:.1f} mm"} | figures
    return ClearanceMeasure(
        light=light,
        says=says,
        headline="no obstacles" if alone and light == "good" else _headline(hits, unproven, nearest),
        moments=_moments(hits, nearest, world),
        figures=figures,
        notes=proven.notes,
        times=times,
        distance=distance,
        pairs=pairs,
        own=own,
        own_pairs=own_pairs,
        certificate=proven,
        hits=hits,
        undecided=unproven,
        overlaps=overlaps,
    )


def _excused(world: World) -> set[frozenset[str]]:
    """Pairs of recorded people with themselves, and of their feet and shins with the floor."""
    out: set[frozenset[str]] = set()
    parts = parts_of(world)
    for who in recorded_people(world):
        mine = [p for p in parts if p.kind == "body" and p.owner == who]
        out |= {frozenset((a.name, b.name)) for a in mine for b in mine}
        out |= {frozenset((p.name, FLOOR)) for p in mine if is_foot(p) or p.role.endswith("_shin")}
    return out


def _shallow(world: World, c: Collision) -> bool:
    """Return whether recorded people without a scene are no deeper in the floor than floors of recordings lie off."""
    alone = not (world.static or world.things) and set(c.who) <= recorded_people(world)
    return alone and FLOOR in c.pair and c.depth_m is not None and c.depth_m <= _OFF_M


def _touches(proven: Certificate) -> str:
    deepest = max((a.depth_m for a in proven.allowed), default=0.0)
    return (
        f"{len(proven.allowed)}, up to {1000 * deepest:.0f} mm deep" if deepest > 0.0005 else str(len(proven.allowed))
    )


def _verdict(
    hits: tuple[Collision, ...], unproven: bool, continuous: bool, nearest: Tightest | None
) -> tuple[Light, str]:
    if hits:
        pairs = len({c.pair for c in hits})
        itself = all(c.pair.a.partition(".")[0] == c.pair.b.partition(".")[0] for c in hits)
        worst = max(hits, key=lambda c: c.depth_m or 0.0)
        deep = "" if worst.depth_m is None else f", up to {1000 * worst.depth_m:.0f} mm deep"
        a, b = worst.pair
        collide = f"{counted(pairs, 'pair')} {'collides' if pairs == 1 else 'collide'}"
        begins = "Self-collision" if itself else "Collisions"
        return "bad", f"{begins}: {collide}{deep} ({plain(a)} and {plain(b)})."
    if unproven:
        return "look", "No collision was found, but some contacts are too close to decide."
    how = "proven between frames, too" if continuous else "at the sampled times"
    if nearest is None:
        return "good", f"No collisions, {how}, and the clearance is over {100 * REACH:.0f} cm."
    distance, (a, b), _ = nearest
    near = f"{plain(a)} passes {plain(b)} at {1000 * distance:.1f} mm"
    if distance < 0.0:
        deep = f"{plain(a)} is {-1000 * distance:.0f} mm in {plain(b)}"
        return "look", f"No collisions, {how}, apart from the floor, which lies or leans as in recordings: {deep}."
    if distance < NEAR:
        return "look", f"No collisions, {how}, but the clearance is small: {near}."
    return "good", f"No collisions, {how}; minimum clearance: {near}."


def _headline(hits: tuple[Collision, ...], unproven: bool, nearest: Tightest | None) -> str:
    if hits:
        return counted(len(hits), "collision")
    if unproven:
        return "not proven"
    if nearest is not None and nearest[0] < 0.0:
        return f"{-1000 * nearest[0]:.0f} mm in the floor"
    return "free" if nearest is None else f"clear by {1000 * nearest[0]:.1f} mm"


def _moments(hits: tuple[Collision, ...], nearest: Tightest | None, world: World) -> tuple[Moment, ...]:
    if not hits:
        if nearest is None:
            return ()
        distance, pair, at = nearest
        text = f"{plain(pair.a)} is {1000 * distance:.1f} mm from {plain(pair.b)}"
        bad = NEAR / max(distance, 1e-4)
        return (_moment(world, pair, at, text, bad),)
    deepest: dict[Pair, Any] = {}
    for c in hits:
        if c.pair not in deepest or (c.depth_m or 0.0) > (deepest[c.pair].depth_m or 0.0):
            deepest[c.pair] = c
    out = []
    for c in sorted(deepest.values(), key=lambda c: -(c.depth_m or 0.0))[:_LISTED]:
        deep = "" if c.depth_m is None else f" by {1000 * c.depth_m:.0f} mm"
        text = f"{plain(c.pair.a)} is in {plain(c.pair.b)}{deep}"
        out.append(_moment(world, c.pair, c.at_s, text, 10.0 + 1000.0 * (c.depth_m or 0.0)))
    return tuple(out)


def _moment(world: World, pair: Pair, at: float, text: str, bad: float) -> Moment:
    """Moment of a pair, with a close-up of its body part, or of the moving object."""
    # subject of a close-up of a pair: the body part, else the moving object
    moving = [name for name in pair if world.split(name)[0] in {**world.characters, **world.objects}]
    people = [name for name in moving if world.split(name)[0] in world.characters]
    part = next(iter((*people, *moving)), "")
    return Moment(at, text, _owner(world, pair), bad, part, 0.8 if "." in part else 0.0)


def _owner(world: World, pair: Pair) -> str:
    return next((world.split(name)[0] for name in pair if world.split(name)[0] in world.characters), "")


def plain(name: str) -> str:
    """A part's name in words: 'ann.left_hand' is ann's left hand."""
    owner, dot, part = name.partition(".")
    return f"{owner}'s {segment_words(part)}" if dot else owner.replace("_", " ")
