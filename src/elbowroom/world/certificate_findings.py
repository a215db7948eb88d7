"""Findings of a proof, by names: collisions, allowed contacts, and unproven intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from elbowroom.character.body import Body
from elbowroom.geometry.rotations import Array
from elbowroom.world.certificate_exact import LOCAL, Findings, Measured
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import Pair, Part, hand_of
from elbowroom.world.paths import Interval, merged


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
    """A pair that touches and may, no deeper than `depth_m` at any time of the interval, and why it may.

    `shift`, metres, is what proves it of two meshes: the first, shifted by it, is clear of the second.
    """

    pair: Pair
    depth_m: float
    during: Interval
    why: str
    who: tuple[str, ...] = ()
    limb: str = ""
    shift: tuple[float, float, float] | None = None

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON and files."""
        shift = {} if self.shift is None else {"shift_m": list(self.shift)}
        return {"pair": list(self.pair), "depth_m": self.depth_m, "during": list(self.during), "why": self.why} | shift


@dataclass(frozen=True)
class Unproven:
    """Pair that comes too close for the tolerance to decide whether it touches."""

    pair: Pair
    during: Interval
    who: tuple[str, ...] = ()
    limb: str = ""


# What a proof has found or left open.
Finding = Collision | Unproven


def collisions_of(exact: ExactWorld, measured: Measured, found: Findings) -> list[Collision]:
    """Collisions in order of time. An unproven interval right beside one belongs to it."""
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
    """Unproven intervals, without those beside a collision of the same pair."""
    out = []
    for k, pieces in found.unproven.items():
        hits = merged(found.collide.get(k, []), LOCAL)
        for begin, end in merged(pieces, LOCAL):
            if not any(begin <= b + LOCAL and a - LOCAL <= end for a, b in hits):
                out.append(Unproven(exact.pairs[k], (begin, end), *who_and_limb(exact, k)))
    return sorted(out, key=lambda u: (u.during, u.pair))


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
