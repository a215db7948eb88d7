"""Times of a path: bells, recorded profiles, obstacles."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.errors import BadValue
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.motion.recorded import recorded_carries
from elbowroom.motion.speed_profiles import borrowed, duration, path_shape, path_times, profile_of


def line(end: tuple[float, float, float], count: int = 201) -> Array:
    return np.linspace(0.0, 1.0, count)[:, None] * np.array(end)


def speeds(points: Array, times: Array) -> tuple[Array, Array]:
    """Speeds at even shares of the time."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    even = np.linspace(0.0, times[-1], 400)
    return even[1:] - 0.5 * even[1], np.diff(np.interp(even, times, along)) / even[1]


def test_without_recordings_the_speed_is_a_bell_at_rest_at_both_ends() -> None:
    path = line((1.0, 0.0, 0.0))
    timing = path_times(path)
    assert timing.source == "bell" and timing.times[0] == 0.0 and np.isfinite(timing.times).all()
    assert (np.diff(timing.times) > 0.0).all()
    at, v = speeds(path, timing.times)
    assert v[0] < 0.1 * v.max() and v[-1] < 0.1 * v.max()
    assert at[np.argmax(v)] / timing.duration == pytest.approx(0.5, abs=0.03)
    assert np.allclose(np.interp(timing.times, timing.times, path[:, 0]), path[:, 0])
    assert np.allclose(path[:, 0], smootherstep(timing.times / timing.duration), atol=2e-3)


def test_a_recorded_profile_gives_back_its_own_times() -> None:
    seconds = np.linspace(0.0, 2.0, 241)
    early = smootherstep((seconds / 2.0) ** 0.7)
    path = early[:, None] * np.array([0.3, 0.1, 0.9])
    own = profile_of(path, 120.0, "own")
    timing = path_times(path, [own])
    assert timing.source == "own" and timing.duration == pytest.approx(2.0, rel=1e-3)
    assert np.abs(timing.times - seconds)[10:-10].max() < 0.08
    at, v = speeds(path, timing.times)
    bell_at, bell = speeds(path, path_times(path).times)
    assert at[np.argmax(v)] / timing.duration < bell_at[np.argmax(bell)] / bell_at[-1] - 0.04


def test_near_obstacles_it_is_slower_there_and_nowhere_faster() -> None:
    path = line((0.0, 1.0, 0.0))
    clearance = np.where(np.abs(path[:, 1] - 0.3) < 0.1, 0.0, 1.0)
    free, tight = path_times(path), path_times(path, clearance=clearance)
    slower = np.diff(tight.times) / np.diff(free.times)
    assert slower[55:65].min() > 2.0 and slower.min() > 0.999
    assert slower[150:].max() < 1.01


def test_a_joint_that_turns_far_slows_the_path_there_and_nowhere_else() -> None:
    path = line((0.0, 1.0, 0.0))
    joints = np.full(len(path) - 1, 0.001)
    joints[60] = 0.9
    free, slowed = path_times(path), path_times(path, joints=joints)
    assert np.diff(slowed.times)[60] == pytest.approx(0.9 / 6.0), "6 rad/s at most"
    slower = np.diff(slowed.times) / np.diff(free.times)
    assert slower[59] > 1.5 and slower[61] > 1.5, "it is no sudden stop"
    assert np.allclose(np.delete(slower, np.arange(57, 64)), 1.0)


def test_paths_are_compared_by_their_shape_not_by_their_heading_or_side() -> None:
    t = np.linspace(0.0, 1.0, 50)
    path = np.stack([t, 0.3 * np.sin(np.pi * t), 0.5 * t**2], axis=1)
    turned = np.stack([-path[:, 1], path[:, 0], path[:, 2]], axis=1) + 5.0
    other_side = path * [1.0, -1.0, 1.0]
    assert np.allclose(path_shape(turned), path_shape(path), atol=1e-6)
    assert np.allclose(path_shape(other_side), path_shape(path), atol=1e-6)
    assert not np.allclose(path_shape(path * [1.0, 1.0, -1.0]), path_shape(path), atol=0.1)


def test_the_shipped_carries_lend_their_speed_to_what_is_like_them() -> None:
    carries = recorded_carries()
    assert len(carries) == 10 and all(0.3 < c.length_m / c.duration_s < 1.3 for c in carries)
    up, down = borrowed(line((0.2, 0.0, 0.9)), carries), borrowed(line((0.2, 0.0, -0.9)), carries)
    assert up is not None and down is not None
    assert up.shape[2, -1] > 0.0 > down.shape[2, -1]
    assert any(n in down.name for n in ("put_down", "Female1_lift_box at 4.1", "Male1_lift_box at 2.4"))
    timing = path_times(line((0.2, 0.0, 0.9)), carries)
    assert 0.7 < timing.duration < 2.0
    assert duration(2.0, carries[0]) > duration(1.0, carries[0])
    assert path_times(line((0.2, 0.0, 0.9)), carries, slower=2.0).duration == pytest.approx(2.0 * timing.duration)


def test_a_thing_that_turns_in_place_takes_time() -> None:
    still = np.zeros((11, 3))
    assert path_times(still).duration == 0.0
    turning = path_times(still, recorded_carries(), turns=np.full(10, 0.1))
    assert turning.duration > 0.1 and (np.diff(turning.times) > 0.0).all()
    for bad in (np.zeros((1, 3)), np.full((3, 3), np.nan)):
        with pytest.raises(BadValue, match="two or more finite points"):
            path_times(bad)
    with pytest.raises(BadValue, match="positive number, not 0"):
        path_times(line((1.0, 0.0, 0.0)), slower=0.0)
