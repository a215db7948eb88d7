"""Functions of time: positions of a rigid object, states of a fixture; and intervals of time.

Any callable from seconds to `T_world_object` (4, 4) is a path. One that also has `sample(times) -> (N, 4, 4)` is
asked for many times at once, which is much quicker for those that need a whole body posed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import between
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform

Interval = tuple[float, float]


def merged(pieces: Iterable[Interval], gap: float = 0.0) -> list[Interval]:
    """Intervals joined where they are no more than a gap apart, in order."""
    out: list[Interval] = []
    for begin, end in sorted(pieces):
        if out and begin <= out[-1][1] + gap:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((begin, end))
    return out


def outside(spans: Iterable[Interval]) -> list[Interval]:
    """The time before, between and after intervals."""
    inside = merged(spans)
    begins, ends = [b for b, _ in inside], [e for _, e in inside]
    return list(zip([-np.inf, *ends], [*begins, np.inf], strict=True))


def holds_at(during: Interval, t: float) -> bool:
    """Return whether a time lies in an interval."""
    return during[0] <= t <= during[1]


PlacementPath = Callable[[float], Array]


@dataclass(frozen=True, eq=False)
class Still:
    """A place that never changes: `T` (4, 4)."""

    T: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "T", frozen(self.T).reshape(4, 4))

    def __call__(self, t: float) -> Array:
        return self.T

    def sample(self, times: ArrayLike) -> Array:
        """The place at many times, (N, 4, 4)."""
        return np.tile(self.T, (len(np.atleast_1d(np.asarray(times))), 1, 1))


@dataclass(frozen=True, eq=False)
class Keyed:
    """Places at given times, lerped and slerped in between, held before the first and after the last.

    times (K,) rising, positions (K, 3), quaternions (K, 4).
    """

    times: Array
    positions: Array
    quaternions: Array

    def __post_init__(self) -> None:
        times = frozen(self.times).reshape(-1)
        positions = frozen(self.positions).reshape(-1, 3)
        q = rot.continuous(rot.normalize(np.asarray(self.quaternions, dtype=float).reshape(-1, 4)))
        if not (len(times) == len(positions) == len(q) > 0):
            raise BadValue("a path needs as many positions and rotations as times, and at least one.")
        if not all(np.all(np.isfinite(a)) for a in (times, positions, q)):
            raise BadValue("a path has values that are not finite.")
        if np.any(np.diff(times) <= 0):
            raise BadValue("the times of a path must increase.")
        for name, value in (("times", times), ("positions", positions), ("quaternions", frozen(q))):
            object.__setattr__(self, name, value)

    @staticmethod
    def along(times: ArrayLike, positions: ArrayLike) -> Keyed:
        """A path without turning."""
        count = len(np.asarray(times))
        return Keyed(np.asarray(times), np.asarray(positions), np.tile(rot.IDENTITY, (count, 1)))

    def smoothed(self, rate: float = 60.0) -> Keyed:
        """A path with keys `rate` times a second along a smooth curve through those of this one."""
        if len(self.times) < 3:
            return self
        count = max(int(np.ceil((self.times[-1] - self.times[0]) * rate - 1e-9)), 1)
        times = np.linspace(self.times[0], self.times[-1], count + 1)
        position = scipy.interpolate.CubicSpline(self.times, self.positions)(times)
        turn = scipy.interpolate.CubicSpline(self.times, self.quaternions)(times)
        return Keyed(times, position, turn)

    def __call__(self, t: float) -> Array:
        return np.asarray(self.sample([t])[0])

    def sample(self, times: ArrayLike) -> Array:
        """Places at many times, (N, 4, 4)."""
        k, after, s = between(self.times, times)
        position = self.positions[k] + s[:, None] * (self.positions[after] - self.positions[k])
        return transform(position, rot.slerp(self.quaternions[k], self.quaternions[after], s))


@dataclass(frozen=True, eq=False)
class Riding:
    """A place fixed to something that moves, `T_base_thing` (4, 4): a cup in a drawer."""

    base: PlacementPath
    T: Array

    def __call__(self, t: float) -> Array:
        return np.asarray(self.base(t)) @ self.T

    def sample(self, times: ArrayLike) -> Array:
        """Places at many times, (N, 4, 4)."""
        return places(self.base, times) @ self.T


@dataclass(frozen=True, eq=False)
class Fall:
    """Motion of an object after a hand has released it: offsets (K, 3) at times (K,), metres of the world.

    It begins with no offset; offsets are lerped in between, and held after the last.
    """

    times: Array
    offsets: Array

    def __post_init__(self) -> None:
        times, offsets = frozen(self.times).reshape(-1), frozen(self.offsets).reshape(-1, 3)
        if not len(times) == len(offsets) > 0 or np.any(np.diff(times) <= 0):
            raise BadValue("a fall needs as many offsets as times, and increasing times.")
        if not (np.all(np.isfinite(times)) and np.all(np.isfinite(offsets)) and np.allclose(offsets[0], 0.0)):
            raise BadValue("a fall begins where the object is released, and all its values are finite.")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "offsets", offsets)

    def sample(self, times: ArrayLike) -> Array:
        """Offsets at many times, (N, 3)."""
        k, after, s = between(self.times, times)
        return np.asarray(self.offsets[k] + s[:, None] * (self.offsets[after] - self.offsets[k]))


@dataclass(frozen=True, eq=False)
class KeyedState:
    """One number at given times, such as how far a door is open: lerped in between, held at the ends.

    times (K,) rising, values (K,).
    """

    times: Array
    values: Array

    def __post_init__(self) -> None:
        times, values = frozen(self.times).reshape(-1), frozen(self.values).reshape(-1)
        if not len(times) == len(values) > 0:
            raise BadValue("a state needs as many values as times, and at least one.")
        if not (np.all(np.isfinite(times)) and np.all(np.isfinite(values))):
            raise BadValue("a state has values that are not finite.")
        if np.any(np.diff(times) <= 0):
            raise BadValue("the times of a state must increase.")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    def __call__(self, t: float) -> float:
        return float(np.interp(t, self.times, self.values))

    def sample(self, times: ArrayLike) -> Array:
        """States at many times, (N,)."""
        return np.interp(np.atleast_1d(np.asarray(times, dtype=float)), self.times, self.values)


def places(path: PlacementPath, times: ArrayLike) -> Array:
    """A path at many times, (N, 4, 4)."""
    times = np.atleast_1d(np.asarray(times, dtype=float))
    if hasattr(path, "sample"):
        return np.asarray(path.sample(times), dtype=float).reshape(-1, 4, 4)
    return np.array([np.asarray(path(float(t)), dtype=float) for t in times]).reshape(-1, 4, 4)


def states(state: Callable[[float], float], times: ArrayLike) -> Array:
    """A state at many times, (N,)."""
    times = np.atleast_1d(np.asarray(times, dtype=float))
    if hasattr(state, "sample"):
        return np.asarray(state.sample(times), dtype=float).reshape(-1)
    return np.array([float(state(float(t))) for t in times])
