"""Clean-up of feet: sliding, floating and penetration that were added are gone, and the change is reported."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.errors import BadValue
from elbowroom.files.bvh import read_bvh
from elbowroom.locomotion.walk import walk
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.feet import clean_feet, feet_measures
from elbowroom.motion.stance import stance_contacts


@pytest.fixture(scope="module")
def walked():
    return walk(human(1.75, skin=False), seconds=3.0, fps=60.0)


@pytest.mark.parametrize(("skate", "lift"), [(0.05, 0.0), (0.0, 0.06), (0.04, -0.05)])
def test_added_faults_are_removed(walked, skate, lift):
    t = walked.times
    added = np.column_stack([skate * np.sin(4.0 * t), skate * np.cos(3.0 * t), np.full(len(t), lift)])
    bad = walked.with_(root=walked.root + added)
    good, report = clean_feet(bad, 0.0)
    truth = foot_contacts(walked, 0.0)
    worst = [max(feet_measures(clip, truth, 0.0)) for clip in (bad, good)]
    assert worst[0] > 0.04 and worst[1] < 0.005
    assert max(feet_measures(good, stance_contacts(good), 0.0)) < 0.005
    assert max(report.slide_before_m, report.floor_before_m) > 0.04 and max(report.slide_m, report.floor_m) < 0.005
    assert 0.02 < report.moved_m < 0.2 and 0.0 < report.mean_turned_rad < report.turned_rad < np.radians(60)
    # what is above the hips keeps its shape
    arm = good.character.role("left_forearm")
    assert np.array_equal(good.rotations[:, arm], bad.rotations[:, arm])


def test_artificial_frames_stay(data):
    clip = read_bvh(data / "mocap" / "cmu_bvh" / "02_01.bvh")
    assert clip.source.lead == 1
    good, report = clean_feet(clip, 0.0)
    assert np.array_equal(good.rotations[0], clip.rotations[0]) and np.array_equal(good.root[0], clip.root[0])
    assert max(report.slide_m, report.floor_m) < 0.005 < report.slide_before_m


def test_no_legs():
    from elbowroom.character.rig import as_character
    from elbowroom.character.skeleton import Skeleton
    from elbowroom.motion.clip import still_clip

    stick = as_character(Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0, 0, 1.0], [0, 0, 1.0]])), name="stick")
    with pytest.raises(BadValue, match="no legs"):
        clean_feet(still_clip(stick), 0.0)
