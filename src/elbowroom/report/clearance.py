"""Clearance over time: how near people and things come to what they must not touch, and to what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.report.parts import Light, Measure, Moment, listed
from elbowroom.report.people import segment_words
from elbowroom.world.certificate import Certificate, certify, supports
from elbowroom.world.certificate_findings import is_own
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_placed import TINY
from elbowroom.world.extent import frame_times
from elbowroom.world.pairs import FLOOR, Pair
from elbowroom.world.world import World

# Distances are measured up to this, metres: what is further away is no news.
REACH = 0.5
# Nearer than this is worth a look, metres: a sleeve, a mesh finer than the collision shapes, a render at another rate.
NEAR = 0.005
# Looks a second, and how many at most: a distance is exact, and takes a millisecond or more.
_LOOKS, _MOST = 30.0, 600
_TOLD = 4

# Distances (N,) and the pairs they are of.
Nearest = tuple[Array, tuple[Pair | None, ...]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Clearance(Measure):
    """Smallest distance (N,) in metres of different bodies and things at times (N,), and the pair it is of.

    `own` and `own_pairs` are the same for parts of one and the same body. Negative in overlap, NaN beyond reach.
    `certificate` says what holds between these times, too.
    """

    times: Array
    distance: Array
    pairs: tuple[Pair | None, ...]
    own: Array
    own_pairs: tuple[Pair | None, ...]
    certificate: Certificate

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return (
            super().facts() | self.certificate.facts()["certificate"] | {"collisions": len(self.certificate.collisions)}
        )

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        return {
            "times": listed(self.times),
            "clearance_m": listed(self.distance, 5),
            "pairs": [None if p is None else list(p) for p in self.pairs],
            "own_clearance_m": listed(self.own, 5),
            "own_pairs": [None if p is None else list(p) for p in self.own_pairs],
        }

    def nearest(self) -> list[tuple[Pair, float, float]]:
        """Pairs that are ever the nearest, each with its smallest distance and when: others first, then own bodies."""
        out = []
        for distance, pairs in ((self.distance, self.pairs), (self.own, self.own_pairs)):
            best: dict[Pair, tuple[float, float]] = {}
            for t, d, pair in zip(self.times, distance, pairs, strict=True):
                if pair is not None and (pair not in best or d < best[pair][0]):
                    best[pair] = (float(d), float(t))
            out += sorted(((p, d, t) for p, (d, t) in best.items()), key=lambda row: row[1])[:_TOLD]
        return out


def clearance_of(world: World, certificate: Certificate | None = None, own_contacts: bool = True) -> Clearance:
    """Measure clearances over time, and prove what holds between, unless a certificate is given."""
    proven = certificate or certify(world, own_contacts=own_contacts)
    times, (distance, pairs), (own, own_pairs) = sampled(world, own_contacts)
    light, says = _verdict(proven)
    figures = {"collisions": str(len(proven.collisions)), "touches that are allowed": str(len(proven.allowed))}
    if proven.free and proven.clearance_m is not None:
        figures = {"smallest clearance": f"{1000 * proven.clearance_m:.1f} mm"} | figures
    return Clearance(
        light=light,
        says=says,
        headline=_headline(proven),
        moments=_moments(proven, world),
        figures=figures,
        notes=proven.notes,
        times=times,
        distance=distance,
        pairs=pairs,
        own=own,
        own_pairs=own_pairs,
        certificate=proven,
    )


def sampled(world: World, own_contacts: bool = True) -> tuple[Array, Nearest, Nearest]:
    """Times (N,), and the nearest of what must not touch: of different bodies and things, and of each body with itself.

    Feet may stand on the floor; recorded clips may touch themselves and the floor, where `own_contacts` says so.
    """
    exact = ExactWorld(replace(world, contacts=(*world.contacts, *supports(world))))
    recorded = {n for n, m in world.characters.items() if own_contacts and isinstance(m, Clip) and m.source.format}
    for k in range(len(exact.index)) if recorded else ():
        if is_own(exact, k, recorded):
            exact.off[k] = (*exact.off.get(k, ()), (-np.inf, np.inf))
    owners = np.array([part.owner for part in exact.parts])
    own = owners[exact.index[:, 0]] == owners[exact.index[:, 1]]
    begin, end = _span(world)
    times = frame_times((begin, end), min(_LOOKS, _MOST / max(end - begin, 1e-9)))
    record = world.record(times)
    found: list[list[tuple[float, Pair | None]]] = [[], []]
    for k in range(len(times)):
        exact.place_snapshot(record[k])
        gaps, near = exact.gaps(), exact.near(REACH)
        for group, mine in zip(found, (~own, own), strict=True):
            group.append(_nearest(exact, near[mine[near]], gaps))
    others, itself = ((np.array([d for d, _ in g]), tuple(p for _, p in g)) for g in found)
    return times, others, itself


def _nearest(exact: ExactWorld, numbers: NDArray[np.int64], gaps: Array) -> tuple[float, Pair | None]:
    """Smallest distance of some pairs, the nearest boxes first, and which pair it is; NaN and None beyond reach.

    A pair that may touch now counts only where it is deeper than it may be; shins are always near to the floor, so that
    counts only where something is in it.
    """
    best: tuple[float, Pair | None] = (float("nan"), None)
    reach = REACH
    for k in numbers.tolist():
        if gaps[k] > max(reach, 0.0):
            break
        d = exact.distance(k, max(reach, TINY))
        value = 0.0 if d.value is None else d.value
        touching = FLOOR in d.pair or any(c.during[0] <= exact.time <= c.during[1] for c in exact.contacts.get(k, ()))
        if touching and (value > 0.0 or exact.allowed(k, None if d.value is None else -d.value) is not None):
            continue
        if (d.points is not None or d.hit) and value < reach:
            best, reach = (value, d.pair), value
    return best


def _span(world: World) -> tuple[float, float]:
    """The world's span without artificial frames at the start of clips."""
    begin, end = world.span
    leads = [m.start + m.source.lead / m.fps for m in world.characters.values() if isinstance(m, Clip)]
    return min(max(min(leads), begin), end) if leads else begin, end


