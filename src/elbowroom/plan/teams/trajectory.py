"""Timing of a team's path: the slowest member decides, within limits of speed and acceleration (E4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from elbowroom.character.body import Character
from elbowroom.geometry.easing import between, smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import facing, rolling
from elbowroom.locomotion import blend, captured
from elbowroom.locomotion.course import Course, Route, faced_route, speed_limits, ways_along
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.library import ClipLibrary
from elbowroom.locomotion.walk import RATE_WALK, inner_rate
from elbowroom.motion.pace import Timing
from elbowroom.spaces.team import TeamSpace

# Seconds of standing before and after the path in courses.
_AROUND_S = 2.5
# Seconds over which changes of speed are smoothed.
_SOFT_S = 0.15
# Distance between samples of a route for its speed limits, metres.
_LOOK_M = 0.01
# Length at both ends of a path over which pelvises come to be where the path has them, metres.
_ENDS_M = 0.5
# A trajectory is too slow beyond so many times the time at full speed, and seconds more; seconds at its ends that are
# slow anyway.
_SLOW, _SLOW_S, _ENDS_S = 3.0, 10.0, 2.0
# Carriers that move no farther than this stay in place, metres.
_STAYS_M = 0.02
# Steps of carriers relative to usual ones: load makes them shorter, and long sidesteps stretch the legs.
_STEPS = 1.3
# Iterations in which too fast parts are slowed down, and rows around them.
_ROUNDS, _AROUND_ROWS = 40, 25
# Rows around places at which somebody turns back: all stop there, and only there. Share of the farthest travel in a row
# from which on somebody who turns back counts, and rows before and after that are compared.
_BACK_ROWS = 5
_BACK_SHARE, _BACK_LOOK = 0.1, 3
# Angular speed of a base that rolls along its heading or turns on the spot, rad/s.
TURN_RAD_S = 0.8
# Share of the acceleration that the timing uses: the rest is for unequal travel of object and carriers.
_OF_ACCEL = 0.92


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A timed path.

    `rows` of the path's `states` by time, at an inner rate, 0 at departure, and everybody's course, None for those that
    stay in place.
    """

    rows: Timing
    states: Array
    courses: tuple[Course | None, ...]
    duration: float

    def at(self, times: Array) -> Array:
        """States (K, W) at times (K,)."""
        low, high, part = between(np.arange(len(self.states), dtype=float), self.rows.at(times))
        return np.asarray((1.0 - part[:, None]) * self.states[low] + part[:, None] * self.states[high])


def trajectory(
    space: TeamSpace, states: Array, bodies: Sequence[Character], speed: float, accel: float, fps: float,
    library: ClipLibrary,
) -> Trajectory:  # fmt: skip
    """Timing of states (K, W) from rest to rest within `speed` and `accel` of everybody and the object.

    People, the first carriers, are slower where they turn, go sideways or backwards, as recorded ones are, and bases
    that roll along their heading where they turn.
    """
    states = _evenly(space, states, speed / TURN_RAD_S)
    at, heading = space.carriers(states)
    heading = np.unwrap(heading, axis=0)
    cap = np.full(len(states), np.inf)
    routes: list[Route | None] = []
    for k, body in enumerate(bodies):
        s = ways_along(at[:, k], heading[:, k])
        if s[-1] < _STAYS_M:
            routes.append(None)
            continue
        route = faced_route(at[:, k], heading[:, k])
        even = np.linspace(0.0, route.length, max(int(route.length / _LOOK_M), 50) + 1)
        fastest = blend.fastest(figure(body), route, library, turns_aside=True)
        rate = np.maximum(np.gradient(s), 1e-9)
        cap = np.minimum(cap, np.interp(s, even, speed_limits(route, even, speed, fastest)) / rate)
        routes.append(route)
    along = np.maximum(np.linalg.norm(np.gradient(states[:, :3], axis=0), axis=1), 1e-9)
    cap = np.minimum(cap, speed / along)
    inner = inner_rate(fps, RATE_WALK)
    places = [states[:, :3], *(at[:, k] for k in range(at.shape[1]))]
    for k, bearer in enumerate(space.bearers):
        if bearer.gait == "rolls":  # turns count as metres at the highest speed
            places.append(rolling(at[:, k], 0.0)[:, None] * (speed / TURN_RAD_S))
    back = scipy.ndimage.maximum_filter1d(_turns_back(places), 2 * _AROUND_ROWS)
    for _ in range(_ROUNDS):
        t = Timing.within(np.arange(len(cap), dtype=float), cap, _OF_ACCEL * accel / _LOOK_M).times
        times = np.arange(-round(_AROUND_S * inner), int(np.ceil((t[-1] + _AROUND_S) * inner)) + 1) / inner
        share = scipy.ndimage.gaussian_filter1d(np.interp(times, t, np.arange(len(t))), _SOFT_S * inner, mode="nearest")
        excess = _excess(places, times, share, speed, accel)
        if excess.max() <= 1.0:
            break
        # slow down around times at which a person is too fast or accelerates too much
        rows = np.interp(np.arange(len(t)), share, excess)
        wide, narrow = _spread(np.where(back, 1.0, rows), _AROUND_ROWS), _spread(np.where(back, rows, 1.0), _BACK_ROWS)
        cap = cap / np.maximum(wide, narrow)
    courses: list[Course | None] = []
    for k, (body, stays) in enumerate(zip(bodies, (route is None for route in routes), strict=True)):
        if stays:
            courses.append(None)
            continue
        course = _course(at[:, k], heading[:, k], times, share)
        if at.shape[1] > 1:  # what one carries alone goes before the body as it walks
            leads = captured.pelvis_leads(figure(body), course, library)
            numbers = np.arange(len(at))
            ends = smootherstep(_LOOK_M * numbers / _ENDS_M) * smootherstep(_LOOK_M * numbers[::-1] / _ENDS_M)
            leads = ends * np.interp(np.interp(numbers, share, times), times, leads)
            course = _course(at[:, k] - leads[:, None] * facing(heading[:, k]), heading[:, k], times, share)
            course = replace(course, leads=np.interp(share, numbers, ends))
        courses.append(course)
    return Trajectory(Timing(times, share), states, tuple(courses), float(t[-1]))


