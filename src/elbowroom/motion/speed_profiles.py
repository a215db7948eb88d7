"""Speeds of carried objects along their paths: recorded profiles, the bell otherwise (Y6, eq. 5 to 12).

A profile is a speed over the share of the path that is done, both normalised (eq. 5, 9), with the shape of the path
that it was recorded on (eq. 6 to 8). In the paper the recorded path most like a new one lends its speed; here the
three most similar ones do, which is nearer to people (`benchmarks/speed_profiles.py`). Eq. 10 taken literally
never starts, since v(0) = 0. Here the speed is a bell times a gain: with the bell's path u(s) = 10 s³ - 15 s⁴ + 6 s⁵
and the speed v = u'(s) g(u), dt = du / v = ds / g, which is finite up to both ends, where the speed is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.errors import BadValue
from elbowroom.geometry.easing import smootherstep, smoothstep
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.motion import marker_poses as mp
from elbowroom.motion.contacts import runs
from elbowroom.motion.marker_poses import MarkerTake
from elbowroom.motion.pace import Timing
from elbowroom.motion.smooth import smoothed

# Radial basis functions of a path and of a gain (eq. 8), their width against their spacing, and the ridge of the fit.
_BASES = 9
_WIDTH = 1.0
_RIDGE = 1e-3
# Constant c of eq. 6, 1/m: extents of some decimetres are compared by size, those of metres by shape.
_EXTENT_PER_M = 2.0
# Points that a path has when it is compared.
_POINTS = 65
# Recorded paths that lend their speed, and a distance of shapes that hardly matters.
_LENDERS = 3
_ALIKE = 0.05
# Range of gains over the bell; beyond it a recording is no carry in one go (recorded ones: 0.37 to 1.42).
_LEAST_GAIN = 0.25
_MOST_GAIN = 2.0
# Share of the path next to each end where the recorded speed is left to the bell.
_ENDS = 0.04
# Without a recording: speed of two-handed carries, mean over the path, and how it grows with the path's length
# (13 recorded carries of 0.5 to 1.8 m; benchmarks/speed_profiles.py).
_BELL_MPS = 0.78
_BELL_AT_M = 1.0
_POWER = 1.0 / 3.0
# Speed near obstacles: from this clearance on nothing is slower; at none, this share is left (not measured;
# the dips of Y's fig. 6 are a third to a half).
CLEAR_M = 0.15
_SHARE_AT_CONTACT = 0.45
# Metres that a turn of the object by one radian counts for along its path.
_TURN_M = 0.25
# Fastest joint while an object is carried, radians per second, and points to either side that are slowed with the one
# where it would be faster. Chosen: elbows that swing round a box at the speed of its path look like a jump.
_JOINT_RAD_S = 6.0
_EASED = 3
# A carry is a rise and fall of the hands' speed: from this share of its peak to this share, or up to a dip this deep.
_FOOT_SHARE = 0.05
_DIP_SHARE = 0.15
_LEAST_PEAK_MPS = 0.3
_LEAST_LENGTH_M = 0.25
# Share of its frames in which the hands hold something and the feet stand.
_HELD_SHARE = 0.6


@dataclass(frozen=True, eq=False)
class SpeedProfile:
    """A recorded carry: `length_m` in `duration_s`; `gain` (K,) over even shares of the path from 0 to 1.

    `shape` (3, 9) are the weights of the path's functions in the frame of its start (eq. 7).
    """

    name: str
    length_m: float
    duration_s: float
    gain: Array
    shape: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", frozen(self.gain))
        object.__setattr__(self, "shape", frozen(self.shape))


def path_times(
    points: ArrayLike,
    profiles: Sequence[SpeedProfile] = (),
    *,
    turns: ArrayLike | None = None,
    joints: ArrayLike | None = None,
    clearance: ArrayLike | None = None,
    slower: float = 1.0,
) -> Timing:
    """Timing of the points (N, 3) of an object's path, from rest to rest; its source is a recorded carry or the bell.

    turns: (N - 1,) radians that the object turns from point to point, joints: those of the fastest joint of who carries
    it. clearance: (N,) metres to obstacles; where it is small the motion is slower. slower: factor on all times, for
    what is heavy or delicate.
    """
    p = np.asarray(points, dtype=float).reshape(-1, 3)
    if len(p) < 2 or not np.isfinite(p).all():
        raise BadValue("a path needs two or more finite points (N, 3) to be timed.")
    if not (np.isfinite(slower) and slower > 0.0):
        raise BadValue(f"a time factor must be a positive number, not {slower}.")
    step = np.linalg.norm(np.diff(p, axis=0), axis=1)
    if turns is not None:
        step = np.hypot(step, _TURN_M * np.asarray(turns, dtype=float).reshape(len(step)))
    along = np.concatenate([[0.0], np.cumsum(step)])
    length = float(along[-1])
    if length == 0.0:
        return Timing(frozen(np.zeros(len(p))), np.arange(len(p), dtype=float), "still")
    found = borrowed(p, profiles)
    s, u = _bell()
    gain = np.ones(len(u)) if found is None else np.interp(u, np.linspace(0.0, 1.0, len(found.gain)), found.gain)
    pace = 1.0 / gain
    pace /= float(np.trapezoid(pace, s))  # a gain bends the profile and leaves its mean speed
    if clearance is not None:
        near = np.interp(u, along / length, np.asarray(clearance, dtype=float).reshape(len(p)))
        pace = pace / (_SHARE_AT_CONTACT + (1.0 - _SHARE_AT_CONTACT) * smoothstep(near / CLEAR_M))
    clock = np.concatenate([[0.0], np.cumsum(0.5 * (pace[1:] + pace[:-1]) * np.diff(s))])
    at = np.interp(along / length, u, clock * duration(length, found) * slower)
    if joints is not None:
        at = _in_step(at, np.asarray(joints, dtype=float).reshape(len(step)))
    return Timing(frozen(at), np.arange(len(p), dtype=float), "bell" if found is None else found.name)


def _in_step(times: Array, joints: Array) -> Array:
    """Times (N,), stretched around steps in which a joint rotates faster than people's; joints (N - 1,) in radians."""
    step = np.diff(times)
    slower = np.maximum(joints / (_JOINT_RAD_S * np.maximum(step, 1e-9)), 1.0)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(slower, _EASED, mode="edge"), 2 * _EASED + 1)
    fade = 1.0 - np.abs(np.arange(-_EASED, _EASED + 1)) / (_EASED + 1.0)
    return np.concatenate([times[:1], times[0] + np.cumsum(step * (1.0 + ((around - 1.0) * fade).max(axis=1)))])


