"""What a mesh is to a hand: balls, round things, boxes, bars, however they lie."""

from __future__ import annotations

import numpy as np
import pytest
from hand_things import JAR, blob, thing

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import about
from elbowroom.geometry.solids import box, cylinder, lathe, merge, sphere
from elbowroom.geometry.transforms import transform
from elbowroom.posing.grasps_bars import bars
from elbowroom.posing.grasps_form import form_of, part_near
from elbowroom.props.kitchen import kettle

TURNED = transform([0.3, -0.2, 0.9], about([0.3, 0.5, 0.8], 1.1))


@pytest.mark.parametrize(
    ("mesh", "kind"),
    [
        (box([0.06, 0.1, 0.2]), "box"),
        (cylinder(0.03, 0.15), "round"),
        (lathe(JAR), "round"),
        (cylinder(0.08, 0.01), "round"),
        (sphere(0.04), "ball"),
        (blob(3), "irregular"),
        (blob(5), "irregular"),
    ],
)
@pytest.mark.parametrize("T", [np.eye(4), TURNED], ids=["straight", "turned"])
def test_forms_are_recognised_however_they_lie(mesh: Mesh, kind: str, T: np.ndarray) -> None:
    form = form_of(mesh.moved(T))
    assert form is not None and form.kind == kind
    straight = form_of(mesh)
    assert straight is not None
    assert np.allclose(np.sort(form.size), np.sort(straight.size), rtol=0.08)
    # all of the surface is in the box, and the axis of a round thing is the one that it was turned about
    assert np.all(np.abs(form.points) <= 0.5 * form.size + 1e-6)
    if kind == "round":
        assert abs(form.T_thing_form[:3, 2] @ T[:3, 2]) > 0.999


def test_nothing_to_recognise() -> None:
    assert form_of(Mesh(np.zeros((3, 3)), [[0, 1, 2]])) is None
    flat = form_of(Mesh([[0, 0, 0], [0.1, 0, 0], [0.1, 0.2, 0], [0, 0.2, 0]], [[0, 1, 2], [0, 2, 3]]))
    assert flat is not None and np.allclose(np.sort(flat.size), [0.0, 0.1, 0.2])


def test_the_part_at_a_handle_is_the_bar() -> None:
    mesh, frames = thing("handle")
    part = part_near(mesh, frames["handle"][:3, 3], 0.2)
    assert part is not None
    used = part.vertices[np.unique(part.faces)]
    assert np.allclose(np.sort(np.ptp(used, axis=0)), [0.014, 0.014, 0.18], atol=2e-3)


@pytest.mark.parametrize("T", [np.eye(4), TURNED], ids=["straight", "turned"])
def test_the_bar_of_a_larger_thing_is_found(T: np.ndarray) -> None:
    grip = cylinder(0.012, 0.14).moved(transform([0.0, 0.0, 0.2]))
    whole = merge([sphere(0.1), grip]).moved(T)
    form = form_of(whole)
    assert form is not None
    found = bars(form, 1.0)
    assert found
    for bar in found:
        middle = np.linalg.inv(T) @ form.T_thing_form @ np.append(bar.middle, 1.0)
        axis = T[:3, :3].T @ form.T_thing_form[:3, :3] @ bar.axis
        assert np.hypot(*middle[:2]) < 0.004 and 0.12 < middle[2] < 0.28
        assert abs(axis[2]) > 0.97 and abs(bar.thick - 0.024) < 0.004


def test_balls_and_boards_have_no_bar() -> None:
    for mesh in (sphere(0.02), box([0.2, 0.2, 0.1]), blob(3)):
        form = form_of(mesh)
        assert form is not None and not bars(form, 1.0)


def test_a_bow_is_taken_at_its_free_middle_not_beside_the_body_of_a_kettle() -> None:
    form = form_of(kettle())
    assert form is not None
    found = bars(form, 1.0)
    heights = [(form.T_thing_form[:3, :3] @ bar.middle + form.T_thing_form[:3, 3])[2] for bar in found]
    assert heights[0] > 0.2 and found[0].free == 1.0
    assert all(bar.free < 0.8 for bar, z in zip(found, heights, strict=True) if z < 0.18)
