"""Visible form of a character: skin, collision shapes or bones, always as a mesh bound to joints."""

from __future__ import annotations

from typing import Literal

import numpy as np

from elbowroom.character.body import Body, Character, Skin
from elbowroom.character.fitted_skin import fitted_skin
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import capsule_mesh, octahedron, shape_mesh
from elbowroom.geometry.transforms import apply, inverse

Show = Literal["skin", "shapes", "bones"]
SHOWS: tuple[Show, ...] = ("skin", "shapes", "bones")

SHAPE_COLOR: Color = (0.36, 0.46, 0.58)
BONE_COLOR: Color = (0.74, 0.56, 0.30)


def visible(body: Body, show: Show = "skin") -> Skin:
    """The mesh that shows a body: as asked where it has that, else its shapes, else its bones.

    People without a skin wear the built-in person's, fitted to their bones.
    """
    if show not in SHOWS:
        raise BadValue(f"a character is shown as 'skin', 'shapes' or 'bones', not '{show}'.")
    if show == "skin" and isinstance(body, Character):
        skin = body.skin if body.skin is not None and len(body.skin.faces) else fitted_skin(body)
        if skin is not None:
            return skin
    if show != "bones" and body.shapes:
        return shapes_skin(body)
    return bones_skin(body)


def shapes_skin(body: Body, color: Color = SHAPE_COLOR) -> Skin:
    """Collision shapes as a mesh that is bound rigidly, each part to its joint."""
    parts = [(shape.joint, shape_mesh(shape)) for shape in body.shapes]
    return _rigid_skin(parts, body.T_rest, color)


def bones_skin(body: Body, color: Color = BONE_COLOR) -> Skin:
    """Bones as octahedra from each joint to its children as they rest, with a small ball at every joint."""
    parents, T = body.parents, body.T_rest
    offsets = np.zeros((len(parents), 3))
    offsets[1:] = (inverse(T[parents[1:]]) @ T[1:])[:, :3, 3]
    length = np.linalg.norm(offsets, axis=1)
    reach = float(np.sum(length) / max(1, np.count_nonzero(length)))
    parts: list[tuple[int, Mesh]] = []
    for j, parent in enumerate(parents):
        width = float(np.clip(0.18 * length[j], 0.04 * reach, 0.6 * reach)) if length[j] > 0 else 0.1 * reach
        parts.append((j, capsule_mesh(max(0.28 * width, 1e-3), 0.0, segments=8)))
        if parent >= 0 and length[j] > 1e-6:
            parts.append((int(parent), octahedron(np.zeros(3), offsets[j], width)))
    return _rigid_skin(parts, T, color)


def _rigid_skin(parts: list[tuple[int, Mesh]], T_rest: Array, color: Color) -> Skin:
    """Meshes in the frames of their joints as one skin, bound in the rest pose (J, 4, 4)."""
    starts = np.cumsum([0, *(len(mesh.vertices) for _, mesh in parts[:-1])])
    owner = np.concatenate([np.full(len(mesh.vertices), joint) for joint, mesh in parts])
    return Skin(
        vertices=np.concatenate([apply(T_rest[joint], mesh.vertices) for joint, mesh in parts]),
        faces=np.concatenate([mesh.faces + start for (_, mesh), start in zip(parts, starts, strict=True)]),
        joints=owner[:, None],
        weights=np.ones((len(owner), 1)),
        inverse_bind=inverse(T_rest),
        color=color,
    )
