"""Checks of arguments that the makers of clips share."""

from __future__ import annotations

import numpy as np

from elbowroom.errors import BadValue


def check(what: str, value: float, low: float, high: float, unit: str) -> None:
    """`BadValue` unless a number is within its range."""
    if not (np.isfinite(value) and low - 1e-9 <= value <= high + 1e-9):
        raise BadValue(f"{what} must be between {low:g} and {high:g} {unit}, not {value:g}.")


# Seconds of one built-in clip at most, and frames: 600 s at 60 a second. They take about 1.5 ms each to make.
LONGEST_S = 600.0
MOST_FRAMES = 36_000


def check_time(seconds: float, fps: float) -> None:
    """`BadValue` unless a clip of that length and frame rate makes sense."""
    if not (np.isfinite(seconds) and 0.0 < seconds <= LONGEST_S):
        raise BadValue(f"a clip lasts between 0 and {LONGEST_S:g} seconds, not {seconds:g}.")
    if not (np.isfinite(fps) and 5.0 <= fps <= 480.0):
        raise BadValue(f"a clip has between 5 and 480 frames per second, not {fps:g}.")
    if seconds * fps > MOST_FRAMES:
        raise BadValue(f"{seconds:g} s at {fps:g} frames per second exceed the limit of {MOST_FRAMES} frames.")
