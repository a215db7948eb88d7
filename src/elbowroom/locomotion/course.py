"""Course of a walker: a curve on the floor and a speed along it; and routes with a heading of their own: turning on the
spot, sidestepping, backing up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from elbowroom.errors import BadValue
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import facing as facing
from elbowroom.geometry.transforms import heading_of as heading_of
from elbowroom.geometry.transforms import leftwards as leftwards
from elbowroom.motion.pace import Timing

_STEP = 0.02  # metres between samples of a curve
_ROUNDINGS = (0.16, 0.24, 0.36, 0.5)  # metres, the first without a bend too tight to be walked
_TIGHTEST = 3.0  # 1/m
_SIDEWAYS = 1.1  # m/s², comfortable centripetal acceleration (Vieilledent et al. 2001: speed falls with curvature)
_TURN = np.radians(75.0)  # rad/s, the fastest turn while walking
# seconds over which changes of speed are smoothed, and for a walker that waits on the way
_SOFT_S, _WAITING_S = 0.12, 0.35
# top speed sideways and backwards, m/s
_ASIDE, _BACKWARDS = 0.5, 0.7
# m/s² of gait initiation and termination of a walk; above that speed, m/s, proportionally more
_SPEED_UP, _FASTER_M_S = 0.8, 1.6


@dataclass(frozen=True, eq=False)
class Curve:
    """A smooth curve on the floor: `at(s)` (N, 2) and `heading(s)` (N,), s in metres from its start.

    Heading 0 faces -Y, positive to the left. Beyond its ends it continues straight.
    """

    length: float
    _place: scipy.interpolate.CubicSpline
    _heading: scipy.interpolate.CubicSpline
    first: float = 0.0  # the curve is known from here, which may lie before its start

    def at(self, s: Array) -> Array:
        """Points (N, 2) at arc lengths (N,)."""
        inside = np.clip(s, self.first, self.length)
        return self._place(inside) + (s - inside)[:, None] * facing(self._heading(inside))

    def heading(self, s: Array) -> Array:
        """Headings (N,) at arc lengths (N,), radians, without jumps."""
        return self._heading(np.clip(s, self.first, self.length))

    def bend(self, s: Array) -> Array:
        """Curvature (N,) in 1/m at arc lengths (N,), positive to the left."""
        inside = (s >= self.first) & (s <= self.length)
        return np.where(inside, self._heading(np.clip(s, self.first, self.length), 1), 0.0)

    def turn(self, s: Array) -> Array:
        """Turn of the body per metre (N,), rad/m: it faces along the curve."""
        return self.bend(s)

    def going(self, s: Array) -> Array:
        """Travel forwards and to the left (N, 2) of the body per metre: forwards alone."""
        return np.stack([np.ones(len(s)), np.zeros(len(s))], axis=-1)


def arc(length: float, bend: float, before: float = 0.0) -> Curve:
    """Arc of constant curvature (1/m, left positive) from the origin, facing -Y; known from `before` metres behind."""
    s = np.linspace(-before, length, max(int((length + before) / _STEP), 4) + 1)
    h = bend * s
    if abs(bend) < 1e-9:
        points = np.stack([0.0 * s, -s], axis=-1)
    else:
        points = np.stack([(1.0 - np.cos(h)) / bend, -np.sin(h) / bend], axis=-1)
    return Curve(length, scipy.interpolate.CubicSpline(s, points), scipy.interpolate.CubicSpline(s, h), -before)


def through(path: ArrayLike | Callable[[float], ArrayLike], longest: float) -> Curve:
    """Smooth curve of at most `longest` metres through points (N, 2), or along a callable over 0..1, by arc length."""
    if callable(path):
        points = np.array([np.asarray(path(float(u)), dtype=float).reshape(-1)[:2] for u in np.linspace(0, 1, 257)])
    else:
        points = np.asarray(path, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2 or not np.all(np.isfinite(points)):
        raise BadValue(f"a path to walk along needs at least two finite points (N, 2), not an array {points.shape}.")
    with np.errstate(over="ignore"):
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not steps.sum() <= longest:
        raise BadValue(f"a path to walk along is at most {longest:.0f} m long at that speed, not {steps.sum():.4g} m.")
    points = points[np.concatenate([[True], steps > 1e-6])]
    if len(points) < 2 or np.linalg.norm(np.diff(points, axis=0), axis=1).sum() < 0.3:
        raise BadValue("a path to walk along needs to be at least 0.3 m long.")
    # Centripetal knots keep the spline from overshooting at uneven points.
    knots = np.concatenate([[0.0], np.cumsum(np.sqrt(np.linalg.norm(np.diff(points, axis=0), axis=1)))])
    spline = scipy.interpolate.CubicSpline(knots, points, bc_type="natural")
    dense = spline(np.linspace(0.0, knots[-1], 40 * len(points) + 200))
    run = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(dense, axis=0), axis=1))])
    n = max(int(run[-1] / _STEP), 8)
    even = np.stack([np.interp(np.linspace(0, run[-1], n + 1), run, dense[:, k]) for k in (0, 1)], axis=-1)
    for width in _ROUNDINGS:
        curve = _by_length(smoothed(even, width / _STEP))
        if np.abs(curve.bend(np.linspace(0.0, curve.length, 4 * n))).max() < _TIGHTEST:
            break
    return curve


def _by_length(points: Array) -> Curve:
    """Curve through points (N, 2) that are close together."""
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    tangent = np.gradient(points, s, axis=0)
    heading = np.unwrap(heading_of(tangent))
    heading = scipy.ndimage.gaussian_filter1d(heading, 5.0, mode="nearest")
    return Curve(float(s[-1]), scipy.interpolate.CubicSpline(s, points), scipy.interpolate.CubicSpline(s, heading))


@dataclass(frozen=True, eq=False)
class Course:
    """Samples at `times` (N,): position along the curve (m) and speed (m/s).

    `low`: share of crouching, from 1 to 2 stooping lower than recorded; `steps`: factor on the number of steps, which
    are then shorter; `arms`: whether these swing, and are kept off the body; `still_arms`: share of hanging still, as
    in narrow places; `leads`: share of the recorded distance by which pelvises are ahead of the course.
    """

    curve: Curve
    times: Array
    s: Array
    speed: Array
    low: Array | float = 0.0
    steps: float = 1.0
    arms: bool = True
    still_arms: Array | float = 0.0
    leads: Array | float = 1.0

    def along(self, t: ArrayLike) -> Array:
        """Position along the curve at times, metres."""
        return np.interp(np.asarray(t, dtype=float), self.times, self.s)


def steady(curve: Curve, times: Array, speed: Array) -> Course:
    """A course with a given speed (N,) at every time, at the curve's start when time is 0."""
    step = np.diff(times, prepend=times[0])
    s = np.cumsum(0.5 * (speed + np.roll(speed, 1)) * step)
    return Course(curve, times, s - np.interp(0.0, times, s), speed)


