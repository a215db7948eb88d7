"""A point among boxes in the plane, as a space for searches: time, x, y."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels import space as questions
from elbowroom.kernels.compiled import njit_nogil
from elbowroom.kernels.rng import uniform
from elbowroom.kernels.space import CHECKS

# Metres a second, where time is searched.
SPEED = 2.0

# How much farther apart looks are where a tree grows.
ROUGH = 4.0


class Plane(NamedTuple):
    boxes: NDArray[np.float64]
    timed: bool
    begin: float
    end: float
    step: float
    resolution: float


@njit_nogil()
def look(space, x, y, tally):
    tally[CHECKS] += 1
    for k in range(space.boxes.shape[0]):
        if space.boxes[k, 0] < x < space.boxes[k, 2] and space.boxes[k, 1] < y < space.boxes[k, 3]:
            return False
    return True


@njit_nogil()
def apart(space, a, b):
    d, span = math.hypot(a[1] - b[1], a[2] - b[2]), b[0] - a[0]
    return np.inf if space.timed and not d <= SPEED * span else d + (0.1 * span if space.timed else 0.0)


@njit_nogil()
def put(a, b, s, out):
    for i in range(3):
        out[i] = a[i] + s * (b[i] - a[i])


@njit_nogil()
def good_until(space, a, b, share, spacing, tally):
    """Share of the way up to which it is free, looked at so many metres apart."""
    d = math.hypot(a[1] - b[1], a[2] - b[2]) * share
    looks = max(math.ceil(d / spacing), 1)
    for k in range(1, looks + 1):
        s = share * k / looks
        if not look(space, a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2]), tally):
            return share * (k - 1) / looks
    return share


def sample(space, rng, effort, out, tally):
    out[0] = space.begin + uniform(rng) * (space.end - space.begin)
    out[1], out[2] = 2.0 * uniform(rng) - 1.0, 2.0 * uniform(rng) - 1.0
    return look(space, out[1], out[2], tally)


def stray(space, rng, state, forward, out, tally):
    span = 0.2 * uniform(rng)
    out[0] = state[0] + (span if forward else -span)
    out[1], out[2] = state[1] + 0.4 * uniform(rng) - 0.2, state[2] + 0.4 * uniform(rng) - 0.2
    inside = max(abs(out[1]), abs(out[2])) < 1.0
    if space.timed:
        inside = inside and space.begin <= out[0] <= space.end
    return inside and look(space, out[1], out[2], tally)


def valid(space, state, tally):
    return look(space, state[1], state[2], tally)


def distance(space, a, b):
    return apart(space, a, b)


def steer(space, a, b, forward, out, tally):
    d = apart(space, a, b) if forward else apart(space, b, a)
    if not 0.0 < d < np.inf:
        return False
    s = good_until(space, a, b, min(space.step / d, 1.0), ROUGH * space.resolution, tally)
    put(a, b, s, out)
    return s > 0.0


def joins(space, a, b, tally):
    return apart(space, a, b) < np.inf and good_until(space, a, b, 1.0, space.resolution, tally) == 1.0


def between(space, a, b, share, out):
    put(a, b, share, out)


questions.answer(questions.sample, Plane, sample)
questions.answer(questions.stray, Plane, stray)
questions.answer(questions.valid, Plane, valid)
questions.answer(questions.distance, Plane, distance)
questions.answer(questions.steer, Plane, steer)
questions.answer(questions.joins, Plane, joins)
questions.answer(questions.between, Plane, between)
