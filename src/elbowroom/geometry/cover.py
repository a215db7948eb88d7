"""Ball covers of shapes and meshes of any kind: a hand, an umbrella, a piano."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.fields import distance_field
from elbowroom.geometry.kept import kept, remembered
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape, hull_of
from elbowroom.geometry.solids import box
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
_STILL = np.eye(4)


def shape_cover(shape: Shape) -> Array:
    """Balls (N, 5) that cover a collision shape, in its own frame: centre, outer, inner radius."""
    if shape.kind in ("sphere", "capsule"):
        radius, half = float(shape.size[0]), float(shape.size[1]) if shape.kind == "capsule" else 0.0
        more = float(np.clip(SHARE * radius, FINEST, COARSEST))
        step = 2.0 * np.sqrt((radius + more) ** 2 - radius**2)
        count = int(np.ceil(2 * half / step)) + 1
        z = np.linspace(-half, half, count) if count > 1 else np.zeros(1)
        return np.column_stack([0 * z, 0 * z, z, np.full(count, radius + more), np.full(count, radius)])
    if shape.kind == "box":
        # balls around the cells of a box; each is in the box up to where its centre is nearest to a face
        more = float(np.clip(2 * SHARE * np.min(shape.size), FINEST, COARSEST))
        # a cube's ball exceeds half its edge by this share of the edge
        edge = more / (0.5 * np.sqrt(3.0) - 0.5)
        counts = np.maximum(np.ceil(2 * shape.size / edge), 1).astype(int)
        half = shape.size / counts
        lines = [(2 * np.arange(n) + 1) * h - s for n, h, s in zip(counts, half, shape.size, strict=True)]
        centers = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 3)
        inner = np.min(shape.size - np.abs(centers), axis=1)
        outer = np.full(len(centers), np.linalg.norm(half))
        return np.column_stack([centers, outer, np.minimum(inner, outer)])
    assert shape.mesh is not None
    return mesh_cover(hull_of(shape.mesh))


def mesh_cover(mesh: Mesh, closed: NDArray | None = None) -> Array:
    """Balls (N, 5) that cover a mesh: its inside where it is closed, its surface where it is not.

    Few large balls first, for shapes of a hand's size; what they leave open is held by balls around cubes. `closed`
    (F,) as in `distance_field`. It is kept on disk.
    """
    settings = (SHARE, FINEST, COARSEST_MESH, MOST_BALLS, MOST_POINTS, MOST_SAMPLES, MOST_CENTERS)
    about = (settings, mesh.vertices, mesh.faces, closed)
    return remembered("covers", about, lambda: {"balls": _mesh_cover(mesh, closed)})["balls"]


def _mesh_cover(mesh: Mesh, closed: NDArray | None) -> Array:
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
    inside = depth > 0.0
    if len(samples) > MOST_SAMPLES or not inside.any():  # sheets and thin walls have no point inside
        return np.zeros((0, 5))
    centers, inner = points[inside], depth[inside]
    rng = np.random.default_rng(0)
    keep = rng.permutation(len(centers))[:MOST_CENTERS]
    centers, inner = np.ascontiguousarray(centers[keep]), inner[keep]
    picked = np.zeros(len(centers), np.int64)
    # a sample stands for what is around it
    count = kernels.choose(centers, inner + more - cell, np.ascontiguousarray(samples), picked)
    chosen = picked[:count]
    return np.column_stack([centers[chosen], inner[chosen] + more, inner[chosen]])


# How far balls of `few_balls` may fall short of a convex shape, metres, which proofs find; how far they stand out from
# it at least, and the factor by which more is tried.
_SHORT_M, _OUT_M, _FARTHER = 0.01, 0.004, 1.25
# Shares of the way from the middle of a convex shape to its surface at which balls are centred.
_CENTRED = (0.15, 0.35, 0.55, 0.7, 0.82, 0.92)
# Points of the surface that they lie towards.
_TOWARDS = 80
# How far apart points of a surface are for `few_balls`, as a share of its longest side, and triangles from which it is
# not divided further: of a convex hull, and of a mesh, whose balls hold points alone.
_HULL, _SURFACE = (0.1, 600), (0.03, 8000)


def few_balls(shape: Shape, most: int) -> Array:
    """At most `most` balls (N, 4) about a convex hull, capsule, box or ball, in its joint's frame: centre, radius.

    They stand out from it as little as so many can, and may leave gaps of some millimetres: not for proofs.
    """

    def make() -> Array:
        if shape.kind in ("sphere", "capsule"):
            half = float(shape.size[1]) if shape.kind == "capsule" else 0.0
            return _along(float(shape.size[0]), half, most)
        hull = hull_of(shape.mesh) if shape.mesh is not None else box(2.0 * shape.size)
        about = (most, hull.vertices, hull.faces, _SHORT_M, _OUT_M, _FARTHER, _CENTRED)
        return remembered("few balls", about, lambda: {"balls": _about_hull(hull, most)})["balls"]

    balls = kept(shape, ("few balls", most), make)
    return np.column_stack([apply(shape.T_joint_shape, balls[:, :3]), balls[:, 3]])


def few_balls_of(mesh: Mesh, most: int) -> Array:
    """At most `most` balls (N, 4) about the surface of a mesh."""
    return kept(mesh, ("few balls", most), lambda: _clusters(_samples(mesh, *_SURFACE), most))


def _about_hull(hull: Mesh, most: int) -> Array:
    """Balls (N, 4) about a convex mesh: those that cover most of what is left of its surface, one after another."""
    surface, planes = _samples(hull, *_HULL), scipy.spatial.ConvexHull(hull.vertices).equations
    middle, towards = hull.vertices.mean(axis=0), surface[:: len(surface) // _TOWARDS + 1]
    centers = np.concatenate([middle + share * (towards - middle) for share in _CENTRED])
    depth = -(centers @ planes[:, :3].T + planes[:, 3]).max(axis=1)
    beyond = scipy.spatial.distance.cdist(surface, centers).astype(np.float32) - depth.astype(np.float32)
    out = _OUT_M
    while True:
        covers = (beyond <= out + _SHORT_M).astype(np.float32)
        left, picked = np.ones(len(surface), np.float32), list[int]()
        while left.any() and len(picked) < most:
            picked.append(int(np.argmax(left @ covers)))
            left *= 1.0 - covers[:, picked[-1]]
        if not left.any():
            return np.column_stack([centers[picked], depth[picked] + out])
        out *= _FARTHER


def _along(radius: float, half: float, most: int) -> Array:
    """Balls (N, 4) that cover a capsule along z."""
    count = int(min(np.ceil(2.0 * half / (0.9 * radius)) + 1, most)) if half > 0.0 else 1
    z = np.linspace(-half, half, count) if count > 1 else np.zeros(1)
    gap = half / max(count - 1, 1)
    return np.column_stack([0 * z, 0 * z, z, np.full(count, np.hypot(radius, gap))])


def _samples(mesh: Mesh, apart: float, most: int) -> Array:
    """Points (N, 3) all over a surface, a share of its longest side apart; farther from `most` triangles on."""
    triangles = mesh.vertices[mesh.faces]
    longest = apart * float(np.ptp(mesh.vertices, axis=0).max())
    while len(triangles) < most:
        edges = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2)
        long = edges.max(axis=1) > longest
        if not long.any():
            break
        a, b, c = (triangles[long][:, k] for k in range(3))
        ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        parts = [np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        triangles = np.concatenate([triangles[~long], *parts])
    return np.unique(triangles.reshape(-1, 3), axis=0)


def _clusters(points: Array, most: int) -> Array:
    """At most `most` balls (N, 4) that hold points (M, 3): the largest is divided across its longest side in turn."""
    groups = [points]
    balls = [_ball_around(points)]
    while len(balls) < most:
        k = int(np.argmax([ball[3] for ball in balls]))
        group = groups[k]
        if len(group) < 2:
            break
        away = group - group.mean(axis=0)
        side = away @ np.linalg.svd(away, full_matrices=False)[2][0]
        low = side <= 0.5 * (side.min() + side.max())
        groups[k : k + 1] = [group[low], group[~low]]
        balls[k : k + 1] = [_ball_around(group[low]), _ball_around(group[~low])]
    return np.array(balls)


def _ball_around(points: Array) -> Array:
    """A ball (4,) that holds points (M, 3), a few per cent larger than the smallest (Badoiu and Clarkson 2003)."""
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    for k in range(1, 13):
        center = center + (points[np.argmax(((points - center) ** 2).sum(axis=1))] - center) / (k + 1.0)
    return np.array([*center, float(np.linalg.norm(points - center, axis=1).max())])


@dataclass(frozen=True, eq=False)
class BallTree:
    """A cover with a tree over it: ball (N, 5) in the order of the tree, node and kids as in `kernels.Balls`.

    core (6,): balls that fill most of the cover, thick ones, spread out; repeated where there are fewer.
    """

    ball: Array
    node: Array
    kids: NDArray[np.int32]
    core: NDArray[np.int64]

    def moved(self, T: Array) -> BallTree:
        """The same tree mapped by a rigid transform (4, 4)."""
        if np.array_equal(T, _STILL):
            return self
        ball, node = self.ball.copy(), self.node.copy()
        ball[:, :3], node[:, :3] = apply(T, ball[:, :3]), apply(T, node[:, :3])
        return BallTree(ball, node, self.kids, self.core)


def shape_tree(shape: Shape) -> BallTree:
    """The tree over a collision shape's cover, in its joint's frame."""
    return kept(shape, "balls", lambda: ball_tree(shape_cover(shape)).moved(shape.T_joint_shape))


def mesh_tree(mesh: Mesh, closed: NDArray | None = None) -> BallTree:
    """The tree over a mesh's cover; `closed` as in `mesh_cover`."""
    key = None if closed is None else closed.tobytes()
    return kept(mesh, ("balls", key), lambda: ball_tree(mesh_cover(mesh, closed)))


