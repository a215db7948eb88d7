"""Signed distances with gradients to sets of meshes, measured where they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry.fields import distance_field, nowhere, pack
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import signed as kernels
from elbowroom.kernels.fields import new_room

# Edge of a cell, metres: a twentieth of a body's depth; small things get an eighth of their longest side, but no less.
CELL_M, FINEST_M = 0.025, 0.008
# Blocks of all grids together: a hall of 12 x 12 x 3 metres has 54,000. Beyond it cells get coarser.
MOST_BLOCKS = 100_000


@dataclass(frozen=True, eq=False)
class Region:
    """Meshes (in one frame) and the box (2, 3) in which they may be asked for, metres."""

    meshes: tuple[Mesh, ...]
    box: Array


def region_of(mesh: Mesh) -> Region:
    """A mesh and all that is near it."""
    low, high = mesh.bounds
    return Region((mesh,), np.stack([low - kernels.FAR_M, high + kernels.FAR_M]))


@dataclass(frozen=True, eq=False)
class SignedDistance:
    """Signed distances to the meshes of each region, in its frame. Beyond `FAR_M` and outside the box all are that."""

    grids: kernels.Grids

    @classmethod
    def to(cls, regions: Sequence[Region]) -> SignedDistance:
        """Grids over regions, none of them measured yet."""
        fields = pack([distance_field(mesh) for region in regions for mesh in region.meshes] or [nowhere()])
        counts = [0, *(len(region.meshes) for region in regions)]
        cells, shapes, scale = [], [], 1.0
        while True:
            cells = [scale * _cell(region) for region in regions]
            sides = [np.ptp(region.box, axis=0) / (kernels.CELLS * c) for region, c in zip(regions, cells, strict=True)]
            shapes = [np.maximum(np.ceil(side), 1).astype(np.int64) for side in sides]
            blocks = [int(np.prod(shape)) for shape in shapes]
            if sum(blocks) <= MOST_BLOCKS:
                break
            scale *= 1.25
        grids = kernels.Grids(
            fields.tree,
            fields.root,
            fields.solids,
            fields.solid_root,
            np.cumsum(counts),
            np.array([region.box[0] for region in regions]).reshape(-1, 3),
            np.array(cells, dtype=float),
            np.array(shapes, np.int64).reshape(-1, 3),
            np.cumsum([0, *blocks[:-1]]).astype(np.int64),
            np.zeros(max(sum(blocks), 1), np.uint8),
            # pages of it are taken as blocks are measured
            np.zeros((max(sum(blocks), 1), (kernels.CELLS + 1) ** 3), np.float32),
        )
        return cls(grids)

    def at(self, points: ArrayLike, region: int = 0) -> tuple[Array, Array]:
        """Distances (N,) in metres, negative inside of solids, and gradients (N, 3) at points (N, 3)."""
        where = np.ascontiguousarray(points, dtype=float).reshape(-1, 3)
        out = np.zeros((len(where), 4))
        kernels.signed_distances(self.grids, region, where, new_room(), out)
        return out[:, 0], out[:, 1:]


def _cell(region: Region) -> float:
    longest = max((float(np.ptp(mesh.bounds, axis=0).max()) for mesh in region.meshes), default=1.0)
    return float(np.clip(longest / kernels.CELLS, FINEST_M, CELL_M))
