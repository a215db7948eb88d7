"""Frames of a path: speed along it (K7), rounded corners, smooth joins to another motion, and the smoothest of several
timings that is free between frames, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep, smoothstep
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.search.birrt import SearchPath
from elbowroom.spaces.limb import LimbSearchSpace
from elbowroom.world.fast import HIT, UNCERTAIN, LimbCheck

# Spacing of a path for measuring the wrist's travel, in the units of its space.
TRAVEL_SPACING = 0.01
# Weight of the hand's rotation against the travel of the wrist.
_TURNING = 0.5


def bell(times: ArrayLike) -> Array:
    """Shares (T,) of a path, -2 h³ + 3 h² over the times (T,): zero speed at both ends, fastest half way."""
    t = np.asarray(times, dtype=float)
    return smoothstep((t - t[0]) / max(t[-1] - t[0], 1e-12))


def wrist_travel(space: LimbSearchSpace, path: SearchPath, spacing: float = TRAVEL_SPACING) -> tuple[Array, Array]:
    """Postures (M, n, 4) closely spaced along a path, and the wrist's share of its travel at each, 0 to 1 (M,).

    Travel is measured relative to the body at the path's first time. Where the hand rotates in place, points on it
    count instead.
    """
    rows = space.dense(path, spacing)
    q = rot.continuous(space.rotations(rows))
    marks = space.marks(space.at_time(rows, float(rows[0, 0])))
    step = np.linalg.norm(np.diff(marks, axis=0), axis=-1)
    wrist = min(max(len(space.limits) - 2, 0), step.shape[1] - 1)
    length = np.maximum(step[:, wrist], _TURNING * step.max(axis=1))
    along = np.concatenate([[0.0], np.cumsum(length)])
    return q, along / along[-1] if along[-1] > 0.0 else np.linspace(0.0, 1.0, len(along))


def interpolate(at: ArrayLike, q: Array, wanted: ArrayLike) -> Array:
    """Rotations (T, n, 4) at values wanted (T,) of a growing parameter `at` (M,) of rotations (M, n, 4)."""
    x, s = np.asarray(at, dtype=float), np.asarray(wanted, dtype=float)
    k = np.clip(np.searchsorted(x, s, side="right") - 1, 0, max(len(x) - 2, 0))
    after = np.minimum(k + 1, len(x) - 1)
    width = x[after] - x[k]
    share = np.clip(np.where(width > 0.0, (s - x[k]) / np.where(width > 0.0, width, 1.0), 0.0), 0.0, 1.0)
    return rot.slerp(q[k], q[after], share[:, None])


def rounded(q: ArrayLike, window: float | Array, base: ArrayLike | None = None) -> Array:
    """Rotations (T, n, 4) with corners rounded over `window` frames to either side, or (T,) of them.

    Smooths the rotation from a base motion (T, n, 4), by default from standing still: fine detail of the base stays. At
    both ends posture and velocity are those of the base plus a constant rotation: velocity is continuous where the
    motion leaves and joins its base.
    """
    q = np.asarray(q, dtype=float)
    under = np.zeros_like(q) + (1.0, 0.0, 0.0, 0.0) if base is None else np.asarray(base, dtype=float)
    turn = rot.continuous(rot.multiply(rot.conjugate(under), q))
    windows = np.broadcast_to(np.asarray(window, dtype=float), len(q))
    reach = int(min(windows.max(), 0.5 * (len(q) - 1)))
    if reach < 1:
        return q.copy()
    # weights (T, 2 reach + 1) of neighbours, for windows (T,) of so many frames to either side
    x = np.arange(-reach, reach + 1) / (windows[:, None] + 1.0)
    weights = np.where(np.abs(x) < 1.0, 1.0 + np.cos(np.pi * x), 0.0)
    weights = weights / weights.sum(axis=1, keepdims=True)
    padded = np.concatenate([np.repeat(turn[:1], reach, 0), turn, np.repeat(turn[-1:], reach, 0)])
    soft = np.zeros_like(turn)
    for k in range(2 * reach + 1):
        soft += weights[:, k, None, None] * padded[k : k + len(turn)]
    soft = rot.normalize(soft)
    for end, at in ((slice(None), 0), (slice(None, None, -1), -1)):
        span = min(2 * int(windows[at]), len(q) - 1)
        if span > 0:
            soft = _led(soft[end], turn[at], span)[end]
    return rot.multiply(under, soft)


def _led(q: Array, first: Array, span: int) -> Array:
    """The first `span` frames bent so that the motion begins at a rotation (n, 4), at rest."""
    off = rot.log(rot.multiply(rot.conjugate(q[0]), first))
    speed = rot.log(rot.multiply(rot.conjugate(q[0]), q[1]))
    s = np.arange(span + 1)[:, None, None] / span
    # quintic pieces: value 1 and slope 1 at s = 0; value, slope and second derivative 0 at s = 1, second derivative 0
    # at s = 0
    value = 1.0 - smootherstep(s)
    slope = s - s**3 * (6.0 - 8.0 * s + 3.0 * s * s)
    bent = off * value - speed * span * slope
    out = q.copy()
    out[: span + 1] = rot.multiply(q[: span + 1], rot.exp(bent))
    out[0] = first
    return out


def joined(q: ArrayLike, at: int, reach: int) -> Array:
    """Rotations (T, n, 4), smoothed around frame `at` by averages of neighbours.

    The window is widest at `at` itself and zero from `2 * reach` frames off: there, and at both ends, frames stay the
    same.
    """
    q = rot.continuous(np.asarray(q, dtype=float))
    out = q.copy()
    for k in range(max(at - 2 * reach + 1, 1), min(at + 2 * reach, len(q) - 1)):
        half = min(reach, 2 * reach - abs(k - at), k, len(q) - 1 - k)
        if half < 1:
            continue
        near = np.arange(-half, half + 1)
        weight = 1.0 + np.cos(np.pi * near / (half + 1.0))
        out[k] = rot.normalize(np.tensordot(weight / weight.sum(), q[k + near], axes=1))
    return out


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
    space: LimbSearchSpace, path: SearchPath, times: ArrayLike, base: ArrayLike | None = None, *, slow_ends: bool = True
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
    k, share = looks(np.maximum(np.ceil(check.travels(q, t) / step).astype(int), 1))
    if not len(k):
        return None
    hit = _hit_row(check, rot.slerp(q[k], q[k + 1], share[:, None]), t[k] + share * (t[k + 1] - t[k]))
    return None if hit is None else (int(k[hit]), float(share[hit]))


def looks(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], Array]:
    """Frames and shares (M,) of the way to the next, between frames that are cut into counts (N - 1,) of pieces."""
    return np.repeat(np.arange(len(counts)), counts - 1), np.concatenate(
        [np.zeros(0), *(np.arange(1, c) / c for c in counts)]
    )


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


def own_times(space: LimbSearchSpace, path: SearchPath, times: Array) -> Array:
    """Frames (T, n, 4) of a path at its own times; evenly timed if it has none."""
    if space.timed:
        rows = space.dense(path, 0.01)
        return rot.continuous(interpolate(rows[:, 0], space.rotations(rows), times))
    q, along = wrist_travel(space, path)
    return rot.continuous(interpolate(along, q, (times - times[0]) / (times[-1] - times[0])))


def _bells(space: LimbSearchSpace, path: SearchPath, t: Array, base: Array | None) -> Iterator[tuple[str, Array]]:
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
