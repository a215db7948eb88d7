"""Standing at ease."""

from __future__ import annotations

import numpy as np
import pytest
from gait_measures import jolt, knee, lowest

from elbowroom.character.human import PRESETS, human, preset
from elbowroom.character.limits import pose_excess
from elbowroom.locomotion.standing import idle


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_idle_breathes_and_shifts_on_planted_feet(name):
    clip = idle(preset(name), seconds=12.0, fps=30.0)
    for side in ("left", "right"):
        foot = clip.positions()[:, clip.character.role(f"{side}_foot")]
        assert np.ptp(foot, axis=0).max() < 1e-6
        assert knee(clip, side).min() > 2.5 and knee(clip, side).max() < 25.0
        assert lowest(clip, side).min() > -0.002
    assert 0.015 < np.ptp(clip.root[:, 0]) < 0.09
    chest = clip.world()[:, clip.character.role("chest"), :3, :3]
    assert 0.5 < np.degrees(np.ptp(np.arctan2(chest[:, 1, 2], chest[:, 2, 2]))) < 8.0
    assert np.degrees(pose_excess(clip.character.limits, clip.rotations)).max() < 0.5
    assert jolt(clip) < 8.0


def test_idle_is_made_from_its_seed():
    a, b, c = (idle(human(), seconds=6.0, fps=20.0, seed=s) for s in (1, 1, 2))
    assert np.array_equal(a.rotations, b.rotations) and not np.array_equal(a.rotations, c.rotations)
