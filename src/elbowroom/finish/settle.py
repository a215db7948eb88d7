"""A path becomes frames: the most beautiful of several ways to go along it that is free between frames, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.errors import BadValue
from elbowroom.finish.rounding import rounded
from elbowroom.finish.timing import bell, interpolate, way_of_wrist
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.search.birrt import Path
from elbowroom.spaces.limb import LimbSpace
from elbowroom.world.fast import LimbCheck

# Half widths of rounding, seconds, tried from wide to narrow.
_WINDOWS = (0.2, 0.12, 0.07, 0.04)
# Of the bell: as a share of the way, in places along it.
_ALONG, _PLACES = 0.15, 200
# Looks between frames: metres that points of the limb travel at most from one to the next.
_STEP = 0.005


@dataclass(frozen=True, eq=False)
class Settled:
    """Local rotations (T, n, 4) at the times asked for, whether they are free, and how they go along the path."""

    rotations: Array
    free: bool
    how: str


def settle(
    space: LimbSpace, path: Path, times: ArrayLike, base: ArrayLike | None = None, *, slow_ends: bool = True
) -> Settled:
    """Frames at times (T,) that go along a path of a limb, free at and between them, as smooth as may be.

    `base` (T, n, 4) is the motion that the frames leave and join at their ends, its velocity too; without one they
    begin and end at rest. `slow_ends` tries the bell over the wrist's way first; a path whose own times matter, such
    as one that returns to where it began, goes without. Where nothing is free the plain path is given, not free.
    """
    t = np.asarray(times, dtype=float)
    if not path.found or len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise BadValue("frames need a path that was found and two or more times that grow.")
    under = None if base is None else np.asarray(base, dtype=float)
    plain = _own_times(space, path, t)
    for how, q in _ways(space, path, t, under, plain, slow_ends):
        if between_free(space.check, q, t):
            return Settled(frozen(q), True, how)
    return Settled(frozen(plain), False, "plain")


def between_free(check: LimbCheck, q: Array, t: Array, step: float = _STEP) -> bool:
    """Whether frames (T, n, 4) at times (T,) and what is slerped between them are free; the exact test settles doubts.

    Points of the limb travel no more than `step` metres from look to look.
    """
    return first_hit(check, q, t, step) is None


def first_hit(check: LimbCheck, q: Array, t: Array, step: float = _STEP) -> float | None:
    """The first time looked at where frames are not free, None where all are."""
    if not check.free(q[0], float(t[0])):
        return float(t[0])
    counts = [max(int(np.ceil(check.travel(q[k], t[k], q[k + 1], t[k + 1]) / step)), 1) for k in range(len(t) - 1)]
    k = np.repeat(np.arange(len(counts)), counts)
    share = np.concatenate([np.arange(1, c + 1) / c for c in counts])
    looks = rot.slerp(q[k], q[k + 1], share[:, None])
    when = np.minimum(t[k] + share * (t[k + 1] - t[k]), t[-1])
    free = check.free_batch(looks, when)
    return None if free.all() else float(when[np.argmin(free)])


def _ways(
    space: LimbSpace, path: Path, t: Array, base: Array | None, plain: Array, slow_ends: bool
) -> Iterator[tuple[str, Array]]:
    """Ways to go along the path, the most beautiful first, with their names."""
    rate = (len(t) - 1) / (t[-1] - t[0])
    if slow_ends:
        q, along = way_of_wrist(space, path)
        even = interpolate(along, q, np.linspace(0.0, 1.0, _PLACES))
        soft = rounded(even, _ALONG * _PLACES)
        shares = bell(t)
        for name, way in (("bell", soft), ("bell, corners kept", even)):
            frames = interpolate(np.linspace(0.0, 1.0, _PLACES), way, shares)
            yield name, frames if base is None else rounded(frames, _WINDOWS[1] * rate, base)
    for window in _WINDOWS:
        yield f"rounded over {window:g} s", rounded(plain, window * rate, base)
    yield "plain", plain


def _own_times(space: LimbSpace, path: Path, t: Array) -> Array:
    """The path at its own times; one that has none is gone along evenly."""
    if space.timed:
        rows = space.dense(path, 0.01)
        return rot.continuous(interpolate(rows[:, 0], space.rotations(rows), t))
    q, along = way_of_wrist(space, path)
    return rot.continuous(interpolate(along, q, (t - t[0]) / (t[-1] - t[0])))
