"""What a proof found, told by names: collisions, allowed touches, and what could not be proven."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.character.body import Body
from elbowroom.geometry.rotations import Array
from elbowroom.world.certificate_exact import LOCAL, Findings, Measured
from elbowroom.world.certificate_proof import Proof
from elbowroom.world.certificate_units import units_of
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import FLOOR, Pair, Part, hand_of

# Touches less than this apart in time are told as one, seconds; they are looked for this often, a second.
_JOIN = 0.1
_LOOKS = 60.0

Interval = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Collision:
    """A pair that overlaps, localised to 1/240 s; `depth_m` is the deepest overlap, None where it is not defined.

    `who` are the characters in it, `limb` the first one's limb; `at_s` and `points` (2, 3) are those of the depth.
    """

    during: Interval
    who: tuple[str, ...]
    limb: str
    pair: Pair
    depth_m: float | None
    at_s: float
    points: Array | None = None

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "during": list(self.during),
            "who": list(self.who),
            "limb": self.limb,
            "pair": list(self.pair),
            "depth_m": self.depth_m,
            "at_s": self.at_s,
        }


@dataclass(frozen=True)
class Allowed:
    """A pair that touches and may, with its deepest overlap and why it may."""

    pair: Pair
    depth_m: float
    during: Interval
    why: str
    who: tuple[str, ...] = ()
    limb: str = ""


@dataclass(frozen=True)
class Unproven:
    """A pair that comes so near that the tolerance does not tell whether it touches."""

    pair: Pair
    during: Interval
    who: tuple[str, ...] = ()
    limb: str = ""


def collisions_of(exact: ExactWorld, measured: Measured, found: Findings) -> list[Collision]:
    """Collisions in order of time. What is unproven right beside one belongs to it."""
    by_name: dict[Pair, list[int]] = {}
    for k in found.collide:
        by_name.setdefault(exact.pairs[k], []).append(k)
    out = []
    for pair, numbers in by_name.items():
        pieces = [p for k in numbers for p in found.collide[k]]
        who, limb = who_and_limb(exact, numbers[0])
        for during in merged(pieces, LOCAL):
            depth, at, points = _deepest(measured, numbers, during)
            out.append(Collision(during, who, limb, pair, depth, at, points))
    return sorted(out, key=lambda c: (c.during, c.pair))


def unproven_of(exact: ExactWorld, found: Findings) -> list[Unproven]:
    """What could not be proven, but for what is beside a collision of the same pair."""
    out = []
    for k, pieces in found.unproven.items():
        hits = merged(found.collide.get(k, []), LOCAL)
        for begin, end in merged(pieces, LOCAL):
            if not any(begin <= b + LOCAL and a - LOCAL <= end for a, b in hits):
                out.append(Unproven(exact.pairs[k], (begin, end), *who_and_limb(exact, k)))
    return sorted(out, key=lambda u: (u.during, u.pair))


def touches_of(
    proof: Proof, measured: Measured, soles: dict[int, list[tuple[float, float]]], collisions: Iterable[Collision]
) -> list[Allowed]:
    """Touches that contacts allow. `soles` are units with times and heights of what stands on the floor."""
    exact = proof.exact
    found: dict[tuple[int, str], list[tuple[float, float]]] = {}
    hits: dict[Pair, list[Interval]] = {}
    for c in collisions:
        hits.setdefault(c.pair, []).append(c.during)

    def note(k: int, t: float, distance: float) -> None:
        pair = exact.pairs[k]
        if not any(a <= t <= b for a, b in hits.get(pair, ())):
            now = (c for c in exact.contacts.get(k, ()) if c.during[0] <= t <= c.during[1])
            why = max(now, key=lambda c: c.depth, default=None)
            if why is not None:
                found.setdefault((k, why.why), []).append((t, -distance))

    for unit, samples in soles.items():
        for t, height in samples:
            note(proof.units.pairs[unit][0], t, height)
    for k, t, distance in measured.overlaps():
        if exact.parts[int(exact.index[k, 1])].kind != "floor":
            note(k, t, distance)
    return [a for (k, why), samples in found.items() for a in _runs(exact, k, samples, why)]


def own_touches(proof: Proof, measured: Measured, own: list[int]) -> list[Allowed]:
    """Touches of recorded clips with themselves and the floor, as deep as they are in the clip."""
    exact, knots = proof.exact, proof.stage.knots
    every = max(int(np.floor(len(knots) / max((knots[-1] - knots[0]) * _LOOKS, 1.0))), 1)
    units = units_of(exact, own)
    near = proof.touching(units, knots[::every])
    sure = {(units.pairs[u][0], t): d for u, t, d in near if units.parts[u, 1] < 0}
    rest = [(units.pairs[u][0], t) for u, t, _ in near if units.parts[u, 1] >= 0]
    measured.measure((k, t, 1e-6) for k, t in rest)
    for k, t in rest:
        distance = measured[k, t][0]
        sure[k, t] = 0.0 if distance is None else distance
    found: dict[int, list[tuple[float, float]]] = {}
    for (k, t), distance in sure.items():
        if not distance > 0.0:
            found.setdefault(k, []).append((t, -distance))
    return [a for k, samples in found.items() for a in _runs(exact, k, samples, "in the clip")]


def merged(pieces: Iterable[Interval], gap: float) -> list[Interval]:
    """Intervals joined where they are no more than a gap apart."""
    out: list[Interval] = []
    for begin, end in sorted(pieces):
        if out and begin <= out[-1][1] + gap:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((begin, end))
    return out


def who_and_limb(exact: ExactWorld, k: int) -> tuple[tuple[str, ...], str]:
    """The characters in a pair, and the limb in it: an arm or leg of the first rather than their trunk."""
    bodies = [p for p in (exact.parts[int(i)] for i in exact.index[k]) if p.kind == "body"]
    who = tuple(dict.fromkeys(p.owner for p in bodies))
    limbs = [limb_of(exact, p) for p in bodies if p.owner == who[0]]
    return who, min(limbs, key=lambda limb: not limb.endswith(("arm", "leg")), default="")


def limb_of(exact: ExactWorld, part: Part) -> str:
    """The chain that a part of a body belongs to, 'right_arm'; its own name where it is in none."""
    body: Body = exact.world.body(part.owner)
    side = hand_of(part.role)
    if side and f"{side}_arm" in body.chains:
        return f"{side}_arm"
    joint = part.joint
    while joint >= 0:
        for name, chain in body.chains.items():
            if joint in chain.joints or joint in chain.lead:
                return name
        joint = int(body.parents[joint])
    return part.role or part.name


def is_own(exact: ExactWorld, k: int, recorded: set[str]) -> bool:
    """Whether a pair is of one of these characters with itself or with the floor."""
    a, b = (exact.parts[int(i)] for i in exact.index[k])
    return a.kind == "body" and a.owner in recorded and (b.owner == a.owner or b.name == FLOOR)


def _deepest(measured: Measured, numbers: list[int], during: Interval) -> tuple[float | None, float, Array | None]:
    """Depth, time and points of the deepest overlap that was measured in an interval."""
    best: tuple[float | None, float, Array | None] = (None, during[0], None)
    for k in numbers:
        for t, (distance, points) in measured.of_pair(k).items():
            depth = 0.0 if distance is None else -distance
            known = distance is not None and depth >= 0.0 and during[0] <= t <= during[1]
            if known and (best[0] is None or depth > best[0]):
                best = (depth, t, points)
    return best


def _runs(exact: ExactWorld, k: int, samples: list[tuple[float, float]], why: str) -> list[Allowed]:
    depth: dict[float, float] = {}
    for t, d in samples:
        depth[t] = max(depth.get(t, 0.0), d)
    runs = merged([(t, t) for t in depth], _JOIN)
    who, limb = who_and_limb(exact, k)
    deepest = [max(d for t, d in depth.items() if a <= t <= b) for a, b in runs]
    return [Allowed(exact.pairs[k], d, during, why, who, limb) for d, during in zip(deepest, runs, strict=True)]
