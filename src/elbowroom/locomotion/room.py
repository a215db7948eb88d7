"""Distances between body parts over the frames of a motion, from their collision shapes.

Every shape is the hull of some balls. Two hulls are at least as far apart as they are along any direction; the best
direction of each frame is found by looking around the last best one, ever closer, which leads to the true distance
because there is no other peak.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.transforms import apply

_SPREADS = 0.7 * 0.62 ** np.arange(10)  # how far around a direction is looked, tangents
_FAN = np.arange(7) * 2.0 * np.pi / 7.0


@dataclass(frozen=True, eq=False)
class Part:
    """The hull of balls over N frames: centres (N, 3, P) and radii (P,), metres."""

    centers: Array
    radii: Array

    @cached_property
    def middle(self) -> Array:
        """Middle of each frame, (N, 3)."""
        return np.asarray(self.centers.mean(axis=2))

    @cached_property
    def bound(self) -> Array:
        """Radius about the middle of each frame that holds everything, (N,)."""
        reach = np.linalg.norm(self.centers - self.middle[..., None], axis=1) + self.radii
        return np.asarray(reach.max(axis=1))

    def at(self, frames: NDArray[np.int64]) -> Part:
        """Some of the frames."""
        return Part(self.centers[frames], self.radii)

    def extent(self, directions: Array) -> Array:
        """Extent along directions (N, K, 3), (N, K)."""
        return np.asarray((directions @ self.centers + self.radii).max(axis=2))


def part(character: Character, joints: tuple[int, ...], T: Array) -> Part | None:
    """The hull of all shapes that ride on some joints, world transforms T (N, J, 4, 4); None where there are none."""
    centers, radii = [], []
    for shape in character.shapes:
        if shape.joint in joints:
            points, radius = _balls(shape)
            local = apply(shape.T_joint_shape, points)
            at = T[:, shape.joint]
            centers.append(at[:, :3, :3] @ local.T + at[:, :3, 3:])
            radii.append(np.full(len(points), radius))
    return Part(np.concatenate(centers, axis=2), np.concatenate(radii)) if centers else None


def gap(a: Part, b: Part, enough: float) -> tuple[Array, Array]:
    """Distance (N,) of two parts, metres, negative where they are in each other, and its direction (N, 3) from a to b.

    Where they are `enough` apart or more, it may be any number from that to their distance.
    """
    line = b.middle - a.middle
    value = np.linalg.norm(line, axis=1) - a.bound - b.bound
    best = normalize(line)
    for turn, spread in enumerate((0.0, *_SPREADS)):
        open_ = np.flatnonzero(value < enough)
        if not len(open_):
            break
        one, other, rows = a.at(open_), b.at(open_), np.arange(len(open_))
        u, v = _across(best[open_])
        fan = _FAN[:, None] + turn  # turned each time, so that no ridge stays between its rays
        around = best[open_, None] + spread * (np.cos(fan) * u[:, None] + np.sin(fan) * v[:, None])
        tried = np.concatenate([best[open_, None], normalize(around)], axis=1)
        for _ in range(2 if spread else 1):
            apart = _apart(one, other, tried)
            k = apart.argmax(axis=1)
            step = tried[rows, k] - best[open_]
            best[open_], value[open_] = tried[rows, k], apart[rows, k]
            tried = np.stack([best[open_], normalize(best[open_] + step)], axis=1)  # once more the same way
    return value, best


def _apart(a: Part, b: Part, directions: Array) -> Array:
    """Gap (N, K) along directions (N, K, 3) from a to b."""
    return -b.extent(-directions) - a.extent(directions)


def _across(d: Array) -> tuple[Array, Array]:
    """Two unit directions (N, 3) across directions (N, 3)."""
    # written out: np.cross takes most of the time of a few directions
    x, y, z = d.T
    flat = np.abs(z) < 0.9
    u = normalize(np.stack([np.where(flat, y, 0.0), np.where(flat, -x, z), np.where(flat, 0.0, -y)], axis=-1))
    a, b, c = u.T
    return u, np.stack([y * c - z * b, z * a - x * c, x * b - y * a], axis=-1)


def _balls(shape: Shape) -> tuple[Array, float]:
    """Centres (P, 3) in the shape's frame and radius of the balls whose hull a shape is."""
    if shape.kind == "mesh" and shape.mesh is not None:
        return shape.mesh.vertices, 0.0
    if shape.kind == "box":
        return np.stack(np.meshgrid(*([-1.0, 1.0],) * 3), axis=-1).reshape(-1, 3) * shape.size, 0.0
    ends = [[0.0, 0.0, -shape.size[1]], [0.0, 0.0, shape.size[1]]] if shape.kind == "capsule" else [[0.0, 0.0, 0.0]]
    return np.array(ends), float(shape.size[0])
