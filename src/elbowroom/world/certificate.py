"""Certificate of a motion: proven collision-free in continuous time, or its collisions and unproven intervals.

It is about what is written: a world on the frames of a file (`played`), and how files are played back between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.world.allowances import RECORDED, Changed, allow, recorded_people, supports
from elbowroom.world.certificate_clearance import Clearance, of_others, overlaps_of, smallest_clearance
from elbowroom.world.certificate_exact import Measured, decide, spans_of
from elbowroom.world.certificate_findings import Allowed, Collision, Finding, Unproven, collisions_of, unproven_of
from elbowroom.world.certificate_proof import Items, Proof
from elbowroom.world.certificate_shifts import excuse
from elbowroom.world.certificate_units import ProofStage, units_of
from elbowroom.world.evidence import Evidence, evidence_of
from elbowroom.world.exact import ExactWorld
from elbowroom.world.own_pairs import SOFT, of_one_body
from elbowroom.world.pairs import FLOOR, Pair
from elbowroom.world.played import played
from elbowroom.world.skin_excess import skin_excess
from elbowroom.world.world import World

# Distances up to which clearances are searched, metres, first and second.
_NEAR, _FAR = 0.03, 0.5


@dataclass(frozen=True, eq=False)
class Certificate:
    """Certificate of a motion.

    `free`: proven that nothing collides at any time, between frames too. `continuous`: nothing was too near to decide.
    `clearance_m` is the smallest distance of pairs that may not touch, at `at_s`, with the nearest `points` (2, 3);
    negative where they collide. No distance is below `at_least_m` at any time. `frames` at `fps` are those of the first
    character. All of it is about the seconds `during`, where given. Where the nearest pair is of one body, or with the
    floor, `others` is the same for different bodies and objects.
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
    evidence: Evidence = field(default_factory=Evidence)
    digest: str = ""

    @property
    def only_unproven(self) -> bool:
        """Return whether no collision was found, but something is too near to be proven."""
        return not self.free and not self.collisions

    @property
    def hits(self) -> list[Finding]:
        """Collisions, then what was not proven apart."""
        return [*self.collisions, *self.unproven]

    @property
    def touches(self) -> dict[str, float]:
        """Deepest allowed overlap, metres, with the 'scene' and others, the 'floor', and of one body with its 'self'.

        Absent kinds do not touch.
        """
        out: dict[str, float] = {}
        for a in self.allowed:
            out[_kind_of(a)] = max(out.get(_kind_of(a), 0.0), a.depth_m)
        return out

    @property
    def summary(self) -> str:
        """Findings in one sentence, with the allowed contacts with the scene, the floor and itself."""
        if self.collisions:
            return f"{len(self.collisions)} collision{'s' * (len(self.collisions) > 1)}"
        if self.unproven:
            return "no collision found, but too close to be proven"
        deep = self.touches
        contacts = f", contacts up to {_mm(deep['scene'])}" if "scene" in deep else ""
        said = [f"no collision with the scene{contacts}" if self.evidence.scene else "no obstacles in the scene"]
        if self.evidence.floor is not None:
            sunk = f" as recorded up to {_mm(deep['floor'])}" if self._deepest("floor", RECORDED) is not None else ""
            sunk = sunk or f" up to {_mm(deep.get('floor', 0.0))}"
            said.append(f"in the floor{sunk}" if "floor" in deep else "above the floor")
        asked = self._deepest("self")
        said += [f"self-contact up to {_mm(asked)}"] if asked is not None else []
        said += self.exceptions if "self" in deep else ["no self-collision", *self.exceptions]
        if self.evidence.skin is not None and not self.evidence.skin.parts:
            said.append(str(self.evidence.skin))
        return "; ".join(said)

    @property
    def exceptions(self) -> list[str]:
        """Everything beyond planned contacts that a proof excuses, with its bound: bodies in themselves, their skin."""
        named = {RECORDED: "self-contact as recorded", SOFT: "soft tissue"}
        depths = {text: self._deepest("self", why) for why, text in named.items()}
        out = [f"{text} up to {_mm(deep)}" for text, deep in depths.items() if deep is not None]
        out += [f"'{e.pair.a}' in '{e.pair.b}', which are joined, is not checked" for e in self.evidence.excused]
        skin = self.evidence.skin
        return [*out, str(skin)] if skin is not None and skin.parts else out

    def _deepest(self, what: str, why: str | None = None) -> float | None:
        """Deepest allowed overlap, metres, with the 'scene', the 'floor' or one's 'self', for one reason, or for those
        that have no name of their own."""
        own = (a for a in self.allowed if _kind_of(a) == what)
        return max(
            (a.depth_m for a in own if (a.why not in (RECORDED, SOFT) if why is None else a.why == why)), default=None
        )

    @property
    def nearest(self) -> Clearance:
        """Minimum distance of different bodies if there is one, else of all pairs."""
        if self.others is not None and self.others.value is not None:
            return self.others
        return Clearance(self.clearance_m, self.at_least_m, self.at_s, self.pair, self.points)

    def unmeasured(self) -> Certificate:
        """Copy without clearance."""
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
                "summary": self.summary,
                "touches_m": self.touches,
                "allowed": [a.facts() for a in self.allowed],
                "unproven": [{"pair": list(u.pair), "during": list(u.during)} for u in self.unproven],
                **self.evidence.facts(),
            },
        }