def duration(length_m: float, profile: SpeedProfile | None = None) -> float:
    """Seconds that a carry over a length takes, by a recorded one or by what is usual.

    Eq. 11 keeps the mean speed whatever the length; people are faster over longer ways. The mean speed grows with the
    cubic root of the length here, from that of the recorded carry.
    """
    speed, at = _BELL_MPS, _BELL_AT_M
    if profile is not None:
        speed, at = profile.length_m / profile.duration_s, profile.length_m
    return length_m / (speed * (length_m / at) ** _POWER)


def borrowed(points: ArrayLike, profiles: Sequence[SpeedProfile]) -> SpeedProfile | None:
    """Profile for points (N, 3), lent by those whose paths are most like them by the weights of eq. 7.

    Durations and gains are means, weighted by likeness, for the length of the most similar path, which gives the name.
    None without any profile.
    """
    if not profiles:
        return None
    shape = path_shape(points)
    apart = np.array([np.linalg.norm(shape - profile.shape) for profile in profiles])
    nearest = [profiles[k] for k in np.argsort(apart, kind="stable")[:_LENDERS]]
    weight = 1.0 / (np.sort(apart)[:_LENDERS] ** 2 + _ALIKE**2)
    weight /= weight.sum()
    length = nearest[0].length_m
    seconds = float(np.exp(weight @ np.log([duration(length, profile) for profile in nearest])))
    return SpeedProfile(nearest[0].name, length, seconds, weight @ np.stack([p.gain for p in nearest]), shape)


def path_shape(points: ArrayLike) -> Array:
    """Weights (3, 9) of a path's functions of the share that is done (eq. 5 to 8), in the frame of its start.

    x leads to the end, level, z up; y is mirrored to where the path bends, so that left and right are alike.
    """
    p = np.asarray(points, dtype=float).reshape(-1, 3)
    p = p - p[0]
    flat = p[-1, :2] if np.linalg.norm(p[-1, :2]) > 1e-6 else p[np.argmax(np.linalg.norm(p[:, :2], axis=1)), :2]
    size = float(np.linalg.norm(flat))
    c, s = flat / size if size > 1e-9 else (1.0, 0.0)
    local = np.stack([c * p[:, 0] + s * p[:, 1], c * p[:, 1] - s * p[:, 0], p[:, 2]], axis=1)
    if local[:, 1].sum() < 0.0:
        local[:, 1] *= -1.0
    extent = np.ptp(local, axis=0)
    scale = np.where(extent > 1e-9, (1.0 - np.exp(-_EXTENT_PER_M * extent)) / np.maximum(extent, 1e-9), _EXTENT_PER_M)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(p, axis=0), axis=1))])
    share = np.linspace(0.0, 1.0, _POINTS)
    even = np.stack([np.interp(share, along / max(along[-1], 1e-12), column) for column in (local * scale).T])
    return _fitted(share, even.T).T


