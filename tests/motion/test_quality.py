"""The three numbers of quality, against motions whose numbers are known."""

from __future__ import annotations

import numpy as np

from elbowroom.character.human import human
from elbowroom.geometry import rotations as rot
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip, Source
from elbowroom.motion.quality import quality, worst_quality


def standing(frames: int = 121, fps: float = 60.0) -> Clip:
    body = human(skin=False)
    skeleton = body.skeleton
    return Clip(body, fps, np.tile(skeleton.offsets[0], (frames, 1)), np.tile(skeleton.rest, (frames, 1, 1)))


def test_standing_still_is_perfect_and_sliding_is_seen() -> None:
    clip = standing()
    assert quality(clip).facts() == {"foot_slide_m": 0.0, "peak_jerk": 0.0, "limit_violations": 0}
    away = clip.root + np.linspace(0, 0.1, len(clip))[:, None] * [1.0, 0.0, 0.0]
    assert abs(quality(clip.with_(root=away)).foot_slide_m - 0.1) < 0.005


def test_jerk_of_a_swinging_arm() -> None:
    clip = standing(fps=120.0, frames=601)
    joint, rate, size = clip.character.role("left_upper_arm"), 2 * np.pi * 1.0, 0.3
    q = np.array(clip.rotations)
    q[:, joint] = rot.about([1.0, 0.0, 0.0], size * np.sin(rate * clip.times))
    # the third derivative of a sine; a 6 Hz low-pass lets 1 Hz through
    found = quality(clip.with_(rotations=q)).peak_jerk
    assert 0.9 * size * rate**3 < found < 1.3 * size * rate**3


def test_frames_out_of_range_are_counted_without_lead() -> None:
    clip = standing()
    q = np.array(clip.rotations)
    q[:40, clip.character.role("left_shin")] = rot.about([1.0, 0.0, 0.0], np.radians(60.0))  # a knee bent forwards
    bent = clip.with_(rotations=q)
    first = quality(bent).limit_violations
    other = clip.with_(rotations=np.where(np.arange(len(q))[:, None, None] < 40, rot.conjugate(q), q))
    assert sorted((first, quality(other).limit_violations)) == [0, 40], "a knee bends one way only"
    worse = bent if first else other
    assert quality(worse.with_(source=Source(lead=30))).limit_violations == 10
    assert worst_quality([worse, worse, clip]).limit_violations == 80


def test_built_in_walk_is_good() -> None:
    found = quality(walk(human(skin=False), speed=1.3, seconds=4.0))
    assert found.foot_slide_m < 0.02 and found.peak_jerk < 4000.0 and found.limit_violations == 0
