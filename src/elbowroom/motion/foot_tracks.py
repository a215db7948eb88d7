"""A foot's path in terms of the ground: heading, pitch and roll of its sole, and where its joint is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import UP, Array
from elbowroom.geometry.transforms import transform
from elbowroom.motion.contacts import Flags, runs
from elbowroom.motion.soles import Sole

# Columns of a track: turn about the vertical; heel-up pitch; roll; then the foot joint's place.
HEADING, PITCH, ROLL = 0, 1, 2
ANGLES, PLACE = slice(0, 3), slice(3, 6)
# A foot that turns further than this in one stance pivots on its ball, radians.
_PIVOT = np.radians(25.0)
# Over how long the speed of a correction dies away after a stance, seconds.
_SETTLE = 0.15
# Over how long angles and places are averaged where stances begin and end, seconds.
_SOFT_ANGLES, _SOFT_PLACE = 0.09, 0.06


def track_of(sole: Sole, T_foot: Array) -> Array:
    """Track (T, 6) of a foot from transforms of its joint (T, 4, 4): radians and metres."""
    q = rot.multiply(rot.from_matrix(T_foot[:, :3, :3]), rot.conjugate(sole.flat))
    heading = rot.heading(q)
    tilt = rot.log(rot.multiply(rot.about(UP, -heading), q))
    pitch = tilt @ np.cross(UP, sole.ahead)
    return np.column_stack([np.unwrap(heading), pitch, tilt @ sole.ahead, T_foot[:, :3, 3]])


def feet_of(sole: Sole, track: Array) -> Array:
    """Transforms of the foot joint (T, 4, 4) from a track (T, 6)."""
    return transform(track[:, PLACE], _rotations(sole, track))


def _rotations(sole: Sole, track: Array) -> Array:
    tilt = track[:, [PITCH]] * np.cross(UP, sole.ahead) + track[:, [ROLL]] * sole.ahead
    return rot.multiply(rot.about(UP, track[:, HEADING]), rot.multiply(rot.exp(tilt), sole.flat))


def pinned(sole: Sole, track: Array, heel: Flags, ball: Flags, floor: float, fps: float) -> Array:
    """The track with its planted points held in place on the floor (metres high).

    In each stance the foot rolls over two fixed points: the heel's while the toes are up, the ball's while
    the heel is up; in between it lies flat. Between stances the corrections pass smoothly into each other.
    """
    touching = heel | ball
    if not touching.any():
        return track
    out = track.copy()
    flat = heel & ball
    if flat.any():
        # The tilt of a flat sole belongs to the rig, not to the motion.
        out[:, [PITCH, ROLL]] -= np.median(track[flat][:, [PITCH, ROLL]], axis=0)
    # Averaging begins before and ends after heel and ball are both down, so the sole is flat there.
    early = max(1, round(0.25 * _SOFT_ANGLES * fps))
    flat = scipy.ndimage.binary_dilation(flat, iterations=early) & touching
    heels, balls = heel | flat, ball | flat
    stances = [slice(first, last + 1) for first, last in runs(touching)]
    for columns, hold, soft in ((ANGLES, _held_angles, _SOFT_ANGLES), (PLACE, _held_place, _SOFT_PLACE)):
        correction = np.zeros((len(track), 3))
        for stance in stances:
            held = hold(sole, out[stance], heels[stance], balls[stance], floor)
            correction[stance] = held - out[stance, columns]
        correction = bridged(correction, touching, fps)
        # Well inside a stance the held path counts, outside the recorded one with its correction: each
        # without edges of its own, so that neither a jolt in the recording nor touching down shows.
        held_path = _softened(out[:, columns] + correction, soft, fps)
        recorded = out[:, columns] + _softened(correction, soft, fps)
        inside = _inside(touching, soft, fps)[:, None]
        out[:, columns] = recorded + inside * (held_path - recorded)
    return out


def _inside(touching: Flags, seconds: float, fps: float) -> Array:
    """Weights (T,) that rise from 0 at the edges of each stance to 1 some time within."""
    window = np.ones(2 * round(0.5 * seconds * fps) + 1)
    well_inside = scipy.ndimage.convolve1d(touching.astype(float), window / window.size, mode="nearest") > 1.0 - 1e-9
    return _softened(well_inside.astype(float), seconds, fps)


def _held_angles(sole: Sole, track: Array, heel: Flags, ball: Flags, floor: float) -> Array:
    """Heading, pitch and roll (n, 3) of one stance: flat and straight while heel and ball are down."""
    out = track[:, ANGLES].copy()
    flat = heel & ball
    middle = flat if flat.any() else (ball if ball.any() else heel)
    frames = np.arange(len(track))
    known = flat.copy()
    known[[0, -1]] = True
    if np.ptp(track[:, HEADING]) < _PIVOT:
        out[:, HEADING] = track[middle, HEADING].mean()
    else:
        # a foot that turns does so on its heel or on its ball, and rests between
        taken = np.zeros(len(track))
        for first, last in runs(flat):
            heading = track[first : last + 1, HEADING]
            if np.ptp(heading) < 2.0 * _PIVOT:
                taken[first : last + 1] = heading - heading.mean()
        out[:, HEADING] -= np.interp(frames, frames[known], taken[known])
    if flat.any():
        for k in (PITCH, ROLL):
            taken = np.where(flat, track[:, k], 0.0)
            out[:, k] -= np.interp(frames, frames[known], taken[known])
    out[heel & ~ball, PITCH] = np.minimum(out[heel & ~ball, PITCH], 0.0)
    out[ball & ~heel, PITCH] = np.maximum(out[ball & ~heel, PITCH], 0.0)
    return out


def _held_place(sole: Sole, track: Array, heel: Flags, ball: Flags, floor: float) -> Array:
    """Places of the foot joint (n, 3) in one stance, from its angles and the points that it rolls over."""
    flat = heel & ball
    middle = flat if flat.any() else (ball if ball.any() else heel)
    W = _rotations(sole, track)
    to_heel, to_ball = rot.rotate(W, sole.heel), rot.rotate(W, sole.ball)
    facing = rot.about(UP, track[:, HEADING])
    heel_to_ball = rot.rotate(facing, rot.rotate(sole.flat, sole.ball - sole.heel))
    heel_to_ball[:, 2] = 0.0
    # While only the heel is down the ball moves about it; else the heel moves about the ball.
    turned = np.diff(heel_to_ball, axis=0, prepend=heel_to_ball[:1])
    ball_at = np.cumsum(np.where((heel & ~ball)[:, None], turned, 0.0), axis=0)
    recorded = track[:, PLACE] + (to_ball if ball.any() else to_heel + heel_to_ball)
    ball_at += (recorded - ball_at)[middle].mean(axis=0)
    ball_at[:, 2] = floor
    return np.where(track[:, [PITCH]] < 0.0, ball_at - heel_to_ball - to_heel, ball_at - to_ball)


def _softened(values: Array, seconds: float, fps: float) -> Array:
    """Values (T, ...) averaged over a short time."""
    window = np.hanning(2 * round(0.5 * seconds * fps) + 3)[1:-1]
    return scipy.ndimage.convolve1d(values, window / window.sum(), axis=0, mode="nearest")


def bridged(correction: Array, known: Flags, fps: float) -> Array:
    """Corrections (T, 3) of stances carried over the frames between them, without jumps in value or speed."""
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
    """Change per frame at the start of a run (n, 3), over about a fortieth of a second."""
    k = min(len(values) - 1, max(1, round(fps / 40.0)))
    return (values[k] - values[0]) / k if k > 0 else np.zeros(values.shape[1])