def _fastest(curve: Curve, s: Array, speed: float) -> Array:
    """Speed limit (N,) at positions (N,), less where the body does not face along the curve."""
    forwards, aside = curve.going(s).T
    moving = np.maximum(np.hypot(forwards, aside), 1e-6)
    ahead = forwards / moving
    slow = np.where(ahead < 0.0, _BACKWARDS, _ASIDE) + (speed - _ASIDE) * smootherstep((ahead - 0.3) / 0.6)
    return np.minimum(
        speed, scipy.ndimage.gaussian_filter1d(np.where(moving > 0.2, slow, speed), 0.12 / s[1], mode="nearest")
    )


def speed_limits(curve: Curve, s: Array, speed: float, fastest: Callable[[Array], Array] | None = None) -> Array:
    """Highest speeds (N,) at evenly spaced positions (N,) of a curve: less in tight turns, sideways and backwards.

    `fastest` gives the walker's own, see `from_rest_to_rest`.
    """
    ds = s[1]
    bend, turn = (
        np.maximum(scipy.ndimage.gaussian_filter1d(np.abs(x), 0.12 / ds, mode="nearest"), 1e-6)
        for x in (curve.bend(s), curve.turn(s))
    )
    cap = np.minimum(_fastest(curve, s, speed), np.minimum(np.sqrt(_SIDEWAYS / bend), _TURN / turn))
    if fastest is not None:
        cap = np.minimum(cap, fastest(s))
    return scipy.ndimage.gaussian_filter1d(cap, 0.1 / ds, mode="nearest")


