"""Uneven ground: footholds on it, clearance over it, and how the body rises with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import Curve

# Rise or fall of a stair step, metres, within so many metres of travel.
_RISE_M, _WITHIN_M = 0.06, 0.03
# Metres before the first and after the last stair in which steps already go from tread to tread, and the longest
# distance between stairs of one flight.
_BEFORE_M, _TREAD_M = 0.3, 0.6
# Longest obstacle that is stepped over rather than on, and longest step over it, metres.
_NARROW_M, _STRIDES_M = 0.2, 0.6
# Horizontal speed on stairs of a leg of 0.92 m, m/s (Riener et al. 2002: 0.5 to 0.6).
_SPEED_M_S = 0.5
_STEP_M = 0.01
# Latest time after a foot lands at which the body has risen to that foot's ground, and smoothing of changes of height,
# seconds.
_OVER_S, _EVEN_S = 0.35, 0.1
# Seconds by which it is earlier on the way down: the leg behind lowers the body before the foot in front lands.
LOWERED_S = 0.2


class Foothold(NamedTuple):
    """Position (2,) of the ankle of a foot, height of the ground below it (metres) and its slope (radians, toes up)."""

    place: Array
    z: float = 0.0
    slope: float = 0.0


class Terrain:
    """A level floor, and the interface of other grounds."""

    def foothold(self, place: Array, heading: float, fixed: bool = False, last: float = 0.0) -> Foothold:
        """Foothold at the desired position (2,) of an ankle, or near it unless it is `fixed`.

        last: metres by which the step before was moved ahead.
        """
        return Foothold(place)

    def under(self, ankles: Array, heading: Array, slope: Array | float = 0.0) -> Array:
        """Height (N,) of feet on their ground with ankles over positions (N, 2), metres; slope (N,): toes up,
        radians.
        """
        return np.zeros(len(ankles))

    def along(self, places: Array) -> Array:
        """Height of the ground (N,) at positions (N, 2), metres."""
        return np.zeros(len(places))


LEVEL = Terrain()


@dataclass(frozen=True, eq=False)
class Stairs:
    """Stairs on a curve: positions (N,) and, for each, metres from tread to tread; 0 without stairs."""

    s: Array
    tread: Array

    @staticmethod
    def on(curve: Curve, terrain: Terrain) -> Stairs | None:
        """The stairs on a curve; None where there are none."""
        s = np.linspace(0.0, curve.length, max(int(curve.length / _STEP_M), 2) + 1)
        points = curve.at(s)
        z = terrain.along(points)
        near = max(round(_WITHIN_M / s[1]), 1)
        rise = np.abs(z[near:] - z[:-near]) > _RISE_M
        if not rise.any():
            return None
        ends = np.flatnonzero(np.diff(np.concatenate([[False], rise, [False]]).astype(int)))
        # distances on the floor, since turns count as travel, too
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        steps = np.array([0.5 * (way[a] + way[min(b - 1 + near, len(s) - 1)]) for a, b in ends.reshape(-1, 2)])
        tread = np.zeros(len(s))
        for group in np.split(steps, np.flatnonzero(np.diff(steps) > _TREAD_M) + 1):
            inside = (way > group[0] - _BEFORE_M) & (way < group[-1] + _BEFORE_M)
            apart = np.diff(group)
            narrow = len(apart) == 1 and apart[0] < _NARROW_M
            tread[inside] = _STRIDES_M if narrow else float(np.median(apart)) if len(apart) else _BEFORE_M
        return Stairs(s, tread)

    def treads(self, s: Array) -> Array:
        """Metres from tread to tread (N,) at positions (N,), 0 without stairs."""
        return self.tread[np.clip(np.searchsorted(self.s, s), 0, len(self.s) - 1)]

    def fastest(self, s: Array, scale: float) -> Array:
        """Highest speed (N,), m/s, at positions (N,)."""
        return np.where(self.treads(s) > 0.0, _SPEED_M_S * np.sqrt(scale), np.inf)


def risen(times: Array, begins: Array, ends: Array, heights: Array, lowered: float = 0.0) -> Array:
    """Height of the ground (N,) as the body follows it, of feet that stand from times (K,) to times (K,) at heights
    (K,), metres; begins ascend. It goes down `lowered` seconds sooner.
    """
    over = np.minimum(0.48 * (ends - begins), _OVER_S)
    sooner = lowered * (np.diff(heights) < 0.0)
    first, last = begins + over, ends - over
    first[1:] -= sooner
    last[:-1] -= sooner
    knots, values = np.concatenate([first, last]), np.concatenate([heights, heights])
    order = np.argsort(knots, kind="stable")
    rate = 1.0 / (times[1] - times[0])
    return scipy.ndimage.gaussian_filter1d(
        np.interp(times, knots[order], values[order]), _EVEN_S * rate, mode="nearest"
    )
