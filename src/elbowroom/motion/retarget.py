"""A clip on a character of other proportions, its feet planted where the original's are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import covering
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.legs import place_hands
from elbowroom.motion.retarget_feet import plant_feet
from elbowroom.motion.retarget_pose import carry_over, has_feet, leg_length

# Legs shorter than this, in metres, are damage.
_SHORTEST_LEGS = 1e-4


def retarget(clip: Clip, character: Character, *, floor: float | None = None, plant: bool = True) -> Clip:
    """The motion of a clip done by another character.

    Parts of the body are matched by their roles, whatever the rigs' frames and rest poses; the way and the
    height of the hips are scaled by the length of the legs, about where the clip begins. With `plant`, feet
    that bear on the floor in the clip do so without sliding. `floor` is the height of the clip's ground in
    metres, estimated where not given; it stays the same. What had to be assumed is told in the result's
    `source.notes`. A character of the same skeleton gets the motion unchanged.
    """
    mine, other = clip.character.skeleton, character.skeleton
    if mine is other or (
        mine.names == other.names
        and np.array_equal(mine.parents, other.parents)
        and np.array_equal(mine.offsets, other.offsets)
        and np.array_equal(mine.rest, other.rest)
    ):
        return clip.with_(character=character)
    for body in (clip.character, character):
        if leg_length(body) < _SHORTEST_LEGS:
            raise BadValue(f"the legs of '{body.name}' have zero length, so motion cannot be scaled by them.")
    contacts = foot_contacts(clip, floor) if has_feet(clip.character) else None
    if contacts is not None:
        ground = contacts.floor
    else:
        ground = float(clip.positions()[clip.source.lead :, :, 2].min()) if floor is None else floor
    notes = clip.source.notes
    if plant:
        clip, leaps = without_jolts(clip)
        if leaps:
            notes = (*notes, f"{leaps} frames in which the body jumped and came back were interpolated")
    carried = carry_over(clip, character, ground)
    notes = (*notes, *carried.notes)
    plantable = plant and contacts is not None and has_feet(character)
    if plant and not plantable:
        notes = (*notes, "feet were not planted because a leg is missing in one of the rigs")
    made = clip.with_(
        character=character,
        root=carried.root,
        rotations=carried.rotations,
        source=replace(clip.source, euler={}, notes=notes),
    )
    if plantable and contacts is not None:
        made = plant_feet(made, contacts)
    return hands_above(made, ground) if plant else made


def hands_above(clip: Clip, floor: float) -> Clip:
    """The clip with hands that would go below the floor, metres high, raised to it by their arms.

    Long arms reach lower than those of the recorded person. Where that person's hand lies on the floor, this one does.
    """
    character, lead = clip.character, clip.source.lead
    T, hands = clip.world(), {}
    for side in ("left", "right"):
        if not {f"{side}_{part}" for part in ("upper_arm", "forearm", "hand")} <= set(character.roles):
            continue
        hand = character.role(f"{side}_hand")
        lowest = T[:, list(character.skeleton.subtree(hand)), 2, 3].min(axis=1) - _FINGER_M * _size(character)
        lack = np.maximum(floor - lowest, 0.0)
        lack[:lead] = 0.0
        if lack.any():
            hands[side] = T[:, hand].copy()
            hands[side][:, 2, 3] += covering(lack, 2 * round(0.5 * _RISE_S * clip.fps) + 1)
    if not hands:
        return clip
    q = np.array(place_hands(character, clip.root, clip.rotations, hands))
    q[:lead] = clip.rotations[:lead]
    return clip.with_(rotations=q)


# Half the thickness of a finger of an adult, metres; time over which a hand is raised, seconds.
_FINGER_M = 0.010
_RISE_S = 0.25


# A frame is a jolt if its trunk is this far (metres) from the middle of its neighbours, and farther than what
# an acceleration of a person (m/s²) makes of it.
_LEAP, _ACCELERATION = 0.006, 40.0
# Parts that show it: the hips and what they carry on both sides.
_PARTS = ("pelvis", "left_thigh", "right_thigh")


def jolts(clip: Clip) -> NDArray[np.intp]:
    """Frames in which hips leap away from where both neighbouring frames have them."""
    parts = [clip.character.roles[r] for r in _PARTS if r in clip.character.roles] or [0]
    off = _off_neighbours(clip.positions()[:, parts]).max(axis=1)
    off[: clip.source.lead + 1] = 0.0
    threshold = max(_LEAP * _size(clip.character), 0.5 * _ACCELERATION / clip.fps**2)
    # The frames beside a leap are off by half of it, too.
    highest = off > 1.5 * np.maximum(np.roll(off, 1), np.roll(off, -1))
    return np.flatnonzero((off > threshold) & highest)


def without_jolts(clip: Clip) -> tuple[Clip, int]:
    """Clip with such frames interpolated between their neighbours, and their number."""
    found = jolts(clip)
    if not len(found):
        return clip, 0
    root, q = np.array(clip.root), np.array(clip.rotations)
    root[found] = 0.5 * (root[found - 1] + root[found + 1])
    q[found] = rot.slerp(q[found - 1], q[found + 1], 0.5)
    return clip.with_(root=root, rotations=q), len(found)


def _off_neighbours(p: Array) -> Array:
    """Distance (T, P) of points (T, P, 3) from the middle of where they are one frame before and after."""
    out = np.zeros(p.shape[:2])
    out[1:-1] = np.linalg.norm(p[1:-1] - 0.5 * (p[:-2] + p[2:]), axis=-1)
    return out


def _size(character: Character) -> float:
    """Height of the joints in the rest pose relative to an adult's."""
    z = character.skeleton.T_rest[:, 2, 3]
    return float(np.ptp(z)) / 1.7