def from_rest_to_rest(
    curve: Curve,
    speed: float,
    rate: float,
    stand: float,
    fastest: Callable[[Array], Array] | None = None,
    not_before: Callable[[Array], Array] | None = None,
) -> Course:
    """Course from standing at the curve's start to standing at its end, slower in tight turns.

    `stand` are the seconds before and after; `fastest` gives the walker's highest speeds (N,) at positions (N,) along
    the curve, `not_before` the earliest times of those positions, seconds (N,).
    """
    n = max(int(curve.length / 0.01), 50)
    s = np.linspace(0.0, curve.length, n + 1)
    t = Timing.within(s, speed_limits(curve, s, speed, fastest), _SPEED_UP * max(speed / _FASTER_M_S, 1.0)).times
    soft = _SOFT_S
    if not_before is not None:
        # a walker that is too early slows down from then on: the rest takes as long as before
        t, soft = t + np.maximum.accumulate(np.maximum(not_before(s) - t, 0.0)), _WAITING_S
    times = np.arange(-stand, t[-1] + stand, 1.0 / rate)
    # Smoothing in time softens start and stop without changing the distance.
    place = scipy.ndimage.gaussian_filter1d(np.interp(times, t, s), soft * rate, mode="nearest")
    return Course(curve, times, place, np.gradient(place, times))


WalkingManner = Literal["forward", "left", "right", "back"]

# Metres of travel that a turn of one radian counts for: about half the width between the shoulders.
TURN_M = 0.3
# Metres over which the body turns from its first heading to its direction of travel, and to its last heading.
_SETTING_OUT_M, _ARRIVING_M = 0.3, 0.5
# Shorter paths are stepped without turning to face them, metres.
STEPPED_M = 0.75
# Metres between samples, and over which corners in heading are rounded.
_STEP_M, _ROUNDED_M = 0.01, 0.06
# Heading of the body relative to the direction of travel, by manner.
ASIDE_RAD: dict[WalkingManner, float] = {"forward": 0.0, "left": -0.5 * np.pi, "right": 0.5 * np.pi, "back": np.pi}


@dataclass(frozen=True, eq=False)
class Route(Curve):
    """A path on the floor with the heading of the body along it; turns on the spot count as travel, too.

    `s` is metres of travel plus `TURN_M` times the turn, radians. Beyond its ends it stands still.
    """

    def at(self, s: Array) -> Array:
        """Points (N, 2) at travel (N,)."""
        return np.asarray(self._place(np.clip(s, 0.0, self.length)))

    def bend(self, s: Array) -> Array:
        """Sideways acceleration at unit speed (N,), 1/m, positive to the left."""
        inside = np.clip(s, 0.0, self.length)
        d, dd = self._place(inside, 1), self._place(inside, 2)
        speed = np.maximum(np.linalg.norm(d, axis=-1), 1e-3)
        return np.where((s >= 0.0) & (s <= self.length), (d[:, 0] * dd[:, 1] - d[:, 1] * dd[:, 0]) / speed, 0.0)

    def turn(self, s: Array) -> Array:
        """Turn of the body per metre of travel (N,), rad/m, positive to the left."""
        inside = np.clip(s, 0.0, self.length)
        return np.where((s >= 0.0) & (s <= self.length), self._heading(inside, 1), 0.0)

    def going(self, s: Array) -> Array:
        """Travel forwards and to the left (N, 2) of the body per metre of `s`."""
        d, heading = self._place(np.clip(s, 0.0, self.length), 1), self.heading(s)
        ahead = facing(heading)
        return np.stack([np.sum(d * ahead, axis=-1), ahead[:, 0] * d[:, 1] - ahead[:, 1] * d[:, 0]], axis=-1)


