"""Running, and walking that turns into it."""

from __future__ import annotations

import numpy as np
import pytest
from gait_measures import TOUCH, flat_drift, jolt, knee, lowest, steps

from elbowroom.character.human import human, preset
from elbowroom.character.limits import pose_excess
from elbowroom.locomotion.walk import run, walk, walk_to_run


def aloft(clip):
    """Frames in which neither foot touches the floor."""
    return (lowest(clip, "left") > TOUCH) & (lowest(clip, "right") > TOUCH)


@pytest.mark.parametrize("speed", [2.2, 3.0, 4.0])
def test_running_has_a_flight_phase_and_walking_none(speed):
    clip = run(human(), speed, seconds=3.0, fps=120.0)
    air = aloft(clip)
    flights = np.sum(np.diff(air.astype(int)) == 1)
    assert flights >= 2 * 1.2 * clip.duration  # one for each step, more than 1.2 strides a second
    assert 0.10 < air.mean() < 0.45
    assert not aloft(walk(human(), 1.8, seconds=2.0)).any()


@pytest.mark.parametrize("speed", [2.2, 3.0, 4.0])
def test_runners_legs_are_within_published_ranges(speed):
    clip = run(human(), speed, seconds=3.0, fps=120.0)
    for step in steps(clip):
        angles = knee(clip, step.side)
        assert 8.0 < angles[step.contact] < 32.0  # Novacheck 1998: lands bent, about 15 to 25
        stance = angles[step.contact : step.leave]
        assert 34.0 < stance.max() < 55.0  # about 45 under load
    assert 70.0 < knee(clip, "left").max() < 130.0
    assert -(clip.root[-1, 1] - clip.root[0, 1]) / clip.duration == pytest.approx(speed, rel=0.03)
    for side in ("left", "right"):
        assert lowest(clip, side).min() > -0.005
        assert flat_drift(clip, f"{side}_toes") < 0.002


@pytest.mark.parametrize("name", ["woman", "child", "gorilla"])
def test_running_joints_stay_within_limits(name):
    clip = run(preset(name), 2.8, seconds=2.0)
    assert np.degrees(pose_excess(clip.character.limits, clip.rotations)).max() < 2.0
    assert jolt(clip) < 1000.0


def test_walk_to_run_speeds_up_steadily_and_takes_off():
    clip = walk_to_run(human(), 1.4, 3.2, seconds=6.0)
    speed = -np.gradient(clip.root[:, 1]) * clip.fps
    # over one stride at a time, or the surge of every step would show
    smooth = np.convolve(speed, np.ones(48) / 48, mode="valid")
    assert np.diff(smooth).min() > -0.02
    assert smooth[0] == pytest.approx(1.4, rel=0.03) and smooth[-1] == pytest.approx(3.2, rel=0.03)
    air = aloft(clip)
    third = len(air) // 3
    assert not air[:third].any() and air[-third:].mean() > 0.1
    assert jolt(clip) < 1000.0
    for side in ("left", "right"):
        assert lowest(clip, side).min() > -0.005
