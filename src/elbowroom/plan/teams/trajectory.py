"""Way of a team as a function of time: the slowest of them decides, within limits of speed and acceleration (E4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion import captured
from elbowroom.locomotion.course import Course, speed_limits, speeds_within
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.library import ClipLibrary
from elbowroom.locomotion.route import faced_route, ways_along
from elbowroom.locomotion.walk import RATE_WALK, inner_rate
from elbowroom.spaces.team import TeamSpace

# Seconds before and after the way that courses know.
_AROUND_S = 2.5
# Seconds over which changes of speed are softened.
_SOFT_S = 0.15
# Metres between looks at a route for its limits of speed.
_LOOK_M = 0.01
# Carriers who go no farther than this stay where they stand, metres.
_STAYS_M = 0.02


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A way in time: times (N,) at an inner rate, 0 where it sets out, `share` (N,) of the rows of a way's states then,
    and everybody's course, None for those who stay where they stand."""

    times: Array
    share: Array
    states: Array
    courses: tuple[Course | None, ...]
    duration: float

    def at(self, times: Array) -> Array:
        """States (K, W) at times (K,)."""
        row = np.interp(times, self.times, self.share)
        low = np.clip(np.floor(row).astype(int), 0, len(self.states) - 2)
        part = (row - low)[:, None]
        return np.asarray((1.0 - part) * self.states[low] + part * self.states[low + 1])


def trajectory(
    space: TeamSpace, states: Array, bodies: Sequence[Character], speed: float, accel: float, fps: float,
    library: ClipLibrary,
) -> Trajectory:  # fmt: skip
    """Timing of states (K, W) from rest to rest: nobody, and not the object, is faster than `speed` or gains more than
    `accel`; carriers are slower where they turn, go sideways or backwards, as recorded people do."""
    at, heading = space.carriers(states)
    heading = np.unwrap(heading, axis=0)
    cap = np.full(len(states), np.inf)
    most = np.full(len(states), 1e-9)
    ways: list[Array | None] = []
    routes = []
    for k, body in enumerate(bodies):
        s = ways_along(at[:, k], heading[:, k])
        if s[-1] < _STAYS_M:
            ways.append(None)
            routes.append(None)
            continue
        route = faced_route(at[:, k], heading[:, k])
        even = np.linspace(0.0, route.length, max(int(route.length / _LOOK_M), 50) + 1)
        fastest = captured.fastest(figure(body), route, library)
        rate = np.maximum(np.gradient(s), 1e-9)
        cap = np.minimum(cap, np.interp(s, even, speed_limits(route, even, speed, fastest)) / rate)
        most = np.maximum(most, rate)
        ways.append(s)
        routes.append(route)
    along = np.maximum(np.linalg.norm(np.gradient(states[:, :3], axis=0), axis=1), 1e-9)
    cap, most = np.minimum(cap, speed / along), np.maximum(most, along)
    v = np.maximum(speeds_within(cap, 1.0, accel / most), 1e-6)
    t = np.concatenate([[0.0], np.cumsum(2.0 / (v[1:] + v[:-1]))])
    inner = inner_rate(fps, RATE_WALK)
    t = t * _slower(states, at, t, inner, speed, accel)
    times = np.arange(-round(_AROUND_S * inner), int(np.ceil((t[-1] + _AROUND_S) * inner)) + 1) / inner
    share = gaussian_filter1d(np.interp(times, t, np.arange(len(t))), _SOFT_S * inner, mode="nearest")
    courses = []
    for s, route in zip(ways, routes, strict=True):
        if s is None or route is None:
            courses.append(None)
            continue
        place = np.interp(share, np.arange(len(s)), s) * (route.length / s[-1])
        courses.append(Course(route, times, place, np.gradient(place, times)))
    return Trajectory(times, share, states, tuple(courses), float(t[-1]))


def _slower(states: Array, at: Array, t: Array, rate: float, speed: float, accel: float) -> float:
    """Factor by which a timing t (K,) has to be slowed down so that no place is too fast or gains too much."""
    times = np.arange(0.0, t[-1] + 1.0, 1.0 / rate)
    share = gaussian_filter1d(np.interp(times, t, np.arange(len(t))), _SOFT_S * rate, mode="nearest")
    rows = np.arange(len(t))
    worst = 1.0
    for points in (states[:, :3], *(at[:, k] for k in range(at.shape[1]))):
        place = np.stack([np.interp(share, rows, points[:, c]) for c in range(points.shape[1])], axis=-1)
        fast = np.linalg.norm(np.gradient(place, times, axis=0), axis=1)
        worst = max(worst, float(fast.max()) / speed, float(np.sqrt(np.abs(np.gradient(fast, times)).max() / accel)))
    return worst
