"""Frames of a path: the smoothest of several timings that is free between frames, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.errors import BadValue
from elbowroom.finish.rounding import TRAVEL_SPACING, bell, interpolate, rounded, wrist_travel
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.search.birrt import Path
from elbowroom.spaces.limb import LimbSpace
from elbowroom.world.fast import HIT, UNCERTAIN, LimbCheck

# Half-widths of rounding, seconds, tried from wide to narrow.
_WINDOWS = (0.2, 0.12, 0.07, 0.04)
# Where no window works for all frames, each has its own: this factor smaller around collisions, so often.
_LESS, _NARROWER = 0.4, 16
# Samples of the bell-shaped timing along the path.
_ALONG, _PLACES = 0.15, 200
# Shares of a path's own timing that are kept where the bell alone is not free, tried in turn.
_OWN_TIMES = (0.4, 0.7)
# Largest travel of points of the limb between checks, metres.
_STEP = 0.005


@dataclass(frozen=True, eq=False)
class Settled:
    """Local rotations (T, n, 4) at the requested times, whether they are free, and the kind of timing."""

    rotations: Array
    free: bool
    how: str


def settle(
    space: LimbSpace, path: Path, times: ArrayLike, base: ArrayLike | None = None, *, slow_ends: bool = True
) -> Settled:
    """Frames at times (T,) along a path of a limb, free at and between frames, as smooth as possible.

    `base` (T, n, 4) is the motion that the frames leave and join at their ends, velocity included; without one they
    begin and end at rest. `slow_ends` tries the bell-shaped speed of the wrist first; a path whose own times matter,
    such as one that returns to its start, does without. Where nothing is free the plain path is returned as not free.
    """
    t = np.asarray(times, dtype=float)
    if not path.found or len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise BadValue("frames need a path that was found and two or more increasing times.")
    under = None if base is None else np.asarray(base, dtype=float)
    if slow_ends:
        for how, q in _bells(space, path, t, under):
            if between_free(space.check, q, t):
                return Settled(frozen(q), True, how)
    return soften(space.check, own_times(space, path, t), t, under)


def soften(
    check: LimbCheck,
    frames: Array,
    times: Array,
    base: Array | None = None,
    good: Callable[[Array], bool] | None = None,
) -> Settled:
    """Frames (T, n, 4) with corners rounded as widely as is free; unchanged where no rounding is.

    `good` accepts or rejects frames; where all are rejected, the plain ones are returned as not free.
    """
    rate = (len(times) - 1) / (times[-1] - times[0])

    def wanted(q: Array) -> bool:
        return good is None or good(q)

    def evenly(windows: Sequence[float]) -> Settled | None:
        for window in windows:
            q = rounded(frames, window * rate, base)
            if wanted(q) and between_free(check, q, times):
                return Settled(frozen(q), True, f"rounded over {window:g} s")
        return None

    wide = evenly(_WINDOWS[:2])
    if wide is not None:
        return wide
    q, free = _rounded_where_free(check, frames, times, base)
    if free and wanted(q):
        return Settled(frozen(q), True, "rounded where it is free")
    narrow = evenly(_WINDOWS[2:])
    if narrow is not None:
        return narrow
    return Settled(frozen(frames), good is None and between_free(check, frames, times), "plain")


def _rounded_where_free(check: LimbCheck, frames: Array, times: Array, base: Array | None) -> tuple[Array, bool]:
    """Frames (T, n, 4) with corners rounded widely, less around collisions; and whether all are free.

    A path that is tight somewhere has no corners elsewhere, and leaves its base without a jump.
    """
    rate = (len(times) - 1) / (times[-1] - times[0])
    windows = np.full(len(times), _WINDOWS[0] * rate)
    q = frames
    for _ in range(_NARROWER):
        q = rounded(frames, windows, base)
        hit = times[~check.free_batch(q, times)]
        if not len(hit):
            first = first_hit(check, q, times)
            if first is None:
                return q, True
            hit = np.array([first])
        away = np.abs(times[:, None] - hit).min(axis=1) / _WINDOWS[0]
        windows = windows * (1.0 - _LESS * np.exp(-(away**2)))
    return q, False


def between_free(check: LimbCheck, q: Array, t: Array, step: float = _STEP) -> bool:
    """Return whether frames (T, n, 4) at times (T,), slerped in between, are free; the exact test resolves uncertain
    cases.

    Points of the limb travel no more than `step` metres between checks.
    """
    return first_hit(check, q, t, step) is None


def first_hit(check: LimbCheck, q: Array, t: Array, step: float = _STEP) -> float | None:
    """A time at which frames, or what is slerped between them, collide; None where all checks find them free."""
    place = hit_along(check, q, t, step)
    if place is None:
        return None
    k, share = place
    return float(t[k] + share * (t[k + 1] - t[k])) if share else float(t[k])


def hit_along(check: LimbCheck, q: Array, t: Array, step: float = _STEP) -> tuple[int, float] | None:
    """A frame, and the share of the way from it to the next, at which frames (T, n, 4) at times (T,) collide.

    Frames come before what is between them, and sure hits before uncertain ones, so that collisions are found early.
    """
    hit = _hit_row(check, q, t)
    if hit is not None or len(t) < 2:
        return None if hit is None else (hit, 0.0)
    counts = np.maximum(np.ceil(check.travels(q, t) / step).astype(int), 1)
    k = np.repeat(np.arange(len(counts)), counts - 1)
    if not len(k):
        return None
    share = np.concatenate([np.arange(1, c) / c for c in counts])
    hit = _hit_row(check, rot.slerp(q[k], q[k + 1], share[:, None]), t[k] + share * (t[k + 1] - t[k]))
    return None if hit is None else (int(k[hit]), float(share[hit]))


def hit_at(check: LimbCheck, q: Array, t: Array) -> float | None:
    """One of the times (N,) at which postures (N, n, 4) collide, None where all are free."""
    hit = _hit_row(check, q, t)
    return None if hit is None else float(t[hit])


def _hit_row(check: LimbCheck, q: Array, t: Array) -> int | None:
    codes = check.batch(q, t, resolve_uncertain=True, until_hit=True)
    sure = np.flatnonzero(codes == HIT)
    if len(sure):
        return int(sure[0])
    doubts = np.flatnonzero(codes == UNCERTAIN)
    return next((int(k) for k in doubts[_spread(len(doubts))] if not check.free(q[k], float(t[k]))), None)


def _spread(count: int) -> NDArray[np.int64]:
    """Indices below `count` in a spread-out order: every eighth, then those between."""
    return np.concatenate([np.arange(first, count, 8) for first in (0, 4, 2, 6, 1, 3, 5, 7)]).astype(np.int64)


def own_times(space: LimbSpace, path: Path, times: Array) -> Array:
    """Frames (T, n, 4) of a path at its own times; evenly timed if it has none."""
    if space.timed:
        rows = space.dense(path, 0.01)
        return rot.continuous(interpolate(rows[:, 0], space.rotations(rows), times))
    q, along = wrist_travel(space, path)
    return rot.continuous(interpolate(along, q, (times - times[0]) / (times[-1] - times[0])))


def _bells(space: LimbSpace, path: Path, t: Array, base: Array | None) -> Iterator[tuple[str, Array]]:
    """Named frames with bell-shaped speed of the wrist, the roundest first.

    Then those that keep a share of the path's own timing, since it may be free only then.
    """
    q, along = wrist_travel(space, path)
    places = np.linspace(0.0, 1.0, _PLACES)
    even = interpolate(along, q, places)
    rate = (len(t) - 1) / (t[-1] - t[0])
    round_way = rounded(even, _ALONG * _PLACES)
    for name, way in (("bell", round_way), ("bell, corners kept", even)):
        frames = interpolate(places, way, bell(t))
        yield name, frames if base is None else rounded(frames, _WINDOWS[1] * rate, base)
    if space.timed and base is None:
        own = np.interp(t, space.dense(path, TRAVEL_SPACING)[:, 0], along)
        for share in _OWN_TIMES:
            for way in (round_way, even):
                frames = interpolate(places, way, bell(t) + share * (own - bell(t)))
                yield f"bell, {share:g} of its own times", rounded(frames, _WINDOWS[1] * rate)
