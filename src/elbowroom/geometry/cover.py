"""Ball covers of shapes and meshes of any kind: a hand, an umbrella, a piano."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from elbowroom.geometry.fields import distance_field
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.transforms import apply
from elbowroom.kernels import cover as kernels
from elbowroom.kernels.fields import Fields

# How much a ball's outer radius exceeds its inner one, as a share of the shape's thickness and within metres.
SHARE, FINEST, COARSEST = 0.15, 0.0015, 0.009
COARSEST_MESH = 0.007
# Balls that a cover may have; larger shapes get coarser covers.
MOST_BALLS = 60_000
# Points of a lattice, and of those the ones that large balls are to hold, and that they may sit at.
MOST_POINTS, MOST_SAMPLES, MOST_CENTERS = 150_000, 25_000, 6_000


def shape_cover(shape: Shape) -> Array:
    """Balls (N, 5) that cover a collision shape, in its joint's frame: centre, outer, inner radius."""
    if shape.kind in ("sphere", "capsule"):
        radius, half = float(shape.size[0]), float(shape.size[1]) if shape.kind == "capsule" else 0.0
        more = float(np.clip(SHARE * radius, FINEST, COARSEST))
        step = 2.0 * np.sqrt((radius + more) ** 2 - radius**2)
        count = int(np.ceil(2 * half / step)) + 1
        z = np.linspace(-half, half, count) if count > 1 else np.zeros(1)
        centers = apply(shape.T_joint_shape, np.column_stack([0 * z, 0 * z, z]))
        return np.column_stack([centers, np.full(count, radius + more), np.full(count, radius)])
    return _kept_cover(shape)


@lru_cache(maxsize=512)
def _kept_cover(shape: Shape) -> Array:
    if shape.kind == "box":
        return _box_cover(shape)
    assert shape.mesh is not None
    return mesh_cover(hull_of(shape.mesh).moved(shape.T_joint_shape))


def _box_cover(shape: Shape) -> Array:
    """Balls around the cells of a box; each is in the box up to where its centre is nearest to a face."""
    more = float(np.clip(2 * SHARE * np.min(shape.size), FINEST, COARSEST))
    # a cube's ball exceeds half its edge by this share of the edge
    edge = more / (0.5 * np.sqrt(3.0) - 0.5)
    counts = np.maximum(np.ceil(2 * shape.size / edge), 1).astype(int)
    half = shape.size / counts
    lines = [(2 * np.arange(n) + 1) * h - s for n, h, s in zip(counts, half, shape.size, strict=True)]
    centers = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 3)
    inner = np.min(shape.size - np.abs(centers), axis=1)
    outer = np.full(len(centers), np.linalg.norm(half))
    return np.column_stack([apply(shape.T_joint_shape, centers), outer, np.minimum(inner, outer)])


def hull_of(mesh: Mesh) -> Mesh:
    """The convex hull of a mesh; the mesh itself where it is flat."""
    points = mesh.vertices[np.unique(mesh.faces)]
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return mesh
    faces = hull.simplices.copy()
    a, b, c = np.moveaxis(points[faces], 1, 0)
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    used, corners = np.unique(faces, return_inverse=True)
    return Mesh(points[used], corners.reshape(-1, 3).astype(np.int32), mesh.color)


def mesh_cover(mesh: Mesh, closed: NDArray | None = None) -> Array:
    """Balls (N, 5) that cover a mesh: its inside where it is closed, its surface where it is not.

    Few large balls first, for shapes of a hand's size; what they leave open is held by balls around cubes. `closed`
    (F,) as in `distance_field`.
    """
    field = distance_field(mesh, closed=closed).arrays
    low, high = mesh.bounds
    more = float(np.clip(SHARE * np.min(high - low), FINEST, COARSEST_MESH))
    large = _large_balls(field, low, high, more)
    while True:
        # such a cube's ball about a point of the surface near its centre is about as wide as that
        least = more / 1.2 if not len(large) else 0.4 * more
        edge = least * 2.0 ** np.ceil(np.log2(max(np.min(high - low) / least, 1.0)))
        counts = np.ceil((high - low) / edge + 1e-9).astype(np.int64)
        out = np.zeros((MOST_BALLS, 5))
        found = kernels.cells(field, low, edge, counts, more, least * (1.0 + 1e-9), large, out)
        if found >= 0:
            return np.concatenate([large, out[:found]])
        more *= 1.4


