"""Balance of a standing body: its centre of mass over the support polygon of its feet.

Only sole points near the floor count. Of a foot on tiptoe only the part in front of the ball does.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array
from elbowroom.motion.soles import Sole, soles

# Sole points up to this height above the floor bear weight, metres: soles are soft, recorded feet float.
TOUCHING = 0.025

# Directions in which the edge of the support is sampled. A margin is overestimated by at most 2 mm, where the edge lies
# between two of them.
_ANGLES_RAD = np.arange(192) * 2.0 * np.pi / 192
AROUND: Array = np.stack([np.cos(_ANGLES_RAD), np.sin(_ANGLES_RAD)])


@lru_cache(maxsize=64)
def feet_of(character: Character) -> tuple[Sole, ...]:
    """Soles of a character's feet; none where it lacks one."""
    if any(f"{side}_foot" not in character.roles for side in ("left", "right")):
        return ()
    return soles(character)


def contact_points(character: Character, T: Array, floor: float = 0.0) -> Array:
    """Sole points (..., P, 2) on the floor for joint transforms (..., J, 4, 4), NaN where they do not touch."""
    joints, outline = _outline(character)
    places = T[..., joints, :, :]
    points = np.einsum("...pab,pb->...pa", places[..., :3, :3], outline) + places[..., :3, 3]
    out = points[..., :2]
    out[points[..., 2] - floor > TOUCHING] = np.nan
    return np.asarray(out)


@lru_cache(maxsize=64)
def _outline(character: Character) -> tuple[NDArray[np.int64], Array]:
    """Joints (P,) that carry the points of both soles, and the points in their frames, (P, 3)."""
    joints: list[int] = []
    points = [np.zeros((0, 3))]
    for sole in feet_of(character):
        toes = sole.toes if sole.toes >= 0 else sole.foot
        for joint, outline in ((sole.foot, sole.outline), (toes, sole.toe_outline)):
            joints += [joint] * len(outline)
            points.append(outline)
    return np.array(joints, dtype=np.int64), np.concatenate(points)


def margin_inside(points: Array, at: Array) -> Array:
    """Signed distances of points `at` (..., 2) inside the hull of points (..., P, 2), metres, negative outside.

    NaN points do not count; without any points the distance is -inf.
    """
    return np.asarray((edges(points) - at @ AROUND).min(axis=-1))


def edges(points: Array) -> Array:
    """Extents of points (..., P, 2) along each of the directions `AROUND`, (..., 192); -inf without any."""
    off = np.isnan(points[..., 0])
    far = np.where(off[..., None], 0.0, points) @ AROUND
    far[off] = -np.inf
    return np.asarray(far.max(axis=-2, initial=-np.inf))


def hull_of(points: Array) -> Array:
    """Corners (K, 2) of the hull of the finite points among (P, 2); none where they enclose no area."""
    points = points[np.isfinite(points[:, 0])]
    if len(points) < 3:
        return np.zeros((0, 2))
    try:
        return points[scipy.spatial.ConvexHull(points).vertices]
    except scipy.spatial.QhullError:
        return np.zeros((0, 2))


def balance_margin(character: Character, pose: Pose, floor: float = 0.0) -> float:
    """Distance of the centre of mass inside the support polygon, metres; negative outside, -inf without support."""
    T = character.skeleton.at(pose)
    com = center_of_mass(character, T)
    return float(margin_inside(contact_points(character, T, floor), com[:2]))
