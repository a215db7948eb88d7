"""Quality of a motion in three numbers: foot sliding, jerk, and joints out of range."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from elbowroom.character.limits import pose_excess
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.edit import without_lead
from elbowroom.motion.smooth import SMOOTH_BELOW, low_pass
from elbowroom.motion.stance import foot_slide

# A joint is out of its range beyond this many radians (half a degree): rounding in files is less.
BEYOND = np.radians(0.5)
# Angular jerk after a 6 Hz low-pass that planned joints may have, rad/s³.
JERK = 1500.0
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
        """Return the facts as JSON."""
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


def joint_jerks(rotations: Array, fps: float) -> Array:
    """Largest angular jerk of each joint (...) over rotations (T, ..., 4) after a 6 Hz low-pass, rad/s³."""
    return velocity_jerks(_velocities(rotations, fps), fps)


def velocity_jerks(velocity: Array, fps: float) -> Array:
    """Largest angular jerk of each joint (...) of angular velocities (T - 1, ..., 3) after a 6 Hz low-pass, rad/s³."""
    if len(velocity) + 1 < _ENOUGH:
        return np.zeros(velocity.shape[1:-1])
    return np.max(_jerk_norms(velocity, fps), axis=0)


def rms_jerk(rotations: Array, fps: float) -> Array:
    """Root mean square over time of the angular jerk of each joint (...) of rotations (T, ..., 4) after a 6 Hz
    low-pass, rad/s³."""
    if len(rotations) < _ENOUGH:
        return np.zeros(rotations.shape[1:-1])
    return np.asarray(np.sqrt(np.mean(_jerk_norms(_velocities(rotations, fps), fps) ** 2, axis=0)))


def _velocities(rotations: Array, fps: float) -> Array:
    """Angular velocities (T - 1, ..., 3) of rotations (T, ..., 4), rad/s."""
    return rot.log(rot.multiply(rot.conjugate(rotations[:-1]), rotations[1:])) * fps


def _jerk_norms(velocity: Array, fps: float) -> Array:
    """Angular jerk (T - 3, ...) of angular velocities (T - 1, ..., 3) after a 6 Hz low-pass, rad/s³."""
    speed = velocity
    if fps > 2.2 * SMOOTH_BELOW:
        speed = low_pass(speed, fps)
    return np.asarray(np.linalg.norm(np.diff(speed, n=2, axis=0) * fps**2, axis=-1))


# Shares of the highest speed: from which on another maximum counts as a peak, and by which speed falls before it.
_PEAK, _DIP = 0.5, 0.15


@dataclass(frozen=True)
class ReachShape:
    """Path of a hand: its length as a multiple of the straight line; the share of the time at which it is fastest; and
    how many peaks its speed has, those below half of the highest left out."""

    length: float
    fastest: float
    peaks: int

    @property
    def human(self) -> bool:
        """Return whether it resembles human reaches: one speed peak between 30 and 60 % of the time, and no detour."""
        return self.peaks == 1 and 0.3 <= self.fastest <= 0.6 and self.length <= 1.4

    @property
    def strange(self) -> float:
        """Deviation from human reaches; 0 is human-like."""
        off = max(0.3 - self.fastest, self.fastest - 0.6, 0.0)
        return max(self.length - 1.0, 0.0) + (self.peaks - 1) + 2.0 * off


def reach_shape(points: Array, fps: float) -> ReachShape:
    """Measure a reach from its points (T, 3), in the axes of what the hand reaches from or for."""
    steps = np.linalg.norm(np.diff(points, axis=0), axis=-1)
    straight = float(np.linalg.norm(points[-1] - points[0]))
    if len(steps) < 3 or steps.sum() <= 1e-6:
        return ReachShape(1.0, 0.5, 1)
    speed = steps
    if len(steps) >= _ENOUGH and fps > 2.2 * SMOOTH_BELOW:
        speed = np.maximum(low_pass(steps, fps), 0.0)
    share = float((np.argmax(speed) + 0.5) / len(speed))
    # count maxima of a speed (T,) that is zero before and after: high enough, with a clear fall between them
    height, fall = _PEAK * float(speed.max()), _DIP * float(speed.max())
    count, high, low, rises = 0, 0.0, 0.0, True
    for value in [*speed.tolist(), 0.0]:
        if rises:
            high = max(high, value)
            if value < high - fall:
                count, low, rises = count + (high >= height), value, False
        else:
            low = min(low, value)
            if value > low + fall:
                high, rises = value, True
    return ReachShape(float(steps.sum()) / max(straight, 1e-3), share, max(count, 1))
