"""Extras of a glTF file, for data that glTF does not define: collision shapes, holds, contacts, masses, and the
proof.

Times are those of the file. Invalid entries are left out, since any program may write extras.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, TypeGuard, cast, get_args

import numpy as np

from elbowroom.character.body import Character
from elbowroom.errors import ElbowroomError
from elbowroom.files.content import ProofClaim
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.shapes import Shape
from elbowroom.world.certificate_findings import Allowed
from elbowroom.world.contacts import Contact, ContactKind
from elbowroom.world.evidence import Excused
from elbowroom.world.pairs import Pair
from elbowroom.world.played import PlayedWorld
from elbowroom.world.robots import of_one_robot
from elbowroom.world.things import Hold, Linked
from elbowroom.world.world import World

# Entries of a list, and numbers of a shape's mesh, that are read at most.
_MOST = 10_000
_MOST_CORNERS = 100_000
_KINDS = ("capsule", "sphere", "box", "mesh")


def story_of(world: World, start: float, proof: ProofClaim) -> dict[str, Any]:
    """Shapes, holds, contacts, masses and proof of a world as plain data; the file's time 0 is `start` in seconds."""

    def during(interval: tuple[float, float]) -> list[float | None]:
        return [t - start if math.isfinite(t) else None for t in interval]

    return {
        "shapes": {
            name: [_shape_facts(shape) for shape in motion.body.shapes] for name, motion in world.characters.items()
        },
        "roles": {name: dict(motion.body.roles) for name, motion in world.characters.items()},
        "holds": [
            {"object": h.object, "by": h.by, "hand": h.hand, "during": during(h.during), "leads": h.leads}
            for h in world.holds
        ],
        "contacts": [
            {"who": c.who, "on": c.on, "during": during(c.during), "kind": c.kind, "depth": c.depth, "why": c.why}
            for c in world.contacts
        ],
        "linked": [{"a": link.a, "b": link.b, "during": during(link.during)} for link in world.linked],
        "masses": {name: thing.mass for name, thing in world.objects.items() if thing.mass is not None},
        "proof": {
            "status": proof.status,
            "why": proof.why,
            **proof.facts,
            "allowed": [a.facts() | {"during": during(a.during)} for a in proof.allowed],
            "excused": [{"pair": list(e.pair), "during": during(e.during)} for e in proof.excused],
            "ignored": [list(pair) for pair in proof.ignored],
        },
    }


def with_story(world: World, story: dict[str, Any]) -> World:
    """World with the extras of a file; held objects move with the hands that hold them."""
    return played_story(world, story).riding() if _frames(story) is not None else _with_extras(world, story)


def played_story(world: World, story: dict[str, Any]) -> PlayedWorld:
    """World exactly as a file plays it, with its extras."""
    fps, count = _frames(story) or (30.0, 1)
    extras = _with_extras(world, story)
    fields = {name: getattr(extras, name) for name in World.__dataclass_fields__}
    on = PlayedWorld(**fields, fps=fps, times=np.arange(count) / fps)
    holds = [hold for entry in _entries(story.get("holds")) if (hold := _hold(on, entry)) is not None]
    return replace(on, holds=tuple(holds))


def proof_in(story: dict[str, Any]) -> ProofClaim:
    """Proof in a file's extras."""
    proof = story.get("proof")
    if not isinstance(proof, dict):
        return ProofClaim()
    allowed = []
    for entry in _entries(proof.get("allowed")):
        pair, depth, shift = _pair(entry.get("pair")), entry.get("depth_m"), entry.get("shift_m")
        during, why = _during(entry), entry.get("why")
        if pair is not None and during is not None and _number(depth) and depth >= 0.0 and isinstance(why, str):
            known = isinstance(shift, list) and len(shift) == 3 and all(_number(x) for x in shift)
            moved = (float(shift[0]), float(shift[1]), float(shift[2])) if known and shift is not None else None
            allowed.append(Allowed(pair, float(depth), during, why, shift=moved))
    rows = [(_pair(e.get("pair")), _during(e)) for e in _entries(proof.get("excused"))]
    excused = tuple(Excused(pair, during) for pair, during in rows if pair is not None and during is not None)
    never = proof.get("ignored")
    ignored = tuple(p for e in (never[:_MOST] if isinstance(never, list) else ()) if (p := _pair(e)) is not None)
    facts = {k: v for k, v in proof.items() if k not in ("status", "why", "allowed", "excused", "ignored")}
    return ProofClaim(
        str(proof.get("status", "unchecked")), str(proof.get("why", "")), tuple(allowed), excused, ignored, facts
    )


def as_certified(character: Character, story: dict[str, Any], name: str) -> Character:
    """Character with the collision shapes and roles that it was certified with, if they are valid."""
    shapes, roles = (of.get(name) if isinstance(of := story.get(key), dict) else None for key in ("shapes", "roles"))
    joints = len(character.skeleton)
    listed = [
        _shape(entry, joints)
        for entry in (shapes[:_MOST] if isinstance(shapes, list) else ())
        if isinstance(entry, dict)
    ]
    if listed and all(shape is not None for shape in listed):
        character = character.with_(shapes=tuple(listed))
    if isinstance(roles, dict) and roles and all(isinstance(j, int) and 0 <= j < joints for j in roles.values()):
        character = character.with_(roles=dict(roles))
    return character


