"""Solids that furniture is made of: closed, of the size asked for, each part in its colour."""

import numpy as np
import pytest
import trimesh

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Mesh, split_at_creases
from elbowroom.geometry.solids import assembled, box, lathe, prism, rounded_box, rounded_line, tube


def volume(mesh: Mesh) -> float:
    """Volume of a closed mesh; fails where it is not closed or turned inside out."""
    solid = trimesh.Trimesh(mesh.vertices, mesh.faces)
    assert solid.is_watertight and solid.is_winding_consistent
    return float(solid.volume)


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_a_rounded_box_is_a_box_without_its_edges(steps: int) -> None:
    a, b, c, r = 0.2, 0.3, 0.4, 0.02
    rounded = rounded_box((a, b, c), (1, 2, 3), radius=r, steps=steps)
    np.testing.assert_allclose(rounded.bounds, [[0.9, 1.85, 2.8], [1.1, 2.15, 3.2]])
    edges = (4 - np.pi) * r**2 * (a + b + c - 6 * r) + (8 - 4 / 3 * np.pi) * r**3
    lost = a * b * c - volume(rounded)
    assert edges <= lost < 1.8 * edges
    assert steps < 4 or lost < 1.1 * edges


def test_a_box_thinner_than_its_rounding() -> None:
    assert 0.0 < volume(rounded_box((0.1, 0.1, 0.006), radius=0.02)) < 0.1 * 0.1 * 0.006


def test_a_prism_of_an_outline_that_turns_inwards() -> None:
    corner = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    assert volume(prism(corner, 0.5)) == pytest.approx(1.5)
    assert volume(prism(corner[::-1], 0.5)) == pytest.approx(1.5)


def test_a_prism_of_an_outline_that_crosses_itself() -> None:
    with pytest.raises(BadValue, match="crosses itself"):
        prism([(0, 0), (3, 3), (3, 0), (0, 3), (-1, 1), (4, 1)], 1.0)


def test_a_tube_round_corners() -> None:
    line = rounded_line([(0, 0, 0), (0, -0.05, 0), (0.2, -0.05, 0), (0.2, 0, 0)], 0.02)
    length = float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
    assert volume(tube(line, 0.006, sections=32)) == pytest.approx(np.pi * 0.006**2 * length, rel=0.03)


def test_a_turned_solid() -> None:
    assert volume(lathe([(0, 0), (0.1, 0), (0.1, 0.2), (0, 0.2)], sections=80)) == pytest.approx(
        np.pi * 0.01 * 0.2, rel=0.01
    )


def test_parts_keep_their_colours() -> None:
    red, blue = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    both = assembled([box((1, 1, 1), color=red), box((1, 1, 1), (2, 0, 0), blue)])
    shown, _ = split_at_creases(assembled([both.moved(np.diag([1, 1, 1, 1.0])), box((1, 1, 1), (4, 0, 0), red)]))
    assert shown.colors is not None
    np.testing.assert_array_equal(shown.colors, np.where((np.abs(shown.vertices[:, :1] - 2) < 1), blue, red))
