"""Recorded people in BVH: upright, as fast as measured, faults of their rigs mended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import real_files
from elbowroom.files.bvh import read_bvh, write_bvh
from elbowroom.files.conventions import CMU_UNIT
from elbowroom.geometry import rotations as rot


@pytest.mark.parametrize("path", real_files("mocap/*_bvh/*.bvh"), ids=lambda p: p.stem)
def test_real_files_hold_upright_people(path: Path, tmp_path: Path) -> None:
    clip = read_bvh(path)
    moving = clip.positions()[clip.source.lead :]
    assert np.all(np.isfinite(moving))
    assert 1.2 < clip.character.height < 2.0  # CMU's are 12 cm too short
    top, bottom = moving[..., 2].max(axis=1), moving[..., 2].min(axis=1)
    assert 1.2 < np.percentile(top - bottom, 98) < 2.4  # stands at some time, hands above the head or not
    assert -0.05 < np.median(bottom) < 0.1  # feet near the floor
    assert 0.7 < np.percentile(moving[:, 0, 2], 95) < 1.15  # hips
    cmu = path.parent.name == "cmu_bvh"
    assert clip.source.units == (CMU_UNIT if cmu else 0.01)
    assert clip.fps == (120.0 if cmu else 30.0)
    assert clip.source.lead == ((2 if path.stem == "07_12" else 1) if cmu else 0)
    assert {"left_arm", "right_arm", "left_leg", "right_leg"} <= set(clip.character.chains)
    assert any("steps per second" in n for n in clip.source.notes) == (path.stem == "143_11")
    if path.stem in ("02_01", "07_12", "143_11", "Male1_B20_WalkWithBox"):
        write_bvh(tmp_path / "again.bvh", clip)
        again = read_bvh(tmp_path / "again.bvh")
        assert np.abs(again.positions() - clip.positions()).max() < 1e-6
        assert again.character.skeleton.names == clip.character.skeleton.names
        assert again.source.lead == clip.source.lead
        assert again.source.euler == clip.source.euler


@pytest.mark.parametrize(
    ("name", "median", "peak"),
    [
        ("02_01", 1.15, 1.34),
        ("07_01", 1.34, 1.56),
        ("07_12", 1.93, 2.14),
        ("16_17", 0.89, 1.14),
        ("104_35", 0.63, 0.99),
    ],
)
def test_walking_speeds_are_as_measured(data: Path, name: str, median: float, peak: float) -> None:
    clip = read_bvh(data / "mocap" / "cmu_bvh" / f"{name}.bvh")
    way = clip.root[clip.source.lead :, :2]
    speed = np.linalg.norm(way[30:] - way[:-30], axis=1) * clip.fps / 30
    assert abs(np.median(speed) - median) < 0.03
    assert abs(speed.max() - peak) < 0.12


def test_cmu_walkers_face_where_they_go(data: Path) -> None:
    clip = read_bvh(data / "mocap" / "cmu_bvh" / "02_01.bvh")
    left = clip.character.roles["left_thigh"]
    right = clip.character.roles["right_thigh"]
    P = clip.positions()[1:]
    going = P[-1, 0] - P[0, 0]
    across = (P[:, left] - P[:, right]).mean(axis=0)
    ahead = np.cross(across, [0.0, 0.0, 1.0])
    assert np.dot(rot.normalize(ahead), rot.normalize(going)) > 0.95


def test_mending_the_cmu_rig_raises_shoulders_and_head(data: Path) -> None:
    path = data / "mocap" / "cmu_bvh" / "02_01.bvh"
    plain, mended = read_bvh(path), read_bvh(path, fix_rig=True)
    assert any("option to restore them: fix-rig" in n for n in plain.source.notes)
    assert any("restored" in n for n in mended.source.notes)
    up = (mended.positions() - plain.positions())[0]
    index = plain.character.skeleton.index
    for name in ("Neck", "LeftArm", "RightArm", "Head_end"):
        assert 0.10 < up[index(name), 2] < 0.14, name
    for name in ("Hips", "LeftFoot", "RightToeBase_end", "Spine1"):
        assert np.allclose(up[index(name)], 0.0, atol=1e-12), name


def test_the_rate_that_a_file_states_can_be_overridden(data: Path) -> None:
    path = data / "mocap" / "cmu_bvh" / "143_11.bvh"
    assert any("fps 60" in n for n in read_bvh(path).source.notes)
    slow = read_bvh(path, fps=60)
    assert slow.fps == 60
    assert not any("steps per second" in n for n in slow.source.notes)
