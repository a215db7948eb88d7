"""Eye position that shows given points: shared by pictures and by files that set an initial view."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.rotations import Array, normalize


def axes_towards(front: Array, azimuth: float, elevation: float) -> Array:
    """Right, up and back (rows, (3, 3)) of an eye that looks at something facing `front` (3,).

    `azimuth` counts about +Z from `front`, `elevation` above the horizon, radians.
    """
    heading = np.arctan2(front[1], front[0]) + azimuth
    back = np.array([np.cos(heading) * np.cos(elevation), np.sin(heading) * np.cos(elevation), np.sin(elevation)])
    right = np.array([-np.sin(heading), np.cos(heading), 0.0])
    return np.stack([right, normalize(np.cross(back, right)), back])


def nearest_eye(points: Array, axes: Array, slopes: Array) -> Array:
    """The nearest eye (3,) that looks along -`axes[2]` and sees all points (N, 3).

    `slopes` (2,) are the tangents of half the view's angles across its width and its height. Each side of the
    view is a plane through the eye, so the eye follows from four maxima.
    """
    local = points @ axes.T
    across, depth = local[:, :2] / slopes, local[:, 2:]
    high = (across + depth).max(axis=0)
    low = (depth - across).max(axis=0)
    return np.array([*(0.5 * slopes * (high - low)), np.max(0.5 * (high + low))]) @ axes
