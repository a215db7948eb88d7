"""Feet and hands brought to targets by two-bone IK, for whole runs of frames of any character.

The limb is given as it stands now (three points), the answer as turns that are put in front of the bones'
present world rotations: `multiply(upper, W_thigh)`, `multiply(lower, W_shin)`. So it works for any rig,
whatever its frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array, arc, multiply, normalize, rotate

# A limb bent less than the first number (sine of the angle between its bones) follows the `bend` direction
# when it has to bend more, past the second it keeps its own plane; between them the two are mixed.
_STRAIGHT, _BENT = 0.05, 0.2


class TwoBone(NamedTuple):
    """Turns of the two bones in world axes, where middle and end are then, and what is missing (metres)."""

    upper: Array  # (..., 4)
    lower: Array  # (..., 4)
    middle: Array  # (..., 3)
    end: Array  # (..., 3)
    missing: Array  # (...), distance from the end to the target


def two_bone(
    root: ArrayLike,
    middle: ArrayLike,
    end: ArrayLike,
    target: ArrayLike,
    *,
    bend: ArrayLike | None = None,
) -> TwoBone:
    """Turn a limb so that its end comes to the target. All points (..., 3) in metres, broadcasting.

    The limb swings the shortest way and bends in its present plane. `bend` (..., 3) is the direction in which the
    middle joint would move if the limb, as it stands, bent; it decides where the limb is straight. Targets out of
    reach are approached along the line from the root.
    """
    a, b, c, t = np.broadcast_arrays(*(np.asarray(p, dtype=float) for p in (root, middle, end, target)), subok=False)
    upper_length = np.linalg.norm(b - a, axis=-1)
    lower_length = np.linalg.norm(c - b, axis=-1)
    present = normalize(c - a)
    present = np.where(_is_zero(present), normalize(b - a), present)
    wanted = np.linalg.norm(t - a, axis=-1)
    direction = normalize(t - a)
    direction = np.where(_is_zero(direction), present, direction)
    reach = np.clip(wanted, np.abs(upper_length - lower_length), upper_length + lower_length)

    swing = arc(present, direction)
    # The middle joint lies `along` the line to the target and `off` beside it (law of cosines).
    safe = np.where(reach > 1e-12, reach, 1.0)
    along = np.where(reach > 1e-12, 0.5 * (reach + (upper_length**2 - lower_length**2) / safe), 0.0)
    along = np.clip(along, -upper_length, upper_length)
    off = np.sqrt(np.maximum(upper_length**2 - along**2, 0.0))

    side = _across(rotate(swing, _bend_side(a, b, c, present, off, bend)), direction)
    new_middle = a + along[..., None] * direction + off[..., None] * side
    new_end = a + reach[..., None] * direction
    swung_upper, swung_lower = rotate(swing, b - a), rotate(swing, c - b)
    upper = multiply(arc(swung_upper, new_middle - a), swing)
    lower = multiply(arc(swung_lower, new_end - new_middle), swing)
    return TwoBone(upper, lower, new_middle, new_end, np.linalg.norm(t - new_end, axis=-1))


def _bend_side(a: Array, b: Array, c: Array, present: Array, off: Array, bend: ArrayLike | None) -> Array:
    """Unit direction (..., 3) across the present limb in which its middle joint is to lie."""
    own = (b - a) - np.sum((b - a) * present, axis=-1, keepdims=True) * present
    own_off = np.linalg.norm(own, axis=-1)
    hint = np.zeros_like(a) if bend is None else np.broadcast_to(np.asarray(bend, dtype=float), a.shape)
    hint = _across(hint, present)
    sine = np.linalg.norm(np.cross(normalize(b - a), normalize(c - b)), axis=-1)
    straightness = 1.0 - smoothstep((sine - _STRAIGHT) / (_BENT - _STRAIGHT))
    # A limb that bends no further keeps its plane exactly; the hint only applies where it bends more than before.
    more = np.maximum(off - own_off, 0.0) * straightness
    mixed = own + more[..., None] * hint
    return np.where(np.linalg.norm(mixed, axis=-1, keepdims=True) > 1e-9, normalize(mixed), hint)


def _across(v: Array, direction: Array) -> Array:
    """The unit part of `v` across a unit direction; some direction across it where `v` has none."""
    flat = v - np.sum(v * direction, axis=-1, keepdims=True) * direction
    helper = np.where(np.abs(direction[..., :1]) < 0.9, np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    some = normalize(np.cross(direction, helper))
    return np.where(np.linalg.norm(flat, axis=-1, keepdims=True) > 1e-9, normalize(flat), some)


def _is_zero(v: Array) -> Array:
    return np.sum(v * v, axis=-1, keepdims=True) < 0.5


SIDES = ("left", "right")


def place_feet(character: Character, root: ArrayLike, rotations: ArrayLike, feet: Mapping[str, ArrayLike]) -> Array:
    """Local rotations (N, J, 4) in which the foot joints are at `feet[side]` (N, 4, 4), the rest as before.

    root (N, 3), rotations (N, J, 4). Sides are 'left' and 'right'; a side that is not given stays as it is.
    Knees keep their plane. Targets out of reach are approached.
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
        raise BadValue(f"a {what} must be 'left' or 'right', not '{side}'.")


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
