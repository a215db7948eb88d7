"""Triangle mesh: vertices and faces, read-only; its colours (linear RGB in 0..1) as sRGB; a mesh cut open; and vertex
normals: averages of face normals weighted by area, across seams, with or without creases.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakValueDictionary

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.kept import kept
from elbowroom.geometry.paint import Paint
from elbowroom.geometry.rotations import Array, normalize
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

    `color` is linear RGB in 0..1; `colors`, where given, are those of every vertex, and `paint` has materials and
    textures, of which `colors` are what is left where they cannot be shown. Both are for the eye alone.
    """

    vertices: Array  # (V, 3)
    faces: NDArray[np.int32]  # (F, 3)
    color: Color = (0.62, 0.64, 0.66)
    colors: Array | None = None  # (V, 3)
    paint: Paint | None = None

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
        return Mesh(np.concatenate(turned) + T[:3, 3], faces, self.color, self.colors, self.paint)

    def taken(self, use: NDArray[np.integer], faces: NDArray[np.int32]) -> Mesh:
        """Faces (F, 3) over the vertices with the indices `use`, which keep their looks."""
        colors = None if self.colors is None else self.colors[use]
        paint = None if self.paint is None else self.paint.taken(use)
        return Mesh(self.vertices[use], faces, self.color, colors, paint)


_KNOWN: WeakValueDictionary[bytes, Mesh] = WeakValueDictionary()


def known(mesh: Mesh) -> Mesh:
    """An equal mesh that is in use already, with all that was derived from it, else the mesh itself."""
    if mesh.paint is not None:  # textures are large, and seldom twice the same
        return mesh
    h = hashlib.blake2b(repr((mesh.color, mesh.vertices.shape, mesh.colors is None)).encode(), digest_size=16)
    for array in (mesh.vertices, mesh.faces, mesh.colors):
        h.update(b"" if array is None else array.data)
    return _KNOWN.setdefault(h.digest(), mesh)


def srgb(linear: ArrayLike) -> Array:
    """sRGB in 0..1 of linear RGB (..., 3), clipped."""
    c = np.clip(np.asarray(linear, dtype=float), 0.0, 1.0)
    return np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1.0 / 2.4) - 0.055)


def srgb8(linear: ArrayLike) -> NDArray[np.uint8]:
    """sRGB as bytes of linear RGB (..., 3)."""
    return np.round(255.0 * srgb(linear)).astype(np.uint8)


Indices = NDArray[np.integer]


def cut_open(mesh: Mesh, normal: Array, limit: float, foot: float = -np.inf) -> Mesh:
    """The part of a mesh with `normal` (3,) · p ≤ `limit`; triangles wholly below the height `foot` stay whole."""
    side = mesh.vertices @ normal - limit
    beyond = side[mesh.faces] > 0.0
    count = np.where(mesh.vertices[mesh.faces, 2].max(axis=1) < foot, 0, beyond.sum(axis=1))
    if not count.any():
        return mesh
    # triangles that the plane goes through, the corner that is alone on its side first
    one = _led(mesh.faces[count == 2], np.argmin(beyond[count == 2], axis=1))
    two = _led(mesh.faces[count == 1], np.argmax(beyond[count == 1], axis=1))
    looks = [] if mesh.colors is None else [mesh.colors]
    looks += [] if mesh.paint is None else [mesh.paint.uv]
    rows = np.concatenate([mesh.vertices, *looks], axis=1)
    tips = [rows[one[:, 0]], _between(rows, side, one, 1), _between(rows, side, one, 2)]
    first, last = _between(rows, side, two, 1), _between(rows, side, two, 2)
    quads = [[first, rows[two[:, 1]], rows[two[:, 2]]], [first, rows[two[:, 2]], last]]
    new = np.concatenate([np.stack(corners, axis=1) for corners in (tips, *quads)]).reshape(-1, rows.shape[1])
    faces = np.concatenate([mesh.faces[count == 0], len(rows) + np.arange(len(new)).reshape(-1, 3)])
    every = np.concatenate([rows, new])
    paint = None
    if mesh.paint is not None:
        of_new = np.repeat(mesh.paint.of_vertex[np.concatenate([one[:, 0], two[:, 1], two[:, 1]])], 3)
        paint = Paint(mesh.paint.materials, np.concatenate([mesh.paint.of_vertex, of_new]), every[:, -2:])
    return Mesh(every[:, :3], faces, mesh.color, None if mesh.colors is None else every[:, 3:6], paint)


