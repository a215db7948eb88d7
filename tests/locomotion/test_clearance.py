"""No limb enters another, for every build, in all built-in clips."""

from __future__ import annotations

import numpy as np
import pytest
from touching import box_entering, entering

from elbowroom.character.presets import PRESETS, preset
from elbowroom.geometry import rotations as rot
from elbowroom.locomotion.box import lift_box
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import run, walk

BUILDS = sorted(PRESETS)


@pytest.mark.parametrize("name", BUILDS)
def test_walking_limbs_keep_clear(name):
    for speed, turn in ((0.6, 0.0), (1.3, 0.0), (1.8, 25.0), (1.0, -60.0)):
        assert not entering(walk(preset(name), speed, turn, seconds=2.0, fps=20.0), depth=0.001), (speed, turn)


@pytest.mark.parametrize("name", BUILDS)
def test_running_limbs_keep_clear(name):
    for speed in (2.2, 3.6):
        assert not entering(run(preset(name), speed, seconds=1.2, fps=30.0), depth=0.001), speed


@pytest.mark.parametrize("name", BUILDS)
def test_standing_limbs_keep_clear(name):
    assert not entering(idle(preset(name), seconds=10.0, fps=5.0), depth=0.001)


@pytest.mark.parametrize("name", ["woman", "man", "child"])
def test_lifting_limbs_keep_clear(name):
    for low, high in ((0.0, 0.8), (0.8, 0.9 * preset(name).height)):
        motion = lift_box(preset(name), from_height=low, to_height=high, fps=10.0)
        assert not entering(motion.clip, depth=0.003)
        body = ("pelvis", "spine1", "spine2", "chest", "head")
        legs = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "shin", "foot", "toes"))
        assert not box_entering(motion, body + legs)


def test_the_check_sees_an_arm_in_the_hip():
    clip = idle(preset("woman"), seconds=0.5, fps=10.0)
    q = clip.rotations.copy()
    arm = clip.character.role("left_upper_arm")
    # swung inwards about the forward axis by 20 degrees, in the chest's frame
    q[:, arm] = rot.multiply(rot.about([0.0, 1.0, 0.0], np.radians(20.0)), q[:, arm])
    assert any("thigh" in b or "pelvis" in b for _, b in entering(clip.with_(rotations=q)))
