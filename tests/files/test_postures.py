"""Posture databases from recordings of any format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import elbowroom as er
from elbowroom.errors import BadFile, BadValue
from elbowroom.files.clip_library import marker_take
from elbowroom.motion import marker_poses as mp
from elbowroom.motion.speed_profiles import carries_of


def test_markers_and_clips_of_one_lift_give_postures_alike(data: Path) -> None:
    markers = er.posture_database([data / "mocap/accad_c3d/Male1_lift_box.c3d"], name="worn")
    clip = er.posture_database([data / "mocap/accad_bvh/Male1_A6_LiftBox.bvh"], name="clip")
    assert markers.takes == ("Male1_lift_box",) and 8 < len(clip) < 80 and 8 < len(markers) < 80
    assert {mp.STRATEGIES[k] for k in markers.strategy} == {"upright", "high"}
    wrist = markers.poses[:, mp.HANDS["L"], 2].mean(axis=1)
    assert wrist.max() - wrist.min() > 0.8
    nearest = [np.linalg.norm(clip.poses - pose, axis=-1).mean(axis=1).min() for pose in markers.poses]
    assert np.median(nearest) < 0.10


def test_a_carry_is_found_in_a_take(data: Path) -> None:
    take = marker_take(data / "mocap/accad_c3d/Male1_lift_box.c3d")
    up, down = (profile for profile, _ in carries_of(take))
    assert up.length_m == pytest.approx(1.3, abs=0.05) and up.duration_s == pytest.approx(1.57, abs=0.1)
    assert up.shape[2, -1] > 0.0 > down.shape[2, -1]


def test_squat_and_stoop_are_told_apart(data: Path) -> None:
    for name, strategy in (("115_01", "stoop"), ("115_06", "squat")):
        take = marker_take(data / f"mocap/cmu_bvh/{name}.bvh")
        found = mp.strategies(take.points)
        low = np.argmin(take.points[:, mp.HANDS["L"], 2].mean(axis=1))
        assert mp.STRATEGIES[found[low]] == strategy


def test_what_is_no_recording_of_a_person_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="at least one recording"):
        er.posture_database([])
    with pytest.raises(BadFile, match="lacks markers of the 41"):
        er.posture_database([data / "mocap/c3d_variants/pc_int.c3d"])
    with pytest.raises(BadFile, match="contains no motion"):
        er.posture_database([data / "mocap/cmu_asf_amc/02/02.asf"])