def _led(faces: Indices, first: Indices) -> Indices:
    """Triangles (F, 3) turned so that corner number `first` (F,) leads."""
    return np.take_along_axis(faces, (first[:, None] + np.arange(3)) % 3, axis=1)


def _between(rows: Array, side: Array, faces: Indices, other: int) -> Array:
    """Intersections of the plane with the edges from the leading corner of each triangle to another, (F, C)."""
    a, b = faces[:, 0], faces[:, other]
    s = (side[a] / (side[a] - side[b]))[:, None]
    return np.asarray(rows[a] + s * (rows[b] - rows[a]))


def highest(triangles: Array, points: Array, below: float = np.inf) -> float:
    """Height of the highest triangle (F, 3, 3) at one of points (N, 2), none above `below`; -inf if there is none."""
    low, high = points.min(axis=0), points.max(axis=0)
    near = ((triangles[..., :2].max(axis=1) >= low) & (triangles[..., :2].min(axis=1) <= high)).all(axis=1)
    if not near.any():
        return -np.inf
    t = triangles[near]
    a, u, v = t[:, 0], t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    flat = np.abs(area) > 1e-12
    safe = np.where(flat, area, 1.0)
    p = points[:, None] - a[None, :, :2]
    s = (p[..., 0] * v[:, 1] - p[..., 1] * v[:, 0]) / safe
    r = (u[:, 0] * p[..., 1] - u[:, 1] * p[..., 0]) / safe
    inside = flat & (s >= -1e-9) & (r >= -1e-9) & (s + r <= 1.0 + 1e-9)
    z = a[:, 2] + s * u[:, 2] + r * v[:, 2]
    return float(np.where(inside & (z <= below), z, -np.inf).max())


# Radius within which a surface is level where something is put, steps to such a place from the middle, metres, and
# directions of these.
_LEVEL_M, _ASIDE_M, _AROUND = 0.06, 0.04, 16


def level_middle(mesh: Mesh, uneven: float) -> Array:
    """The position (2,) nearest to the middle of a mesh around which its top is level within `uneven` metres, as
    beside the gap between two cushions; the middle itself where there is none."""

    def make() -> Array:
        middle, triangles = mesh.bounds.mean(axis=0)[:2], mesh.vertices[mesh.faces]
        angles = np.linspace(0.0, 2.0 * np.pi, _AROUND, endpoint=False)
        ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        disc = _LEVEL_M * np.concatenate([np.zeros((1, 2)), 0.5 * ring[::2], ring[::2]])
        far = np.arange(_ASIDE_M, 0.5 * float(np.ptp(mesh.bounds, axis=0)[:2].min()), _ASIDE_M)
        for at in (middle, *(middle + x * out for x in far for out in ring)):
            tops = [highest(triangles, (at + off)[None]) for off in disc]
            if np.isfinite(tops).all() and np.ptp(tops) < uneven:
                return np.asarray(at)
        return np.asarray(middle)

    return kept(mesh, ("level middle", uneven), make)


# A vertex shared by more faces than this is the hub of a fan: pairing all its faces would cost too much.
_FAN = 64


def welded(vertices: Array, group: NDArray[np.int32] | None = None, tolerance: float = 1e-6) -> NDArray[np.intp]:
    """For each vertex the number of its place, (V,): vertices split along texture seams share one.

    Vertices of different `group` (V,) are never joined.
    """
    keys = np.round(np.asarray(vertices, dtype=float) / tolerance).astype(np.int64)
    if group is not None:
        keys = np.column_stack([keys, group])
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)


