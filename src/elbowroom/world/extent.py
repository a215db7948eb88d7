"""Extent of the action: points that bodies and moving objects pass through over time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Body, Character, Skin
from elbowroom.character.visual import fitted_skin
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.transforms import apply
from elbowroom.motion.clip import Motion, frames_in
from elbowroom.world.paths import places
from elbowroom.world.world import World

# Flesh around the joints: how far a skin reaches beyond them, as a share of the body's height.
_FLESH = 0.07

# Largest size of static objects, and largest distance from the action, that are included in a picture, metres.
FURNITURE = 4.0
_NEARBY = 0.8


def frame_times(span: tuple[float, float], fps: float) -> Array:
    """Times (T,) of frames at a rate, from the start of a span up to its end, at least one."""
    start, end = span
    return start + np.arange(frames_in(end - start, fps)) / fps


def joint_transforms(motion: Motion, times: ArrayLike) -> Array:
    """World transforms of a body's joints, (T, J, 4, 4)."""
    return motion.body.transforms(*motion.sample(np.atleast_1d(np.asarray(times, dtype=float))))


def action(world: World, times: ArrayLike) -> Array:
    """Points (N, 3) around all that moves at those times; the static meshes' corners if nothing does."""
    times = np.atleast_1d(np.asarray(times, dtype=float))
    parts = [body_points(motion, times).reshape(-1, 3) for motion in world.characters.values()]
    for thing in world.things.values():
        corners = box_corners(thing.mesh.bounds)
        parts.append(apply(places(thing.path, times), corners).reshape(-1, 3))
    if not parts:
        parts = [box_corners(mesh.bounds) for mesh in world.static.values() if len(mesh.vertices)]
    return np.concatenate(parts) if parts else box_corners(np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 1.8]]))


def stage(world: World, points: Array) -> Array:
    """`points` (N, 3) of the action, and the corners of static things the size of furniture nearby."""
    low, high = points.min(axis=0), points.max(axis=0)
    parts = [points]
    for mesh in world.static.values():
        bounds = mesh.bounds
        apart = np.maximum(np.maximum(bounds[0] - high, low - bounds[1]), 0.0)
        if np.linalg.norm(np.ptp(bounds, axis=0)) < FURNITURE and np.linalg.norm(apart) < _NEARBY:
            parts.append(box_corners(bounds))
    return np.concatenate(parts)


def body_points(motion: Motion, times: ArrayLike) -> Array:
    """Points (T, N, 3) on the outside of a body at those times, in the skin that pictures show it in."""
    body = motion.body
    skin = fitted_skin(body) if isinstance(body, Character) and body.skin is None else None
    joints, local = outline(body) if skin is None else _skin_outline(skin)
    T = joint_transforms(motion, times)[:, joints]
    return np.einsum("tnij,nj->tni", T[..., :3, :3], local) + T[..., :3, 3]


def outline(body: Body) -> tuple[NDArray[np.int32], Array]:
    """Joints (N,) and points (N, 3) in their frames that represent the outside of a body.

    For skin the vertices farthest out in 14 directions of each joint's frame, for shapes the corners of their boxes,
    and around bare joints as much as flesh would take.
    """
    skin = body.skin if isinstance(body, Character) else None
    if skin is not None and len(skin.vertices):
        return _skin_outline(skin)
    if body.shapes:
        corners = [box_corners(shape_mesh(shape, segments=8).bounds) for shape in body.shapes]
        return np.repeat([shape.joint for shape in body.shapes], 8).astype(np.int32), np.concatenate(corners)
    joints = len(body.parents)
    extent = np.ptp(body.T_rest[:, :3, 3], axis=0)
    reach = _FLESH * float(extent.max()) * np.concatenate([np.eye(3), -np.eye(3)])
    return np.repeat(np.arange(joints, dtype=np.int32), 6), np.tile(reach, (joints, 1))


def _skin_outline(skin: Skin) -> tuple[NDArray[np.int32], Array]:
    owner = skin.owner
    local = apply(skin.inverse_bind[owner], skin.vertices[:, None, :])[:, 0]
    ways = np.concatenate([np.eye(3), box_corners(np.array([[-1.0] * 3, [1.0] * 3]))[:4]]).T
    picks = []
    for j in np.unique(owner):
        members = np.flatnonzero(owner == j)
        along = local[members] @ ways
        picks.append(members[np.concatenate([along.argmin(axis=0), along.argmax(axis=0)])])
    chosen = np.unique(np.concatenate(picks))
    return owner[chosen], local[chosen]


def box_corners(bounds: Array) -> Array:
    """The eight corners (8, 3) of a box given by its smallest and largest corner (2, 3)."""
    pick = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    return np.take_along_axis(bounds, pick, axis=0)


def facing(motion: Motion, times: ArrayLike) -> Array:
    """Horizontal direction (3,) faced on average; at the middle time where a body turns right round."""
    body, T = motion.body, joint_transforms(motion, times)
    fronts = (body.turned(T) @ body.front) * [1.0, 1.0, 0.0]
    for direction in (fronts.mean(axis=0), fronts[len(fronts) // 2]):
        length = float(np.linalg.norm(direction))
        if length > 0.3:
            return direction / length
    return np.array([0.0, -1.0, 0.0])
