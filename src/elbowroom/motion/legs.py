"""Feet and hands brought to places: limbs of any character solved for whole runs of frames."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.two_bone import two_bone

SIDES = ("left", "right")


def place_feet(character: Character, root: ArrayLike, rotations: ArrayLike, feet: Mapping[str, ArrayLike]) -> Array:
    """Local rotations (N, J, 4) in which the foot joints are at `feet[side]` (N, 4, 4), the rest as before.

    root (N, 3), rotations (N, J, 4). Sides are 'left' and 'right'; a side that is not given stays as it is.
    Knees keep their plane. What is out of reach is approached.
    """
    out = np.asarray(rotations, dtype=float)
    for side, T_world_foot in feet.items():
        _check_side(side, "foot")
        leg = (f"{side}_thigh", f"{side}_shin", f"{side}_foot")
        out = _place(character, root, out, leg, T_world_foot, character.front)
    return out


def place_hands(character: Character, root: ArrayLike, rotations: ArrayLike, hands: Mapping[str, ArrayLike]) -> Array:
    """The same for hand joints: `place_feet` for arms."""
    out = np.asarray(rotations, dtype=float)
    for side, T_world_hand in hands.items():
        _check_side(side, "hand")
        arm = (f"{side}_upper_arm", f"{side}_forearm", f"{side}_hand")
        out = _place(character, root, out, arm, T_world_hand, -character.front)
    return out


def _check_side(side: str, what: str) -> None:
    if side not in SIDES:
        raise BadValue(f"a {what} is 'left' or 'right', not '{side}'.")


def _place(
    character: Character,
    root: ArrayLike,
    rotations: ArrayLike,
    limb: tuple[str, str, str],
    T_world_end: ArrayLike,
    bend: Array,
) -> Array:
    """One limb, as roles from the trunk outwards, with its end at (N, 4, 4); the middle joint goes to `bend` (3,)."""
    thigh, shin, foot = (character.role(role) for role in limb)
    skeleton = character.skeleton
    q = np.array(rotations, dtype=float)
    T_foot = np.asarray(T_world_end, dtype=float)
    T = skeleton.forward(np.broadcast_to(np.asarray(root, dtype=float), (len(q), 3)), q)
    W = {j: rot.from_matrix(T[:, j, :3, :3]) for j in (thigh, shin, foot)}
    front = rot.rotate(rot.conjugate(rot.from_matrix(skeleton.T_rest[thigh, :3, :3])), bend)
    solved = two_bone(
        T[:, thigh, :3, 3],
        T[:, shin, :3, 3],
        T[:, foot, :3, 3],
        T_foot[..., :3, 3],
        bend=rot.rotate(W[thigh], front),
    )
    new = {
        thigh: rot.multiply(solved.upper, W[thigh]),
        shin: rot.multiply(solved.lower, W[shin]),
        foot: np.broadcast_to(rot.from_matrix(T_foot[..., :3, :3]), W[foot].shape),
    }
    # Joints between hip, knee and ankle keep their local rotations: they ride on the bone above.
    above = {thigh: rot.IDENTITY, shin: solved.upper, foot: solved.lower}
    for j in (thigh, shin, foot):
        parent = int(skeleton.parents[j])
        if parent < 0:
            q[:, j] = new[j]
        else:
            W_parent = rot.multiply(above[j], rot.from_matrix(T[:, parent, :3, :3]))
            q[:, j] = rot.multiply(rot.conjugate(W_parent), new[j])
    return q
