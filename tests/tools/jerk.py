"""Jerk of points of a motion."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.motion.smooth import low_pass


def point_jerk(points: Array, fps: float) -> float:
    """Largest jerk of points (T, ..., 3) after a 6 Hz low-pass, m/s³."""
    return float(np.linalg.norm(np.diff(low_pass(points, fps), n=3, axis=0), axis=-1).max() * fps**3)
