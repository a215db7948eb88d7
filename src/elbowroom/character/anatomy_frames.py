"""The zero pose of a rig's joints and their anatomical frames in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from elbowroom.character.anatomy_rest import (
    FINGERS,
    SIDES,
    bone_end,
    frame,
    straightened,
    world_rotations,
)
from elbowroom.character.rig_geometry import UP
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.rotations import Array, about, arc, multiply, normalize, rotate


@dataclass(frozen=True, eq=False)
class Zero:
    """Zero pose: world rotations (J, 4) of all joints, and each part's anatomical frame (quaternion) in it."""

    world: Array
    frames: dict[str, Array]
    twist_on_hand: bool


def anatomical_zero(
    skeleton: Skeleton, roles: Mapping[str, int], front: Array, poses: Array | None = None
) -> Zero:
    """Where all joints are zero, for a rig at rest facing `front` (3,)."""
    front = normalize(front * np.array([1.0, 1.0, 0.0]))
    left = np.cross(UP, front)
    world = straightened(skeleton, roles, world_rotations(skeleton, skeleton.rest), front)
    frames: dict[str, Array] = {}
    for part in ("spine1", "spine2", "chest", "neck", "head"):
        frames[part] = frame(UP, front)
    for side in SIDES:
        out = left if side == "left" else -left
        frames[f"{side}_eye"] = frame(front, -UP)
        frames[f"{side}_upper_arm"] = frame(out, -UP)
        frames[f"{side}_forearm"] = frame(out, front)
        frames[f"{side}_hand"] = frame(out, -UP)
        frames[f"{side}_thigh"] = frame(-UP, front)
        frames[f"{side}_shin"] = frame(-UP, -front)
        frames[f"{side}_foot"] = frame(-UP, front)
        frames[f"{side}_toes"] = frame(front, -UP)
        for finger in FINGERS[1:]:
            for k in (1, 2, 3):
                frames[f"{side}_{finger}{k}"] = frame(out, -UP)
        clavicle = _direction(skeleton, roles, world, f"{side}_clavicle", out)
        frames[f"{side}_clavicle"] = frame(clavicle, -UP)
        for k in (1, 2, 3):
            thumb = _direction(skeleton, roles, world, f"{side}_thumb{k}", normalize(out + front))
            frames[f"{side}_thumb{k}"] = frame(thumb, -UP - front)
    return Zero(world, {p: f for p, f in frames.items() if p in roles}, False)


def _direction(
    skeleton: Skeleton, roles: Mapping[str, int], world: Array, part: str, otherwise: Array
) -> Array:
    """Direction of a part's bone in a pose given by world rotations; `otherwise` where nothing tells."""
    end = bone_end(skeleton, roles, part) if part in roles else None
    return otherwise if end is None else normalize(rotate(world[roles[part]], end))
