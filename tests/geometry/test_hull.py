"""Convex hulls, and connected parts."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from elbowroom.geometry.shapes import convex_hull, stored_hull
from elbowroom.kernels.connected import connected


def test_a_hull_holds_all_points_and_faces_outwards() -> None:
    points = np.random.default_rng(3).normal(size=(80, 3))
    hull = convex_hull(points)
    assert hull is not None
    assert (points @ hull.planes[:, :3].T + hull.planes[:, 3]).max() < 1e-9
    assert sorted(np.unique(hull.faces)) == sorted(hull.corners)
    a, b, c = np.moveaxis(hull.mesh(points).vertices[hull.mesh(points).faces], 1, 0)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0 == pytest.approx(float(hull.volume))


def test_points_in_a_plane_have_none_and_stored_hulls_are_the_same() -> None:
    flat = np.random.default_rng(4).normal(size=(20, 3)) * [1.0, 1.0, 0.0]
    assert convex_hull(flat) is None and stored_hull(flat) is None and stored_hull(flat) is None
    points = np.random.default_rng(5).normal(size=(30, 3))
    made = convex_hull(points)
    assert made is not None
    for _ in range(2):
        for one, other in zip(stored_hull(points) or (), made, strict=True):
            np.testing.assert_array_equal(one, other)


@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_connected_parts_are_those_of_scipy(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(count, size=(2, rng.integers(2 * count)))
    graph = scipy.sparse.coo_matrix((np.ones(len(one)), (one, other)), shape=(count, count))
    _, expected = scipy.sparse.csgraph.connected_components(graph, directed=False)
    label = connected(count, one, other)
    np.testing.assert_array_equal(label[:, None] == label, expected[:, None] == expected)
    assert all(label[k] == np.flatnonzero(label == label[k]).min() for k in range(count))
