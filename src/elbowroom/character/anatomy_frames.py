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
)
from elbowroom.character.rig_geometry import UP
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.rotations import Array, conjugate, multiply, normalize, rotate

# A hinge tells its axis once it bends by this much: at rest, or on average over sample poses.
_TELLING_BEND = np.radians(6.0)

# A joint carries twist if samples of it differ by more than this.
_TELLING_TWIST = np.radians(4.0)


@dataclass(frozen=True, eq=False)
class Zero:
    """Zero pose: world rotations (J, 4) of all joints, and each part's anatomical frame (quaternion)."""

    world: Array
    frames: dict[str, Array]


def anatomical_zero(
    skeleton: Skeleton, roles: Mapping[str, int], front: Array, poses: Array | None, wrist_twists: bool
) -> Zero:
    """Zero pose of all joints, for a rig at rest facing `front` (3,).

    `poses` (N, J, 4) may show hinge axes; `wrist_twists` says that the palm is turned at the wrist, not the
    forearm.
    """
    front = normalize(front * np.array([1.0, 1.0, 0.0]))
    left = np.cross(UP, front)
    at_rest = skeleton.orientations(skeleton.rest)
    twists: dict[str, tuple[Array, Array]] = {}
    for side in SIDES:
        for upper, lower, end, bends_to in (
            ("upper_arm", "forearm", "hand", front),
            ("thigh", "shin", "foot", -front),
        ):
            parts = (f"{side}_{upper}", f"{side}_{lower}", f"{side}_{end}")
            bend = hinge_direction(skeleton, roles, parts, poses)
            if bend is not None:
                twists[parts[0]] = (bend, bends_to)
        thumbs_up = thumb_side(skeleton, roles, side)
        if thumbs_up is not None:
            hand, fore = roles[f"{side}_hand"], roles[f"{side}_forearm"]
            in_forearm = rotate(multiply(conjugate(at_rest[fore]), at_rest[hand]), thumbs_up)
            part, pointer = ("hand", thumbs_up) if wrist_twists else ("forearm", in_forearm)
            twists[f"{side}_{part}"] = (pointer, front)
    world = straightened(skeleton, roles, at_rest, front, twists)
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
    return Zero(world, {p: f for p, f in frames.items() if p in roles})


def hinge_direction(
    skeleton: Skeleton, roles: Mapping[str, int], parts: tuple[str, str, str], poses: Array | None
) -> Array | None:
    """Which way a hinge bends its lower bone, unit (3,) in the upper joint's frame; None where nothing
    shows it.

    `parts` are upper bone, lower bone and its end. Sample poses (N, J, 4) that bend decide; else the rest
    pose.
    """
    if any(p not in roles for p in parts):
        return None
    upper, lower = roles[parts[0]], roles[parts[1]]
    thigh, shin = bone_end(skeleton, roles, parts[0]), bone_end(skeleton, roles, parts[1])
    if thigh is None or shin is None:
        return None
    for samples in (poses, skeleton.rest[None]):
        if samples is None or not len(samples):
            continue
        # joints between the two (twist bones) count as turned with the upper one
        turn = samples[:, lower]
        j = int(skeleton.parents[lower])
        while j != upper:
            turn = multiply(samples[:, j], turn)
            j = int(skeleton.parents[j])
        across = np.cross(normalize(thigh), rotate(turn, normalize(shin)))
        total = across.mean(axis=0)
        size = float(np.linalg.norm(total))
        if size > np.sin(_TELLING_BEND) and size > 0.8 * float(np.linalg.norm(across, axis=1).mean()):
            # The axis from which the lower bone strays least over all samples, in the sense of least squares.
            main = np.linalg.eigh(across.T @ across)[1][:, -1]
            return normalize(np.cross(main if np.dot(main, total) > 0 else -main, thigh))
    return None


def thumb_side(skeleton: Skeleton, roles: Mapping[str, int], side: str) -> Array | None:
    """Direction across the hand from the little finger to the thumb's side, (3,) in the hand's frame.

    None where fewer than two fingers tell: the palms then count as facing down with the arms out.
    """
    if f"{side}_hand" not in roles or f"{side}_forearm" not in roles:
        return None
    T = skeleton.T_rest
    hand = roles[f"{side}_hand"]
    knuckles = [roles[f"{side}_{f}1"] for f in FINGERS[1:] if f"{side}_{f}1" in roles]
    if len(knuckles) > 1:
        across = T[knuckles[0], :3, 3] - T[knuckles[-1], :3, 3]
        return normalize(T[hand, :3, :3].T @ across) if np.linalg.norm(across) > 1e-3 else None
    return None


def _direction(skeleton: Skeleton, roles: Mapping[str, int], world: Array, part: str, otherwise: Array) -> Array:
    """Direction of a part's bone in a pose given by world rotations; `otherwise` where nothing tells."""
    end = bone_end(skeleton, roles, part) if part in roles else None
    return otherwise if end is None else normalize(rotate(world[roles[part]], end))


def carries_twist(skeleton: Skeleton, roles: Mapping[str, int], ends: tuple[str, str], poses: Array | None) -> bool:
    """Return whether hands or feet are turned about the bone above them in sample poses: the twist is on the wrong
    joint.

    CMU's skeleton turns the palm at the wrist and the toes at the ankle.
    """
    if poses is None or not len(poses):
        return True
    for part in (p for p in ends if p in roles):
        j = roles[part]
        along = normalize(skeleton.offsets[j])
        step = multiply(poses[:, j], conjugate(poses[0, j]))
        twist = np.unwrap(2.0 * np.arctan2(step[:, 1:] @ along, step[:, 0]))
        if np.ptp(twist) > _TELLING_TWIST:
            return True
    return False
