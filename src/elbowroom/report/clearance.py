"""Clearance over time: how near people and things come to what they must not touch, and to what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from elbowroom.geometry.rotations import Array
from elbowroom.report.looks import REACH, Tightest, sampled, smallest
from elbowroom.report.parts import Light, Measure, Moment, counted, listed
from elbowroom.report.people import segment_words
from elbowroom.world.allowances import recorded_people
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.pairs import Pair
from elbowroom.world.world import World

# Nearer than this is worth a look, metres: a sleeve, a mesh finer than the collision shapes, a render at another rate.
# Not so for the own body and what is in its hands: thighs brush each other in every walk.
NEAR = 0.005
_TOLD = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class Clearance(Measure):
    """Smallest distance (N,) in metres of different bodies and things at times (N,), and the pair it is of.

    `own` and `own_pairs` are the same for parts of one and the same body and what it holds. Negative in overlap, NaN
    beyond reach. `certificate` says what holds between these times, too.
    """

    times: Array
    distance: Array
    pairs: tuple[Pair | None, ...]
    own: Array
    own_pairs: tuple[Pair | None, ...]
    certificate: Certificate

    @property
    def smallest(self) -> Tightest | None:
        """The smallest distance to others and things, of which pair, and when; None where nothing is in reach."""
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
        """Pairs that are ever the nearest, each with its smallest distance and when: others first, then own bodies.

        Pieces of a part that has one name for people count as one.
        """
        out = []
        for distance, pairs in ((self.distance, self.pairs), (self.own, self.own_pairs)):
            best: dict[tuple[str, str], tuple[Pair, float, float]] = {}
            for t, d, pair in zip(self.times, distance, pairs, strict=True):
                if pair is not None:
                    key = (plain(pair.a), plain(pair.b))
                    if key not in best or d < best[key][1]:
                        best[key] = (pair, float(d), float(t))
            out += sorted(best.values(), key=lambda row: row[1])[:_TOLD]
        return out


def clearance_of(world: World, certificate: Certificate | None = None, own_contacts: bool = True) -> Clearance:
    """Measure clearances over time, and prove what holds between, unless a certificate is given."""
    proven = certificate or certify(world, own_contacts=own_contacts)
    times, (distance, pairs), (own, own_pairs) = sampled(world, own_contacts, proven.at_s)
    nearest = smallest(times, distance, pairs)
    alone = _alone(world)
    light, says = _verdict(proven, nearest)
    if alone and light == "good":
        own_touches = own_contacts and bool(recorded_people(world))
        itself = "what it touches of itself counts as recorded" if own_touches else "the body stays out of itself"
        says = f"Nothing is around to run into, and {itself}."
    figures = {"collisions": str(len(proven.collisions)), "touches that are allowed": _touches(proven)}
    to_itself = smallest(times, own, own_pairs)
    if proven.free and to_itself is not None:
        figures = {"to the own body and what it holds": f"{1000 * to_itself[0]:.1f} mm"} | figures
    if proven.free and nearest is not None:
        figures = {"smallest clearance": f"{1000 * nearest[0]:.1f} mm"} | figures
    return Clearance(
        light=light,
        says=says,
        headline="nothing around" if alone and light == "good" else _headline(proven, nearest),
        moments=_moments(proven, nearest, world),
        figures=figures,
        notes=proven.notes,
        times=times,
        distance=distance,
        pairs=pairs,
        own=own,
        own_pairs=own_pairs,
        certificate=proven,
    )


def _touches(proven: Certificate) -> str:
    deepest = max((a.depth_m for a in proven.allowed), default=0.0)
    return (
        f"{len(proven.allowed)}, up to {1000 * deepest:.0f} mm deep" if deepest > 0.0005 else str(len(proven.allowed))
    )


def _alone(world: World) -> bool:
    """Whether there is nothing in a world that its one character could run into but the floor."""
    return not (world.static or world.things or len(world.characters) > 1)


def _verdict(proven: Certificate, nearest: Tightest | None) -> tuple[Light, str]:
    if proven.collisions:
        pairs = len({c.pair for c in proven.collisions})
        itself = all(c.pair.a.partition(".")[0] == c.pair.b.partition(".")[0] for c in proven.collisions)
        worst = max(proven.collisions, key=lambda c: c.depth_m or 0.0)
        deep = "" if worst.depth_m is None else f", up to {1000 * worst.depth_m:.0f} mm deep"
        a, b = worst.pair
        collide = f"{counted(pairs, 'pair')} {'collides' if pairs == 1 else 'collide'}"
        begins = "A body passes through itself" if itself else "Bodies pass through things"
        return "bad", f"{begins}: {collide}{deep} ({plain(a)} and {plain(b)})."
    if proven.unproven:
        return "look", "Nothing was seen to collide, but some places are too near to tell."
    how = "proven between the frames, too" if proven.continuous else "where it was sampled"
    if nearest is None:
        return "good", f"Nothing collides, {how}, and nothing comes nearer than {100 * REACH:.0f} cm."
    distance, (a, b), _ = nearest
    near = f"{plain(a)} passes {plain(b)} at {1000 * distance:.1f} mm"
    if distance < NEAR:
        return "look", f"Nothing collides, {how}, but it is tight: {near}."
    return "good", f"Nothing collides, {how}; at the tightest {near}."


def _headline(proven: Certificate, nearest: Tightest | None) -> str:
    if proven.collisions:
        return counted(len(proven.collisions), "collision")
    if proven.unproven:
        return "not proven"
    return "free" if nearest is None else f"free, {1000 * nearest[0]:.1f} mm"


def _moments(proven: Certificate, nearest: Tightest | None, world: World) -> tuple[Moment, ...]:
    if not proven.collisions:
        if nearest is None:
            return ()
        distance, pair, at = nearest
        told = f"{plain(pair.a)} is {1000 * distance:.1f} mm from {plain(pair.b)}"
        bad = NEAR / max(distance, 1e-4)
        return (_moment(world, pair, at, told, bad),)
    deepest: dict[Pair, Any] = {}
    for c in proven.collisions:
        if c.pair not in deepest or (c.depth_m or 0.0) > (deepest[c.pair].depth_m or 0.0):
            deepest[c.pair] = c
    out = []
    for c in sorted(deepest.values(), key=lambda c: -(c.depth_m or 0.0))[:_TOLD]:
        deep = "" if c.depth_m is None else f" by {1000 * c.depth_m:.0f} mm"
        told = f"{plain(c.pair.a)} is in {plain(c.pair.b)}{deep}"
        out.append(_moment(world, c.pair, c.at_s, told, 10.0 + 1000.0 * (c.depth_m or 0.0)))
    return tuple(out)


def _moment(world: World, pair: Pair, at: float, told: str, bad: float) -> Moment:
    """A moment of a pair, with a close-up of the part of a person in it, or of what moves."""
    part = _part(world, pair)
    return Moment(at, told, _owner(world, pair), bad, part, 0.8 if "." in part else 0.0)


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
