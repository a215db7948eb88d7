"""Certificate of a motion: proven free in continuous time, or where it collides, or what could not be proven.

It speaks of what is written: frames at a rate, joints slerped and the root lerped in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.world.belonging import of_one_body
from elbowroom.world.certificate_clearance import Clearance, of_others, smallest_clearance
from elbowroom.world.certificate_exact import Measured, decide, spans_of
from elbowroom.world.certificate_findings import (
    Allowed,
    Collision,
    Unproven,
    collisions_of,
    is_own,
    merged,
    own_touches,
    touches_of,
    unproven_of,
)
from elbowroom.world.certificate_proof import Items, Proof
from elbowroom.world.certificate_stage import DENSE, Stage
from elbowroom.world.certificate_units import units_of
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import FLOOR, Pair, parts_of
from elbowroom.world.world import World

# How deep soles may press into the floor that they stand on, metres: real ones give way by as much.
SUPPORT = 0.01
# Clearances are looked for up to this, metres, then up to that.
_NEAR, _FAR = 0.03, 0.5


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proven of a motion.

    `free`: nothing collides at any time, between frames too. `continuous`: that is a proof; not so where a path could
    only be sampled. `clearance_m` is the smallest distance of pairs that may not touch, at `at_s`, with the nearest
    `points` (2, 3); negative where they collide. No distance is below `at_least_m` at any time. `frames` at `fps` a
    second are those of the first character. All of that is said of the seconds `during` alone, where they are given.
    Where the nearest pair is of one body, or with the floor, `others` is the same for different bodies and things.
    """

    free: bool
    continuous: bool
    clearance_m: float | None
    at_least_m: float | None
    at_s: float | None
    pair: Pair | None
    points: Array | None
    allowed: tuple[Allowed, ...] = ()
    collisions: tuple[Collision, ...] = ()
    unproven: tuple[Unproven, ...] = ()
    notes: tuple[str, ...] = ()
    frames: int = 0
    fps: float | None = None
    during: tuple[float, float] | None = None
    others: Clearance | None = None

    @property
    def nearest(self) -> Clearance:
        """The smallest distance of different bodies and things where there is one, else of all pairs."""
        if self.others is not None and self.others.value is not None:
            return self.others
        return Clearance(self.clearance_m, self.at_least_m, self.at_s, self.pair, self.points)

    def unmeasured(self) -> Certificate:
        """The same, with how near things come left open."""
        return replace(self, clearance_m=None, at_least_m=None, at_s=None, pair=None, points=None, others=None)

    def facts(self) -> dict[str, Any]:
        """Collisions and certificate as plain data for JSON."""
        return {
            "collisions": [c.facts() for c in self.collisions],
            "certificate": {
                "free": self.free,
                "continuous": self.continuous,
                "during": None if self.during is None else list(self.during),
                "clearance_m": self.clearance_m,
                "at_least_m": self.at_least_m,
                "at_s": self.at_s,
                "pair": None if self.pair is None else list(self.pair),
                "points": None if self.points is None else self.points.tolist(),
                "allowed": [
                    {"pair": list(a.pair), "depth_m": a.depth_m, "during": list(a.during), "why": a.why}
                    for a in self.allowed
                ],
                "unproven": [{"pair": list(u.pair), "during": list(u.during)} for u in self.unproven],
            },
        }


@dataclass(frozen=True)
class Changed:
    """What no longer is as it was recorded: parts of a character that joints move, during an interval of seconds."""

    who: str
    joints: tuple[int, ...]
    during: tuple[float, float]


