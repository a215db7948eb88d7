"""Statements of a written file about itself: digests of its content by part, and the proof that it carries.

Digests are about numbers rather than bytes: a file that is compressed, or whose buffers are in another order, has the
same content. Looks do not count. A digest is no signature: it reveals changes, not forgeries. The proof states what was
allowed, excused, ignored or left out, with its bound, and what it was made from: `elbowroom verify` and
`tools/verify_npz.py` check a file again by what it says of itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import elbowroom
from elbowroom.files.edits import layer_names
from elbowroom.files.glb_container import Container, own_extras
from elbowroom.files.glb_nodes import Nodes
from elbowroom.world.certificate import Certificate
from elbowroom.world.certificate_findings import Allowed
from elbowroom.world.contacts import Contact
from elbowroom.world.evidence import Excused
from elbowroom.world.own_pairs import SOFT
from elbowroom.world.pairs import Pair
from elbowroom.world.played import PlayedWorld
from elbowroom.world.robots import file_names

# Key of the digests in the evidence of a file.
CONTENT = "content"
# Hexadecimal digits of a digest.
_DIGITS = 32

_GROUPS = {"char": "character", "object": "object", "static": "static mesh"}
_ARRAYS = {
    "times": "the frames",
    "fps": "the frames",
    "floor": "the floor",
    "allowed": "the allowed overlaps",
    "excused": "the excused pairs",
    "ignored": "the ignored pairs",
    "linked": "the linked objects",
    "hold": "the holds",
    "base": "the edits",
    "edit": "the edits",
}
_EXTRAS = {
    "fps": "the frames",
    "frames": "the frames",
    "start": "the frames",
    "floor": "the floor",
    "holds": "the holds",
    "contacts": "the contacts",
    "linked": "the linked objects",
    "layers": "the edits",
}
_LISTS = {
    "allowed": "the allowed overlaps",
    "excused": "the excused pairs",
    "ignored": "the ignored pairs",
    "caps_m": "the caps",
}
# What of a node decides where it is, and what of a mesh.
_PLACE = ("translation", "rotation", "scale", "matrix", "weights", "extensions")
_SHAPE = ("POSITION", "JOINTS_0", "WEIGHTS_0", "JOINTS_1", "WEIGHTS_1")


class _PartDigests:
    """Digests in the making, by part."""

    def __init__(self) -> None:
        self._of: dict[str, Any] = {}

    def add(self, part: str, key: str, value: object) -> None:
        """Feed an array, or plain data, under a key."""
        sha = self._of.setdefault(part, hashlib.sha256())
        if isinstance(value, np.ndarray):
            array = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
            sha.update(f"{key} {array.dtype.str} {array.shape}\n".encode())
            sha.update(array.tobytes())
        else:
            sha.update(f"{key} {json.dumps(_floats(value), sort_keys=True)}\n".encode())

    def digests(self) -> dict[str, str]:
        return {part: sha.hexdigest()[:_DIGITS] for part, sha in sorted(self._of.items())}


def npz_content(arrays: Mapping[str, NDArray], facts: Mapping[str, Any]) -> dict[str, str]:
    """Digests of the arrays of an NPZ file but 'evidence', and of the `facts` in that, by part."""
    parts = _PartDigests()
    for key in sorted(arrays):
        group, _, rest = key.partition("/")
        if key == "evidence":
            continue
        name = rest.partition("/")[0]
        known = _ARRAYS.get(group if rest else group.partition("_")[0], f"array '{key}'")
        parts.add(f"{_GROUPS[group]} '{name}'" if group in _GROUPS else known, key, arrays[key])
    _add_facts(parts, facts)
    return parts.digests()


def glb_content(container: Container) -> dict[str, str]:
    """Digests of a GLB by part: what hangs on each node at the top, and the extras that elbowroom stored."""
    parts = _PartDigests()
    nodes = Nodes(container)
    tops = _tops(nodes)
    for i in nodes.order:
        if i in tops:
            parts.add(tops[i], "node", _node(nodes, i))
            for key, array in _arrays(container, nodes, i):
                parts.add(tops[i], key, array)
    story = own_extras(container)
    layers = layer_names(story)
    for animation in container.json.parts("animations", "animation"):
        samplers = animation.parts("samplers", "sampler")
        for channel in animation.parts("channels", "channel"):
            target = channel.part("target")
            node = -1 if target is None else target.index("node", len(nodes.parts), "node", -1)
            sampler = samplers[channel.index("sampler", len(samplers), "sampler")]
            part = "the edits" if animation.text("name") in layers else tops.get(node, "the motion")
            path, name = "" if target is None else target.text("path"), nodes.name(node) if node >= 0 else ""
            parts.add(part, "channel", [animation.text("name"), name, path, sampler.text("interpolation")])
            for end in ("input", "output"):
                parts.add(part, end, container.numbers(sampler.integer(end)))
    for key in sorted(story):
        if key in ("shapes", "roles", "masses") and isinstance(story[key], dict):
            for name, value in story[key].items():
                parts.add(f"'{name}'", key, value)
        elif key == "proof" and isinstance(story[key], dict):
            _add_facts(parts, story[key])
        else:
            parts.add(_EXTRAS.get(key, f"extra '{key}'"), key, story[key])
    return parts.digests()


def changes(stored: object, now: Mapping[str, str]) -> tuple[str, ...]:
    """Every part that is not as it was when the file was written: "static mesh 'wall' (removed)"."""
    if not isinstance(stored, dict) or not stored:
        return ("everything (the file does not store what was certified)",)
    gone = [f"{part} ({'changed' if part in now else 'removed'})" for part in stored if now.get(part) != stored[part]]
    return (*gone, *(f"{part} (added)" for part in now if part not in stored))


def _add_facts(parts: _PartDigests, facts: Mapping[str, Any]) -> None:
    """Feed the evidence of a file; its caps and lists are parts of their own."""
    for key in sorted(facts):
        if key != CONTENT:
            parts.add(_LISTS.get(key, "the evidence"), key, facts[key])


def _tops(nodes: Nodes) -> dict[int, str]:
    """Part of every node that is shown: that of the highest node above it but for one at the top of all."""
    out: dict[int, str] = {}
    scene = [i for i in nodes.order if i in nodes.shown]
    roots = [i for i in scene if nodes.parents[i] not in nodes.shown]
    lifted = {i for i in roots if len(roots) == 1 and len(scene) > 1 and "mesh" not in nodes.parts[i]}
    for i in scene:
        above = nodes.parents[i]
        if above in lifted or above not in out:
            name = nodes.name(i).removesuffix(" skin") if "skin" in nodes.parts[i] else nodes.name(i)
            out[i] = f"'{name}'"
        else:
            out[i] = out[above]
    return out


def _node(nodes: Nodes, i: int) -> dict[str, Any]:
    """A node without references: its name, place, and the name of its parent."""
    values = nodes.parts[i].values
    kept: dict[str, Any] = {key: values[key] for key in _PLACE if key in values}
    above = nodes.parents[i]
    return {"name": nodes.name(i), "above": nodes.name(above) if above >= 0 else "", **kept}


def _arrays(container: Container, nodes: Nodes, i: int) -> Iterable[tuple[str, NDArray]]:
    """Numbers of the mesh and the skin on a node."""
    meshes, skins = container.json.parts("meshes", "mesh"), container.json.parts("skins", "skin")
    part = nodes.parts[i]
    mesh, skin = part.index("mesh", len(meshes), "mesh", -1), part.index("skin", len(skins), "skin", -1)
    for primitive in meshes[mesh].parts("primitives", "primitive") if mesh >= 0 else ():
        mode = json.dumps(_floats({key: v for key, v in primitive.values.items() if key in ("mode", "extensions")}))
        yield "primitive", np.array(mode)
        attributes = primitive.part("attributes")
        for key in _SHAPE:
            if attributes is not None and key in attributes:
                yield key, container.numbers(attributes.integer(key))
        if "indices" in primitive:
            yield "indices", container.numbers(primitive.integer("indices"))
    if skin >= 0:
        joints = [nodes.name(j) for j in skins[skin].indices("joints", len(nodes.parts), "node")]
        yield "joints", np.array(joints, np.str_)
        if "inverseBindMatrices" in skins[skin]:
            yield "binds", container.numbers(skins[skin].integer("inverseBindMatrices"))


def _floats(value: Any) -> Any:
    """Plain data with all numbers as floats, since programs write 1.0 as 1."""
    if isinstance(value, dict):
        return {str(k): _floats(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_floats(v) for v in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


# Bytes of an input that are hashed together.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class ProofClaim:
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
) -> ProofClaim:
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
        return ProofClaim("unchecked", "written without a check", contacts, facts=facts)
    if certificate.digest != world.digest or certificate.during is not None:
        return ProofClaim("unchecked", "the check was of other frames", contacts, facts=facts)
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
    return ProofClaim(status, why, allowed, excused, tuple(p for p in ignored if p.a != p.b), facts)


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
