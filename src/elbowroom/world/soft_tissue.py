"""Soft tissue: bellies and chests give way to thighs that are drawn up, and nothing else does.

Shapes of a body are rigid; captured people who lift things from the floor fold themselves so far that those of belly
and thigh overlap. How deep they may depends on how far the hip is folded, as measured on captured lifts
(`benchmarks/soft_tissue.py`), and the cap `tissue` bounds it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elbowroom.character.body import Body, Character
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.world.contacts import Contact

BELLY = ("spine1", "spine2", "chest")
THIGHS = ("left_thigh", "right_thigh")
# Angle between thigh and trunk from which on they press each other, radians, and how much deeper they do for each
# radian less, metres: 80 degrees, and 30 mm at 60 degrees (90th percentile of eight captured lifts).
_FIRST_RAD = float(np.radians(80.0))
_PER_RAD_M = 0.03 / float(np.radians(20.0))
# Reason of such a contact, in certificates and files.
SOFT = "soft tissue"


def folds(body: Character, T: Array) -> Mapping[str, Array]:
    """Angles in radians between thigh and trunk by side, pi where they are in line, of joints at T (..., J, 4, 4)."""
    out = {}
    for side in ("left", "right"):
        hip, knee, top = (T[..., body.role(role), :3, 3] for role in (f"{side}_thigh", f"{side}_shin", "chest"))
        cosine = (normalize(knee - hip) * normalize(top - hip)).sum(axis=-1)
        out[side] = np.arccos(np.clip(cosine, -1.0, 1.0))
    return out


def tissue_depth(fold_rad: float) -> float:
    """Depth in metres to which belly or chest give way to a thigh, by the angle between thigh and trunk."""
    return max(_FIRST_RAD - fold_rad, 0.0) * _PER_RAD_M


def tissue_contacts(
    body: Body, who: str, during: tuple[float, float], most: float, T: Array | None = None
) -> list[Contact]:
    """Contacts of belly and chest with the thighs of a person during an interval, to a depth of `most` metres.

    With joints at T (N, J, 4, 4) of the frames in it, no deeper than the most folded of them has it.
    """
    needed = (*THIGHS, "left_shin", "right_shin", "chest")
    if not isinstance(body, Character) or any(role not in body.roles for role in needed):
        return []
    fold = dict.fromkeys(("left", "right"), 0.0)
    if T is not None:
        fold = {side: float(angles.min()) for side, angles in folds(body, T).items()}
    shapes = {shape.joint: shape.name for shape in body.shapes}
    parts = [shapes[body.roles[role]] for role in BELLY if body.roles.get(role) in shapes]
    out = []
    for side in ("left", "right"):
        depth = min(most, tissue_depth(fold[side]))
        thigh = shapes.get(body.roles[f"{side}_thigh"])
        if depth > 0.0 and thigh is not None:
            out += [Contact(f"{who}.{part}", f"{who}.{thigh}", during, "tissue", depth, SOFT) for part in parts]
    return out
