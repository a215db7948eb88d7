"""Triangle mesh: vertices and faces, read-only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.stopping import may_stop_here

Color = tuple[float, float, float]

# Vertices that are turned at once: more of them are shared out to all cores, and where these are busy that takes longer
# by far (0.6 s instead of 2 ms for half a million of them).
_AT_ONCE = 20_000


def frozen(a: ArrayLike, dtype: type = float) -> NDArray:
    """A read-only, contiguous array of its own, for the fields of frozen dataclasses."""
    out: NDArray = np.array(a, dtype=dtype, order="C")
    out.setflags(write=False)
    return out


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles in metres, in the frame of whatever carries the mesh.

    `color` is linear RGB in 0..1; `colors`, where given, paint every vertex on its own and are for the eye alone.
    """

    vertices: Array  # (V, 3)
    faces: NDArray[np.int32]  # (F, 3)
    color: Color = (0.62, 0.64, 0.66)
    colors: Array | None = None  # (V, 3)

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", frozen(self.vertices).reshape(-1, 3))
        object.__setattr__(self, "faces", frozen(self.faces, np.int32).reshape(-1, 3))
        if self.colors is not None:
            object.__setattr__(self, "colors", frozen(self.colors).reshape(len(self.vertices), 3))

    @cached_property
    def bounds(self) -> Array:
        """Smallest and largest corner, (2, 3), read-only."""
        if not len(self.vertices):
            return frozen(np.zeros((2, 3)))
        return frozen([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    def moved(self, T: ArrayLike) -> Mesh:
        """The mesh mapped by an affine transform (4, 4); where that mirrors, triangles are turned over."""
        T = np.asarray(T, dtype=float)
        faces = self.faces[:, ::-1] if np.linalg.det(T[:3, :3]) < 0.0 else self.faces
        turned = [self.vertices[k : k + _AT_ONCE] @ T[:3, :3].T for k in range(0, max(len(self.vertices), 1), _AT_ONCE)]
        may_stop_here()
        return Mesh(np.concatenate(turned) + T[:3, 3], faces, self.color, self.colors)
