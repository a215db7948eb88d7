"""Allowances of a certificate: feet on the floor, and recorded self-contacts, within the caps.

Real soles give way, recorded bodies touch themselves, hands press what they take. All of it is bounded here, and
whatever was used is listed in the certificate and in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.motion.clip import Clip
from elbowroom.world.contacts import DECLARED, Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.own_pairs import BELLY, THIGHS, close_kin
from elbowroom.world.pairs import FLOOR, Part, hand_of, parts_of
from elbowroom.world.paths import Interval, outside
from elbowroom.world.world import World

# Largest share of the thickness of the thinnest body part in a contact that its cap may have: a ball in the part's
# middle is then always clear of the other, and the part cannot slip through a thin sheet while it is allowed to touch.
_OF_THICKNESS = 0.9
# The same for two parts of one recorded body, as a share of the thicker one: the middle of a thigh stays clear of a
# forearm, and that of a shin of the other shin. Chosen on 112 recorded clips (`benchmarks/self_contact.py`).
_OF_THICKER = 0.95
# Recorded hands and feet are deeper in other parts than they are thick, and parts that hang on one joint, such as both
# thighs, overlap beside it: for them the share is of both parts together, so that the middles of the two never meet.
_OF_BOTH = 0.95
# Feet of rigs are wider than those of people, who cross them in turns, and hands clasp each other: the deepest feet of
# the 112 clips are at 1.25.
_OF_BOTH_ENDS = 1.3
RECORDED, HELD = "in the clip", "holds it"


@dataclass(frozen=True)
class Changed:
    """Parts of a recorded character that are no longer as recorded: those that joints move, during an interval."""

    who: str
    joints: tuple[int, ...]
    during: Interval


def recorded_people(world: World) -> set[str]:
    """Names of the characters whose clips were read from files."""
    return {n for n, m in world.characters.items() if isinstance(m, Clip) and m.source.format}


def supports(world: World) -> list[Contact]:
    """Contacts of soles and toes with the floor that people stand on."""
    feet = [p.name for p in parts_of(world) if is_foot(p)]
    depth = world.caps.generated
    return [Contact(name, FLOOR, (-np.inf, np.inf), "support", depth, "stands on the floor") for name in feet]


def is_foot(part: Part) -> bool:
    """Return whether a part of a body is a foot or its toes."""
    return part.kind == "body" and part.role.endswith(("_foot", "_toes"))


def allow(exact: ExactWorld, recorded: set[str], changed: Sequence[Changed] = ()) -> list[str]:
    """Set the allowances of a world: its own contacts, hands and grippers on what they hold, and those of `recorded`
    clips except where `changed`.

    All depths are cut to the caps of the world. Returns sentences on contacts that were requested deeper.
    """
    notes: list[str] = []
    for k, contacts in exact.contacts.items():
        caps = [cap_of(exact, k, recorded, c) for c in contacts]
        exact.contacts[k] = tuple(replace(c, depth=min(c.depth, cap)) for c, cap in zip(contacts, caps, strict=True))
        both = zip(contacts, caps, strict=True)
        notes += [_cut_short(c, cap) for c, cap in both if c.why == DECLARED and c.depth > cap]
    held = [k for k in exact.off if exact.parts[int(exact.index[k, 0])].kind == "body"]
    for k in held:
        a, b = exact.pairs[k]
        made = [Contact(a, b, during, "grip", cap_of(exact, k, recorded), HELD) for during in exact.off[k]]
        exact.contacts[k] = (*exact.contacts.get(k, ()), *made)
    exact.off = {k: during for k, during in exact.off.items() if k not in held}
    for who in recorded:
        moved = [(_moved_by(exact, c), c.during) for c in changed if c.who == who]
        for k in own_pairs(exact, who):
            parts = [exact.parts[int(i)] for i in exact.index[k]]
            spans = [during for joints, during in moved if any(p.joint in joints for p in parts)]
            depth = cap_of(exact, k, recorded)
            a, b = exact.pairs[k]
            made = [Contact(a, b, during, "touch", depth, RECORDED) for during in outside(spans)]
            exact.contacts[k] = (*exact.contacts.get(k, ()), *made)
    return list(dict.fromkeys(notes))


def own_pairs(exact: ExactWorld, who: str) -> list[int]:
    """Indices of the pairs of one character with itself or with the floor."""
    parts = exact.parts
    mine = np.array([p.kind == "body" and p.owner == who for p in parts], dtype=bool)
    same = mine | np.array([p.kind == "floor" for p in parts], dtype=bool)
    a, b = exact.index.T
    return np.flatnonzero(mine[a] & same[b]).tolist()


def cap_of(exact: ExactWorld, k: int, recorded: set[str], contact: Contact | None = None) -> float:
    """Deepest overlap that a contact of a pair may have, metres.

    A contact that a file lists as recorded counts as one of a recorded clip.
    """
    caps = exact.world.caps
    a, b = (exact.parts[int(i)] for i in exact.index[k])
    known = a.owner in recorded or (contact is not None and contact.why == RECORDED)
    if b.kind == "floor" and a.kind == "body":
        return (caps.feet if known else caps.generated) if is_foot(a) else caps.body
    bodies = [int(i) for i in exact.index[k] if exact.parts[int(i)].kind == "body"]
    thick = [exact.placed.forms[i].thickness for i in bodies]
    if a.kind == b.kind == "body" and a.owner == b.owner:
        soft = contact is not None and contact.kind == "tissue"
        if soft and any(x.role in BELLY and y.role in THIGHS for x, y in ((a, b), (b, a))):
            return caps.tissue
        if not known:
            return caps.generated
        return min(caps.own, _deepest_recorded(exact, a, b, thick))
    return min([caps.contact, *(_OF_THICKNESS * t for t in thick)])


def _deepest_recorded(exact: ExactWorld, a: Part, b: Part, thick: list[float]) -> float:
    """Overlap of two parts of a recorded body, of some thicknesses, up to which they do not pass through each other."""
    ends = sum(is_foot(part) or bool(hand_of(part.role)) for part in (a, b))
    if ends == 2:
        return _OF_BOTH_ENDS * sum(thick)
    if ends or close_kin(exact.world.body(a.owner), a.joint, b.joint):
        return _OF_BOTH * sum(thick)
    return _OF_THICKER * max(thick)


def _moved_by(exact: ExactWorld, change: Changed) -> set[int]:
    """Joints moved by those of a change."""
    body = exact.world.body(change.who)
    return {j for top in change.joints for j in body.subtree(top)}


def _cut_short(contact: Contact, cap: float) -> str:
    return (
        f"the contact of {contact.who} and {contact.on} requests an overlap of {1000 * contact.depth:.0f} mm, limited "
        f"to {1000 * cap:.1f} mm by the thickness of the parts or by the allowance 'contact'."
    )
