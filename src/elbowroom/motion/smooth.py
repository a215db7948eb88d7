"""Motion without the noise of a recording, and its derivatives: speed, acceleration, jerk.

The filter is the usual one of gait laboratories (Winter, Biomechanics and Motor Control of Human Movement): a
Butterworth low-pass of second order at 6 Hz, run forwards and backwards so that nothing is delayed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array, normalize
from elbowroom.kernels.low_pass import filter_both_ways
from elbowroom.motion.clip import Clip

# People's joints move below this many hertz; what is faster in a recording is noise.
SMOOTH_BELOW = 6.0
# Seconds at both ends of a clip in which the filter has too little to go by: derivatives there are not judged.
EDGE = 0.25
# Rates below this have nothing that the filter would take away, frames a second.
_SLOW = 2.2 * SMOOTH_BELOW


def smoothed(values: Array, fps: float) -> Array:
    """Values (T, ...) low-pass filtered at 6 Hz; unchanged if the frame rate is too low for that."""
    if fps <= _SLOW or len(values) < 4:
        return np.array(values, dtype=float)
    # the longer the ends are continued, the less they ring; a quarter of a second is enough at 6 Hz
    return low_pass(values, fps, min(len(values) - 1, round(0.25 * fps) + 6))


def low_pass(values: Array, fps: float, pad: int = 9) -> Array:
    """Filter values (T, ...) by a Butterworth filter of second order at 6 Hz, forwards and backwards.

    Ends are continued by `pad` frames, mirrored about the end itself; T > pad. The same as scipy's `sosfiltfilt`,
    whose package takes half a second to load.
    """
    x = np.asarray(values, dtype=float).reshape(len(values), -1)
    begin, end = 2.0 * x[0] - x[pad:0:-1], 2.0 * x[-1] - x[-2 : -pad - 2 : -1]
    longer = np.concatenate([begin, x, end])
    k = np.tan(np.pi * SMOOTH_BELOW / fps)
    scale = 1.0 + np.sqrt(2.0) * k + k * k
    filter_both_ways(longer, k * k / scale, 2.0 * (k * k - 1.0) / scale, (1.0 - np.sqrt(2.0) * k + k * k) / scale)
    return longer[pad : pad + len(x)].reshape(np.shape(values))


def smoothed_clip(clip: Clip) -> Clip:
    """A clip whose root and joints move below 6 Hz."""
    return clip.with_(root=smoothed(clip.root, clip.fps), rotations=normalize(smoothed(clip.rotations, clip.fps)))


def derivative(values: Array, fps: float, order: int = 1) -> Array:
    """Derivative by time of values (T, ...): central differences, `order` times over; zero for a single frame."""
    out = np.asarray(values, dtype=float)
    for _ in range(order):
        out = np.gradient(out, axis=0) * fps if len(out) > 1 else np.zeros_like(out)
    return out


def judged(count: int, fps: float) -> NDArray[np.bool_]:
    """Frames (T,) whose derivatives are judged: those away from both ends; none of a clip shorter than that."""
    edge = round(EDGE * fps)
    inside = np.zeros(count, dtype=bool)
    inside[edge : max(count - edge, 0)] = True
    return inside
