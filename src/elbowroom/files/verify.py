"""A written file checked again, from its contents alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.errors import BadFile
from elbowroom.files.open import open_file
from elbowroom.files.proof import Proof, contacts_of
from elbowroom.geometry.rotations import Array
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.contacts import Caps
from elbowroom.world.edit import Edit
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import Pair
from elbowroom.world.played import PlayedWorld

# Samples a second.
RATE = 1000.0
# Metres: a depth that is measured otherwise than the proof did may differ by as much.
_SLACK = 1e-4
# Metres, or of a quaternion's numbers: GLB has numbers of 32 bits, and frames at another rate than planned lie between.
_ROUNDING = 1e-4


@dataclass(frozen=True)
class Violation:
    """A pair that overlaps deeper than the file allows, at a time in seconds; the depth is None where it has none."""

    pair: Pair
    at_s: float
    depth_m: float | None
    allowed_m: float


@dataclass(frozen=True, eq=False)
class Verified:
    """Findings on a written file: by dense samples, and by a proof in continuous time."""

    path: Path
    proof: Proof
    samples: int
    violations: tuple[Violation, ...]
    certificate: Certificate
    edits: tuple[Edit, ...] = ()
    edits_off: float = 0.0  # metres, or of a quaternion's numbers, by which base and edits are not the motion

    @property
    def whole(self) -> bool:
        """Return whether the file's base and edits reproduce its motion."""
        return self.edits_off <= _ROUNDING

    @property
    def good(self) -> bool:
        """Return whether the file claims to be proven, both checks agree, and its edits reproduce the motion."""
        return self.proof.status == "proven" and not self.violations and self.certificate.free and self.whole

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        worst = [
            {"pair": list(v.pair), "at_s": v.at_s, "depth_m": v.depth_m, "allowed_m": v.allowed_m}
            for v in self.violations
        ]
        return {
            "file": str(self.path),
            "verified": self.good,
            "says": {"status": self.proof.status, "why": self.proof.why, **self.proof.facts},
            "samples": self.samples,
            "violations": worst,
            "edits": [edit.facts() for edit in self.edits],
            "edits_off": self.edits_off,
            **self.certificate.facts(),
        }


def read_played(path: str | Path) -> tuple[PlayedWorld, Proof]:
    """A world exactly as a GLB or NPZ file plays it, and the proof that the file carries."""
    path = Path(path)
    if path.suffix.lower() == ".npz":
        from elbowroom.files.npz import read_played_npz

        return read_played_npz(path)
    if path.suffix.lower() != ".glb":
        raise BadFile(path, "has no proof", would_do="write .npz or .glb: both can be verified")
    from elbowroom.files.glb_story import played_story, proof_in
    from elbowroom.files.open import open_glb

    opened, story = open_glb(path)
    return played_story(opened.world(), story), proof_in(story)


def verify(path: str | Path, progress: Callable[[float], None] | None = None) -> Verified:
    """Check a written file again: its playback against its allowances, by samples and by proof.

    Only the file's allowances count, except those deeper than its own caps.
    """
    on, proof = read_played(path)
    if not on.characters and not on.objects:
        raise BadFile(path, "contains nothing that moves")
    world = replace(on, contacts=contacts_of(proof.allowed), caps=_caps(proof), notes=())
    times = np.arange(on.times[0], on.times[-1] + 0.5 / RATE, 1.0 / RATE)
    violations = _sampled(world, np.minimum(times, on.times[-1]), progress)
    certificate = certify(world, own_contacts=False, standing=False)
    layers = open_file(path).edited
    return Verified(Path(path), proof, len(times), violations, certificate, layers.edits, layers.off(on))


def _caps(proof: Proof) -> Caps:
    """Caps that a file was made with, as printed by `elbowroom verify`."""
    caps = proof.facts.get("caps_m")
    known = Caps()
    if not isinstance(caps, dict):
        return known
    return known.with_changes(
        {k: float(v) for k, v in caps.items() if k in known.facts() and isinstance(v, int | float)}
    )


def _sampled(world: PlayedWorld, times: Array, progress: Callable[[float], None] | None) -> tuple[Violation, ...]:
    """The worst violation of each pair at some times."""
    exact = ExactWorld(world)
    worst: dict[Pair, Violation] = {}
    for first in range(0, len(times), 256):
        record = world.record(times[first : first + 256])
        for i in range(len(record)):
            exact.place_snapshot(record[i])
            for k in exact.near(0.0).tolist():
                if exact.hit(k):
                    _note(exact, k, worst)
        if progress is not None:
            progress(min(first + 256, len(times)) / len(times))
    return tuple(sorted(worst.values(), key=lambda v: -np.inf if v.depth_m is None else -v.depth_m))


def _note(exact: ExactWorld, k: int, worst: dict[Pair, Violation]) -> None:
    """Note a pair that overlaps as placed where it may not, or deeper than it may."""
    now = [c for c in exact.contacts.get(k, ()) if c.during[0] - 1e-6 <= exact.time <= c.during[1] + 1e-6]
    allowed = max((c.depth for c in now), default=0.0)
    for contact in now:
        if contact.shift is not None and not exact.shifted_distance(k, np.array(contact.shift), 1e-3).hit:
            return
        if contact.shift is None and exact.by_separation[k] and exact.separation(k, contact.depth + _SLACK) < np.inf:
            return
    d = exact.distance(k)
    depth = None if d.value is None else -d.value
    bounded = not (exact.by_shift[k] or exact.by_separation[k])
    if now and bounded and depth is not None and depth <= allowed + _SLACK:
        return
    before = worst.get(d.pair)
    if before is None or (depth or 0.0) > (before.depth_m or 0.0):
        worst[d.pair] = Violation(d.pair, exact.time, depth, allowed)
