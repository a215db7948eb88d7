"""Proof that the whole way of a limb from one posture to another is free of contact, between looks, too.

A look at the middle of a stretch finds every piece at least a clearance away from everything. Where no piece travels
farther than that from the middle to the ends of the stretch, nothing touches anywhere in it; else the stretch is halved
(after Schwarzer, Saha and Latombe 2002). Bounds on travel hold for any turn of the joints: none is sampled.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.limb_state import free_at, moved_until
from elbowroom.kernels.limb_terms import pose, turn_between
from elbowroom.kernels.meeting import point
from elbowroom.kernels.validity import place_limb

# Stretches shorter than this share of a way are not halved any more.
_LEAST = 1e-9


class Proof(NamedTuple):
    """Data of a proof, besides a space of n joints and E pieces.

    place (n,): joint of the limb that each searched one is; moves (E, n): whether it moves a piece. clearance: metres
    that a look finds free all around; share: how much of a piece's travel may bring it nearer to something, 2 where
    other pieces may come towards it. turn (n, 2): room to work in.
    """

    place: NDArray[np.int64]
    moves: NDArray[np.bool_]
    clearance: float
    share: float
    turn: NDArray[np.float64]


@inner()
def reach_of(space, proof, half, stir):
    """Metres that any piece travels at most from the posture on the buffers, within half a stretch (a share)."""
    most = 0.0
    for e in range(proof.moves.shape[0]):
        c = space.limb.sphere[e]
        x, y, z = point(space.buffers.frames[space.limb.joint[e]], c, 0)
        way = stir
        for j in range(proof.moves.shape[1]):
            if proof.moves[e, j]:
                f = space.buffers.frames[proof.place[j]]
                dx, dy, dz = x - f[0, 3], y - f[1, 3], z - f[2, 3]
                arm = math.sqrt(dx * dx + dy * dy + dz * dz) + c[3]
                way += half * proof.turn[j, 0] * (arm + 0.5 * half * proof.turn[j, 1])
        most = max(most, way)
    return most


@njit_nogil()
def proven_until(space, proof, a, b, low, tally):
    """(share of the way from a to b up to which it is proven from `low` on, share where that ended).

    The second is the end of the stretch that could not be proven, which begins at the first; 1 and 1 where all is.
    """
    far = 0.0
    n = space.joints.kind.shape[0]
    for j in range(n - 1, -1, -1):
        turn = turn_between(space.joints, j, a, b)[0]
        proof.turn[j, 0], proof.turn[j, 1] = turn, far  # the second: what joints after it add to its arm
        far += turn * space.lever[j]
    span = b[0] - a[0]
    good, stride = low, 1.0 - low
    while good < 1.0:
        high = min(good + stride, 1.0)
        half = 0.5 * (high - good)
        t, _ = pose(space.joints, a, b, good + half)
        place_limb(space.limb, space.around, space.joints.q, t, space.buffers)
        here = moved_until(space, t)
        late = abs(half * span)
        stir = max(here - moved_until(space, t - late), moved_until(space, t + late) - here) if span != 0.0 else 0.0
        if proof.share * reach_of(space, proof, half, stir) >= proof.clearance and half > _LEAST:
            stride = half
        elif free_at(space, t, tally):
            good = high
            stride *= 2.0
        else:
            return good, high
    return 1.0, 1.0
