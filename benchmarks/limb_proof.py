"""Proof that a limb's path is free of contact in continuous time, for benchmarks and tests of searches.

A look at the middle of a stretch finds every piece at least a clearance away from everything. Where no piece travels
farther than that from the middle to the ends of the stretch, nothing touches anywhere in it; else the stretch is halved
(after Schwarzer, Saha and Latombe 2002). Bounds on travel hold for any turn of the joints: none is sampled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadValue
from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.limb_state import free_at, moved_until, on_the_way
from elbowroom.kernels.limb_terms import pose, turn_between
from elbowroom.kernels.meeting import point
from elbowroom.kernels.space import CHECKS, TALLY
from elbowroom.kernels.validity import place_limb
from elbowroom.search.birrt import SearchPath
from elbowroom.spaces.limb import LimbSearchSpace, places_of
from elbowroom.world.fast import LimbCheck

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


@dataclass(frozen=True)
class Proven:
    """Result of a proof: whether a path is free, and if not, from which state on and at which share of the way to the
    next.

    checks: looks taken; asked: how many of them only the exact test could decide.
    """

    free: bool
    edge: int = -1
    share: float = 0.0
    checks: int = 0
    asked: int = 0


def moves_of(check: LimbCheck) -> NDArray[np.bool_]:
    """Return whether searched joints move pieces, (E, n)."""
    out = np.zeros((len(check.limb.joint), len(check.joints)), dtype=bool)
    for e, joint in enumerate(check.limb.joint):
        while joint >= 0:
            if check.limb.source[joint] >= 0:
                out[e, check.limb.source[joint]] = True
            joint = check.limb.parent[joint]
    return out


def prove(space: LimbSearchSpace, path: SearchPath) -> Proven:
    """Prove that a path is free of contact in continuous time, everything else moving as the check's tables have it.

    Every stretch of the path is seen to keep the check's margin at its middle, by the fast test or, in doubt, by the
    exact one; it is so short that no point of the limb can use that margin up within it.
    """
    check = space.check
    if not check.margin > 0.0:
        raise BadValue("a proof needs a check with a margin above 0.")
    compiled = space.compiled(path.states[0], path.states[-1])
    moves = moves_of(check)
    share = 1.0 if _nested(moves) else 2.0
    proof = Proof(places_of(check), moves, check.margin, share, np.zeros((moves.shape[1], 2)))
    tally, asked = np.zeros(TALLY, np.int64), 0
    row = np.zeros(space.width)
    for k in range(len(path.states) - 1):
        a, b = path.states[k].copy(), path.states[k + 1].copy()
        low = 0.0
        while low < 1.0:
            good, high = proven_until(compiled, proof, a, b, low, tally)
            if good < 1.0:
                asked += 1
                on_the_way(compiled, a, b, 0.5 * (good + high), row)
                if not check.free(space.rotations(row), float(row[0])):
                    return Proven(False, k, 0.5 * (good + high), int(tally[CHECKS]), asked)
            low = high
    return Proven(True, checks=int(tally[CHECKS]), asked=asked)


def _nested(moves: NDArray[np.bool_]) -> bool:
    """Return whether of any two pieces, one is moved by all joints that move the other: a single chain."""
    return all(bool((a <= b).all() or (b <= a).all()) for a in moves for b in moves)
