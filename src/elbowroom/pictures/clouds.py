"""Points over time, such as recorded markers, drawn as small balls with optional lines between them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Color, Mesh, frozen
from elbowroom.geometry.rotations import Array, arc, to_matrix
from elbowroom.geometry.tessellate import capsule_mesh


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points (T, M, 3) in metres at a fixed rate, NaN where not seen; `lines` (L, 2) joins pairs of them."""

    points: Array  # (T, M, 3)
    fps: float = 30.0
    start: float = 0.0
    radius: float = 0.016
    color: Color = (0.75, 0.20, 0.12)
    lines: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int32))

    def __post_init__(self) -> None:
        points = frozen(self.points)
        if points.ndim != 3 or points.shape[-1] != 3 or not len(points) or not self.fps > 0:
            raise BadValue(f"a cloud needs points (T, M, 3) and a positive rate, not {points.shape} at {self.fps}.")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "lines", frozen(self.lines, np.int32).reshape(-1, 2))

    @property
    def span(self) -> tuple[float, float]:
        """First and last time in seconds."""
        return self.start, self.start + (len(self.points) - 1) / self.fps

    def at(self, t: float) -> Array:
        """Points (M, 3) of the frame nearest to a time; the ends are held."""
        k = int(np.clip(round((t - self.start) * self.fps), 0, len(self.points) - 1))
        return self.points[k]

    def mesh(self, t: float) -> Mesh:
        """Balls and lines at a time."""
        points = self.at(t)
        seen = np.all(np.isfinite(points), axis=-1)
        ball = capsule_mesh(self.radius, 0.0, segments=10)
        vertices = (points[seen][:, None, :] + ball.vertices).reshape(-1, 3)
        faces = _repeated(ball, int(np.count_nonzero(seen)))
        a, b = (self.lines[seen[self.lines].all(axis=1)]).T
        rod = capsule_mesh(0.3 * self.radius, 1.0, segments=6)
        span = points[b] - points[a]
        length = np.linalg.norm(span, axis=-1)
        turn = to_matrix(arc(np.array([0.0, 0.0, 1.0]), span))
        along = rod.vertices * np.stack([0 * length + 1, 0 * length + 1, 0.5 * length], axis=-1)[:, None, :]
        rods = np.einsum("lij,lvj->lvi", turn, along) + 0.5 * (points[a] + points[b])[:, None, :]
        faces = np.concatenate([faces, _repeated(rod, len(a)) + np.int32(len(vertices))])
        return Mesh(np.concatenate([vertices, rods.reshape(-1, 3)]), faces, self.color)


def _repeated(mesh: Mesh, count: int) -> NDArray[np.int32]:
    """Faces of `count` copies of a mesh whose vertices follow each other."""
    steps = np.arange(count, dtype=np.int32)[:, None, None] * len(mesh.vertices)
    return (mesh.faces[None] + steps).reshape(-1, 3)
