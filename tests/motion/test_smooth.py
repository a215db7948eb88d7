"""The 6 Hz low-pass filter against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from elbowroom.motion.smooth import SMOOTH_BELOW, low_pass, smoothed


@pytest.mark.parametrize("fps", [24.0, 60.0, 120.0])
@pytest.mark.parametrize("pad", [9, 20])
def test_the_filter_is_that_of_scipy(fps: float, pad: int) -> None:
    values = np.cumsum(np.random.default_rng(0).normal(size=(80, 3, 2)), axis=0)
    sections = butter(2, SMOOTH_BELOW, fs=fps, output="sos")
    assert np.allclose(low_pass(values, fps, pad), sosfiltfilt(sections, values, axis=0, padlen=pad), atol=1e-12)


def test_what_is_slow_stays_and_what_is_fast_goes() -> None:
    t = np.arange(240) / 60.0
    slow, fast = np.sin(2.0 * np.pi * 0.5 * t), 0.1 * np.sin(2.0 * np.pi * 20.0 * t)
    assert np.abs(smoothed(slow, 60.0) - slow).max() < 1e-3
    assert np.abs(smoothed(slow + fast, 60.0) - slow)[30:-30].max() < 2e-3
