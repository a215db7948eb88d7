"""Gaze: met where it can be, within ranges, smooth all the way round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from limb_cases import FROM_FILES
from reach_cases import standing, target

from elbowroom.character.limits import pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array, angle_between
from elbowroom.posing.gaze import gaze_error, gazing, looking_at
from elbowroom.posing.reach import reach


def around(name: str, azimuth: float, up: float, far: float = 2.0) -> Array:
    """A point as seen from the head; azimuth to the left of the front, degrees."""
    body, pose = standing(name)
    a, u = np.radians([azimuth, up])
    way = np.array([np.sin(a) * np.cos(u), -np.cos(a) * np.cos(u), np.sin(u)])
    return body.skeleton.at(pose)[body.role("head"), :3, 3] + far * way


@pytest.mark.parametrize("name", ["person", "child", "gorilla"])
def test_points_in_front_are_met(name: str) -> None:
    body, pose = standing(name)
    for azimuth in (-80, -45, 0, 10, 60):
        for up in (-45, 0, 35):
            point = around(name, azimuth, up)
            seen = looking_at(body, pose, point)
            assert gaze_error(body, seen, point) < 1e-3
            joints = [body.role(r) for r in ("neck", "head", "left_eye", "right_eye")]
            assert pose_excess(body.limits, seen.rotations)[joints].max() < 1e-6
            others = np.delete(np.arange(len(body.skeleton)), joints)
            assert np.array_equal(seen.rotations[others], pose.rotations[others])


def test_eyes_neck_and_head_share_the_way() -> None:
    body, pose = standing("person")
    turns = []
    for azimuth in (20, 40, 60):
        seen = looking_at(body, pose, around("person", azimuth, 0))
        parts = [body.limits[body.role(r)] for r in ("neck", "head", "left_eye")]
        terms = [
            limit.coordinates(seen.rotations[body.role(r)])
            for limit, r in zip(parts, ("neck", "head", "left_eye"), strict=True)
            if limit is not None
        ]
        turns.append((terms[0][2] + terms[1][2], terms[2][1]))
    neck, eye = np.degrees(np.array(turns)).T
    assert np.allclose(np.diff(neck), np.diff(neck)[0], atol=1.0) and np.allclose(
        np.diff(eye), np.diff(eye)[0], atol=1.0
    )
    assert neck[0] == pytest.approx(13.0, abs=1.5) and eye[0] == pytest.approx(7.0, abs=2.0)


def test_no_jump_when_the_point_passes_behind_or_overhead() -> None:
    body, pose = standing("person")
    circles = [
        [around("person", a, 10.0) for a in range(0, 361, 2)],
        [around("person", 5.0, u) for u in range(-90, 271, 2)],
    ]
    for points in circles:
        last = looking_at(body, pose, points[0])
        for point in points[1:]:
            seen = looking_at(body, pose, point)
            assert angle_between(seen.rotations, last.rotations).max() < np.radians(10.0)
            last = seen
    behind = looking_at(body, pose, around("person", 180.0, 0.0))
    assert angle_between(behind.rotations, looking_at(body, pose, around("person", 0.0, 0.0)).rotations).max() < 0.1


def test_a_share_is_part_of_the_way() -> None:
    body, pose = standing("person")
    point = around("person", 50, -20)
    errors = [gaze_error(body, looking_at(body, pose, point, share), point) for share in (0.0, 0.3, 0.6, 1.0)]
    assert np.all(np.diff(errors) < 0.0)
    assert looking_at(body, pose, point, 0.0) is pose


def test_a_bent_body_still_looks_at_its_hand() -> None:
    body, pose = standing("person")
    T = target(body, (-0.15, -0.5, 0.5), 25, 0)
    found = reach(body, pose, "right", T)
    seen = looking_at(body, found.pose, T[:3, 3])
    assert gaze_error(body, seen, T[:3, 3]) < np.radians(1.0)


@pytest.mark.parametrize("name", FROM_FILES)
def test_rigs_without_eyes_turn_the_head(data: Path, name: str) -> None:
    body, pose = standing(name)
    point = around(name, 40, -10)
    seen = looking_at(body, pose, point)
    assert gaze_error(body, seen, point) < np.radians(8.0) < gaze_error(body, pose, point)
    # arms hang on the neck of some rigs: they stay
    hands = [body.role("left_hand"), body.role("right_hand")]
    assert np.array_equal(body.skeleton.at(seen)[hands], body.skeleton.at(pose)[hands])


def test_bad_input() -> None:
    body, pose = standing("person")
    for point, share in (([0, 0, np.nan], 1.0), ([0, 0], 1.0), ([0, 0, 1], 1.5), ([0, 0, 1], np.nan)):
        with pytest.raises(BadValue):
            looking_at(body, pose, point, share)
    headless = body.with_(
        roles={r: j for r, j in body.roles.items() if r not in ("head", "neck", "left_eye", "right_eye")}
    )
    assert looking_at(headless, pose, [0, -1, 1]) is pose
    with pytest.raises(BadValue):
        gaze_error(headless, pose, [0, -1, 1])


def test_many_frames_are_the_same_as_one_after_another() -> None:
    body, pose = standing("person")
    points = np.stack([around("person", azimuth, 10.0) for azimuth in (-150, -60, 0, 20, 110, 178)])
    shares = np.array([1.0, 0.4, 0.0, 0.7, 1.0, 0.9])
    root, q = (np.repeat(x[None], len(points), axis=0) for x in (pose.root, pose.rotations))
    many = gazing(body, root, q, points, shares)
    for k, (point, share) in enumerate(zip(points, shares, strict=True)):
        one = looking_at(body, Pose.of(root[k], q[k]), point, float(share))
        np.testing.assert_allclose(many[k], one.rotations, atol=1e-12)
    np.testing.assert_array_equal(many[2], pose.rotations)
