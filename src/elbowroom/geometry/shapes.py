"""Collision shapes that ride on a joint: capsule, sphere, box, or a convex mesh."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry.mesh import Mesh, frozen
from elbowroom.geometry.rotations import Array, arc
from elbowroom.geometry.transforms import apply, inverse, transform

Kind = Literal["capsule", "sphere", "box", "mesh"]


@dataclass(frozen=True, eq=False)
class Shape:
    """One rigid collision shape.

    `size` by kind: capsule (radius, half length along z, 0); sphere (radius, 0, 0); box half extents;
    mesh (0, 0, 0) with the triangles in `mesh`, in the shape's frame.
    """

    name: str
    joint: int
    kind: Kind
    size: Array  # (3,)
    T_joint_shape: Array = field(default_factory=lambda: np.eye(4))
    mesh: Mesh | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", frozen(self.size))
        object.__setattr__(self, "T_joint_shape", frozen(self.T_joint_shape))

    def signed_distance(self, points: ArrayLike) -> Array:
        """Distance of points (N, 3), given in the joint's frame, to the surface; negative inside. Not for meshes."""
        p = apply(inverse(self.T_joint_shape), points)
        if self.kind == "sphere":
            return np.linalg.norm(p, axis=-1) - self.size[0]
        if self.kind == "capsule":
            z = np.clip(p[..., 2], -self.size[1], self.size[1])
            return np.linalg.norm(p - np.stack([0 * z, 0 * z, z], axis=-1), axis=-1) - self.size[0]
        if self.kind == "box":
            d = np.abs(p) - self.size
            return np.linalg.norm(np.maximum(d, 0.0), axis=-1) + np.minimum(d.max(axis=-1), 0.0)
        raise ValueError("the signed distance of a mesh shape is computed by the world")


def capsule(name: str, joint: int, a: ArrayLike, b: ArrayLike, radius: float) -> Shape:
    """Capsule around the segment from `a` to `b`, both (3,) in the joint's frame, in metres."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    axis = b - a
    length = float(np.linalg.norm(axis))
    turn = arc([0.0, 0.0, 1.0], axis) if length > 1e-9 else np.array([1.0, 0, 0, 0])
    size = np.array([radius, 0.5 * length, 0.0])
    return Shape(name, joint, "capsule", size, transform(0.5 * (a + b), turn))
