"""A foot's path in terms of the ground: heading, pitch and roll of its sole, and where its joint is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.motion.contacts import Flags, runs
from elbowroom.motion.soles import Sole

_UP = np.array([0.0, 0.0, 1.0])
# Columns of a track: turn about the vertical; heel-up pitch; roll; then the foot joint's place.
HEADING, PITCH, ROLL, PLACE = 0, 1, 2, slice(3, 6)
# A foot that turns further than this in one stance pivots on its ball, radians.
_PIVOT = np.radians(25.0)
# Over how long the speed of a correction dies away after a stance, seconds.
_SETTLE = 0.15


def track_of(sole: Sole, T_foot: Array) -> Array:
    """Track (T, 6) of a foot from transforms of its joint (T, 4, 4): radians and metres."""
    q = rot.multiply(rot.from_matrix(T_foot[:, :3, :3]), rot.conjugate(sole.flat))
    heading = rot.heading(q)
    tilt = rot.log(rot.multiply(rot.about(_UP, -heading), q))
    pitch = tilt @ np.cross(_UP, sole.ahead)
    return np.column_stack([np.unwrap(heading), pitch, tilt @ sole.ahead, T_foot[:, :3, 3]])


def feet_of(sole: Sole, track: Array) -> Array:
    """Transforms of the foot joint (T, 4, 4) from a track (T, 6)."""
    return transform(track[:, PLACE], _rotations(sole, track))


def _rotations(sole: Sole, track: Array) -> Array:
    tilt = track[:, [PITCH]] * np.cross(_UP, sole.ahead) + track[:, [ROLL]] * sole.ahead
    return rot.multiply(rot.about(_UP, track[:, HEADING]), rot.multiply(rot.exp(tilt), sole.flat))


def pinned(sole: Sole, track: Array, heel: Flags, ball: Flags, floor: float, fps: float) -> Array:
    """The track with its planted points held in place on the floor (metres high).

    In each stance the foot rolls over two fixed points: the heel's while the toes are up, the ball's while
    the heel is up; in between it lies flat. Between stances the corrections pass smoothly into each other.
    """
    touching = heel | ball
    if not touching.any():
        return track
    track = track.copy()
    flat = heel & ball
    if flat.any():
        # What the sole shows while it lies flat is how the rig is drawn, not how the foot is held.
        track[:, [PITCH, ROLL]] -= np.median(track[flat][:, [PITCH, ROLL]], axis=0)
    correction = np.zeros_like(track)
    for first, last in runs(touching):
        stance = slice(first, last + 1)
        held = _held(sole, track[stance], heel[stance], ball[stance], floor)
        correction[stance] = held - track[stance]
    return track + _bridged(correction, touching, fps)


def _held(sole: Sole, track: Array, heel: Flags, ball: Flags, floor: float) -> Array:
    """One stance (n, 6), held on the floor."""
    out = track.copy()
    flat = heel & ball
    middle = flat if flat.any() else (ball if ball.any() else heel)
    if np.ptp(track[:, HEADING]) < _PIVOT:
        out[:, HEADING] = track[middle, HEADING].mean()
    if flat.any():
        frames = np.arange(len(track))
        known = flat.copy()
        known[[0, -1]] = True
        for k in (PITCH, ROLL):
            taken = np.where(flat, track[:, k], 0.0)
            out[:, k] -= np.interp(frames, frames[known], taken[known])
    out[heel & ~ball, PITCH] = np.minimum(out[heel & ~ball, PITCH], 0.0)
    out[ball & ~heel, PITCH] = np.maximum(out[ball & ~heel, PITCH], 0.0)

    W = _rotations(sole, out)
    to_heel, to_ball = rot.rotate(W, sole.heel), rot.rotate(W, sole.ball)
    heel_to_ball = rot.rotate(rot.about(_UP, out[:, HEADING]), rot.rotate(sole.flat, sole.ball - sole.heel))
    heel_to_ball[:, 2] = 0.0
    point = to_ball if ball.any() else to_heel + heel_to_ball
    ball_at = (track[:, PLACE] + point)[middle].mean(axis=0)
    ball_at[2] = floor
    toes_up = out[:, [PITCH]] < 0.0
    out[:, PLACE] = np.where(toes_up, ball_at - heel_to_ball - to_heel, ball_at - to_ball)
    return out


def _bridged(correction: Array, known: Flags, fps: float) -> Array:
    """Corrections (T, 6) of stances carried over the frames between them, without jumps in value or speed."""
    out = correction.copy()
    spans = runs(known)
    out[: spans[0][0]] = correction[spans[0][0]]
    out[spans[-1][1] + 1 :] = correction[spans[-1][1]]
    for (a, b), (c, d) in pairwise(spans):
        n = c - b
        t = np.arange(1, n)[:, None]
        leaving = _slope(correction[a : b + 1][::-1], fps) * -1.0
        coming = _slope(correction[c : d + 1], fps)
        s = t / n
        settle = max(2.0, min(float(n), _SETTLE * fps))
        value = correction[b] + (s * s * (3.0 - 2.0 * s)) * (correction[c] - correction[b])
        value += leaving * t * np.maximum(1.0 - t / settle, 0.0) ** 2
        value -= coming * (n - t) * np.maximum(1.0 - (n - t) / settle, 0.0) ** 2
        out[b + 1 : c] = value
    return out


def _slope(values: Array, fps: float) -> Array:
    """Change per frame at the start of a run (n, 6), over about a fortieth of a second."""
    k = min(len(values) - 1, max(1, round(fps / 40.0)))
    return (values[k] - values[0]) / k if k > 0 else np.zeros(values.shape[1])