def _large_balls(field: Fields, low: Array, high: Array, more: float) -> Array:
    """Balls (K, 5) that hold most of a small solid; none for larger ones."""
    cell = 0.5 * more
    counts = np.ceil((high - low) / cell).astype(int) + 1
    if field.solid_root[0] < 0 or np.prod(counts) > MOST_POINTS:
        return np.zeros((0, 5))
    lines = [np.linspace(a, b, n) for a, b, n in zip(low, high, counts, strict=True)]
    points = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 3)
    depth = np.zeros(len(points))
    kernels.depths(field, points, depth)
    # deep points lie in whatever balls hold the shallow ones around them, or the cubes find them
    samples = points[(depth > -0.5 * cell) & (depth < 2.0 * more)]
    if len(samples) > MOST_SAMPLES:
        return np.zeros((0, 5))
    inside = depth > 0.0
    centers, inner = points[inside], depth[inside]
    rng = np.random.default_rng(0)
    keep = rng.permutation(len(centers))[:MOST_CENTERS]
    centers, inner = np.ascontiguousarray(centers[keep]), inner[keep]
    picked = np.zeros(len(centers), np.int64)
    # a sample stands for what is around it
    count = kernels.choose(centers, inner + more - cell, np.ascontiguousarray(samples), picked)
    chosen = picked[:count]
    return np.column_stack([centers[chosen], inner[chosen] + more, inner[chosen]])


def ball_trees(covers: Sequence[Array], parts: Sequence[NDArray[np.int64]]) -> tuple[kernels.Balls, NDArray[np.int64]]:
    """Covers (N, 5) in one set of arrays with a tree over each, and the root node of each.

    `parts` gives for every ball of every cover what it belongs to.
    """
    forest = _Forest()
    roots = [forest.plant(cover, part) for cover, part in zip(covers, parts, strict=True)]
    packed = kernels.Balls(
        np.concatenate(forest.balls),
        np.concatenate(forest.parts),
        np.array(forest.nodes),
        np.array(forest.kids, dtype=np.int32),
    )
    return packed, np.array(roots, dtype=np.int64)


class _Forest:
    """Trees over covers as they grow."""

    def __init__(self) -> None:
        self.balls: list[Array] = []
        self.parts: list[NDArray[np.int64]] = []
        self.nodes: list[Array] = []
        self.kids: list[tuple[int, int]] = []
        self._count = 0

    def plant(self, cover: Array, part: NDArray[np.int64]) -> int:
        """Grow a tree over a cover; returns its root node."""
        return self._grow(cover, np.asarray(part, dtype=np.int64))

    def _grow(self, cover: Array, part: NDArray[np.int64]) -> int:
        middle = 0.5 * (cover[:, :3].min(axis=0) + cover[:, :3].max(axis=0))
        radius = float(np.max(np.linalg.norm(cover[:, :3] - middle, axis=1) + cover[:, 3]))
        here = len(self.nodes)
        self.nodes.append(np.array([*middle, radius]))
        self.kids.append((0, 0))
        if len(cover) <= kernels.LEAF:
            self.kids[here] = (-(self._count + 1), len(cover))
            self.balls.append(cover)
            self.parts.append(part)
            self._count += len(cover)
        else:
            order = np.argsort(cover[:, int(np.argmax(np.ptp(cover[:, :3], axis=0)))], kind="stable")
            low, high = np.array_split(order, 2)
            self.kids[here] = (self._grow(cover[low], part[low]), self._grow(cover[high], part[high]))
        return here


def core_of(cover: Array, count: int = 6) -> NDArray[np.int64]:
    """Indices (count,) of balls that fill most of a cover: thick ones, spread out; repeated where there are fewer."""
    chosen = [int(np.argmax(cover[:, 4]))]
    apart = np.full(len(cover), np.inf)
    while len(chosen) < count:
        apart = np.minimum(apart, np.linalg.norm(cover[:, :3] - cover[chosen[-1], :3], axis=1))
        chosen.append(int(np.argmax(apart * cover[:, 4] ** 2)))
    return np.array(chosen, dtype=np.int64)
