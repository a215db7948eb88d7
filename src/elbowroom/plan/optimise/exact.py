"""The frames of an answer: feet that stand and hands at work exactly where they were, by closed-form limbs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.plan.optimise.seeds import at_all_frames
from elbowroom.plan.optimise.solve import Answer
from elbowroom.plan.optimise.window import Window
from elbowroom.posing.limb_ik import LimbIK

# Seconds before and after a stance in which a swing joins it.
_JOIN_S = 0.2
# Farthest that a foot or hand may be from where it must be, metres.
NEAR_M = 0.001


def frames_of(window: Window, answer: Answer) -> tuple[Array, Array] | None:
    """Roots (N, 3) and rotations (N, J, 4) of all frames of a window; None where a limb does not reach."""
    rows = np.arange(window.first, window.last + 1)
    seed, clip = answer.seed, window.clip
    root, q = window.moved(answer.x, seed.joints, seed.rooted, rows)
    q = rot.nearest(rot.normalize(q), clip.rotations[rows])
    shifts = at_all_frames(window, seed.shifts, rows)
    for joint, mask in window.pinned.items():
        if not mask[rows].any() or joint in seed.loose or not _moved(clip, joint, seed.joints, seed.rooted):
            continue
        if not _pinned(clip, joint, rows, mask[rows], shifts, root, q):
            return None
    # what the answer leaves alone stays as it is to the last bit, at both ends, too
    still = np.abs(window.changes(answer.x, clip.times[rows])).max(axis=1) == 0.0
    q[still], root[still] = clip.rotations[rows[still]], clip.root[rows[still]]
    return root, q


def _moved(clip: Clip, joint: int, joints: tuple[int, ...], rooted: bool) -> bool:
    return rooted or any(joint in clip.character.subtree(j) for j in joints)


def _pinned(
    clip: Clip,
    joint: int,
    rows: NDArray[np.int64],
    mask: NDArray[np.bool_],
    shifts: Mapping[int, Array],
    root: Array,
    q: Array,
) -> bool:
    """Bring a limb's end to where it was while it is pinned, in place; return whether it gets there."""
    body = clip.character
    limb = next((n for n, c in body.chains.items() if c.kind in ("arm", "leg") and c.end == joint), None)
    if limb is None:
        return False
    try:
        ik = LimbIK(body, limb)
    except BadValue:
        return False
    T_was = body.transforms(clip.root[rows], clip.rotations[rows])[:, joint]
    T = body.transforms(root, q)
    T_is = T[:, joint]
    shift = shifts.get(joint, np.zeros((len(rows), 3)))
    off = np.where(mask[:, None], T_was[:, :3, 3] + shift - T_is[:, :3, 3], 0.0)
    turn = rot.log(rot.from_matrix(T_was[:, :3, :3] @ T_is[:, :3, :3].transpose(0, 2, 1)))
    turn = np.where(mask[:, None], turn, 0.0)
    weight = np.ones(len(rows))
    where = np.flatnonzero(mask)
    for k in np.flatnonzero(~mask):  # swings take over what the stances before and after them need
        before, after = where[where < k], where[where > k]
        parts = [(int(w), abs(int(w) - k)) for w in (*before[-1:], *after[:1])]
        shares = [(w, float(smootherstep(np.array(1.0 - away / (_JOIN_S * clip.fps))))) for w, away in parts]
        off[k], turn[k] = (sum((s * some[w] for w, s in shares), np.zeros(3)) for some in (off, turn))
        weight[k] = float(any(s > 0.0 for _, s in shares))
    moved = np.flatnonzero((weight > 0.0) & ((np.abs(off).max(axis=1) > 0.0) | (np.abs(turn).max(axis=1) > 0.0)))
    if not len(moved):
        return True
    T_to = np.array(T_is[moved])
    T_to[:, :3, :3] = rot.to_matrix(rot.exp(turn[moved])) @ T_is[moved, :3, :3]
    T_to[:, :3, 3] += off[moved]
    parent = T[moved, ik.parent]
    orbit, keep = ik.describe_for(parent, T_is[moved], q[moved][:, list(ik.joints)])
    found = ik.solve(parent, T_to, orbit, keep)
    lacking = np.where(mask[moved], found.missing, 0.0)
    own = np.ix_(moved, np.array(ik.joints))
    q[own] = rot.normalize(rot.nearest(found.rotations, q[own]))
    return bool(lacking.max(initial=0.0) <= NEAR_M) and bool(np.isfinite(q[own]).all())
