"""Postures of a limb, at a time or over time, as a space to search.

A state is one row: time (s), terms (3 n) of the n joints as in `character.limits`; carried with it the local rotations
(4 n) and where the marks are in the world (3 each). Marks are points of the limb by which distance is measured: what
they move at most, and with time, seconds times a weight.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels import space as questions
from elbowroom.kernels.dice import throw
from elbowroom.kernels.fields import FREE
from elbowroom.kernels.lean import lean
from elbowroom.kernels.limb_terms import (
    HINGE,
    Joints,
    allowed_between,
    keep,
    pose,
    put,
    settle,
    swung_past,
    turn_between,
)
from elbowroom.kernels.limb_world import Around, Bench, Limb
from elbowroom.kernels.meeting import point
from elbowroom.kernels.space import CHECKS, answer
from elbowroom.kernels.validity import check, place_limb

Array = NDArray[np.float64]

# A step that ends early is kept where it is at least this share of a whole one.
_WORTH = 0.25

# What points travel may exceed what pieces of their way show by this factor.
_RESERVE = 1.2

# Draws of a swing before it is moved into its range.
_DRAWS = 16


class LimbSpace(NamedTuple):
    """n joints of a limb with K marks.

    first (n, 3, 2), last (n, 3, 2): intervals that terms are drawn from at effort 0 and 1. mark_joint (K,), mark
    (K, 3): joint of the limb that a mark rides on, and where in its frame. lever (n,): metres from a joint to the
    farthest point that it moves; travelled (S,): metres that the limb was carried until each row of the tables.
    speed (n,): most radians a second, where timed; top: most metres a second of a mark. begin, end: seconds that times
    are drawn from. time_weight: metres that a second counts for. step: metres of one growth; resolution: most metres
    that any point travels from look to look. spare (2, 3 K): room to work in.
    """

    limb: Limb
    around: Around
    bench: Bench
    joints: Joints
    first: Array
    last: Array
    mark_joint: NDArray[np.int64]
    mark: Array
    lever: Array
    travelled: Array
    timed: bool
    speed: Array
    top: float
    begin: float
    end: float
    time_weight: float
    step: float
    resolution: float
    spare: Array


@lean()
def _carried(space, t):
    """Metres that the limb was carried until a time."""
    rows = space.travelled.shape[0]
    s = min(max((t - space.around.start) * space.around.rate, 0.0), rows - 1.0)
    k = min(int(s), max(rows - 2, 0))
    after = min(k + 1, rows - 1)
    return space.travelled[k] + (s - k) * (space.travelled[after] - space.travelled[k])


@lean()
def travel(space, a, b):
    """Metres that points of the limb travel at most from a to b, and whether that is slow enough."""
    far, slow = 0.0, True
    span = abs(b[0] - a[0])
    for j in range(space.joints.kind.shape[0]):
        turn = turn_between(space.joints, j, a, b)[0]
        far += turn * space.lever[j]
        slow = slow and (not space.timed or turn <= space.speed[j] * span + 1e-9)
    return far + abs(_carried(space, b[0]) - _carried(space, a[0])), slow


@lean()
def _free(space, t, tally):
    """Whether the posture that is set is free at a time; leaves its frames on the bench."""
    tally[CHECKS] += 1
    return check(space.limb, space.around, space.joints.q, t, space.bench)[0] == FREE


@lean()
def _mark(frames, mark_joint, mark, out):
    """Write where the marks are into a state."""
    k = out.shape[0] - 3 * mark.shape[0]
    for m in range(mark.shape[0]):
        x, y, z = point(frames[mark_joint[m]], mark[m], 0)
        out[k + 3 * m], out[k + 3 * m + 1], out[k + 3 * m + 2] = x, y, z


@lean()
def looks_along(space, a, b, share, bound):
    """Looks needed on the first share of the way from a to b, on which points travel no more than `bound` metres.

    The bound adds up turns as if the limb were stretched out; what marks travel in pieces of the way, with a reserve
    for their bends, is about half of it.
    """
    pieces = 4 if bound > 0.5 else 2
    here, there = 0, 1
    fastest = 0.0
    for i in range(pieces + 1):
        t, _ = pose(space.joints, a, b, share * i / pieces)
        place_limb(space.limb, space.around, space.joints.q, t, space.bench)
        _mark(space.bench.frames, space.mark_joint, space.mark, space.spare[there])
        if i > 0:
            fastest = max(fastest, _farthest(space.spare[here], space.spare[there], 0))
        here, there = there, here
    return max(math.ceil(min(_RESERVE * fastest * pieces, bound) / space.resolution), 1)


@lean()
def _farthest(a, b, first):
    """Largest displacement of the marks that stand in two rows from a place on, metres."""
    most = 0.0
    for k in range(first, a.shape[0], 3):
        x, y, z = a[k] - b[k], a[k + 1] - b[k + 1], a[k + 2] - b[k + 2]
        most = max(most, x * x + y * y + z * z)
    return math.sqrt(most)


@lean()
def fill(space, state):
    """Work out what a state with time and terms carries."""
    for j in range(space.joints.kind.shape[0]):
        k = 1 + 3 * j
        put(space.joints, j, state[k], state[k + 1], state[k + 2])
    keep(space.joints, state)
    place_limb(space.limb, space.around, space.joints.q, state[0], space.bench)
    _mark(space.bench.frames, space.mark_joint, space.mark, state)


# answers to the questions of a search


def draw(space, dice, effort, out, tally):
    """Draw terms, and time where it is searched, from their intervals at an effort; whether the posture is free."""
    n = space.joints.kind.shape[0]
    out[0] = space.begin + throw(dice) * (space.end - space.begin) if space.timed else space.begin
    for j in range(n):
        k = 1 + 3 * j
        for tries in range(_DRAWS):
            for i in range(3):
                low = space.first[j, i, 0] + effort * (space.last[j, i, 0] - space.first[j, i, 0])
                high = space.first[j, i, 1] + effort * (space.last[j, i, 1] - space.first[j, i, 1])
                if tries == 0 or i < 2:
                    out[k + i] = low + throw(dice) * (high - low)
            if space.joints.kind[j] == HINGE:
                break
            past = swung_past(space.joints, j, out[k], out[k + 1], out[k + 2])
            if past <= 0.0:
                break
            if tries == _DRAWS - 1:
                size = math.sqrt(out[k] * out[k] + out[k + 1] * out[k + 1])
                out[k] *= 1.0 - past / size
                out[k + 1] *= 1.0 - past / size
    for j in range(n):
        k = 1 + 3 * j
        put(space.joints, j, out[k], out[k + 1], out[k + 2])
    if not _free(space, out[0], tally):
        return False
    keep(space.joints, out)
    _mark(space.bench.frames, space.mark_joint, space.mark, out)
    return True


def stands(space, state, tally):
    """Whether a state is free."""
    n = space.joints.kind.shape[0]
    for j in range(n):
        for i in range(4):
            space.joints.q[j, i] = state[1 + 3 * n + 4 * j + i]
    return _free(space, state[0], tally)


@lean()
def apart(space, a, b):
    """Largest displacement of a mark, and time; infinite against time or faster than marks can move."""
    span = b[0] - a[0]
    if space.timed and span <= 0.0:
        return np.inf
    most = _farthest(a, b, 1 + 7 * space.joints.kind.shape[0])
    if space.timed and most > space.top * span:
        return np.inf
    return space.time_weight * span + most if space.timed else most


def grow(space, a, b, forward, out, tally):
    """One step from a towards b, up to what is in the way; looks follow each other along it."""
    far = apart(space, a, b) if forward else apart(space, b, a)
    length, slow = travel(space, a, b)
    if not slow or not 0.0 < far < np.inf:
        return False
    share = min(space.step / far, 1.0)
    looks = looks_along(space, a, b, share, length * share)
    allowed = allowed_between(space.joints, a, b)
    good = 0
    for k in range(1, looks + 1):
        t, past = pose(space.joints, a, b, share * k / looks)
        if past > allowed or not _free(space, t, tally):
            break
        good = k
    if good == 0 or good < _WORTH * looks:
        return False
    s = share * good / looks
    t, past = pose(space.joints, a, b, s)
    place_limb(space.limb, space.around, space.joints.q, t, space.bench)
    settle(space.joints, t, a, b, s, out)
    _mark(space.bench.frames, space.mark_joint, space.mark, out)
    return True


def leads(space, a, b, tally):
    """Whether the way from a to b is free, slow enough and within range; what is in the way is met early."""
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
            if past > allowed or not _free(space, t, tally):
                return False
        stride //= 2
    return True


@lean()
def on_the_way(space, a, b, share, out):
    """The state at a share of the way from a to b."""
    t, _ = pose(space.joints, a, b, share)
    place_limb(space.limb, space.around, space.joints.q, t, space.bench)
    settle(space.joints, t, a, b, share, out)
    _mark(space.bench.frames, space.mark_joint, space.mark, out)


answer(questions.sample, LimbSpace, draw)
answer(questions.valid, LimbSpace, stands)
answer(questions.distance, LimbSpace, apart.py_func)
answer(questions.steer, LimbSpace, grow)
answer(questions.joins, LimbSpace, leads)
answer(questions.between, LimbSpace, on_the_way.py_func)
