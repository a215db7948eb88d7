"""A clip on a character of other proportions, its feet planted where the original's are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.jolts import without_jolts
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
    return plant_feet(made, contacts) if plantable and contacts is not None else made
