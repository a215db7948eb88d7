"""Subject of a close-up: a hand, an object or a frame of it, by name and over time."""

from __future__ import annotations

import numpy as np

from elbowroom.character.grip import grip_frame
from elbowroom.errors import UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.world.extent import body_points, joint_transforms
from elbowroom.world.paths import places
from elbowroom.world.world import World

# Metres shown around a part of a body or a named place, at least around a thing; and how many times as much as its
# own size is shown of a thing.
_PART, _LEAST, _ROOM = 0.5, 0.3, 1.6
_HANDS = {"left_hand": "left", "right_hand": "right"}


def subject(world: World, name: str, times: Array) -> tuple[Array, float]:
    """Centre (T, 3) of an 'object', 'object.frame', 'character' or 'character.part', and the extent to show, metres."""
    owner, part = world.split(name)
    if owner in world.characters:
        motion = world.characters[owner]
        if not part:
            points = body_points(motion, times)
            return 0.5 * (points.min(axis=1) + points.max(axis=1)), _room(points[0])
        joint, T = motion.body.frame(part)
        if part in _HANDS and part in motion.body.roles:
            T = grip_frame(motion.body, _HANDS[part])
        return (joint_transforms(motion, times)[:, joint] @ T)[:, :3, 3], _PART
    if owner in world.things:
        thing = world.things[owner]
        T_world_thing = places(thing.path, times)
        if part:
            return (T_world_thing @ thing.frame(part))[:, :3, 3], _PART
        return apply(T_world_thing, thing.mesh.bounds.mean(axis=0)[None])[:, 0], _room(thing.mesh.bounds)
    if name in world.static:
        bounds = world.static[name].bounds
        return np.tile(bounds.mean(axis=0), (len(times), 1)), _room(bounds)
    raise UnknownName("object or character", owner, [*world.characters, *world.things, *world.static])


def _room(points: Array) -> float:
    return max(_LEAST, _ROOM * float(np.ptp(points, axis=0).max()))
