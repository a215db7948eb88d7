"""Postures between two of a body that keeps its footing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.character.limits import pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.posing.balance import feet_of
from elbowroom.posing.limb_ik import Keep, LimbIK, numbers

# Excess of an ankle over its limits on the way, radians, backward shift of the hips per radian beyond that, shares of a
# leg's length, and iterations.
_BEYOND_RAD = 0.005
_BACK_PER_RAD = 0.8
_DRAWS_BACK = 6


def between(body: Character, pose_a: Pose, pose_b: Pose, s: ArrayLike) -> tuple[Array, Array]:
    """Roots (T, 3) and local rotations (T, J, 4) at shares s (T,) of the way from one posture to another.

    s is any array in [0, 1], such as one that eases in and out. The root moves straight, joints by slerp, and legs are
    solved again so that the balls of the feet stay where both postures have them; a heel that one of them lifts rotates
    about the ball, the toes flat. Where the legs are too short on the way, the body sinks; where an ankle would bend
    too far, as between standing and a squat, the hips move back.
    """
    share = numbers("s", s)
    if share.ndim != 1 or np.any((share < 0.0) | (share > 1.0)):
        raise BadValue("shares of the path between two postures are a row of numbers from 0 to 1.")
    roots = pose_a.root + share[:, None] * (pose_b.root - pose_a.root)
    q = rot.slerp(pose_a.rotations, pose_b.rotations, share[:, None])
    legs = [f"{side}_leg" for side in ("left", "right")]
    if any(name not in body.chains for name in legs) or not feet_of(body):
        return roots, q
    ends = body.skeleton.at(pose_a), body.skeleton.at(pose_b)
    iks = [LimbIK(body, name, pose_a) for name in legs]
    feet = [_foot(body, k, ends, share, q) for k in range(2)]
    T = ends[0]
    way = sum(T[sole.foot, :3, :3] @ sole.ball for sole in feet_of(body)) * np.array([1.0, 1.0, 0.0])
    front = np.asarray(rot.normalize(way))
    for last in reversed(range(_DRAWS_BACK)):
        roots = _stood(body, (pose_a, pose_b), share, iks, feet, roots, q)
        # excess (T,) of an ankle over its limits, beyond that of both postures, radians
        ankles = [ik.joints[-1] for ik in iks]
        limits = [body.limits[j] if j < len(body.limits) else None for j in ankles]
        least = max(float(pose_excess(limits, pose.rotations[ankles]).max()) for pose in (pose_a, pose_b))
        beyond = np.maximum(pose_excess(limits, q[:, ankles]).max(axis=-1) - least, 0.0)
        if last == 0 or float(beyond.max()) < _BEYOND_RAD:
            break
        roots = roots - _BACK_PER_RAD * iks[0].reach[1] * beyond[:, None] * front
    return roots, q


def _stood(
    body: Character,
    poses: tuple[Pose, Pose],
    share: Array,
    iks: list[LimbIK],
    feet: list[Array],
    roots: Array,
    q: Array,
) -> Array:
    """Roots (T, 3), lowered where legs are too short; solves the legs in rotations q (T, J, 4)."""
    T = body.skeleton.forward(roots, q)
    ends = body.skeleton.at(poses[0]), body.skeleton.at(poses[1])
    drop = np.zeros(len(share))
    for ik, foot in zip(iks, feet, strict=True):
        # excess height of a hip over its foot's reach along the path, metres, (T,)
        thigh, _, end = ik.joints
        most = max(ik.reach[1], *(float(np.linalg.norm(E[end, :3, 3] - E[thigh, :3, 3])) for E in ends))
        way = T[:, thigh, :3, 3] - foot[:, :3, 3]
        level = np.sum(way[:, :2] ** 2, axis=-1)
        drop = np.maximum(drop, np.maximum(way[:, 2] - np.sqrt(np.maximum(most**2 - level, 0.0)), 0.0))
    roots = roots - drop[:, None] * np.array([0.0, 0.0, 1.0])
    T[..., 2, 3] -= drop[:, None]
    for ik, foot in zip(iks, feet, strict=True):
        rows = list(ik.joints)
        (orbit_a, keep_a), (orbit_b, keep_b) = (
            ik.describe(E[ik.parent], p.rotations[rows]) for E, p in zip(ends, poses, strict=True)
        )
        keep = Keep(
            _turning(keep_a.off_axis, keep_b.off_axis, share),
            _turning(keep_a.twist, keep_b.twist, share),
            np.where(share < 0.5, keep_a.backwards, keep_b.backwards),
        )
        q[:, rows] = ik.solve(T[:, ik.parent], foot, _turning(orbit_a, orbit_b, share), keep).rotations
    return roots


def _turning(a: ArrayLike, b: ArrayLike, share: Array) -> Array:
    """Angles (T,) along the shorter arc from one to another."""
    start, way = np.asarray(a, dtype=float), np.asarray(b, dtype=float) - np.asarray(a, dtype=float)
    return np.asarray(start + share * np.arctan2(np.sin(way), np.cos(way)))


def _foot(body: Character, side: int, ends: tuple[Array, Array], share: Array, q: Array) -> Array:
    """Transforms of a foot joint along the path (T, 4, 4), rotating about its ball; toes keep their world rotation."""
    sole = feet_of(body)[side]
    a, b = (E[sole.foot] for E in ends)
    turn = rot.slerp(rot.from_matrix(a[:3, :3]), rot.from_matrix(b[:3, :3]), share)
    ball = body.skeleton.offsets[sole.toes] if sole.toes >= 0 else sole.ball
    if sole.toes >= 0 and int(body.parents[sole.toes]) != sole.foot:
        ball = sole.ball
    places = [E[:3, :3] @ ball + E[:3, 3] for E in (a, b)]
    out = np.zeros((len(share), 4, 4))
    out[:, 3, 3] = 1.0
    out[:, :3, :3] = rot.to_matrix(turn)
    out[:, :3, 3] = places[0] + share[:, None] * (places[1] - places[0]) - out[:, :3, :3] @ ball
    if sole.toes >= 0 and int(body.parents[sole.toes]) == sole.foot:
        flat = [rot.from_matrix(E[sole.toes, :3, :3]) for E in ends]
        q[:, sole.toes] = rot.multiply(rot.conjugate(turn), rot.slerp(flat[0], flat[1], share))
    return out
