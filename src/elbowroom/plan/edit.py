"""Edits cut from frames that were planned, laid over each other, and given other strengths.

A base and its edits at strength 1 are the planned motion, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import UnknownName
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.layers import Layer, held
from elbowroom.world.allowances import Changed
from elbowroom.world.edit import Edit, Motions
from elbowroom.world.world import World


def cut(below: Clip, after: Clip, noted: Sequence[Edit]) -> list[Edit]:
    """Edits of one person with layers that make a motion of the one below it, both with the same frames.

    Each edit has the joints of its limb from when it begins until the next one of that limb does: a hand stays where
    it was brought. All other joints belong to the edit that began last. Only joints and frames that differ are kept.
    """
    order = sorted(range(len(noted)), key=lambda n: noted[n].during[0])
    owner = _owners(after, [noted[n] for n in order])
    old, new = below.rotations, after.rotations
    # the two quaternions of a rotation are one, but for the first frame: its sign is that of all others
    differs = np.any(new != old, axis=2) & np.any(new != -old, axis=2)
    differs[0] |= np.any(new[0] != old[0], axis=1)
    moved = np.any(after.root != below.root, axis=1)
    out = list(noted)
    for rank, n in enumerate(order):
        mine = (owner == rank) & np.column_stack([differs, moved])
        rows = np.flatnonzero(mine.any(axis=1))
        if not len(rows):
            empty = np.zeros((1, 0, 4))
            out[n] = replace(noted[n], layer=Layer((), after.fps, float(after.times[0]), empty))
            continue
        span = slice(rows[0], rows[-1] + 1)
        joints = np.flatnonzero(mine[:, :-1].any(axis=0))
        # what a later edit says of a joint lies over this one: without it the joint is as it was below
        own = owner[span] <= rank
        frames = np.where(own[:, joints, None], new[span][:, joints], old[span][:, joints])
        root = np.where(own[:, -1:], after.root[span], below.root[span]) if mine[:, -1].any() else None
        layer = Layer(tuple(joints.tolist()), after.fps, float(after.times[rows[0]]), frames, root)
        out[n] = replace(noted[n], layer=layer)
    # within one person those that begin later lie on top
    return [out[n] for n in order]


def edit_between(before: World, after: World, noted: Edit) -> Edit:
    """An edit with all that it has changed of its character's clip, from one world to another."""
    below, clip = before.motion(noted.who), after.motion(noted.who)
    assert isinstance(below, Clip) and isinstance(clip, Clip)
    return cut(held(below, len(clip)), clip, [noted])[0]


def _owners(clip: Clip, edits: Sequence[Edit]) -> NDArray[np.int64]:
    """Which of some edits, in the order of their beginnings, has a joint at a frame: (T, J + 1), the root last."""
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
    """A base and edits with later ones on top, which were made over what these come to; that may last longer."""
    out, under = {**base, **later_base}, list(edits)
    for who in {edit.who for edit in edits}:
        old, new = base[who], later_base.get(who, base[who])
        assert isinstance(old, Clip) and isinstance(new, Clip)
        out[who] = held(old, len(new))
        if len(new) != len(old):
            under = [replace(e, layer=e.layer.held(old, len(new))) if e.who == who else e for e in under]
    return out, (*under, *later)


def with_edit_contacts(world: World, edits: Sequence[Edit]) -> World:
    """A world in which parts may touch as edits say."""
    return world.with_(contacts=(*world.contacts, *(c for e in edits if e.share > 0.0 for c in e.contacts)))


def changed_by(edits: Sequence[Edit]) -> list[Changed]:
    """List what no longer is as it was recorded, since limbs or whole bodies were planned."""
    return [Changed(e.who, e.replanned, e.during) for e in edits if e.share > 0.0]


@dataclass(frozen=True)
class EditChange:
    """Change of an edit, by its number, counted from 1, or reason: another strength, or to be muted."""

    which: int | str
    strength: float | None = None
    muted: bool = False
    where: str = ""  # in the file that says so, in words


def numbers_of(edits: Sequence[Edit], which: int | str) -> list[int]:
    """Places in a list of the edits that a number, counted from 1, or a reason means; a reason may mean several."""
    if isinstance(which, str) and not which.isdigit():
        found = [n for n, edit in enumerate(edits) if which in (edit.reason, f"{edit.limb} {edit.reason}")]
        if not found:
            raise UnknownName("edit", which, dict.fromkeys(edit.reason for edit in edits))
        return found
    if not 1 <= int(which) <= len(edits):
        raise UnknownName("edit", which, (f"{n + 1} ({edit.reason})" for n, edit in enumerate(edits)))
    return [int(which) - 1]
