"""Postures of a limb, at a time or over time, as a space to search: how its questions are answered.

States are as in `limb_state`. Distance is what marks move at most, and with time, seconds times a weight.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.kernels import space as questions
from elbowroom.kernels.compiled import inner
from elbowroom.kernels.limb_state import LimbSpace, farthest, free_at, note_marks, on_the_way, travel, until
from elbowroom.kernels.limb_terms import HINGE, allowed_between, keep, pose, put, swung_past, turn_between
from elbowroom.kernels.rng import uniform
from elbowroom.kernels.space import answer
from elbowroom.kernels.validity import place_limb

# A step that ends early is kept where it is at least this share of a whole one.
_WORTH = 0.25

# What points travel may exceed what pieces of their way show by this factor.
_RESERVE = 1.2

# Draws of a swing before it is moved into its range.
_DRAWS = 16

# Growth looks at every so many of the places that an edge of a path is seen at.
_ROUGH = 4

# Radians that each term strays at most, and seconds that may pass beside those that it takes.
_ASTRAY, _MEANWHILE = 0.6, 0.5


@inner()
def looks_along(space, a, b, share, bound):
    """Looks needed on the first share of the way from a to b, on which points travel no more than `bound` metres.

    The bound adds up turns as if the limb were stretched out; what marks travel in pieces of the way, with a reserve
    for their bends, is about half of it. What moves around the limb comes on top.
    """
    pieces = 4 if bound > 0.5 else 2
    here, there = 0, 1
    fastest = 0.0
    for i in range(pieces + 1):
        t, _ = pose(space.joints, a, b, share * i / pieces)
        place_limb(space.limb, space.around, space.joints.q, t, space.buffers)
        note_marks(space.buffers.frames, space.mark_joint, space.mark, space.spare[there])
        if i > 0:
            fastest = max(fastest, farthest(space.spare[here], space.spare[there], 0))
        here, there = there, here
    way = _RESERVE * fastest * pieces
    if space.timed:
        way += abs(until(space, space.stirred, a[0] + share * (b[0] - a[0])) - until(space, space.stirred, a[0]))
    return max(math.ceil(min(way, bound) / space.resolution), 1)


@inner()
def _swing_less(state, k, past):
    """Bring the swing that stands at k back into its range, which it is past by so many radians."""
    size = math.sqrt(state[k] * state[k] + state[k + 1] * state[k + 1])
    if size > past:
        state[k] *= 1.0 - past / size
        state[k + 1] *= 1.0 - past / size


# answers to the questions of a search


def draw(space, rng, effort, out, tally):
    """Draw terms, and time where it is searched, from their intervals at an effort; whether the posture is free."""
    n = space.joints.kind.shape[0]
    out[0] = space.begin + uniform(rng) * (space.end - space.begin) if space.timed else space.begin
    for j in range(n):
        k = 1 + 3 * j
        for tries in range(_DRAWS):
            for i in range(3):
                low = space.first[j, i, 0] + effort * (space.last[j, i, 0] - space.first[j, i, 0])
                high = space.first[j, i, 1] + effort * (space.last[j, i, 1] - space.first[j, i, 1])
                if tries == 0 or i < 2:
                    out[k + i] = low + uniform(rng) * (high - low)
            if space.joints.kind[j] == HINGE:
                break
            past = swung_past(space.joints, j, out[k], out[k + 1], out[k + 2])
            if past <= 0.0:
                break
            if tries == _DRAWS - 1:
                _swing_less(out, k, past)
    for j in range(n):
        k = 1 + 3 * j
        put(space.joints, j, out[k], out[k + 1], out[k + 2])
    if not free_at(space, out[0], tally):
        return False
    keep(space.joints, out)
    note_marks(space.buffers.frames, space.mark_joint, space.mark, out)
    return True


def wander(space, rng, state, forward, out, tally):
    """Draw terms near those of a state, and where it is searched a time that gives enough to get there."""
    n = space.joints.kind.shape[0]
    for j in range(n):
        k = 1 + 3 * j
        for i in range(3):
            term = state[k + i] + _ASTRAY * (2.0 * uniform(rng) - 1.0)
            out[k + i] = min(max(term, space.last[j, i, 0]), space.last[j, i, 1])
        if space.joints.kind[j] != HINGE:
            past = swung_past(space.joints, j, out[k], out[k + 1], out[k + 2])
            if past > 0.0:
                _swing_less(out, k, past)
        put(space.joints, j, out[k], out[k + 1], out[k + 2])
    keep(space.joints, out)
    out[0] = state[0]
    if space.timed:
        span = 0.0
        for j in range(n):
            span = max(span, turn_between(space.joints, j, state, out)[0] / space.speed[j])
        span += _MEANWHILE * uniform(rng)
        out[0] += span if forward else -span
        if not space.begin <= out[0] <= space.end:
            return False
    if not free_at(space, out[0], tally):
        return False
    note_marks(space.buffers.frames, space.mark_joint, space.mark, out)
    return True


def stands(space, state, tally):
    """Return whether a state is free."""
    n = space.joints.kind.shape[0]
    for j in range(n):
        for i in range(4):
            space.joints.q[j, i] = state[1 + 3 * n + 4 * j + i]
    return free_at(space, state[0], tally)


@inner()
def apart(space, a, b):
    """Largest displacement of a mark, and time; infinite against time or faster than marks can move."""
    span = b[0] - a[0]
    if space.timed and span <= 0.0:
        return np.inf
    most = farthest(a, b, 1 + 7 * space.joints.kind.shape[0])
    if space.timed and most > space.top * span:
        return np.inf
    return space.time_weight * span + most if space.timed else most


def grow(space, a, b, forward, out, tally):
    """One step from a towards b, up to what is in the way; rough looks follow each other along it."""
    far = apart(space, a, b) if forward else apart(space, b, a)
    length, slow = travel(space, a, b)
    if not slow or not 0.0 < far < np.inf:
        return False
    share = min(space.step / far, 1.0)
    looks = max(looks_along(space, a, b, share, length * share) // _ROUGH, 1)
    allowed = allowed_between(space.joints, a, b)
    good = 0
    for k in range(1, looks + 1):
        t, past = pose(space.joints, a, b, share * k / looks)
        if past > allowed or not free_at(space, t, tally):
            break
        good = k
    if good == 0 or good < _WORTH * looks:
        return False
    on_the_way(space, a, b, share * good / looks, out)
    return True


def leads(space, a, b, tally):
    """Return whether the path from a to b is free, slow enough and within range; what is in the way is met early."""
    if space.timed and b[0] <= a[0]:
        return False
    length, slow = travel(space, a, b)
    if not slow:
        return False
    looks = looks_along(space, a, b, 1.0, length)
    allowed = allowed_between(space.joints, a, b)
    stride = 1
    while 2 * stride < looks:
        stride *= 2
    # about the middle first, then quarters, ...: each place once
    while stride >= 1:
        for k in range(stride, looks, 2 * stride):
            t, past = pose(space.joints, a, b, k / looks)
            if past > allowed or not free_at(space, t, tally):
                return False
        stride //= 2
    return True


answer(questions.sample, LimbSpace, draw)
answer(questions.stray, LimbSpace, wander)
answer(questions.valid, LimbSpace, stands)
answer(questions.distance, LimbSpace, apart)
answer(questions.steer, LimbSpace, grow)
answer(questions.joins, LimbSpace, leads)
answer(questions.between, LimbSpace, on_the_way)