class SmoothNormals:
    """Normals of one mesh in many poses; the sums over faces are prepared once."""

    def __init__(self, faces: NDArray[np.int32], place: NDArray[np.intp]) -> None:
        """`place` (V,) numbers the places of vertices, from `welded`, or `arange` to keep all apart."""
        self._faces = faces
        count = int(place.max()) + 1 if len(place) else 0
        back = _backs(place[faces])
        only_back = np.zeros(len(place), dtype=bool)
        only_back[faces[back]] = True
        only_back[faces[~back]] = False
        self._place = place + count * only_back
        corners = (place[faces] + count * back[:, None]).reshape(-1)
        rows = np.repeat(np.arange(len(faces)), 3)
        ones = np.ones(len(corners), dtype=np.float32)
        self._sum = scipy.sparse.csr_matrix((ones, (corners, rows)), shape=(2 * count, len(faces)))

    def __call__(self, vertices: Array) -> Array:
        """Unit normals (V, 3) for vertices (V, 3) of the same mesh, posed."""
        a, b, c = (vertices[self._faces[:, k]] for k in range(3))
        return normalize(self._sum @ np.cross(b - a, c - a))[self._place]


def _backs(corners: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Faces, as places (F, 3), that are the back of another one: in the same three places, facing the other way.

    Hair and cloth are often made so; in one sum the two sides would cancel.
    """
    if not len(corners):
        return np.zeros(0, dtype=bool)
    a, b, c = corners.T.astype(np.int64)
    turns_right = np.sign(a - b) * np.sign(b - c) * np.sign(c - a) > 0
    _, first, same = np.unique(np.sort(corners, axis=1), axis=0, return_index=True, return_inverse=True)
    return turns_right != turns_right[first[same.reshape(-1)]]


def creased(vertices: Array, faces: NDArray[np.int32], crease: float = np.radians(40.0)) -> Array:
    """Normals for each corner of each face, (F, 3, 3): smooth, except across edges sharper than `crease`."""
    if not len(faces):
        return np.zeros((0, 3, 3))
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    unit = normalize(area)
    place = welded(vertices)[faces].reshape(-1)
    face = np.repeat(np.arange(len(faces)), 3)
    fan = np.bincount(place)[place] > _FAN
    few = np.flatnonzero(~fan)
    few = few[np.argsort(place[few], kind="stable")]  # corners place by place, each to be paired with all at its place
    _, first, count = np.unique(place[few], return_index=True, return_counts=True)
    row = np.repeat(few, np.repeat(count, count))
    within = np.arange(len(row)) - np.repeat(np.cumsum(count**2) - count**2, count**2)
    col = few[np.repeat(first, count**2) + within % np.repeat(count, count**2)]
    alike = np.einsum("ij,ij->i", unit[face[row]], unit[face[col]]) > np.cos(crease)
    row, col = row[alike], col[alike]
    normals = np.stack([np.bincount(row, area[face[col], k], len(place)) for k in range(3)], axis=1)
    normals[fan] = unit[face[fan]]
    return normalize(normals).reshape(-1, 3, 3)


def split_at_creases(mesh: Mesh) -> tuple[Mesh, Array]:
    """The same triangles with vertices doubled along sharp edges, and the normals (V, 3) of these vertices.

    Programs that average normals over shared vertices come to the same ones.
    """
    if not len(mesh.faces):
        return mesh, np.zeros_like(mesh.vertices)
    seams = None
    if mesh.paint is not None:
        seams = mesh.paint.seams.astype(np.int32)
    elif mesh.colors is not None:
        seams = np.unique(mesh.colors, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)
    use, faces, normals = split_corners(mesh.vertices, mesh.faces, welded(mesh.vertices, seams))
    return mesh.taken(use, faces), normals


def split_corners(
    vertices: Array, faces: NDArray[np.int32], place: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.int32], Array]:
    """Vertices to use, some of them more than once (V',), faces (F, 3) along these, their normals (V', 3).

    `place` (V,) numbers vertices that count as one, from `welded`; without it all are kept apart.
    """
    normals = creased(vertices, faces).reshape(-1, 3)
    corners = faces.reshape(-1)
    at = (corners if place is None else place[corners]).astype(np.int64)
    x, y, z = np.round(normals.T * 1e3).astype(np.int64) + 1024  # eleven bits each
    _, first, index = np.unique((at << 33) | (x << 22) | (y << 11) | z, return_index=True, return_inverse=True)
    return corners[first].astype(np.intp), index.reshape(-1, 3).astype(np.int32), normals[first]
