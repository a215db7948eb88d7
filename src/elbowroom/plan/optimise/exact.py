"""The frames of an answer: feet that stand and hands at work exactly where they were, by closed-form limbs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import UP, Array
from elbowroom.motion.clip import Clip
from elbowroom.plan.optimise.seeds import at_all_frames
from elbowroom.plan.optimise.solve import Answer, WindowSeed
from elbowroom.plan.optimise.window import Window
from elbowroom.posing.limb_ik import LimbIK

# Seconds before and after a stance in which a swing joins it.
_JOIN_S = 0.2
# Farthest that a foot or hand may be from where it must be, metres.
NEAR_M = 0.001
# Farther than this a leg is not too short but in the wrong place, metres; seconds around that in which a body is
# lowered, how much more than what is missing, since a leg is not upright, and how often.
_LOW_M, _LOWER_S, _MORE, _LOWERED = 0.02, 0.25, 1.3, 2


def frames_of(window: Window, answer: Answer) -> tuple[Array, Array] | None:
    """Roots (N, 3) and rotations (N, J, 4) of all frames of a window; None where a limb does not reach.

    A body whose leg is straight and a little too short is lowered around that time.
    """
    rows = np.arange(window.first, window.last + 1)
    seed, clip = answer.seed, window.clip
    root, q = window.moved(answer.x, seed.joints, seed.rooted, rows)
    own = list(seed.joints)  # all others stay as they are to the last bit
    q[:, own] = rot.nearest(rot.normalize(q[:, own]), clip.rotations[rows][:, own])
    # what the answer leaves alone stays as it is to the last bit, at both ends, too
    still = np.abs(window.changes(answer.x, clip.times[rows])).max(axis=1) == 0.0
    for _ in range(_LOWERED + 1):
        made = np.array(q)
        lacks = _put_back(window, seed, rows, root, made)
        if lacks is None or lacks.max(initial=0.0) <= NEAR_M:
            break
        drop = _lowered(lacks, clip.times[rows])
        if not seed.rooted or lacks.max() > _LOW_M or drop[still].any():
            return None
        root = root - drop[:, None] * UP
    if lacks is None or lacks.max(initial=0.0) > NEAR_M:
        return None
    made[still], root[still] = clip.rotations[rows[still]], clip.root[rows[still]]
    return root, made


def _put_back(window: Window, seed: WindowSeed, rows: NDArray[np.int64], root: Array, q: Array) -> Array | None:
    """Bring pinned joints to where they belong, in place; by how much they miss that (N,), None where nothing can."""
    shifts, lacks = at_all_frames(window, seed.shifts, rows), np.zeros(len(rows))
    for joint, mask in window.pinned.items():
        if not mask[rows].any() or joint in seed.loose or not _moved(window.clip, joint, seed.joints, seed.rooted):
            continue
        lack = _pinned(window.clip, joint, rows, mask[rows], shifts, root, q)
        if lack is None:
            return None
        lacks = np.maximum(lacks, lack)
    return lacks


def _lowered(lacks: Array, times: Array) -> Array:
    """By how much a body is lowered (N,), metres, so that legs that lack some metres (N,) to the floor reach it."""
    drop = np.zeros(len(lacks))
    for k in np.flatnonzero(lacks > NEAR_M):
        near = smootherstep(np.clip(1.0 - np.abs(times - times[k]) / _LOWER_S, 0.0, 1.0))
        drop = np.maximum(drop, _MORE * lacks[k] * near)
    return drop


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
) -> Array | None:
    """Bring a limb's end to where it was while it is pinned, in place; by how much it misses that (N,), metres."""
    body = clip.character
    limb = next((n for n, c in body.chains.items() if c.kind in ("arm", "leg") and c.end == joint), None)
    if limb is None:
        return None
    try:
        ik = LimbIK(body, limb)
    except BadValue:
        return None
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
    lacks = np.zeros(len(rows))
    if not len(moved):
        return lacks
    T_to = np.array(T_is[moved])
    T_to[:, :3, :3] = rot.to_matrix(rot.exp(turn[moved])) @ T_is[moved, :3, :3]
    T_to[:, :3, 3] += off[moved]
    parent = T[moved, ik.parent]
    orbit, keep = ik.describe_for(parent, T_is[moved], q[moved][:, list(ik.joints)])
    found = ik.solve(parent, T_to, orbit, keep)
    lacks[moved] = np.where(mask[moved], found.missing, 0.0)
    own = np.ix_(moved, np.array(ik.joints))
    q[own] = rot.normalize(rot.nearest(found.rotations, q[own]))
    return lacks
