"""Collision shapes of a rig: fitted to its skin where it has one, else to its bones with published girths."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elbowroom.character.anatomy_rest import bone_end
from elbowroom.character.skeleton import Skeleton
from elbowroom.character.skin import Skin
from elbowroom.geometry.shapes import Shape, capsule

# Radius of a segment as a share of stature.
RADII = {
    "pelvis": 0.085, "spine1": 0.075, "spine2": 0.08, "chest": 0.085, "neck": 0.034, "head": 0.055, "clavicle": 0.035,
    "upper_arm": 0.027, "forearm": 0.023, "hand": 0.022, "thigh": 0.047, "shin": 0.033, "foot": 0.027, "toes": 0.02,
}  # fmt: skip


def fit_shapes(
    skeleton: Skeleton, roles: Mapping[str, int], skin: Skin | None = None, height: float | None = None
) -> tuple[Shape, ...]:
    """One or more shapes per part."""
    stature = height or float(np.ptp(skeleton.T_rest[:, 2, 3]))
    shapes = []
    for part, j in roles.items():
        plain = part.removeprefix("left_").removeprefix("right_")
        radius = RADII.get(plain, 0.006 if plain != "eye" else 0.0) * stature
        end = bone_end(skeleton, roles, part)
        if radius:
            shapes.append(capsule(part, j, np.zeros(3), np.zeros(3) if end is None else end, radius))
    return tuple(shapes)
