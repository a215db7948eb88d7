"""Proof that a limb's path is free of contact everywhere, not only where it was looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadValue
from elbowroom.kernels import limb_proof as kernels
from elbowroom.kernels.limb_state import on_the_way
from elbowroom.kernels.space import CHECKS, TALLY
from elbowroom.search.birrt import Path
from elbowroom.spaces.limb import LimbSpace, moves_of, places_of


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


def prove(space: LimbSpace, path: Path) -> Proven:
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
    proof = kernels.Proof(places_of(check), moves, check.margin, share, np.zeros((moves.shape[1], 2)))
    tally, asked = np.zeros(TALLY, np.int64), 0
    row = np.zeros(space.width)
    for k in range(len(path.states) - 1):
        a, b = path.states[k].copy(), path.states[k + 1].copy()
        low = 0.0
        while low < 1.0:
            good, high = kernels.proven_until(compiled, proof, a, b, low, tally)
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
