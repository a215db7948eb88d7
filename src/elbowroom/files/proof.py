"""The proof that a file carries: what was allowed, excused, ignored or left out, with its bound, and what it was made
from.

`elbowroom verify` and `tools/verify_npz.py` check a file again by what it says of itself, so nothing that the proof
leans on may be missing here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import elbowroom
from elbowroom.world.certificate import Certificate
from elbowroom.world.certificate_findings import Allowed
from elbowroom.world.contacts import Contact
from elbowroom.world.evidence import Excused
from elbowroom.world.own_pairs import SOFT
from elbowroom.world.pairs import Pair
from elbowroom.world.played import PlayedWorld
from elbowroom.world.robots import file_names

# Bytes of an input that are hashed together.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class Proof:
    """Claim of a file on how free it is.

    `status` is 'proven', 'not free', 'not proven' (no collision, but something is too close to decide) or 'unchecked';
    `why` is the reason. `allowed` has every pair that may overlap, with a bound on its depth; for a file that is not
    proven, these are the contacts that it was made with.
    """

    status: str = "unchecked"
    why: str = ""
    allowed: tuple[Allowed, ...] = ()
    excused: tuple[Excused, ...] = ()
    ignored: tuple[Pair, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    def evidence(self) -> dict[str, Any]:
        """Everything that is not an array, as plain data for JSON."""
        return dict(json.loads(json.dumps({"status": self.status, "why": self.why, **self.facts}, allow_nan=False)))


def proof_of(
    world: PlayedWorld,
    certificate: Certificate | None = None,
    seed: int | None = None,
    inputs: Iterable[str | Path] = (),
) -> Proof:
    """The proof for a file of a world; a certificate of other frames is none."""
    facts: dict[str, Any] = {
        "version": elbowroom.__version__,
        "seed": seed,
        "inputs": [_hashed(Path(p)) for p in dict.fromkeys(inputs)],
        "fps": world.fps,
        "frames": len(world.times),
        "floor_m": world.floor,
        "notes": list(world.notes),
    }
    contacts = tuple(Allowed(Pair(c.who, c.on), c.depth, c.during, c.why, shift=c.shift) for c in world.contacts)
    if certificate is None:
        return Proof("unchecked", "written without a check", contacts, facts=facts)
    if certificate.digest != world.digest or certificate.during is not None:
        return Proof("unchecked", "the check was of other frames", contacts, facts=facts)
    names = file_names(world)

    def named(pair: Pair) -> Pair:
        return Pair(*(names.get(name, name) for name in pair))

    status = "proven" if certificate.free else "not proven" if certificate.only_unproven else "not free"
    allowed = tuple(Allowed(named(a.pair), a.depth_m, a.during, a.why, shift=a.shift) for a in certificate.allowed)
    left_out = certificate.evidence
    excused = tuple(dict.fromkeys(Excused(named(e.pair), e.during) for e in left_out.excused))
    ignored = tuple(dict.fromkeys(named(p) for p in left_out.ignored))
    why = certificate.summary
    facts |= {
        "clearance_m": certificate.clearance_m,
        "at_s": certificate.at_s,
        "pair": None if certificate.pair is None else list(certificate.pair),
        **{k: v for k, v in left_out.facts().items() if k not in ("ignored", "excused")},
    }
    return Proof(status, why, allowed, excused, tuple(p for p in ignored if p.a != p.b), facts)


def contacts_of(rows: Iterable[Allowed]) -> tuple[Contact, ...]:
    """Contacts of a world from the allowances of a file; caps bound what a file may claim of soft tissue, too."""
    return tuple(
        Contact(a.pair.a, a.pair.b, a.during, "tissue" if a.why == SOFT else "touch", a.depth_m, a.why, a.shift)
        for a in rows
    )


def _hashed(path: Path) -> dict[str, str]:
    """Name and SHA-256 of a file that a world was made from."""
    sha = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(_BLOCK):
                sha.update(block)
    except OSError:
        return {"name": path.name, "sha256": ""}
    return {"name": path.name, "sha256": sha.hexdigest()}
