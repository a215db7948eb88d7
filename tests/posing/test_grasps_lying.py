"""Grasps of things that lie on something: by tips on one plane, with the hand above what they lie on."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import mixed
from elbowroom.character.human import preset
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import about
from elbowroom.geometry.solids import assembled, box, cylinder, sphere, tube
from elbowroom.geometry.transforms import transform
from elbowroom.posing.fingers_model import hand_model
from elbowroom.posing.grasps import closed_on, edge_grasps, propose_grasps
from elbowroom.posing.grasps_bars import narrow_places
from elbowroom.posing.grasps_form import form_of
from elbowroom.posing.grasps_seats import hand_seats
from elbowroom.props.kitchen import bowl

UP = np.array([0.0, 0.0, 1.0])
LYING = transform(np.zeros(3), about([0.0, 1.0, 0.0], 0.5 * np.pi))


@cache
def person(who: str = "woman") -> Character:
    return preset(who, skin=False)


def small(name: str) -> Mesh:
    made = {"slab": box([0.06, 0.12, 0.02]), "pen": cylinder(0.005, 0.14).moved(LYING), "cube": box([0.025] * 3)}
    return bowl() if name == "bowl" else made[name]


@pytest.mark.parametrize("name", ["slab", "pen", "cube", "bowl"])
def test_hands_stay_above_what_things_lie_on_and_hold_them(name: str) -> None:
    mesh = small(name)
    ground = float(mesh.vertices[:, 2].min())
    grasps = propose_grasps(person(), "right", mesh, lying=True)
    assert grasps and all(g.name.startswith("low_") for g in grasps)
    model = hand_model(person(), "right")
    for grasp in [g for g in grasps if "tips" in g.name][:4]:
        turn, at = grasp.T_thing_hand[:3, :3], grasp.T_thing_hand[:3, 3]
        closed = closed_on(person(), mesh, grasp)
        assert {"thumb", "index"} <= set(closed.touching)
        for shape in (grasp.open, closed.shape):
            assert model.lowest(shape, turn.T @ UP) + at @ UP > ground


@pytest.mark.parametrize("who", ["woman", "child", "gorilla"])
@pytest.mark.parametrize("width", [0.005, 0.03, 0.07])
def test_tips_stay_on_their_plane_as_they_close(who: str, width: float) -> None:
    seats = hand_seats(person(who), "left")
    seat = seats.tips(width * seats.scale)
    x, plane = seat.T_hand_seat[:3, 0], seat.T_hand_seat[:3, 3] @ seat.T_hand_seat[:3, 0]
    for share in (0.0, 0.5, 1.0):
        reach = -seats.model.lowest(mixed(seat.open, seat.shape, share), -x) - plane
        assert abs(reach) < 0.002 * seats.scale, share


@pytest.mark.parametrize("hand", ["left", "right"])
def test_what_stands_out_over_an_edge_is_taken_there(hand: str) -> None:
    mesh, out = box([0.4, 0.14, 0.018]), np.array([0.8, -0.6, 0.0])
    corner = np.array([0.2, -0.07, 0.0])
    grasps = edge_grasps(person(), hand, mesh, out, UP)
    assert len(grasps) > 5
    model, held = hand_model(person(), hand), 0
    for grasp in grasps:
        closed = closed_on(person(), mesh, grasp)
        tips = [grasp.T_thing_hand @ np.append(model.tip(f, closed.shape), 1.0) for f in model.fingers if f.number < 3]
        assert (corner - np.mean(tips, axis=0)[:3]) @ out < 0.11  # fingers lie along it
        held += closed.holds
    assert held > 0.8 * len(grasps)


def test_a_wide_can_is_also_taken_from_above() -> None:
    can = cylinder(0.045, 0.12)
    tips = [g for g in propose_grasps(person(), "right", can, lying=True) if "tips" in g.name]
    assert any(g.approach @ UP < -0.8 and closed_on(person(), can, g).holds for g in tips)


def test_what_no_hand_spans_is_taken_at_a_narrow_part() -> None:
    ball = sphere(0.09)
    form = form_of(ball)
    assert form is not None and not narrow_places(form, 1.0, 0.11)
    # a ring on top of it, upright along x
    angle = np.linspace(0.0, np.pi, 17)
    line = np.stack([0.03 * np.cos(angle), 0.0 * angle, 0.087 + 0.03 * np.sin(angle)], axis=1)
    whole = assembled([ball, tube(line, 0.004, sections=12)])
    form = form_of(whole)
    assert form is not None
    places = narrow_places(form, 1.0, 0.11)
    middles = np.array([p.middle for p in places]) @ form.T_thing_form[:3, :3].T + form.T_thing_form[:3, 3]
    on_ring = middles[:, 2] > 0.09
    assert on_ring.sum() > 5 and all(p.thick < 0.01 for p, on in zip(places, on_ring, strict=True) if on)
    grasps = propose_grasps(person(), "right", whole, lying=True)
    held = [g for g in grasps if "tips" in g.name and closed_on(person(), whole, g).holds]
    assert held
    assert not any("tips" in g.name for g in propose_grasps(person(), "right", ball))