def certify(
    world: World,
    fps: float | None = None,
    *,
    tolerance: float = 0.0005,
    own_contacts: bool = True,
    standing: bool = True,
    changed: Sequence[Changed] = (),
    during: tuple[float, float] | None = None,
    clearance: bool = True,
    contacts: Literal["always", "if free", "never"] = "always",
) -> Certificate:
    """Prove that a motion is free in continuous time, or refuse to.

    The world is taken as a file of it would be played back, at `fps` frames per second, by default those of its first
    clip. Bisection ends where parts travel less than `tolerance` metres, or a few halvings below it where that promises
    a proof. With `own_contacts`, clips that were read from files may touch themselves and the floor up to the world's
    caps, except for what was `changed` of them, which needs contacts of the world. With `during`, only that
    interval of seconds is checked; without `clearance`, the minimum clearance is not measured, and `contacts` says
    whether the depth of allowed overlaps is: what is left out takes no time.
    """
    if not (np.isfinite(tolerance) and tolerance > 0.0):
        raise BadValue(f"the tolerance must be a positive number of metres, not {tolerance}.")
    base = played(world, fps)
    staged = replace(base, contacts=(*base.contacts, *supports(base))) if standing else base
    stage = ProofStage(staged, during, [t for c in changed for t in c.during])
    exact = ExactWorld(staged)
    notes = allow(exact, recorded_people(base) if own_contacts else set(), changed)
    proof = Proof(stage, exact, units_of(exact, np.arange(len(exact.index))))
    measured = Measured(proof)
    left, close, touching = proof.first_pass(_NEAR if clearance else 0.0)
    spans = spans_of(proof, proof.settle(left))
    found = decide(measured, spans, tolerance)
    allowed = excuse(proof, spans, found, tolerance)
    collisions, unproven = collisions_of(exact, measured, found), unproven_of(exact, found)
    free = not collisions and not unproven
    if contacts == "always" or (free and contacts == "if free"):
        touches = [*spans_of(proof, touching), *(s for s in spans if s.depth > 0.0 and _on_static(proof, s.pair))]
        allowed += overlaps_of(proof, measured, touches, collisions)
    nearest, others = (Clearance() if free else _worst(collisions)), None
    if free and clearance:
        nearest, others = _clearance(proof, measured, close, tolerance)
    skin = skin_excess(exact, base.times) if contacts == "always" and during is None else None
    return Certificate(
        free,
        not unproven,
        nearest.value,
        nearest.at_least,
        nearest.at,
        nearest.pair,
        nearest.points,
        tuple(sorted(allowed, key=lambda a: (a.during, a.pair))),
        tuple(collisions),
        tuple(unproven),
        (*notes, *_empty(base)),
        len(base.times),
        base.fps,
        None if during is None else (float(stage.knots[0]), float(stage.knots[-1])),
        others,
        evidence_of(exact, skin),
        base.digest,
    )


def _kind_of(a: Allowed) -> str:
    own = len(a.who) == 1 and all(name.startswith(f"{a.who[0]}.") for name in a.pair)
    return "floor" if FLOOR in a.pair else "self" if own else "scene"


def _mm(metres: float) -> str:
    return f"{1000 * metres:.1f} mm"


def _on_static(proof: Proof, pair: int) -> bool:
    return proof.exact.parts[int(proof.exact.index[pair, 1])].kind == "static"


def _clearance(proof: Proof, measured: Measured, close: Items, tolerance: float) -> tuple[Clearance, Clearance | None]:
    """Minimum clearance; if it is of one body or with the floor, also that of different bodies."""
    near = _NEAR
    found = smallest_clearance(proof, measured, close, near, tolerance)
    if found.value is None or found.value > near:
        near, (_, close, _) = _FAR, proof.first_pass(_FAR)
        found = smallest_clearance(proof, measured, close, near, tolerance)
    if found.pair is None or found.at is None:
        return found, None
    if FLOOR not in found.pair and not of_one_body(proof.exact.world, *found.pair, found.at):
        return found, None
    # informative only: half the accuracy takes half of the time
    return found, smallest_clearance(proof, measured, of_others(proof, close), near, 2.0 * tolerance)


def _worst(collisions: list[Collision]) -> Clearance:
    """The deepest collision; all None without one."""
    if not collisions:
        return Clearance()
    deepest = max(collisions, key=lambda c: c.depth_m or 0.0)
    depth = None if deepest.depth_m is None else -deepest.depth_m
    return Clearance(depth, depth, deepest.at_s, deepest.pair, deepest.points)


def _empty(world: World) -> list[str]:
    """Note on the scope of a proof in a world without obstacles."""
    if world.triangles or not world.characters:
        return []
    met = [] if world.floor is None else ["with the floor"]
    met += ["of a body with itself"] + (["of bodies with each other"] if len(world.characters) > 1 else [])
    return [f"there are no obstacles in the scene; only collisions {' and '.join(met)} were checked."]
