"""Signed distances: exact at a box, with slopes that agree with them, and a way out of solids."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.signed import CELL_M, Region, SignedDistance, region_of
from elbowroom.geometry.solids import box
from elbowroom.kernels.signed import FAR_M

SIZE = np.array([0.6, 0.4, 0.2])
BOX = box(tuple(SIZE))


def to_a_box(points: Array) -> Array:
    """Distances (N,) of points (N, 3) to the surface of the box, negative inside."""
    q = np.abs(points) - 0.5 * SIZE
    outside = np.linalg.norm(np.maximum(q, 0.0), axis=1)
    return np.asarray(outside + np.minimum(q.max(axis=1), 0.0))


def test_distances_to_a_box_are_blends_of_exact_ones() -> None:
    points = np.random.default_rng(0).uniform(-0.45, 0.45, (2000, 3))
    found, _ = SignedDistance.to([region_of(BOX)]).at(points)
    exact = to_a_box(points)
    near = exact < FAR_M - 3 * CELL_M  # beyond, distances are all the same
    assert near.mean() > 0.5
    assert np.abs(found - exact)[near].max() < 0.5 * CELL_M
    assert (np.sign(found) == np.sign(exact))[np.abs(exact) > 0.5 * CELL_M].all()


def test_slopes_agree_with_distances() -> None:
    distance = SignedDistance.to([region_of(BOX)])
    points = np.random.default_rng(1).uniform(-0.35, 0.35, (400, 3))
    step = 1e-5
    _, slopes = distance.at(points)
    ends = [[distance.at(points + sign * step * axis)[0] for sign in (1.0, -1.0)] for axis in np.eye(3)]
    measured = np.stack([(a - b) / (2 * step) for a, b in ends], axis=1)
    # a step across the side of a cell has a slope on either side
    assert (np.abs(measured - slopes).max(axis=1) < 1e-4).mean() > 0.99


def test_the_slope_leads_out_of_a_solid() -> None:
    distance = SignedDistance.to([region_of(BOX)])
    points = np.random.default_rng(2).uniform(-0.5, 0.5, (300, 3)) * (SIZE - 0.02)
    for _ in range(60):
        d, slopes = distance.at(points)
        size = np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), 1e-9)
        points = points + np.where((d < 0.02)[:, None], 0.01 * slopes / size, 0.0)
    assert (to_a_box(points) > 0.0).mean() > 0.97  # the rest is on the middle plane, where two ways are equal


def test_outside_of_its_box_nothing_is_near() -> None:
    region = Region((BOX,), np.array([[-0.1, -0.1, -0.1], [0.1, 0.1, 0.1]]))
    d, slopes = SignedDistance.to([region]).at([[5.0, 0.0, 0.0]])
    assert d[0] == FAR_M and not slopes.any()