def carries_of(take: MarkerTake) -> list[tuple[SpeedProfile, Array]]:
    """Carries of a take by both hands while the feet stand: one for each rise and fall of the hands' speed.

    Profiles, each with the path (T, 3) of the middle of the hands at the take's frame rate.
    """
    points = mp.filled(take.points, take.fps)
    whole = MarkerTake(take.name, points, take.fps)
    good = (mp.holding(whole) == (mp.LEFT | mp.RIGHT)) & mp.feet_in_place(points, take.fps)
    hands = points[:, [*mp.HANDS["L"], *mp.HANDS["R"]]].mean(axis=1)
    out: list[tuple[SpeedProfile, Array]] = []
    for a, b in runs(np.isfinite(hands).all(axis=1)):
        path = smoothed(hands[a : b + 1], take.fps)
        speed = mp.speed(path, take.fps)
        for i, j in _rises(speed):
            length = float(np.linalg.norm(np.diff(path[i : j + 1], axis=0), axis=1).sum())
            if length >= _LEAST_LENGTH_M and good[a + i : a + j + 1].mean() >= _HELD_SHARE:
                name = f"{take.name} at {(a + i) / take.fps:.1f} s"
                found = profile_of(path[i : j + 1], take.fps, name)
                if found.gain.min() > _LEAST_GAIN and found.gain.max() < _MOST_GAIN:
                    out.append((found, path[i : j + 1]))
    return out


def profile_of(path: ArrayLike, fps: float, name: str) -> SpeedProfile:
    """Profile of positions (T, 3) at a frame rate, from rest to rest."""
    p = np.asarray(path, dtype=float)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(p, axis=0), axis=1))])
    seconds = (len(p) - 1) / fps
    share = np.linspace(0.0, 1.0, _POINTS)
    speed = np.interp(share, along / along[-1], mp.speed(p, fps)) * seconds / along[-1]
    s, u = _bell()
    bell = np.interp(share, u, 30.0 * s**2 * (1.0 - s) ** 2)
    inner = (share > _ENDS) & (share < 1.0 - _ENDS)
    # the ends go on as what is next to them
    gain = np.interp(share, share[inner], speed[inner] / bell[inner])
    smooth = np.clip(_basis(share) @ _fitted(share, gain), _LEAST_GAIN, _MOST_GAIN)
    return SpeedProfile(name, float(along[-1]), seconds, smooth, path_shape(p))


def _bell() -> tuple[Array, Array]:
    """Shares of the time (K,) and of the path (K,) of the bell, finely."""
    s = np.linspace(0.0, 1.0, 401)
    return s, smootherstep(s)


def _basis(share: Array) -> Array:
    """Radial basis functions (K, 9) at shares (K,) (eq. 8)."""
    middle = np.linspace(0.0, 1.0, _BASES)
    return np.exp(-0.5 * ((share[:, None] - middle) / (_WIDTH * (middle[1] - middle[0]))) ** 2)


def _fitted(share: Array, values: Array) -> Array:
    """Weights (9, ...) of the basis functions for values (K, ...)."""
    basis = _basis(share)
    return np.asarray(np.linalg.solve(basis.T @ basis + _RIDGE * np.eye(_BASES), basis.T @ values), dtype=float)


def _rises(speed: Array) -> list[tuple[int, int]]:
    """First and last frames of each rise and fall of a speed (T,)."""
    out = []
    left = np.array(speed)
    while left.max(initial=0.0) > _LEAST_PEAK_MPS:
        top = int(left.argmax())
        i, j = _foot(left[top::-1]), _foot(left[top:])
        out.append((top - i, top + j))
        left[top - i : top + j + 1] = 0.0
    return sorted(out)


def _foot(speed: Array) -> int:
    """Frames from a peak (the first) to its foot: where the speed is small, or lowest before it rises again."""
    low = 0
    for k in range(1, len(speed)):
        if speed[k] < speed[low]:
            low = k
        if speed[low] < _FOOT_SHARE * speed[0] or speed[k] > speed[low] + _DIP_SHARE * speed[0]:
            break
    return low
