"""Joint limits: sampling, testing, clamping and going to coordinates and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from elbowroom.character.human import human
from elbowroom.character.limits import JointLimit, clamp_pose, pose_excess, sample_pose
from elbowroom.geometry.rotations import Array, angle_between, exp, normalize

TURN = normalize(np.array([0.3, -0.5, 0.7, 0.2]))
OTHER = normalize(np.array([-0.8, 0.1, 0.4, 0.5]))
POLYGON = np.radians([(120, 0), (60, 110), (0, 130), (-80, 40), (-90, -20), (0, -50), (70, -70)])
LIMITS = {
    "ball": JointLimit("ball", TURN, OTHER, swing=(1.5, 2.1, 0.9, 2.3), twist=(-1.4, 1.1)),
    "polygon": JointLimit("ball", TURN, OTHER, swing=(1.0, 1.0, 1.0, 1.0), twist=(-1.4, 1.1), polygon=POLYGON),
    "swing": JointLimit("swing", TURN, OTHER, swing=(0.9, 1.3, 0.4, 0.6)),
    "line": JointLimit("swing", TURN, OTHER, swing=(0.9, 1.3, 0.0, 0.0)),
    "hinge": JointLimit("hinge", TURN, OTHER, flexion=(-0.1, 2.5), twist=(-1.5, 1.5)),
    "slack hinge": JointLimit("hinge", TURN, OTHER, flexion=(-0.1, 2.5), twist=(-0.2, 0.2), off_axis=0.15),
}
unit = arrays(float, 4, elements=st.floats(-1, 1)).filter(lambda v: np.linalg.norm(v) > 0.1).map(normalize)


@pytest.mark.parametrize("kind", LIMITS)
def test_samples_are_within_and_fill_the_range(kind: str) -> None:
    limit = LIMITS[kind]
    q = limit.sample(np.random.default_rng(1), 20_000)
    assert np.all(limit.contains(q))
    c = limit.coordinates(q)
    if limit.kind == "hinge":
        assert c[:, 0].min() < limit.flexion[0] + 0.02 and c[:, 0].max() > limit.flexion[1] - 0.02
    elif limit.polygon is None:
        low, high = c[:, :2].min(axis=0), c[:, :2].max(axis=0)
        assert [-low[0], high[0], -low[1], high[1]] == pytest.approx(limit.swing, abs=0.08)
    assert c[:, 2].min() < limit.twist[0] + 0.02 and c[:, 2].max() > limit.twist[1] - 0.02


@pytest.mark.parametrize("kind", LIMITS)
def test_just_outside_is_outside(kind: str) -> None:
    """The strong check can fail: a step past the bound along any direction is refused."""
    limit = LIMITS[kind]
    for direction in np.linspace(-np.pi, np.pi, 13):
        if limit.kind == "hinge":
            c = np.array([limit.flexion[1] + 0.01, 0.0, 0.0])
        else:
            c = np.append(
                (limit.swing_radius(direction) + 0.01) * np.array([np.cos(direction), np.sin(direction)]), 0.0
            )
        assert not limit.contains(limit.rotation(c))
        assert limit.contains(limit.rotation(c), tolerance=0.0101)
    assert not limit.contains(limit.rotation([0.0, 0.0, limit.twist[1] + 0.01]))


@pytest.mark.parametrize("kind", LIMITS)
@settings(max_examples=60, deadline=None)
@given(q=unit)
def test_clamping_is_idempotent_and_lands_within(kind: str, q: Array) -> None:
    limit = LIMITS[kind]
    once = limit.clamp(q)
    assert limit.contains(once)
    assert np.array_equal(limit.clamp(once), once)
    if limit.contains(q):
        assert np.array_equal(once, q)


@pytest.mark.parametrize("kind", LIMITS)
@settings(max_examples=60, deadline=None)
@given(q=unit)
def test_coordinates_and_back(kind: str, q: Array) -> None:
    limit = LIMITS[kind]
    assert angle_between(limit.rotation(limit.coordinates(q)), q) < 1e-6


def test_coordinates_near_zero_and_near_half_a_turn() -> None:
    limit = LIMITS["ball"]
    identity = JointLimit("ball", [1.0, 0, 0, 0], [1.0, 0, 0, 0], swing=limit.swing, twist=limit.twist)
    for size in (0.0, 1e-12, 1e-6, np.pi - 1e-6):
        q = exp([size, 0.0, 0.0])
        assert identity.coordinates(q) == pytest.approx([size, 0.0, 0.0], abs=1e-9)


def test_the_polygon_bounds_where_its_corners_are() -> None:
    limit = LIMITS["polygon"]
    for corner in POLYGON:
        direction = np.arctan2(corner[1], corner[0])
        assert limit.swing_radius(direction) == pytest.approx(np.linalg.norm(corner), rel=1e-9)
    middle = 0.5 * (POLYGON[1] + POLYGON[2])
    assert limit.swing_radius(np.arctan2(middle[1], middle[0])) == pytest.approx(np.linalg.norm(middle), rel=1e-9)


def test_random_poses_of_the_person_are_within() -> None:
    """Every joint, 200,000 times for each range that differs; its mirror images and fellow fingers less often."""
    limits = [limit for limit in human(skin=False).limits if limit is not None]
    assert len(limits) == 53
    rng = np.random.default_rng(7)
    seen = set()
    for limit in limits:
        hinge, low, high, _ = limit.bounds
        mirrored = tuple(np.sort(np.abs(np.stack([low, high])[:, 1:]), axis=0).ravel())
        key = (hinge, low[0], high[0], mirrored)
        for _ in range(1 if key in seen else 8):
            assert limit.contains(limit.sample(rng, 25_000)).all()
        seen.add(key)
    assert len(seen) > 12


@pytest.mark.parametrize("kind", LIMITS)
def test_terms_mean_what_an_independent_library_says(kind: str) -> None:
    limit = LIMITS[kind]
    c = np.random.default_rng(2).uniform(-1.4, 1.4, (200, 3))
    if limit.kind == "hinge":
        a = Rotation.from_euler("XYZ", c)
    else:
        swing = Rotation.from_rotvec(c * [1.0, 1.0, 0.0])
        a = swing * Rotation.from_rotvec(c * [0.0, 0.0, 1.0])
    pre, post = (Rotation.from_quat(q, scalar_first=True) for q in (limit.pre, limit.post))
    q = (pre * a * post).as_quat(scalar_first=True)
    assert np.max(angle_between(limit.rotation(c), q)) < 1e-7
    assert limit.coordinates(q) == pytest.approx(c, abs=1e-9)


def test_whole_poses_sample_test_and_clamp() -> None:
    limits = human(skin=False).limits
    rng = np.random.default_rng(3)
    within = sample_pose(limits, rng, 500)
    assert within.shape == (500, len(limits), 4)
    assert pose_excess(limits, within).max() < 1e-9
    assert np.array_equal(clamp_pose(limits, within), within)
    wild = normalize(rng.normal(size=(500, len(limits), 4)))
    assert pose_excess(limits, wild).max() > 0.5
    tamed = clamp_pose(limits, wild)
    assert pose_excess(limits, tamed).max() < 1e-9
    assert np.array_equal(clamp_pose(limits, tamed), tamed)
    assert np.array_equal(tamed[:, 0], wild[:, 0])  # the root is free
