"""Routes with a heading of their own: turning on the spot, sidestepping, backing up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from elbowroom.errors import BadValue
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import Curve, facing, heading_of, through

Manner = Literal["forward", "left", "right", "back"]

# Metres of travel that a turn of one radian counts for: about half the width between the shoulders.
TURN_M = 0.3
# Metres over which the body turns from its first heading to its direction of travel, and to its last heading.
_SETTING_OUT_M, _ARRIVING_M = 0.3, 0.5
# Shorter paths are stepped without turning to face them, metres.
STEPPED_M = 0.75
# Metres between samples, and over which corners in heading are rounded.
_STEP_M, _ROUNDED_M = 0.01, 0.06
# Heading of the body relative to the direction of travel, by manner.
ASIDE_RAD: dict[Manner, float] = {"forward": 0.0, "left": -0.5 * np.pi, "right": 0.5 * np.pi, "back": np.pi}


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
    path: ArrayLike, facing_first: float, facing_last: float | None, manner: Manner | Sequence[Manner] = "forward"
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
