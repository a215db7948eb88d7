"""Checks of arguments that the makers of clips share."""

from __future__ import annotations

import numpy as np

from elbowroom.errors import BadValue


def check(what: str, value: float, low: float, high: float, unit: str) -> None:
    """`BadValue` unless a number is within its range."""
    if not (np.isfinite(value) and low - 1e-9 <= value <= high + 1e-9):
        raise BadValue(f"{what} must be between {low:g} and {high:g} {unit}, not {value:g}.")


def check_time(seconds: float, fps: float) -> None:
    """`BadValue` unless a clip of that length and frame rate makes sense."""
    if not (np.isfinite(seconds) and 0.0 < seconds <= 600.0):
        raise BadValue(f"a clip lasts between 0 and 600 seconds, not {seconds:g}.")
    if not (np.isfinite(fps) and 5.0 <= fps <= 480.0):
        raise BadValue(f"a clip has between 5 and 480 frames per second, not {fps:g}.")
