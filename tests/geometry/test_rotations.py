"""Axioms and round trips of rotations and transforms, near identity and near half turns as well as anywhere."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.transforms import apply, inverse, transform

AXES = hnp.arrays(float, 3, elements=st.floats(-1, 1)).filter(lambda v: np.linalg.norm(v) > 1e-3).map(rot.normalize)
# exact zero, near identity, near half turns from both sides, and anything between
ANGLES = st.one_of(
    st.just(0.0),
    st.floats(1e-12, 1e-6),
    st.floats(1e-12, 1e-6).map(lambda x: np.pi - x),
    st.just(np.pi),
    st.floats(0.0, np.pi),
)
ROTATIONS = st.builds(rot.about, AXES, ANGLES)
POINTS = hnp.arrays(float, 3, elements=st.floats(-10, 10))


def same(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-9) -> bool:
    return float(rot.angle_between(a, b)) < tolerance


@given(AXES, ANGLES)
def test_exp_and_log_undo_each_other(axis, angle):
    q = rot.exp(angle * axis)
    assert same(q, rot.about(axis, angle))
    back = rot.log(q)
    np.testing.assert_allclose(np.linalg.norm(back), angle, atol=1e-12)
    assert same(rot.exp(back), q)


@given(AXES, ANGLES)
def test_angle_is_exact_near_zero_and_near_pi(axis, angle):
    np.testing.assert_allclose(rot.angle(rot.about(axis, angle)), angle, rtol=1e-9, atol=1e-15)


@given(ROTATIONS)
def test_matrix_round_trip_and_orthogonality(q):
    m = rot.to_matrix(q)
    np.testing.assert_allclose(m @ m.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(m) > 0
    assert same(rot.from_matrix(m), q, 1e-7)


@given(ROTATIONS, ROTATIONS, ROTATIONS, POINTS)
def test_multiply_composes_and_conjugate_inverts(a, b, c, p):
    np.testing.assert_allclose(rot.rotate(rot.multiply(a, b), p), rot.rotate(a, rot.rotate(b, p)), atol=1e-12)
    left, right = rot.multiply(rot.multiply(a, b), c), rot.multiply(a, rot.multiply(b, c))
    np.testing.assert_allclose(left, right, atol=1e-14)
    np.testing.assert_allclose(rot.rotate(rot.conjugate(a), rot.rotate(a, p)), p, atol=1e-12)
    np.testing.assert_allclose(rot.rotate(a, p), rot.to_matrix(a) @ p, atol=1e-12)


@given(AXES, AXES)
def test_arc_takes_one_direction_to_the_other_the_shortest_way(u, v):
    q = rot.arc(u, v)
    np.testing.assert_allclose(rot.rotate(q, u), v, atol=1e-7)
    np.testing.assert_allclose(rot.angle(q), np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v), atol=1e-7)


@given(AXES, AXES, st.floats(1e-9, 1e-3))
def test_arc_between_nearly_opposite_directions(u, w, off):
    v = rot.normalize(-u + off * np.cross(u, w))
    np.testing.assert_allclose(rot.rotate(rot.arc(u, v), u), v, atol=2e-7)
    np.testing.assert_allclose(rot.rotate(rot.arc(u, -u), u), -u, atol=1e-12)


@given(ROTATIONS, ROTATIONS, st.floats(0, 1))
def test_slerp_has_even_speed_and_meets_its_ends(a, b, s):
    whole = float(rot.angle_between(a, b))
    q = rot.slerp(a, b, s)
    np.testing.assert_allclose(rot.angle_between(a, q), s * whole, atol=1e-7)
    assert same(rot.slerp(a, b, 0.0), a) and same(rot.slerp(a, b, 1.0), b)
    # the sign of a quaternion means nothing
    assert whole > np.pi - 1e-6 or same(rot.slerp(a, -b, s), q, 1e-7)


@given(st.floats(-3.1, 3.1), AXES.filter(lambda v: abs(v[2]) < 0.9), st.floats(0, 1.2))
def test_heading_is_the_turn_about_the_vertical(turn, axis, tilt):
    level = rot.normalize(axis * [1, 1, 0])
    q = rot.multiply(rot.about([0, 0, 1.0], turn), rot.about(level, tilt))
    np.testing.assert_allclose(rot.heading(q), turn, atol=1e-9)
    np.testing.assert_allclose(rot.heading(-q), turn, atol=1e-9)


@given(st.sampled_from(["XYZ", "ZYX", "ZXY", "YXZ"]), ROTATIONS)
def test_euler_round_trip(order, q):
    assert same(rot.from_euler(order, rot.to_euler(order, q)), q, 1e-6)


def test_euler_order_reads_from_the_left():
    q = rot.from_euler("ZYX", [0.3, -0.4, 0.5])
    z, y, x = rot.about([0, 0, 1.0], 0.3), rot.about([0, 1.0, 0], -0.4), rot.about([1.0, 0, 0], 0.5)
    assert same(q, rot.multiply(rot.multiply(z, y), x))


def test_continuous_keeps_rotations_and_removes_sign_flips():
    rng = np.random.default_rng(3)
    q = rot.exp(np.linspace(0, 6, 50)[:, None] * rot.normalize(rng.normal(size=3)))
    flipped = q * rng.choice([-1.0, 1.0], size=(50, 1))
    smooth = rot.continuous(flipped)
    assert np.all(np.sum(smooth[1:] * smooth[:-1], axis=-1) > 0)
    np.testing.assert_allclose(np.abs(np.sum(smooth * q, axis=-1)), 1.0)


def test_nearest_keeps_rotations_and_takes_the_signs_of_others():
    rng = np.random.default_rng(4)
    q, like = (rot.normalize(rng.normal(size=(40, 3, 4))) for _ in range(2))
    near = rot.nearest(q, like)
    assert np.all(np.sum(near * like, axis=-1) >= 0.0) and (near != q).any() and (near == q).any()
    np.testing.assert_array_equal(np.abs(near), np.abs(q))


@given(ROTATIONS, st.floats(0.01, 0.5))
def test_mean_of_rotations_spread_evenly_is_the_middle(q, spread):
    around = [rot.multiply(q, rot.exp(spread * s * e)) for e in np.eye(3) for s in (-1, 1)]
    assert same(rot.mean(np.stack(around)), q, 1e-7)


@given(POINTS, ROTATIONS, hnp.arrays(float, (5, 3), elements=st.floats(-10, 10)))
def test_transform_inverse_and_apply(position, q, points):
    T = transform(position, q)
    np.testing.assert_allclose(inverse(T) @ T, np.eye(4), atol=1e-12)
    moved = apply(T, points)
    np.testing.assert_allclose(moved, rot.rotate(q, points) + position, atol=1e-11)
    np.testing.assert_allclose(apply(inverse(T), moved), points, atol=1e-11)


def test_transforms_work_in_batches():
    rng = np.random.default_rng(1)
    p, q = rng.normal(size=(4, 2, 3)), rot.normalize(rng.normal(size=(4, 2, 4)))
    T = transform(p, q)
    x = rng.normal(size=(4, 2, 7, 3))
    np.testing.assert_allclose(apply(T, x)[1, 0], apply(T[1, 0], x[1, 0]), atol=1e-14)
    np.testing.assert_allclose(inverse(T)[3, 1], np.linalg.inv(T[3, 1]), atol=1e-12)


def test_slerp_is_a_turn_about_one_axis_for_all_shapes():
    rng = np.random.default_rng(5)
    a, b = rot.normalize(rng.normal(size=(6, 5, 4))), rot.normalize(rng.normal(size=(5, 4)))
    s = rng.uniform(0, 1, (6, 1))
    expected = rot.multiply(a, rot.exp(s[..., None] * rot.log(rot.multiply(rot.conjugate(a), b))))
    assert np.allclose(rot.slerp(a, b, s), expected, atol=1e-12)
    near = rot.multiply(a, rot.exp(1e-9 * rng.normal(size=(6, 5, 3))))
    assert np.allclose(rot.slerp(a, near, s), a + s[..., None] * (near - a), rtol=0, atol=1e-15)
    assert rot.slerp(a, a, 0.3).shape == (6, 5, 4) and np.allclose(rot.slerp(a, -a, 0.3), a, atol=1e-15)


def test_from_matrix_matches_scipy_and_refuses_mirrors():
    turned = scipy.spatial.transform.Rotation.random(200, rng=3).as_matrix()
    half = scipy.spatial.transform.Rotation.from_rotvec(np.pi * np.eye(3)).as_matrix()
    exact = np.concatenate([turned, half, np.eye(3)[None]])
    skewed = exact + 1e-3 * np.random.default_rng(0).normal(size=exact.shape)
    for matrices in (exact, skewed):
        theirs = scipy.spatial.transform.Rotation.from_matrix(matrices).as_quat(scalar_first=True)
        assert np.abs(rot.from_matrix(matrices) - theirs).max() < 1e-12
    with pytest.raises(ValueError, match="mirrors"):
        rot.from_matrix(np.diag([1.0, 1.0, -1.0]))
    assert rot.from_matrix(np.empty((0, 3, 3))).shape == (0, 4)