def _shape_facts(shape: Shape) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": shape.name, "joint": int(shape.joint), "kind": shape.kind}
    facts |= {"size": shape.size.tolist(), "T_joint_shape": shape.T_joint_shape[:3].ravel().tolist()}
    if shape.mesh is not None:
        facts |= {"vertices": shape.mesh.vertices.ravel().tolist(), "faces": shape.mesh.faces.ravel().tolist()}
    if shape.own is not None:
        facts["own"] = _shape_facts(shape.own)
    return facts


def _shape(entry: dict[str, Any], joints: int) -> Shape | None:
    """Collision shape, or None if the entry is invalid."""
    words, joint = _words(entry, "name", "kind"), entry.get("joint")
    size, T = _numbers(entry.get("size"), 3), _numbers(entry.get("T_joint_shape"), 12)
    if words is None or size is None or T is None or words[1] not in _KINDS:
        return None
    if not (isinstance(joint, int) and 0 <= joint < joints):
        return None
    mesh = None
    if words[1] == "mesh":
        vertices, faces = _numbers(entry.get("vertices"), 0), _numbers(entry.get("faces"), 0)
        if vertices is None or faces is None or len(vertices) % 3 or len(faces) % 3 or not len(faces):
            return None
        if not 0 <= faces.min() <= faces.max() < len(vertices) // 3:
            return None
        mesh = Mesh(vertices.reshape(-1, 3), faces.reshape(-1, 3).astype(np.int32))
    place = np.vstack([T.reshape(3, 4), [0.0, 0.0, 0.0, 1.0]])
    own = None
    if "own" in entry:
        slim = entry["own"]
        own = _shape(slim, joints) if isinstance(slim, dict) and "own" not in slim else None
        if own is None or own.joint != joint:
            return None
    try:
        return Shape(words[0], joint, words[1], size, place, mesh, own)  # type: ignore[arg-type]
    except ElbowroomError:
        return None


def _numbers(listed: object, count: int) -> np.ndarray | None:
    """Finite numbers of a list, so many of them; 0 is any number."""
    if not isinstance(listed, list) or len(listed) > _MOST_CORNERS or (count and len(listed) != count):
        return None
    return np.array(listed, dtype=float) if all(_number(x) for x in listed) else None


def _pair(names: object) -> Pair | None:
    known = isinstance(names, list) and len(names) == 2 and all(isinstance(name, str) for name in names)
    return Pair(*names) if known and isinstance(names, list) else None


def _frames(story: dict[str, Any]) -> tuple[float, int] | None:
    """Frames a second of a file and how many there are."""
    fps, count = story.get("fps"), story.get("frames")
    known = _number(fps) and 0.1 < fps < 1000.0 and isinstance(count, int) and 0 < count <= 10_000_000
    return (float(cast(float, fps)), cast(int, count)) if known else None


def _with_extras(world: World, story: dict[str, Any]) -> World:
    """World with the masses, contacts, links and floor of a file's extras."""
    floor, masses = story_floor(story), story.get("masses")
    world = world if floor == "auto" else world.with_(floor=floor)
    for name, mass in masses.items() if isinstance(masses, dict) else ():
        if name in world.objects and _number(mass) and mass >= 0.0:
            world = world.with_(objects={**world.objects, name: replace(world.objects[name], mass=float(mass))})
    for entry in _entries(story.get("contacts")):
        world = _with_contact(world, entry)
    linked = [(_words(e, "a", "b"), _during(e)) for e in _entries(story.get("linked"))]
    links = tuple(Linked(ab[0], ab[1], during) for ab, during in linked if ab is not None and during is not None)
    return world.with_(linked=tuple(filter(of_one_robot, links)))


def story_floor(story: dict[str, Any]) -> float | Literal["auto"] | None:
    """Height of the floor in a file's extras, metres, None for no floor; 'auto' if not stored."""
    floor = story.get("floor", "auto")
    return float(floor) if _number(floor) else None if floor is None else "auto"


def _entries(listed: object) -> Iterator[dict[str, Any]]:
    for entry in listed[:_MOST] if isinstance(listed, list) else ():
        if isinstance(entry, dict) and _during(entry) is not None:
            yield entry


def _during(entry: dict[str, Any]) -> tuple[float, float] | None:
    """The interval of an entry; None stands for no end."""
    span = entry.get("during")
    if not (isinstance(span, list) and len(span) == 2 and all(t is None or _number(t) for t in span)):
        return None
    begin = -math.inf if span[0] is None else float(span[0])
    end = math.inf if span[1] is None else float(span[1])
    return (begin, end) if begin <= end else None


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _words(entry: dict[str, Any], *keys: str) -> list[str] | None:
    found = [entry.get(key) for key in keys]
    return [str(word) for word in found] if all(isinstance(word, str) for word in found) else None


def _with_contact(world: World, entry: dict[str, Any]) -> World:
    words, during, depth = _words(entry, "who", "on", "kind", "why"), _during(entry), entry.get("depth")
    if words is None or during is None or not _number(depth) or depth < 0.0 or words[2] not in get_args(ContactKind):
        return world
    return world.with_contact(Contact(words[0], words[1], during, cast(ContactKind, words[2]), float(depth), words[3]))


def _hold(world: World, entry: dict[str, Any]) -> Hold | None:
    words, during = _words(entry, "object", "by", "hand"), _during(entry)
    if words is None or during is None or words[0] not in world.objects:
        return None
    try:
        world.body(words[1]).hand(words[2])
        return Hold(words[0], words[1], words[2], during, leads=entry.get("leads") is not False)
    except ElbowroomError:
        return None
