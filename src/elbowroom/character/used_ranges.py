"""Joint angles that people use, in degrees: far less than the ranges that their joints have.

Percentiles 1 and 99 over 68 recorded clips of walking, running, carrying, reaching, sitting and bending, at least 10 to
each side of the median (`tools/posture_ranges.py`). The data used in this project was obtained from mocap.cs.cmu.edu;
the database was created with funding from NSF EIA-0196217. Motion data: Open Motion Project, ACCAD, The Ohio State
University, CC BY 3.0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array

# Joint coordinates, as in `character/limits.py`: bend, sideways and twist of the left side.
USED_DEG: dict[str, tuple[tuple[int, int], tuple[int, int], tuple[int, int]]] = {
    "spine1": ((-13, 43), (-11, 11), (-10, 10)),
    "spine2": ((-6, 23), (-10, 10), (-10, 10)),
    "chest": ((-24, 12), (-10, 10), (-10, 10)),
    "neck": ((-28, 31), (-28, 28), (-13, 13)),
    "head": ((-5, 20), (-20, 20), (-13, 13)),
    "clavicle": ((-10, 10), (-10, 10), (-10, 10)),
    "upper_arm": ((-45, 94), (-83, 51), (-94, 49)),
    "forearm": ((7, 121), (-10, 10), (-15, 10)),
    "hand": ((-62, 6), (-60, 38), (-21, 20)),
    "thigh": ((-23, 96), (-51, 15), (-42, 27)),
    "shin": ((0, 115), (-10, 10), (-10, 10)),
    "foot": ((-27, 32), (-13, 9), (-32, 27)),
}


def unusual(body: Character, joints: Sequence[int], rotations: Array) -> Array:
    """Excess of joints (n,) with local rotations (T, n, 4) over commonly used ranges, radians, (T, n); 0 within."""
    out = np.zeros(rotations.shape[:-1])
    roles = {joint: role for role, joint in body.roles.items()}
    for k, joint in enumerate(joints):
        side, _, part = roles.get(joint, "").partition("_")
        known = USED_DEG.get(part if side in ("left", "right") else roles.get(joint, ""))
        limit = body.limits[joint]
        if known is None or limit is None:
            continue
        angles = limit.coordinates(rotations[:, k]) * ((1.0, -1.0, -1.0) if side == "right" else 1.0)
        low, high = np.radians(known).T
        out[:, k] = np.linalg.norm(angles - np.clip(angles, low, high), axis=-1)
    return out
