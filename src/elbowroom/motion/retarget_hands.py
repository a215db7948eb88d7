"""Fingers that a recording does not have: a relaxed hand instead of a stiff one."""

from __future__ import annotations

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array

FINGERS = ("thumb", "index", "middle", "ring", "little")
# Bend of the joints of a hand at rest from the knuckle outwards, radians: that of fingers and of the thumb.
_FINGER, _THUMB = np.radians([22.0, 28.0, 18.0]), np.radians([4.0, 10.0, 12.0])


def is_finger(role: str) -> bool:
    """Return whether a role is that of a finger's joint, e.g. 'left_index2'."""
    return role[:-1].partition("_")[2] in FINGERS


def has_fingers(character: Character) -> bool:
    """Return whether the hands have fingers of their own, not a thumb and a mitten as many recordings do."""
    return len({role[:-1] for role in character.roles if is_finger(role)}) >= 6


def relaxed(character: Character, role: str) -> Array:
    """Local rotation (4,) of a finger's joint in a hand that hangs at ease; at rest where its range is unknown."""
    j = character.role(role)
    rest = character.skeleton.rest[j]
    limit = character.limits[j] if j < len(character.limits) else None
    if limit is None:
        return rest
    coordinates = limit.coordinates(rest)
    bends = _THUMB if "thumb" in role else _FINGER
    coordinates[0] = max(coordinates[0], bends[min(int(role[-1]), 3) - 1])
    return limit.rotation(limit.clamp_coordinates(coordinates))