def certify(
    world: World,
    fps: float | None = None,
    *,
    tolerance: float = 0.0005,
    own_contacts: bool = True,
    changed: Sequence[Changed] = (),
    during: tuple[float, float] | None = None,
    clearance: bool = True,
) -> Certificate:
    """Prove that a motion is free in continuous time, or refuse to.

    Motions are taken as they would be written at `fps` frames a second; by default clips keep their rate. Bisection
    ends where parts travel less than `tolerance` metres. With `own_contacts`, clips that were read from files may touch
    themselves and the floor as deep as they do; not so what was `changed` of them, which counts as far as contacts
    of the world do not allow it. With `during`, only that interval of seconds is looked at;
    without `clearance`, how far apart things stay is left open, which is quicker.
    """
    if not (np.isfinite(tolerance) and tolerance > 0.0):
        raise BadValue(f"the tolerance is a positive number of metres, not {tolerance}.")
    stage = Stage(replace(world, contacts=(*world.contacts, *supports(world))), fps, during)
    exact = ExactWorld(stage.world)
    recorded = {n for n, m in world.characters.items() if own_contacts and isinstance(m, Clip) and m.source.format}
    touching = [k for k in range(len(exact.index)) if is_own(exact, k, recorded)] if recorded else []
    anew = _counting(exact, touching, changed)
    exact.off.update({k: (*exact.off.get(k, ()), *_outside(spans)) for k, spans in anew.items()})
    own = [k for k in touching if k not in anew]
    proof = Proof(stage, exact, units_of(exact, np.delete(np.arange(len(exact.index)), own)))
    measured = Measured(proof)
    left, close, soles = proof.first_pass(_NEAR if clearance else 0.0)
    found = decide(measured, spans_of(proof, proof.settle(left)), tolerance)
    collisions, unproven = collisions_of(exact, measured, found), unproven_of(exact, found)
    allowed = touches_of(proof, measured, soles, collisions)
    if touching:
        allowed += own_touches(proof, measured, touching)
    free = not collisions and not unproven
    nearest, others = (Clearance() if free else _worst(collisions)), None
    if free and clearance:
        nearest, others = _clearance(proof, measured, close, tolerance)
    motion = next((m for m in stage.world.characters.values() if isinstance(m, Clip)), None)
    return Certificate(
        free,
        not (stage.sampled or stage.jumps or unproven),
        nearest.value,
        nearest.at_least,
        nearest.at,
        nearest.pair,
        nearest.points,
        tuple(sorted(allowed, key=lambda a: (a.during, a.pair))),
        tuple(collisions),
        tuple(unproven),
        _notes(stage),
        0 if motion is None else len(motion),
        None if motion is None else motion.fps,
        None if during is None else (float(stage.knots[0]), float(stage.knots[-1])),
        others,
    )


def _counting(
    exact: ExactWorld, own: Sequence[int], changed: Sequence[Changed]
) -> dict[int, list[tuple[float, float]]]:
    """Own pairs of a clip, by number, that count during some intervals."""
    found: dict[int, list[tuple[float, float]]] = {}
    for change in changed:
        moved = {j for top in change.joints for j in exact.world.body(change.who).subtree(top)}
        for k in own:
            parts = [exact.parts[int(i)] for i in exact.index[k]]
            if any(p.kind == "body" and p.owner == change.who and p.joint in moved for p in parts):
                found.setdefault(k, []).append(change.during)
    return found


def _outside(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The time before, between and after intervals."""
    inside = merged(spans, 0.0)
    begins, ends = [b for b, _ in inside], [e for _, e in inside]
    return list(zip([-np.inf, *ends], [*begins, np.inf], strict=True))


def supports(world: World) -> list[Contact]:
    """People stand on the floor: soles and toes may press into it a little."""
    feet = [p.name for p in parts_of(world) if p.kind == "body" and p.role.endswith(("_foot", "_toes"))]
    return [Contact(name, FLOOR, (-np.inf, np.inf), "support", SUPPORT, "stands on the floor") for name in feet]


def _clearance(proof: Proof, measured: Measured, close: Items, tolerance: float) -> tuple[Clearance, Clearance | None]:
    """The smallest clearance; where it is of one body or with the floor, that of different bodies and things, too."""
    near = _NEAR
    found = smallest_clearance(proof, measured, close, near, tolerance)
    if found.value is None or found.value > near:
        near, (_, close, _) = _FAR, proof.first_pass(_FAR)
        found = smallest_clearance(proof, measured, close, near, tolerance)
    if found.pair is None or found.at is None:
        return found, None
    if FLOOR not in found.pair and not of_one_body(proof.exact.world, *found.pair, found.at):
        return found, None
    # it is told, and proves nothing: half as close a look takes half of the time
    return found, smallest_clearance(proof, measured, of_others(proof, close), near, 2.0 * tolerance)


def _worst(collisions: list[Collision]) -> Clearance:
    """The deepest collision; nothing is known where there is none."""
    if not collisions:
        return Clearance()
    deepest = max(collisions, key=lambda c: c.depth_m or 0.0)
    depth = None if deepest.depth_m is None else -deepest.depth_m
    return Clearance(depth, depth, deepest.at_s, deepest.pair, deepest.points)


def _notes(stage: Stage) -> tuple[str, ...]:
    sampled = [
        f"'{name}' follows a function, sampled {DENSE:g} times a second: between samples nothing is proven."
        for name in stage.sampled
    ]
    return (
        *sampled,
        *(f"'{name}' leaps into a hand at {t:g} s: nothing is proven of the leap." for name, t in stage.jumps),
        *_empty(stage.world),
    )


def _empty(world: World) -> list[str]:
    """What a proof is about where nothing stands around, in a sentence."""
    if world.triangles or not world.characters:
        return []
    met = [] if world.floor is None else ["with the floor"]
    met += ["of a body with itself"] + (["of bodies with each other"] if len(world.characters) > 1 else [])
    return [f"there is nothing to collide with in the scene; looked for were collisions {' and '.join(met)} alone."]
