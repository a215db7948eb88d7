"""Time warps and postures in joint angles: known warps are found again, distances do not see place and heading."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from conftest import DATA
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import about, rotate
from elbowroom.motion.clip import Clip
from elbowroom.motion.posture_angles import AngleDatabase
from elbowroom.motion.warp import SLOPES, best_segment, pose_distances, warp

ROLES = ("pelvis", "chest", "head", "left_hand", "right_hand", "left_foot", "right_foot", "left_shin", "right_shin")


def points_of(clip: Clip) -> np.ndarray:
    body = clip.character
    return body.transforms(clip.root, clip.rotations)[..., :3, 3][:, [body.roles[role] for role in ROLES]]


def recorded() -> Clip:
    """A recorded lift where the data is at hand, else the built-in walk."""
    path = DATA / "mocap" / "accad_bvh" / "Male1_A5_PickUpBox.bvh"
    return er.read_bvh(path) if path.exists() else er.walk(er.preset("woman"), seconds=3.0)


def at(points: np.ndarray, frames: np.ndarray) -> np.ndarray:
    low = np.floor(frames).astype(int).clip(0, len(points) - 2)
    return points[low] + (frames - low)[:, None, None] * (points[low + 1] - points[low])


def test_distances_do_not_see_place_and_heading() -> None:
    points = points_of(recorded())[:60:10]
    moved = rotate(about((0.0, 0.0, 1.0), 2.0), points) + [3.0, -1.0, 0.0]
    np.testing.assert_allclose(np.diag(pose_distances(points, moved)), 0.0, atol=1e-6)
    np.testing.assert_allclose(np.diag(pose_distances(points, points + [0.0, 0.0, 0.1])), 0.1, atol=1e-6)
    with pytest.raises(BadValue, match="same points"):
        pose_distances(points, points[:, :4])


def test_a_known_warp_is_found_within_a_frame() -> None:
    clip = recorded()
    points = points_of(clip)[:: max(round(clip.fps / 30.0), 1)]
    moving = np.linalg.norm(np.diff(points, axis=0), axis=-1).max(axis=1)
    first = int(np.argmax(np.convolve(moving, np.ones(50), "valid")))
    some = points[first : first + 51]
    s = np.linspace(0.0, 1.0, 26)
    true = 50.0 * (s + 0.15 / (2.0 * np.pi) * np.sin(2.0 * np.pi * s))  # slopes 0.85 to 1.15 of the mean
    found, total = warp(pose_distances(at(some, true), some))
    assert np.abs(found - true).max() <= 1.0
    slopes = np.diff(found) / 2.0
    assert slopes.min() >= SLOPES[0] - 1e-9 and slopes.max() <= SLOPES[1] + 1e-9
    assert found[0] == 0.0 and found[-1] == 50.0 and total / 26 < 0.02


def test_the_segment_is_found_in_its_clip() -> None:
    clip = recorded()
    points = points_of(clip)[:: max(round(clip.fps / 30.0), 1)]
    start = len(points) // 3
    path = points[start : start + 40 : 2] + [1.0, 2.0, 0.0]
    match = best_segment(path, [points[:10] + [0.0, 0.0, 5.0], points], near_m=0.2)
    assert match is not None and match.clip == 1
    assert abs(match.frames[0] - start) <= 3 and match.distance_m < 0.05
    assert best_segment(path + [0.0, 0.0, 3.0], [points], near_m=0.2) is None


def test_postures_in_angles_count_what_they_stand_for() -> None:
    rng = np.random.default_rng(0)
    rest = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    bent = rest.copy()
    bent[2] = about((1.0, 0.0, 0.0), 1.0)
    frames = np.array([*[rest] * 5, *[bent] * 2])
    frames[:5, 1] = about((0.0, 1.0, 0.0), 0.01 * rng.random(5))
    database = AngleDatabase.of(frames, {"spine": (1,), "right_arm": (2,)})
    assert database.counts.tolist() == [5, 2]
    how = {"sigma": 0.7, "parent_rad": 0.5, "own_rad": 0.4, "near_rad": 0.5}
    usual, rare = (database.similarity(q, **how)["right_arm"][0] for q in (rest, bent))
    assert usual == pytest.approx(5 / 7, abs=0.02) and rare == pytest.approx(2 / 7, abs=0.02)
    other = rest.copy()
    other[1] = about((0.0, 1.0, 0.0), 2.0)  # nobody's arm was recorded with such a spine
    assert database.similarity(other, **how)["right_arm"][0] == 0.0
    with pytest.raises(BadValue, match="at least one posture"):
        AngleDatabase.of(np.zeros((0, 3, 4)), {"spine": (1,)})
