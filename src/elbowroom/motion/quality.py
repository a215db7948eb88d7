"""Quality of a motion in three numbers: foot sliding, jerk, and joints out of range."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.signal import butter, sosfiltfilt

from elbowroom.character.limits import pose_excess
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.edit import without_lead
from elbowroom.motion.smooth import SMOOTH_BELOW
from elbowroom.motion.stance import foot_slide

# A joint is out of its range beyond this many radians (half a degree): rounding in files is less.
BEYOND = np.radians(0.5)
# Frames that a low-pass filter needs before it says anything.
_ENOUGH = 24


@dataclass(frozen=True)
class Quality:
    """foot_slide_m: farthest that a planted foot slides in one step; peak_jerk: largest angular jerk of any joint
    after a 6 Hz low-pass, rad/s³; limit_violations: frames in which some joint is out of its range."""

    foot_slide_m: float
    peak_jerk: float
    limit_violations: int

    def facts(self) -> dict[str, float | int]:
        """As JSON."""
        return {
            "foot_slide_m": round(self.foot_slide_m, 5),
            "peak_jerk": round(self.peak_jerk, 1),
            "limit_violations": self.limit_violations,
        }


def quality(clip: Clip) -> Quality:
    """Measure a clip; artificial first frames do not count, and a rig without feet slides by nothing."""
    real = without_lead(clip)
    beyond = pose_excess(clip.character.limits, real.rotations).max(axis=-1, initial=0.0)
    return Quality(_slide(real), peak_jerk(real), int(np.sum(beyond > BEYOND)))


def worst_quality(motions: Iterable[Motion]) -> Quality:
    """Worst value of each number over several motions; only clips of persons count."""
    found = [quality(m) for m in motions if isinstance(m, Clip)]
    return Quality(
        max((q.foot_slide_m for q in found), default=0.0),
        max((q.peak_jerk for q in found), default=0.0),
        sum(q.limit_violations for q in found),
    )


def _slide(clip: Clip) -> float:
    if not {"left_foot", "right_foot"} <= set(clip.character.roles):
        return 0.0
    return float(np.max(foot_slide(clip), initial=0.0))


def peak_jerk(clip: Clip) -> float:
    """Largest angular jerk of any joint after a 6 Hz low-pass, rad/s³."""
    return float(np.max(joint_jerks(clip.rotations, clip.fps), initial=0.0))


@cache
def _low_pass(fps: float) -> Array:
    return butter(2, SMOOTH_BELOW, fs=fps, output="sos")


def joint_jerks(rotations: Array, fps: float) -> Array:
    """Largest angular jerk of each joint (...) over rotations (T, ..., 4) after a 6 Hz low-pass, rad/s³."""
    if len(rotations) < _ENOUGH:
        return np.zeros(rotations.shape[1:-1])
    speed = rot.log(rot.multiply(rot.conjugate(rotations[:-1]), rotations[1:])) * fps
    if fps > 2.2 * SMOOTH_BELOW:
        speed = sosfiltfilt(_low_pass(fps), speed, axis=0)
    jerk = np.diff(speed, n=2, axis=0) * fps**2
    return np.max(np.linalg.norm(jerk, axis=-1), axis=0)


def point_jerk(points: Array, fps: float) -> float:
    """Largest jerk of points (T, ..., 3) after a 6 Hz low-pass, m/s³."""
    if len(points) < _ENOUGH:
        return 0.0
    smooth = sosfiltfilt(_low_pass(fps), points, axis=0) if fps > 2.2 * SMOOTH_BELOW else points
    return float(np.linalg.norm(np.diff(smooth, n=3, axis=0), axis=-1).max() * fps**3)
