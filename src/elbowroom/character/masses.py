"""Mass, centre and inertia of each segment, for the built-in person and for any rig.

The body is cut into pieces in the rest pose (see `body_pieces`); a piece goes to the joint that plays its
part, or to the nearest part above it that the rig has.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.anthropometry import Proportions, Scales, Sex, proportions
from elbowroom.character.body import Character, Masses
from elbowroom.character.body_pieces import body_pieces
from elbowroom.character.human_joints import PARENT_ROLE, carrier, rest_positions
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array, about, normalize, rotate
from elbowroom.kernels import pose as pose_kernels


def masses_for(
    skeleton: Skeleton,
    roles: Mapping[str, int],
    height: float,
    mass: float | None = None,
    sex: Sex = "average",
    scales: Scales | None = None,
) -> Masses:
    """Masses of any rig whose joints play the parts in `roles`; they sum to `mass`.

    `height` in metres; `mass` in kg, or the usual one for the height. The rest pose must stand upright
    along +Z.
    """
    template = proportions(height, mass, sex=sex, scales=scales)
    at, front = _landmarks(skeleton, roles, template)
    pieces = body_pieces(at, front, template, roles)
    n = len(skeleton)
    share, first = np.zeros(n), np.zeros((n, 3))
    second = np.zeros((n, 3, 3))  # inertia about the world's origin
    for piece in pieces:
        j = carrier(piece.role, roles)
        share[j] += piece.share
        first[j] += piece.share * piece.center
        second[j] += piece.share * (piece.inertia + _shift(piece.center))
    center = np.divide(first, share[:, None], out=skeleton.T_rest[:, :3, 3].copy(), where=share[:, None] > 0)
    turn = skeleton.T_rest[:, :3, :3]
    to_kg = template.mass / share.sum()
    inertia = np.array([second[j] - share[j] * _shift(center[j]) for j in range(n)]) * to_kg
    return Masses(
        mass=share * to_kg,
        center=np.einsum("jba,jb->ja", turn, center - skeleton.T_rest[:, :3, 3]),
        inertia=np.einsum("jba,jbc,jcd->jad", turn, inertia, turn),
    )


def _shift(d: Array) -> Array:
    """Inertia per kg of a point at `d` (3,) about the origin."""
    return float(d @ d) * np.eye(3) - np.outer(d, d)


def _landmarks(skeleton: Skeleton, roles: Mapping[str, int], template: Proportions) -> tuple[dict[str, Array], Array]:
    """Rest positions of all parts, guessed where the rig lacks them, and the direction faced."""
    ideal = rest_positions(template)
    known = {role: skeleton.T_rest[j, :3, 3] for role, j in roles.items()}
    front = np.array([0.0, -1.0, 0.0])
    for pair in ("thigh", "upper_arm"):
        if f"left_{pair}" in known and f"right_{pair}" in known:
            left = known[f"left_{pair}"] - known[f"right_{pair}"]
            front = normalize(np.array([left[1], -left[0], 0.0]))
            break
    yaw = about([0.0, 0.0, 1.0], np.arctan2(front[0], -front[1]))
    at: dict[str, Array] = {}
    for role, parent in PARENT_ROLE.items():  # parents come first
        grand = PARENT_ROLE.get(parent, "")
        step = ideal[role] - (ideal[parent] if parent else 0.0)
        if role in known:
            at[role] = known[role]
        elif not parent:
            thighs = [known[r] for r in ("left_thigh", "right_thigh") if r in known]
            at[role] = np.mean(thighs, axis=0) if thighs else skeleton.T_rest[0, :3, 3]
        elif role.endswith(("_forearm", "_hand", "_foot", "1", "2", "3")) and "spine" not in role:
            # A limb goes on straight where the rig stops, whatever its rest pose.
            along = normalize(at[parent] - at[grand])
            at[role] = at[parent] + along * np.linalg.norm(step)
        else:
            at[role] = at[parent] + rotate(yaw, step)
    return at, front


def center_of_mass(character: Character, T: Array) -> Array:
    """Centre of mass (..., 3) for joint transforms (..., J, 4, 4), metres."""
    if character.masses is None:
        raise BadValue(f"character '{character.name}' has no masses; masses_for() estimates them.")
    joints = np.asarray(T, dtype=float)
    out = np.zeros((*joints.shape[:-3], 3))
    frames = np.ascontiguousarray(joints).reshape(-1, *joints.shape[-3:])
    pose_kernels.center_of_mass(frames, *heavy_joints(character), out.reshape(-1, 3))
    return out


@lru_cache(maxsize=64)
def heavy_joints(character: Character) -> tuple[NDArray[np.int64], Array, Array]:
    """Joints that weigh something, their shares of the mass and their centres."""
    masses = character.masses
    assert masses is not None
    rows = np.flatnonzero(masses.mass > 0.0)
    return rows, masses.mass[rows] / masses.total, masses.center[rows]
