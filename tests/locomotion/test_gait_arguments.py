"""Bad arguments are told in one sentence; pieces of the gait on their own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.character.human import human
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.locomotion.course import arc, facing, through
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.limbs import TwoBoneLimb
from elbowroom.locomotion.sole import measure
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import run, walk, walk_along, walk_to_run

PERSON = human()


@pytest.mark.parametrize(
    "call",
    [
        lambda: walk(PERSON, 0.2),
        lambda: walk(PERSON, 2.5),
        lambda: walk(PERSON, float("nan")),
        lambda: walk(PERSON, 1.2, turn=90.0),
        lambda: walk(PERSON, 1.2, seconds=0.0),
        lambda: walk(PERSON, 1.2, seconds=float("inf")),
        lambda: walk(PERSON, 1.2, fps=-30.0),
        lambda: walk(PERSON, 1.2, seconds=0.8, start=True, stop=True),
        lambda: run(PERSON, 1.0),
        lambda: run(PERSON, 3.0, turn=-61.0),
        lambda: walk_to_run(PERSON, 1.2, 1.5),
        lambda: walk_along(PERSON, [(0.0, 0.0)]),
        lambda: walk_along(PERSON, [(0.0, 0.0), (0.0, 0.0)]),
        lambda: walk_along(PERSON, [(0.0, 0.0), (np.nan, 1.0)]),
        lambda: walk_along(PERSON, np.zeros((4, 3))),
        lambda: walk_along(PERSON, [(0.0, 0.0), (1e6, 0.0)]),
        lambda: walk_along(PERSON, [(0.0, 0.0), (1e300, 0.0), (0.0, 0.0)]),
        lambda: walk_along(PERSON, lambda u: (1e6 * u, 0.0)),
        lambda: walk_along(PERSON, [(0.0, 0.0), (200.0, 0.0)], fps=480.0),
        lambda: idle(PERSON, seconds=600.0, fps=480.0),
        lambda: idle(PERSON, seconds=-1.0),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(call):
    with pytest.raises(BadValue) as told:
        call()
    assert str(told.value).endswith(".") and "\n" not in str(told.value)


def test_who_has_no_feet_cannot_walk():
    roles = {r: j for r, j in PERSON.roles.items() if not r.endswith("foot")}
    with pytest.raises(BadValue, match="left_foot"):
        walk(PERSON.with_(roles=roles))


@settings(max_examples=60, deadline=None)
@given(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(0.25, 0.85), st.floats(-3.0, 3.0), st.floats(-0.1, 0.1))
def test_a_hinged_limb_gets_to_its_target(x, y, distance, around, bent):
    limb = TwoBoneLimb(np.array([0.0, bent, -0.42]), np.array([0.02, 0.0, -0.44]), np.array([1.0, 0.0, 0.0]))
    line = np.array([x, y, -1.0])
    reach = (distance * line / np.linalg.norm(line))[None]
    axis = np.array([[np.cos(around), np.sin(around), 0.3]])
    solved = limb.solve(reach, axis)
    end = rot.rotate(solved.upper, limb.upper + rot.rotate(rot.about(limb.axis, solved.bend), limb.lower))
    assert np.allclose(end, reach, atol=1e-9)
    assert limb.length(limb.flexion(distance)) == pytest.approx(distance, abs=1e-9)
    # of all turns about the line to the target it is the one that brings the hinge nearest to where it should point
    points = rot.rotate(solved.upper, limb.axis)
    assert abs(np.cross(points, axis)[0] @ reach[0]) < 1e-9 and (points @ axis[0])[0] > 0.0


def test_a_foot_rolls_without_slipping_or_sinking():
    sole = measure(figure(PERSON), "left")
    pitch = np.radians(np.linspace(-70.0, 25.0, 400))
    ankle = sole.stance(pitch)
    assert np.all(np.diff(ankle[:, 0]) < 1e-9)  # forwards as the heel rises, back as the toes do
    assert np.abs(np.diff(ankle, axis=0)).max() < 0.002
    assert np.all(sole.lift(pitch, sole.toe_pitch(np.minimum(pitch, 0.0))) < ankle[:, 1] + 0.004)
    flat = sole.stance(np.zeros(1))[0]
    assert flat == pytest.approx([0.0, sole.ankle])


@given(st.floats(-1.0, 1.0), st.floats(2.0, 8.0))
def test_an_arc_has_its_curvature_and_length(bend, length):
    curve = arc(length, bend)
    s = np.linspace(0, length, 200)
    assert np.allclose(curve.bend(s[1:-1]), bend, atol=1e-6)
    assert np.allclose(np.gradient(curve.at(s), s, axis=0)[2:-2], facing(curve.heading(s))[2:-2], atol=1e-3)


def test_a_curve_through_points_starts_and_ends_there():
    points = np.array([(0.0, 0.0), (1.0, -1.0), (1.0, -3.0), (-1.0, -4.0)])
    curve = through(points, longest=100.0)
    assert np.allclose(curve.at(np.array([0.0, curve.length])), points[[0, -1]], atol=1e-6)
