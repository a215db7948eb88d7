"""Two-bone inverse kinematics: bones keep their lengths, ends come to targets, planes and poles are respected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smoothstep
from elbowroom.motion.legs import two_bone

POINTS = hnp.arrays(float, 3, elements=st.floats(-2, 2))
BONES = POINTS.filter(lambda v: np.linalg.norm(v) > 0.05)


def end_by_turns(a, b, c, solved):
    return a + rot.rotate(solved.upper, b - a) + rot.rotate(solved.lower, c - b)


@given(POINTS, BONES, BONES, POINTS)
def test_end_is_at_the_target_or_as_near_as_the_limb_allows(a, u, v, t):
    b, c = a + u, a + u + v
    solved = two_bone(a, b, c, t)
    np.testing.assert_allclose(end_by_turns(a, b, c, solved), solved.end, atol=1e-6)
    np.testing.assert_allclose(a + rot.rotate(solved.upper, u), solved.middle, atol=1e-6)
    lengths = np.linalg.norm(u), np.linalg.norm(v)
    wanted = np.linalg.norm(t - a)
    short = max(wanted - sum(lengths), abs(lengths[0] - lengths[1]) - wanted, 0.0)
    np.testing.assert_allclose(solved.missing, short, atol=1e-6)


@given(POINTS, BONES, BONES)
def test_a_target_where_the_end_is_changes_nothing(a, u, v):
    solved = two_bone(a, a + u, a + u + v, a + u + v)
    # where the limb lies folded on itself or straight, rounding alone decides to about the root of the precision
    assert rot.angle(solved.upper) < 2e-6 and rot.angle(solved.lower) < 2e-6


def test_the_bend_plane_is_kept():
    rng = np.random.default_rng(5)
    a = np.zeros((300, 3))
    b, c = rng.normal(size=(2, 300, 3))
    t = 0.5 * rng.normal(size=(300, 3))
    bent = np.linalg.norm(np.cross(rot.normalize(b), rot.normalize(c - b)), axis=-1) > 0.3
    a, b, c, t = a[bent], b[bent], c[bent], t[bent]
    solved = two_bone(a, b, c, t)
    swing = rot.arc(c - a, t - a)
    normal = rot.rotate(swing, rot.normalize(np.cross(b - a, c - a)))
    assert np.abs(np.sum(normal * (solved.middle - a), axis=-1)).max() < 1e-9
    new_normal = np.cross(solved.middle - a, solved.end - a)
    assert np.all(np.sum(normal * new_normal, axis=-1) > -1e-12), "the limb bends to the other side"


def test_a_straight_leg_bends_where_it_is_told():
    solved = two_bone([0, 0, 1.0], [0, 0, 0.5], [0, 0, 0], [0, 0, 0.2], bend=[0, -1.0, 0.3])
    np.testing.assert_allclose(solved.middle, [0, -0.3, 0.6], atol=1e-12)
    assert solved.missing < 1e-12


def test_a_nearly_straight_leg_does_not_follow_its_noise():
    noise = 1e-3 * np.random.default_rng(2).normal(size=(200, 3)) * [1, 1, 0]
    knees = np.array([0, 0, 0.5]) + noise
    solved = two_bone([0, 0, 1.0], knees, [0, 0, 0], [0, 0, 0.2], bend=[0, -1.0, 0])
    assert np.all(solved.middle[:, 1] < -0.29), "the knee points to the front whatever the noise"


def test_out_of_reach_is_approached_along_the_line():
    solved = two_bone([0, 0, 0], [0, 0.4, -0.3], [0, 0, -0.8], [3.0, 0, 0])
    np.testing.assert_allclose(solved.end, [0.5 + np.hypot(0.4, 0.5), 0, 0], atol=1e-12)
    np.testing.assert_allclose(solved.missing, 3.0 - 0.5 - np.hypot(0.4, 0.5))


def test_degenerate_limbs_give_finite_answers():
    zero = np.zeros(3)
    for a, b, c, t in (
        (zero, [0, 0, -0.5], zero, [0, 0.2, 0]),  # folded
        (zero, [0, 0, -0.5], [0, 0, -1.0], zero),  # target in the hip
        (zero, zero, [0, 0, -1.0], [0, 1.0, 0]),  # no upper bone
        (zero, [0, 0, -0.5], [0, 0, -1.0], [0, 0, 2.0]),  # the opposite way
    ):
        solved = two_bone(a, b, c, t)
        assert all(np.all(np.isfinite(x)) for x in solved)
        np.testing.assert_allclose(end_by_turns(a, np.array(b), np.array(c), solved), solved.end, atol=1e-9)


@given(st.floats(-2, 3))
def test_ease_is_bounded_symmetric_and_level_at_its_ends(s):
    assert 0.0 <= smoothstep(s) <= 1.0
    assert smoothstep(s) + smoothstep(1.0 - s) == pytest.approx(1.0)
    assert smoothstep(1e-4) < 1e-7
