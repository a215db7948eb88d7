"""Distance fields of meshes: made once, kept with the mesh and on disk by content, packed for the compiled checks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.kept import KeptTogether, kept, remembered
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solidity import solid_faces
from elbowroom.kernels import fields as kernels
from elbowroom.kernels.triangles import Tree, joined, tree_of
from elbowroom.stopping import may_stop_here

# Corners are measured where limbs are thick enough to meet the surface: this far from it, metres.
REACH = 0.12
# Edge of a brick for a room; smaller meshes get finer bricks, huge ones coarser ones.
EDGE = 0.16
SMALLEST_EDGE = 0.04
CELLS = 4
MOST_BRICKS = 4_000_000
# Bricks that one core is done with before others have begun.
FEW_BRICKS = 4_000
# Bricks that are measured without a break: work may be stopped in between.
_SLICE = 2_000
# Sets of fields that stay packed.
PACKS = 8


@dataclass(frozen=True, eq=False)
class DistanceField:
    """Distances to one mesh in its own frame."""

    arrays: kernels.Fields


def distance_field(mesh: Mesh, *, keep: bool = True, closed: NDArray | None = None) -> DistanceField:
    """The field of a mesh with at least one triangle: as made before, else from the disk where it is there and sound.

    `closed` (F,) marks faces that bound solids, turned alike; or it numbers the solids, -1 for faces of none: then
    solids that overlap and are turned differently do not cancel out. Without it that is found out.
    """
    key = None if closed is None else (closed.dtype.str, closed.tobytes())
    return kept(mesh, ("field", key), lambda: DistanceField(_found(mesh, keep, closed)))


def _found(mesh: Mesh, keep: bool, closed: NDArray | None) -> kernels.Fields:
    """A field from the disk, or made and stored there."""

    def make() -> kernels.Fields:
        solid: NDArray = solid_faces(mesh) if closed is None else closed
        return _make(mesh, np.where(solid, 0, -1) if solid.dtype == bool else solid.astype(np.int64))

    if not keep:
        return make()
    about = (REACH, EDGE, SMALLEST_EDGE, CELLS, MOST_BRICKS, mesh.vertices, mesh.faces, closed)
    flat = remembered("fields", about, lambda: _flat(make()))
    whole: dict[str, Any] = {n: flat[n] for n in kernels.Fields._fields if n in flat}
    whole |= {n: Tree(*(flat[f"{n}.{k}"] for k in Tree._fields)) for n in ("tree", "solids")}
    return kernels.Fields(**whole)


_TRIANGLE = Mesh(np.eye(3), np.array([[0, 1, 2]]))


def nowhere() -> DistanceField:
    """Some field, for where one has to stand that is never asked."""
    return distance_field(_TRIANGLE)


_PACKED: KeptTogether[kernels.Fields] = KeptTogether(PACKS)


def pack(fields: Sequence[DistanceField]) -> kernels.Fields:
    """Several fields in one set of arrays."""
    return _PACKED.of(fields, (), lambda: _packed([f.arrays for f in fields]))


def _packed(parts: list[kernels.Fields]) -> kernels.Fields:
    tree, root = joined([p.tree for p in parts])
    solid = [p for p in parts if p.solid_root[0] >= 0]
    solids, roots = joined([p.solids for p in solid]) if solid else (parts[0].solids, np.zeros(0, np.int64))
    solid_root = np.full(len(parts), -1, np.int64)
    solid_root[[p.solid_root[0] >= 0 for p in parts]] = roots
    bricks = np.cumsum([0] + [len(p.start) for p in parts])
    corners = np.cumsum([0] + [len(p.corner) for p in parts])
    start = [np.where(p.start >= 0, p.start + c, p.start) for p, c in zip(parts, corners[:-1], strict=True)]
    return kernels.Fields(
        tree,
        root,
        solids,
        solid_root,
        np.concatenate([p.origin for p in parts]),
        np.concatenate([p.edge for p in parts]),
        np.concatenate([p.n for p in parts]),
        np.concatenate([p.shape for p in parts]),
        bricks[:-1].astype(np.int64),
        np.concatenate(start).astype(np.int32),
        np.concatenate([p.center for p in parts]),
        np.concatenate([p.corner for p in parts]),
        np.concatenate([p.ball for p in parts]),
    )


def _make(mesh: Mesh, body: NDArray[np.int64]) -> kernels.Fields:
    triangles = mesh.vertices[mesh.faces]
    tree = tree_of(triangles)
    closed = body >= 0
    solid = bool(closed.any())
    solids = tree_of(triangles[closed], _weights(body[closed])) if solid else tree_of(triangles[:1])
    low, high = mesh.bounds
    edge = float(np.clip(np.max(high - low) / 10, SMALLEST_EDGE, EDGE))
    pad = REACH + 0.5 * edge
    edge = max(edge, float(np.prod(high - low + 2 * pad) / MOST_BRICKS) ** (1 / 3))
    origin = low - pad
    shape = np.maximum(np.ceil((high + pad - origin) / edge), 1).astype(np.int64)
    bricks = int(np.prod(shape))
    center, inside = np.zeros(bricks), np.zeros(bricks, dtype=bool)
    half = 0.5 * np.sqrt(3) * edge

    def centers(r: tuple[int, int]) -> None:
        kernels.measure_centers(tree, solids, solid, origin, edge, shape, *r, center, inside)

    _share_out(centers, bricks)
    deep = inside & (center > half)
    near = np.flatnonzero((center < half + REACH) & ~deep)
    per = (CELLS + 1) ** 3
    corner = np.zeros((len(near), per))

    def corners(r: tuple[int, int]) -> None:
        kernels.measure_corners(tree, solids, solid, origin, edge, CELLS, shape, near, *r, corner)

    _share_out(corners, len(near))
    start = np.full(bricks, kernels.FAR, np.int32)
    start[deep] = kernels.INSIDE
    start[near] = np.arange(len(near)) * per
    middle = 0.5 * (low + high)
    radius = float(np.sqrt(np.max(np.sum((mesh.vertices - middle) ** 2, axis=1))))
    return kernels.Fields(
        tree,
        np.zeros(1, np.int64),
        solids,
        np.array([0 if solid else -1]),
        origin[None],
        np.array([edge]),
        np.array([CELLS]),
        shape[None],
        np.zeros(1, np.int64),
        start,
        _rounded_down(np.where(inside, 0.0, center)),
        _rounded_down(corner).ravel(),
        np.array([[*middle, radius]]),
    )


def _weights(body: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each solid such that small multiples of some never add up to 0, but by a chance of 1 in 10^12."""
    numbers = np.random.default_rng(5).integers(1 << 40, 1 << 44, int(body.max()) + 1)
    numbers[0] = 1 if len(numbers) == 1 else numbers[0]
    return numbers[body]


def _share_out(work: Callable[[tuple[int, int]], None], count: int) -> None:
    """Run `work((first, last))` over slices on all cores, little work on one; the kernels release the interpreter."""
    if count <= FEW_BRICKS:
        return work((0, count))
    workers = os.cpu_count() or 1
    cuts = np.linspace(0, count, max(4 * workers, count // _SLICE) + 1).astype(int)
    with ThreadPoolExecutor(workers) as pool:
        try:
            for slice_done in [pool.submit(work, cut) for cut in pairwise(cuts)]:
                slice_done.result()
                may_stop_here()
        finally:
            pool.shutdown(cancel_futures=True)  # work that is stopped does not wait for slices that are not begun


def _rounded_down(a: NDArray[np.float64]) -> NDArray[np.float32]:
    rounded = a.astype(np.float32)
    return np.where(rounded > a, np.nextafter(rounded, np.float32(0)), rounded).astype(np.float32)


def _flat(arrays: kernels.Fields) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in zip(arrays._fields, arrays, strict=True):
        if isinstance(value, Tree):
            out |= {f"{name}.{k}": v for k, v in zip(value._fields, value, strict=True)}
        else:
            out[name] = value
    return out
