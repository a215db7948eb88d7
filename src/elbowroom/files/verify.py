"""A written file checked again, from its contents alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.errors import BadFile
from elbowroom.files.content import CONTENT, ProofClaim, changes, contacts_of, glb_content, npz_content
from elbowroom.files.glb_container import Container, own_extras
from elbowroom.files.npz_arrays import NpzArrays
from elbowroom.files.open import open_file
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
    proof: ProofClaim
    samples: int
    violations: tuple[Violation, ...]
    certificate: Certificate
    edits: tuple[Edit, ...] = ()
    edits_off: float = 0.0  # metres, or of a quaternion's numbers, by which base and edits are not the motion
    changed: tuple[str, ...] = ()  # parts that are not as they were written
    disagreements: tuple[str, ...] = ()  # sentences on what the file stores twice, and differently

    @property
    def whole(self) -> bool:
        """Return whether the file's base and edits reproduce its motion."""
        return self.edits_off <= _ROUNDING

    @property
    def good(self) -> bool:
        """Return whether the file claims to be proven, is as it was written, and both checks confirm it."""
        unchanged = self.whole and not self.changed and not self.disagreements
        return self.proof.status == "proven" and not self.violations and self.certificate.free and unchanged

    @property
    def caps_changed(self) -> dict[str, tuple[float, float]]:
        """Caps of the file that differ from the defaults, by name: theirs and the default, metres."""
        usual, own = Caps().facts(), caps_of(self.proof).facts()
        return {name: (own[name], usual[name]) for name in usual if own[name] != usual[name]}

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
            "changed": list(self.changed),
            "disagreements": list(self.disagreements),
            "caps_changed_m": {name: list(both) for name, both in self.caps_changed.items()},
            **self.certificate.facts(),
        }


def read_played(path: str | Path) -> tuple[PlayedWorld, ProofClaim]:
    """A world exactly as a GLB or NPZ file plays it, and the proof that the file carries."""
    path = _provable(path)
    if path.suffix.lower() == ".npz":
        from elbowroom.files.npz import read_played_npz

        return read_played_npz(path)
    from elbowroom.files.glb_story import played_story, proof_in
    from elbowroom.files.open import open_glb

    opened, story = open_glb(path)
    return played_story(opened.world(), story), proof_in(story)


def _provable(path: str | Path) -> Path:
    if Path(path).suffix.lower() not in (".npz", ".glb"):
        raise BadFile(path, "has no proof", would_do="write .npz or .glb: both can be verified")
    return Path(path)


def changed_since(path: str | Path) -> tuple[str, ...]:
    """Every part of a file that is not as it was when elbowroom wrote it."""
    path = _provable(path)
    if path.suffix.lower() == ".npz":
        with NpzArrays(path) as file:
            arrays = {key: array for key in file.keys if (array := file.any(key)) is not None}
        evidence = json.loads(str(arrays.get("evidence", "{}")))
        evidence = evidence if isinstance(evidence, dict) else {}
        return changes(evidence.get(CONTENT), npz_content(arrays, evidence))
    container = Container(path)
    proof = own_extras(container).get("proof")
    return changes(proof.get(CONTENT) if isinstance(proof, dict) else None, glb_content(container))


def _disagreements(path: Path, world: PlayedWorld, proof: ProofClaim) -> tuple[str, ...]:
    """Sentences on what a file stores twice, and differently."""
    out = []
    for key, own in (("fps", world.fps), ("frames", len(world.times)), ("floor_m", world.floor)):
        said = proof.facts.get(key, own)
        same = (
            said == own
            if said is None or own is None
            else isinstance(said, int | float) and abs(said - own) < _ROUNDING
        )
        if not same:
            out.append(f"the evidence says {key} {said}, the file plays {own}")
    if path.suffix.lower() != ".npz":
        return tuple(out)
    with NpzArrays(path) as file:
        for name, motion in world.characters.items():
            key = f"char/{name}/T_world_joint"
            T = motion.body.transforms(*motion.sample(world.times))
            if key in file and (off := float(np.abs(file.get(key, 4, T.shape) - T).max())) > _ROUNDING:
                out.append(f"T_world_joint of '{name}' differs from its rotations by up to {off:.4f}")
    return tuple(out)


def verify(path: str | Path, progress: Callable[[float], None] | None = None) -> Verified:
    """Check a written file again: its content against its digests, its playback against its allowances, by samples and
    by proof.

    Only the file's allowances count, except those deeper than its own caps.
    """
    on, proof = read_played(path)
    path = Path(path)
    if not on.characters and not on.objects:
        raise BadFile(path, "contains nothing that moves")
    world = _allowing(on, proof)
    times = np.arange(on.times[0], on.times[-1] + 0.5 / RATE, 1.0 / RATE)
    violations = _sampled(world, np.minimum(times, on.times[-1]), progress)
    certificate = certify(world, own_contacts=False, standing=False)
    layers = open_file(path).edited
    off, differ = layers.off(on), _disagreements(path, on, proof)
    return Verified(path, proof, len(times), violations, certificate, layers.edits, off, changed_since(path), differ)


def proven_again(path: str | Path) -> bool:
    """Return whether a file as written is free in continuous time, with the contacts that it lists."""
    return certify(_allowing(*read_played(path)), own_contacts=False, standing=False, clearance=False).free


def _allowing(on: PlayedWorld, proof: ProofClaim) -> PlayedWorld:
    """A world with the contacts and caps of its proof, and no others."""
    return replace(on, contacts=contacts_of(proof.allowed), caps=caps_of(proof), notes=())


def caps_of(proof: ProofClaim) -> Caps:
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