def _verdict(proven: Certificate) -> tuple[Light, str]:
    if proven.collisions:
        pairs = len({c.pair for c in proven.collisions})
        worst = max(proven.collisions, key=lambda c: c.depth_m or 0.0)
        deep = "" if worst.depth_m is None else f", up to {1000 * worst.depth_m:.0f} mm deep"
        a, b = worst.pair
        return "bad", f"Bodies pass through things: {pairs} pairs collide{deep} ({plain(a)} and {plain(b)})."
    if proven.unproven:
        return "look", "Nothing was seen to collide, but some places are too near to tell."
    how = "proven between the frames, too" if proven.continuous else "where it was sampled"
    if proven.clearance_m is None or proven.pair is None:
        return "good", f"Nothing collides, {how}, and nothing comes nearer than {100 * REACH:.0f} cm."
    a, b = proven.pair
    near = f"{plain(a)} passes {plain(b)} at {1000 * proven.clearance_m:.1f} mm"
    if proven.clearance_m < NEAR:
        return "look", f"Nothing collides, {how}, but it is tight: {near}."
    return "good", f"Nothing collides, {how}; at the tightest {near}."


def _headline(proven: Certificate) -> str:
    if proven.collisions:
        return f"{len(proven.collisions)} collisions"
    if proven.unproven:
        return "not proven"
    return "free" if proven.clearance_m is None else f"free, {1000 * proven.clearance_m:.1f} mm"


def _moments(proven: Certificate, world: World) -> tuple[Moment, ...]:
    if not proven.collisions:
        if proven.pair is None or proven.at_s is None or proven.clearance_m is None:
            return ()
        a, b = proven.pair
        told = f"{plain(a)} is {1000 * proven.clearance_m:.1f} mm from {plain(b)}"
        bad = NEAR / max(proven.clearance_m, 1e-4)
        return (Moment(proven.at_s, told, _owner(world, proven.pair), bad, _part(world, proven.pair)),)
    deepest: dict[Pair, Any] = {}
    for c in proven.collisions:
        if c.pair not in deepest or (c.depth_m or 0.0) > (deepest[c.pair].depth_m or 0.0):
            deepest[c.pair] = c
    out = []
    for c in sorted(deepest.values(), key=lambda c: -(c.depth_m or 0.0))[:_TOLD]:
        deep = "" if c.depth_m is None else f" by {1000 * c.depth_m:.0f} mm"
        told = f"{plain(c.pair.a)} is in {plain(c.pair.b)}{deep}"
        out.append(
            Moment(c.at_s, told, _owner(world, c.pair), 10.0 + 1000.0 * (c.depth_m or 0.0), _part(world, c.pair))
        )
    return tuple(out)


def _owner(world: World, pair: Pair) -> str:
    return next((world.split(name)[0] for name in pair if world.split(name)[0] in world.characters), "")


def _part(world: World, pair: Pair) -> str:
    """What of a pair a close-up shows: the part of a person, else what moves."""
    moving = [name for name in pair if world.split(name)[0] in {**world.characters, **world.objects}]
    people = [name for name in moving if world.split(name)[0] in world.characters]
    return next(iter((*people, *moving)), "")


def plain(name: str) -> str:
    """A part's name in words: 'ann.left_hand' is ann's left hand."""
    owner, dot, part = name.partition(".")
    return f"{owner}'s {segment_words(part)}" if dot else owner.replace("_", " ")
