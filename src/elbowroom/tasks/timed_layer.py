"""Help of trunk and girdle, laid over a motion: its own swing stays, and legs stay bit by bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, conjugate, exp, log, multiply

# Turns that are less than this are none, radians.
_NOTHING = 1e-7


def leaned(
    body: Character, q: Array, k: int, goal: Pose, joints: NDArray[np.bool_], share: Array
) -> tuple[Array, list[int]]:
    """Rotations (N, J, 4) turned by what a posture adds to frame k, by shares (N,); and the joints that it turns.

    `joints` (J,) says which may. Joints that were within their ranges stay so.
    """
    turn = log(multiply(conjugate(q[k]), goal.rotations))
    moved = [j for j in np.flatnonzero(joints).tolist() if np.linalg.norm(turn[j]) > _NOTHING]
    out = q.copy()
    for j in moved:
        out[:, j] = multiply(q[:, j], exp(share[:, None] * turn[j]))
        limit = body.limits[j] if j < len(body.limits) else None
        if limit is not None:
            within = limit.contains(q[:, j])
            out[within, j] = limit.clamp(out[within, j])
        out[share == 0.0, j] = q[share == 0.0, j]
    return out, moved