def ball_tree(cover: Array) -> BallTree:
    """A tree over a cover (N, 5)."""
    order = np.zeros(len(cover), np.int64)
    node, kids = np.zeros((2 * len(cover), 4)), np.zeros((2 * len(cover), 2), np.int32)
    count = kernels.grow(cover, order, node, kids)
    ball, core = cover[order], np.zeros(6, np.int64)
    kernels.core(ball, core)
    return BallTree(ball, node[:count].copy(), kids[:count].copy(), core)


def packed_trees(trees: Sequence[BallTree]) -> tuple[kernels.Balls, NDArray[np.int64], NDArray[np.int64]]:
    """Trees in one set of arrays, the root node of each (E,), and the core of each (E, C)."""
    balls = np.cumsum([0, *(len(t.ball) for t in trees)])
    nodes = np.cumsum([0, *(len(t.node) for t in trees)])
    kids = []
    for tree, ball, node in zip(trees, balls[:-1], nodes[:-1], strict=True):
        leaf = tree.kids[:, :1] < 0
        kids.append(tree.kids + np.where(leaf, np.array([-ball, 0]), node))
    packed = kernels.Balls(
        np.concatenate([t.ball for t in trees]),
        np.concatenate([t.node for t in trees]),
        np.concatenate(kids).astype(np.int32),
    )
    cores = np.array([t.core + ball for t, ball in zip(trees, balls[:-1], strict=True)], np.int64)
    return packed, nodes[:-1].astype(np.int64), cores
