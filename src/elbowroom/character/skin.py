"""Skin: a mesh bound to joints with weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.mesh import Color, frozen
from elbowroom.geometry.paint import Paint
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import pose as pose_kernels
from elbowroom.stopping import may_stop_here


@dataclass(frozen=True, eq=False)
class Skin:
    """Triangles in the bind pose, metres; up to K joints per vertex with weights that sum to one.

    `inverse_bind` (J, 4, 4) maps bind space to each joint's frame, so the bind pose may differ from the rest pose.
    `colors` (V, 3), linear RGB in 0..1, one per vertex, or None for `color` all over; `paint` as of meshes.
    """

    vertices: Array  # (V, 3)
    faces: NDArray[np.int32]  # (F, 3)
    joints: NDArray[np.int32]  # (V, K)
    weights: Array  # (V, K)
    inverse_bind: Array  # (J, 4, 4)
    colors: Array | None = None
    color: Color = (0.80, 0.66, 0.53)
    paint: Paint | None = None

    def __post_init__(self) -> None:
        for name, kind in (("vertices", float), ("faces", np.int32), ("joints", np.int32), ("weights", float)):
            object.__setattr__(self, name, frozen(getattr(self, name), kind))
        object.__setattr__(self, "inverse_bind", frozen(self.inverse_bind))
        if self.colors is not None:
            object.__setattr__(self, "colors", frozen(self.colors))

    def posed(self, T_world_joint: Array) -> Array:
        """Vertices (V, 3) in the world for joint transforms (J, 4, 4)."""
        may_stop_here()
        out = np.zeros_like(self.vertices)
        pose_kernels.skin(T_world_joint @ self.inverse_bind, self.vertices, self.joints, self.weights, out)
        return out

    @property
    def owner(self) -> NDArray[np.int32]:
        """The joint with the largest weight for each vertex, (V,)."""
        return self.joints[np.arange(len(self.joints)), np.argmax(self.weights, axis=1)]