def _spread(factors: Array, rows: int) -> Array:
    """Factors (K,) of 1 or more, each in as many rows, smoothed."""
    most = np.maximum(scipy.ndimage.maximum_filter1d(factors, rows), 1.0)
    return np.asarray(scipy.ndimage.gaussian_filter1d(most, 0.25 * rows))


def _turns_back(places: Sequence[Array]) -> Array:
    """Mask (K,) of rows at which some of the positions (K, 2 or 3) turn back."""
    out = np.zeros(len(places[0]), dtype=bool)
    for points in places:
        step = np.diff(points, axis=0)
        before, after = step[: -2 * _BACK_LOOK], step[2 * _BACK_LOOK :]
        sizes = [np.linalg.norm(each, axis=1) for each in (before, after)]
        far = np.minimum(*sizes) > _BACK_SHARE * _LOOK_M
        out[_BACK_LOOK : -_BACK_LOOK - 1] |= far & ((before * after).sum(axis=1) < -0.5 * sizes[0] * sizes[1])
    return out


def stalls(space: TeamSpace, timing: Trajectory, speed: float) -> float | None:
    """Time at which a trajectory all but stands still, seconds: bases on wheels turn there; None where it does not."""
    at, _ = space.carriers(timing.states)
    far = max(float(np.linalg.norm(np.diff(at[:, k], axis=0), axis=1).sum()) for k in range(at.shape[1]))
    if timing.duration <= _SLOW * far / speed + _SLOW_S:
        return None
    times, places = timing.rows.times, timing.rows.places
    under_way = np.flatnonzero((times > _ENDS_S) & (times < timing.duration - _ENDS_S))
    return float(times[under_way[int(np.argmin(np.diff(places)[under_way]))]])


def _course(places: Array, heading: Array, times: Array, share: Array) -> Course:
    """Course through places (K, 2) with headings (K,), of whose rows shares (N,) are passed at times (N,)."""
    route, gone = faced_route(places, heading), ways_along(places, heading)
    along = np.interp(share, np.arange(len(gone)), gone) * (route.length / gone[-1])
    return Course(route, times, along, np.gradient(along, times), steps=_STEPS, arms=False)


def _evenly(space: TeamSpace, states: Array, turn_m: float) -> Array:
    """States (K, W) resampled to equal travel of whichever of object and carriers moves farthest.

    A radian by which a rolling base turns counts as `turn_m` metres.
    """
    at, heading = space.carriers(states)
    heading = np.unwrap(heading, axis=0)
    far = np.linalg.norm(np.diff(states[:, :3], axis=0), axis=1)
    for k in range(at.shape[1]):
        far = np.maximum(far, np.diff(ways_along(at[:, k], heading[:, k])))
        if space.bearers[k].gait == "rolls":
            far = np.maximum(far, turn_m * np.abs(np.diff(rolling(at[:, k], 0.0))))
    along = np.concatenate([[0.0], np.cumsum(np.maximum(far, 1e-6))])
    even = np.linspace(0.0, along[-1], max(int(along[-1] / _LOOK_M), 16) + 1)
    # without corners, at which a base would turn at once
    return np.asarray(scipy.interpolate.PchipInterpolator(along, states)(even))


def _excess(places: Sequence[Array], times: Array, share: Array, speed: float, accel: float) -> Array:
    """Factor (N,) by which each time is too fast for some positions (K, 2 or 3) passed at shares (N,) of their rows."""
    worst = np.ones(len(times))
    for points in places:
        rows = np.arange(len(points))
        place = np.stack([np.interp(share, rows, points[:, c]) for c in range(points.shape[1])], axis=-1)
        fast = np.linalg.norm(np.gradient(place, times, axis=0), axis=1)
        gains = np.abs(np.gradient(fast, times))
        worst = np.maximum(worst, np.maximum(fast / speed, np.sqrt(gains / accel)))
    return worst