def route(
    path: ArrayLike,
    facing_first: float,
    facing_last: float | None,
    manner: WalkingManner | Sequence[WalkingManner] = "forward",
) -> Route:
    """Route along points (N, 2), from one heading to another (None: that of arrival), radians.

    Longer paths are walked forwards, sideways (`left`, `right`: the direction of travel) or backwards, the same all
    along or by point; those below `STEPPED_M` are stepped while the body turns to its last heading.
    """
    points = np.asarray(path, dtype=float).reshape(-1, 2)
    if len(points) < 1 or not np.all(np.isfinite(points)):
        raise BadValue("a route needs finite points (N, 2).")
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    long = float(steps.sum())
    if long < STEPPED_M:
        return _stepped(points, steps, facing_first, facing_last)
    curve = through(points, longest=1e4)
    s = np.linspace(0.0, curve.length, max(int(curve.length / _STEP_M), 16) + 1)
    manners = [manner] * len(points) if isinstance(manner, str) else list(manner)
    share = np.concatenate([[0.0], np.cumsum(steps)]) / long
    aside = np.interp(s / curve.length, share, np.unwrap([ASIDE_RAD[m] for m in manners]))
    way = curve.heading(s) + aside
    out = min(_SETTING_OUT_M, 0.3 * curve.length)
    into = min(_ARRIVING_M, 0.4 * curve.length)
    way = way + 2.0 * np.pi * np.round((facing_first - way[0]) / (2.0 * np.pi))
    body = way + (facing_first - way[0]) * (1.0 - smootherstep(s / out))
    if facing_last is not None:
        body = body + wrapped(facing_last - way[-1]) * smootherstep((s - curve.length + into) / into)
    return faced_route(curve.at(s), body)


def _stepped(points: Array, steps: Array, first: float, last: float | None) -> Route:
    """A short path during which the body turns from one heading to another."""
    long = float(steps.sum())
    if last is None:
        last = first
    share = np.concatenate([[0.0], np.cumsum(steps)]) / max(long, 1e-9)
    u = np.linspace(0.0, 1.0, 65)
    at = np.stack([np.interp(u, share, points[:, k]) for k in (0, 1)], axis=-1) if long > 1e-6 else np.tile(
        points[0], (len(u), 1))  # fmt: skip
    return faced_route(at, first + wrapped(last - first) * u)


def ways_along(points: Array, body: Array) -> Array:
    """Travel (N,) along a route through points (N, 2) with headings (N,): metres, turns counted by `TURN_M`."""
    step = np.hypot(np.linalg.norm(np.diff(points, axis=0), axis=1), TURN_M * np.diff(body))
    return np.concatenate([[0.0], np.cumsum(step)])


def faced_route(points: Array, body: Array) -> Route:
    """Route through points (N, 2) with headings (N,), by travel and turn together."""
    s = ways_along(points, body)
    if s[-1] < 1e-3:
        raise BadValue("the route has no length: it ends where it begins.")
    kept = np.concatenate([[True], np.diff(s) > 1e-9])
    n = max(int(s[-1] / _STEP_M), 16)
    even = np.linspace(0.0, s[-1], n + 1)
    xy = np.stack([np.interp(even, s[kept], points[kept, k]) for k in (0, 1)], axis=-1)
    turned = np.interp(even, s[kept], body[kept])
    # round corners between travel and turn; mirroring at the ends keeps these fixed
    width = _ROUNDED_M / (even[1] - even[0])
    xy, turned = smoothed(xy, width), smoothed(turned[:, None], width)[:, 0]
    return Route(float(s[-1]), scipy.interpolate.CubicSpline(even, xy), scipy.interpolate.CubicSpline(even, turned))


def smoothed(values: Array, width: float) -> Array:
    """Values (N, K) smoothed over some samples, the first and the last fixed."""
    reach = min(int(4 * width) + 1, len(values) - 1)
    before = 2.0 * values[:1] - values[1 : reach + 1][::-1]
    after = 2.0 * values[-1:] - values[-reach - 1 : -1][::-1]
    padded = np.concatenate([before, values, after])
    return scipy.ndimage.gaussian_filter1d(padded, width, axis=0, mode="nearest")[reach : reach + len(values)]


def wrapped(angle: float) -> float:
    """The same angle between -pi and pi, radians."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


def towards(a: ArrayLike, b: ArrayLike) -> float:
    """Heading from one point (2,) to another."""
    d = np.asarray(b, dtype=float)[:2] - np.asarray(a, dtype=float)[:2]
    return float(heading_of(d))
