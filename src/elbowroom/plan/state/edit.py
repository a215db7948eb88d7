"""Edits with the frames that they own as layers, stacked, and changed in strength.

A base and its edits at strength 1 reproduce the planned motion, bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import UnknownName
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.layers import Layer, held
from elbowroom.world.allowances import Changed
from elbowroom.world.edit import Edit, Motions
from elbowroom.world.world import World


def laid(edit: Edit, below: Clip, clip: Clip, joints: Iterable[int] | None = None) -> Edit:
    """The edit with the frames of some joints of a clip as its layer; of the whole body, root included, by default."""
    if len(below) != len(clip):
        below = held(below, len(clip))
    own = tuple(range(clip.rotations.shape[1]) if joints is None else joints)
    root = clip.root if joints is None else None
    layer = Layer(own, clip.fps, float(clip.times[0]), clip.rotations[:, list(own)], root)
    return replace(edit, layer=layer.trimmed(below))


def laid_in_turn(edits: Sequence[Edit], below: Clip, clip: Clip) -> list[Edit]:
    """Edits of one character, in order of their beginnings, with the frames of a clip that each of them owns.

    An edit owns the joints of its limb until the next edit of that limb begins: a hand stays where it was brought. All
    other joints belong to the edit that began last. Without later edits of a joint it is as below.
    """
    order = sorted(edits, key=lambda edit: edit.during[0])
    owner = _owners(clip, order)
    out = []
    for rank, edit in enumerate(order):
        upto = owner <= rank
        frames = np.where(upto[:, :-1, None], clip.rotations, below.rotations)
        root = np.where(upto[:, -1:], clip.root, below.root)
        layer = Layer(tuple(range(frames.shape[1])), clip.fps, float(clip.times[0]), frames, root)
        out.append(replace(edit, layer=layer.trimmed(below, owner == rank)))
    return out


def _owners(clip: Clip, edits: Sequence[Edit]) -> NDArray[np.int64]:
    """Index of the edit, in order of beginnings, that owns each joint at each frame: (T, J + 1), the root last."""
    body = clip.character
    begins = [int(np.clip(np.floor((e.during[0] - clip.start) * clip.fps + 1e-6), 0, len(clip))) for e in edits]
    limbs = {name: body.chains[name] for e in edits if (name := e.limb) in body.chains and name != "spine"}
    own = {
        name: sorted({k for j in (*chain.lead, *chain.joints) for k in body.subtree(j)})
        for name, chain in limbs.items()
    }
    shared = [j for j in range(len(body.parents) + 1) if not any(j in joints for joints in own.values())]
    owner = np.zeros((len(clip), len(body.parents) + 1), dtype=np.int64)
    known: set[str] = set()
    for rank, (edit, begin) in enumerate(zip(edits, begins, strict=True)):
        if edit.limb in own:
            owner[begin if edit.limb in known else 0 :, own[edit.limb]] = rank
            known.add(edit.limb)
        owner[begin if rank else 0 :, shared] = rank
    return owner


def stacked(
    base: Motions, edits: Sequence[Edit], later_base: Motions, later: Sequence[Edit]
) -> tuple[dict[str, Motion], tuple[Edit, ...]]:
    """A base with edits, and later edits on top that were made over their result; the later motion may be longer."""
    out, under = {**base, **later_base}, list(edits)
    for who in {edit.who for edit in edits}:
        old, new = base[who], later_base.get(who, base[who])
        assert isinstance(old, Clip) and isinstance(new, Clip)
        out[who] = held(old, len(new))
        if len(new) != len(old):
            under = [replace(e, layer=e.layer.held(old, len(new))) if e.who == who else e for e in under]
    return out, (*under, *later)


def with_edit_contacts(world: World, edits: Sequence[Edit]) -> World:
    """A world with the contacts that edits allow."""
    return world.with_(contacts=(*world.contacts, *(c for e in edits if e.share > 0.0 for c in e.contacts)))


def changed_by(edits: Sequence[Edit]) -> list[Changed]:
    """Names of what is no longer as recorded, because limbs or whole bodies were planned."""
    return [Changed(e.who, e.replanned, e.during) for e in edits if e.share > 0.0]


@dataclass(frozen=True)
class EditChange:
    """Change of an edit, given by its number (from 1) or its reason: another strength, or muted."""

    which: int | str
    strength: float | None = None
    muted: bool = False
    where: str = ""  # place in the file, for messages


def numbers_of(edits: Sequence[Edit], which: int | str) -> list[int]:
    """Indices of the edits with a given number (from 1) or reason; a reason may match several."""
    if isinstance(which, str) and not which.isdigit():
        found = [n for n, edit in enumerate(edits) if which in (edit.reason, f"{edit.limb} {edit.reason}")]
        if not found:
            raise UnknownName("edit", which, dict.fromkeys(edit.reason for edit in edits))
        return found
    if not 1 <= int(which) <= len(edits):
        raise UnknownName("edit", which, (f"{n + 1} ({edit.reason})" for n, edit in enumerate(edits)))
    return [int(which) - 1]
