"""Gaze at a point: eyes, head and neck share the angle in fixed parts (Morasso and Tagliasco 1986).

Eyes take a constant share of the angle between the trunk's front and the point, neck and head the rest, each within its
limits; then the eyes take up the remainder, so that the gaze meets the point where it can. Towards points behind the
body the head turns less and less: a point that passes behind lets the head return to the front and turn to the other
side without a jump.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array
from elbowroom.posing.limb_ik import numbers

# Share of the eyes in a turn of the gaze; the neck's share of the remainder.
EYES, NECK = 0.35, 0.5

# Angle from the front up to which the gaze follows a point, radians; beyond it the gaze returns to the front.
_FOLLOWS = float(np.radians(115.0))
# Iterations of an eye towards its point, and their tolerance, radians.
_ROUNDS, _EXACT = 4, 1e-5
# Largest turn of the gaze.
_FARTHEST = float(np.radians(100.0))


def looking_at(body: Character, pose: Pose, point: ArrayLike, share: float = 1.0, eyes: float = EYES) -> Pose:
    """The posture with its gaze on a point (3,); `share` from 0 (unchanged) to 1 (on the point).

    `eyes` is the eyes' share of the turn. Parts that the rig lacks are left out: without eyes, head and neck do it all.
    """
    target = numbers("point", point)
    if target.shape != (3,):
        raise BadValue(f"a point to look at must be three numbers, not {target.shape}.")
    if not (0.0 <= share <= 1.0 and 0.0 <= eyes <= 1.0):
        raise BadValue(f"shares of a gaze must be from 0 to 1, not {share} and {eyes}.")
    if not _neck(body) or share == 0.0:
        return pose
    q = gazing(body, pose.root[None], pose.rotations[None], target[None], np.array([share]), eyes)
    return Pose.of(pose.root, q[0])


def gazing(body: Character, root: Array, q: Array, points: Array, share: Array, eyes: float = EYES) -> Array:
    """`looking_at` for many frames: roots (N, 3), rotations (N, J, 4), points (N, 3), shares (N,) -> (N, J, 4)."""
    neck, out = _neck(body), np.array(q)
    rows = np.flatnonzero(share > 0.0)
    if not neck or not len(rows):
        return out
    new, target, by = out[rows], points[rows], share[rows]
    pupils = [body.roles[r] for r in ("left_eye", "right_eye") if r in body.roles]
    T = body.skeleton.forward(root[rows], new)
    trunk = int(body.parents[neck[0]])
    # direction to the point relative to the trunk's front, as axis times angle in the trunk's frame
    between = T[:, pupils][..., :3, 3].mean(axis=1) if pupils else T[:, neck[-1], :3, 3]
    turn = _followed(_front_in(body, trunk), _seen_from(T[:, trunk], target - between))
    part = (1.0 - eyes) if pupils else 1.0
    parts = [NECK, 1.0 - NECK] if len(neck) == 2 else [1.0]
    base = body.skeleton.rest
    for joint, of in zip(neck, parts, strict=True):
        above = int(body.parents[joint])
        # the trunk's axes in the frame above the joint at rest
        axes = _rest_turn(body, above, trunk)
        looking = rot.multiply(rot.exp(rot.rotate(axes, part * of * turn)), base[joint])
        limit = body.limits[joint] if body.limits else None
        new[:, joint] = rot.slerp(new[:, joint], looking if limit is None else limit.clamp(looking), by)
    if pupils:
        T = body.skeleton.forward(root[rows], new)
        for joint in pupils:
            above = int(body.parents[joint])
            away = _seen_from(T[:, above], target - T[:, joint, :3, 3])
            new[:, joint] = rot.slerp(new[:, joint], _eye(body, joint, _followed(_front_in(body, above), away)), by)
    out[rows] = new
    return out


def gaze_error(body: Character, pose: Pose, point: ArrayLike) -> float:
    """Angle between a posture's gaze and a point (3,), radians: the mean of both eyes, or that of the head."""
    target = numbers("point", point)
    T = body.skeleton.at(pose)
    looks = [body.roles[r] for r in ("left_eye", "right_eye") if r in body.roles]
    looks = looks or [body.roles[r] for r in ("head", "neck") if r in body.roles][:1]
    if not looks:
        raise BadValue(f"{body.name} has no head to look with.")
    errors = []
    for joint in looks:
        ahead = T[joint, :3, :3] @ _front_in(body, joint)
        errors.append(rot.angle(rot.arc(ahead, target - T[joint, :3, 3])))
    return float(np.mean(errors))


def _seen_from(T: Array, way: Array) -> Array:
    """World vectors (N, 3) in the axes of frames (N, 4, 4)."""
    return np.einsum("nji,nj->ni", T[:, :3, :3], way)


def _followed(ahead: Array, way: Array) -> Array:
    """Axis times angle (N, 3) of the turns from a direction (3,) to others (N, 3), as far as the gaze follows."""
    turn = rot.log(rot.arc(ahead, way))
    size = np.linalg.norm(turn, axis=-1, keepdims=True)
    wanted = np.minimum(size, _FARTHEST) * (1.0 - smoothstep((size - _FOLLOWS) / (np.pi - _FOLLOWS)))
    return np.where(size < 1e-12, 0.0, turn * (wanted / np.maximum(size, 1e-12)))


def _eye(body: Character, joint: int, turn: Array) -> Array:
    """Local rotations (N, 4) of an eye whose line of sight is turned from the front by (N, 3), within its limits.

    An eye only swings about its own axes, which may differ from those of the rest pose: the remainder is corrected.
    """
    wanted, tried = rot.rotate(rot.exp(turn), _front_in(body, int(body.parents[joint]))), turn
    limit = body.limits[joint] if body.limits else None
    looking = rot.multiply(rot.exp(tried), body.skeleton.rest[joint])
    if limit is None:
        return looking
    coordinates = np.zeros_like(turn)
    for _ in range(_ROUNDS):
        coordinates = limit.coordinates(looking) * [1.0, 1.0, 0.0]
        sight = rot.rotate(limit.rotation(coordinates), _front_in(body, joint))
        left = rot.log(rot.arc(sight, wanted))
        left[np.sum(left * left, axis=-1) < _EXACT**2] = 0.0
        if not left.any():
            break
        tried = tried + left
        looking = rot.multiply(rot.exp(tried), body.skeleton.rest[joint])
    return limit.rotation(limit.clamp_coordinates(coordinates))


@lru_cache(maxsize=64)
def _neck(body: Character) -> tuple[int, ...]:
    """Joints that turn the head and nothing else: some rigs attach the arms to the neck."""
    arms = [body.roles[r] for r in ("left_upper_arm", "right_upper_arm") if r in body.roles]
    found = [body.roles[r] for r in ("neck", "head") if r in body.roles]
    return tuple(j for j in found if not set(arms) & set(body.subtree(j)))


@lru_cache(maxsize=256)
def _front_in(body: Character, joint: int) -> Array:
    """Facing direction of the body at rest, in a joint's frame, (3,)."""
    return np.asarray(body.T_rest[joint, :3, :3].T @ np.asarray(body.front, dtype=float))


@lru_cache(maxsize=256)
def _rest_turn(body: Character, joint: int, other: int) -> Array:
    """Rotation (4,) from another joint's frame to a joint's own, at rest."""
    rest = body.T_rest
    return rot.from_matrix(rest[joint, :3, :3].T @ rest[other, :3, :3])
