"""Timing of paths: places along a path as a function of time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array


@dataclass(frozen=True, eq=False)
class Timing:
    """Places (N,) along a path, in rows, shares or metres of it, that are passed at growing times (N,), seconds.

    `source` is what the speeds are from, such as a recorded carry.
    """

    times: Array
    places: Array
    source: str = ""

    @staticmethod
    def eased(seconds: float, count: int = 128) -> Timing:
        """Timing of a whole path by shares, slow at both ends."""
        u = np.linspace(0.0, 1.0, count + 1)
        return Timing(seconds * u, smootherstep(u))

    @staticmethod
    def within(places: Array, cap: Array, speed_up: ArrayLike) -> Timing:
        """Timing of evenly spaced places (N,) from rest to rest, below speeds (N,) and within accelerations."""
        step = float(places[1] - places[0])
        squared, more = cap**2, 2.0 * step * np.broadcast_to(np.asarray(speed_up, dtype=float), cap.shape)
        squared[0] = squared[-1] = 0.0
        for k in range(1, len(cap)):
            squared[k] = min(squared[k], squared[k - 1] + more[k])
        for k in range(len(cap) - 2, -1, -1):
            squared[k] = min(squared[k], squared[k + 1] + more[k])
        v = np.sqrt(squared)
        took = 2.0 * step / np.maximum(v[1:] + v[:-1], 1e-6)
        return Timing(np.concatenate([[0.0], np.cumsum(took)]), places)

    @property
    def duration(self) -> float:
        """Seconds from the first to the last place."""
        return float(self.times[-1] - self.times[0])

    def at(self, times: ArrayLike) -> Array:
        """Places at times (K,); at rest before and after."""
        return np.interp(np.asarray(times, dtype=float), self.times, self.places)

    def when(self, places: ArrayLike) -> Array:
        """Times of places (K,)."""
        return np.interp(np.asarray(places, dtype=float), self.places, self.times)

    def even(self, count: int) -> Array:
        """Places (count + 1,) at even times."""
        return self.at(np.linspace(self.times[0], self.times[-1], count + 1))

    def slower(self, pace: ArrayLike) -> Timing:
        """The same places, each step between two taking so many times as long, a factor or (N,) of them."""
        factors = np.broadcast_to(np.asarray(pace, dtype=float), len(self.times))
        took = np.diff(self.times) * 0.5 * (factors[1:] + factors[:-1])
        return replace(self, times=self.times[0] + np.concatenate([[0.0], np.cumsum(took)]))
