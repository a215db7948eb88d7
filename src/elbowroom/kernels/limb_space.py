"""Postures of a limb, at a time or over time, as a space to search.

A state is one row: time (s), terms (3 n) of the n joints as in `character.limits`; carried with it the local rotations
(4 n) and where the marks are in the world (3 each). Marks are points of the limb by which distance is measured:
w_t |dt| + w_a times the largest displacement of a mark.

On the way from one state to another, ball joints turn by slerp; hinges and joints that only swing go straight in their
own terms, since slerp would bend an elbow sideways. Time runs evenly.
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
from elbowroom.kernels.limits import swing_and_twist, swing_radius
from elbowroom.kernels.meeting import point
from elbowroom.kernels.space import CHECKS, answer
from elbowroom.kernels.turns import product, reversed_turn, row_of
from elbowroom.kernels.validity import Around, Bench, Limb, check, place_limb

Array = NDArray[np.float64]

# Kinds of joints.
BALL, SWING, HINGE = 0, 1, 2

# Slerp may leave a range by this much, radians.
_ROUNDING = 1e-6

# A step that ends early is kept where it is at least this share of a whole one.
_WORTH = 0.25

# What points travel may exceed what pieces of their way show by this factor.
_RESERVE = 1.2

# Draws of a swing before it is moved into its range.
_DRAWS = 16


class Joints(NamedTuple):
    """Ranges of n joints, and room for the posture at hand.

    kind (n,); pre, post (n, 4), low, high (n, 3) as in `character.limits`, with corners (C, 2) from corner[j] to
    corner[j + 1] where a swing's range is a polygon; q (n, 4): local rotations of the posture.
    """

    kind: NDArray[np.int64]
    pre: Array
    post: Array
    low: Array
    high: Array
    corners: Array
    corner: NDArray[np.int64]
    q: Array


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
def _put(joints, j, x, y, z):
    """Set the rotation of joint j by its terms."""
    c, s = math.cos(0.5 * z), math.sin(0.5 * z)
    if joints.kind[j] == HINGE:
        cx, sx, cy, sy = math.cos(0.5 * x), math.sin(0.5 * x), math.cos(0.5 * y), math.sin(0.5 * y)
        turn = cx * cy, sx * cy, cx * sy, sx * sy
    else:
        size = math.sqrt(x * x + y * y)
        scale = math.sin(0.5 * size) / size if size > 1e-12 else 0.5
        turn = math.cos(0.5 * size), scale * x, scale * y, 0.0
    turn = product(turn, (c, 0.0, 0.0, s))
    w, x, y, z = product(product(row_of(joints.pre, j), turn), row_of(joints.post, j))
    joints.q[j, 0], joints.q[j, 1], joints.q[j, 2], joints.q[j, 3] = w, x, y, z


@lean()
def _ball_terms(joints, j, q):
    """Swing and twist of a ball joint from its local rotation."""
    w, x, y, z = product(product(reversed_turn(row_of(joints.pre, j)), q), reversed_turn(row_of(joints.post, j)))
    return swing_and_twist(w, x, y, z)


@lean()
def _past(joints, j, x, y, z):
    """How far swing and twist of joint j are out of range, the larger of the two, radians."""
    size = math.sqrt(x * x + y * y)
    past = max(z - joints.high[j, 2], joints.low[j, 2] - z, 0.0)
    if size > 0.0:
        polygon = joints.corners[joints.corner[j] : joints.corner[j + 1]]
        past = max(past, size - swing_radius(joints.low[j], joints.high[j], polygon, x / size, y / size))
    return past


@lean()
def _turn(joints, j, a, b):
    """Length of the way that joint j turns between two states, radians, and the cosine of half of a ball's."""
    x, y, z = a[1 + 3 * j] - b[1 + 3 * j], a[2 + 3 * j] - b[2 + 3 * j], a[3 + 3 * j] - b[3 + 3 * j]
    if joints.kind[j] == HINGE:
        return math.sqrt(x * x + z * z) + abs(y), 1.0
    if joints.kind[j] == SWING:
        return math.sqrt(x * x + y * y) + abs(z), 1.0
    k = 1 + 3 * joints.kind.shape[0] + 4 * j
    d = a[k] * b[k] + a[k + 1] * b[k + 1] + a[k + 2] * b[k + 2] + a[k + 3] * b[k + 3]
    return 2.0 * math.acos(min(abs(d), 1.0)), d


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
        turn = _turn(space.joints, j, a, b)[0]
        far += turn * space.lever[j]
        slow = slow and (not space.timed or turn <= space.speed[j] * span + 1e-9)
    return far + abs(_carried(space, b[0]) - _carried(space, a[0])), slow


@lean()
def _pose(joints, a, b, s):
    """Set the rotations at a share of the way from a to b; (time, how far a ball joint is out of range)."""
    n = joints.kind.shape[0]
    past = 0.0
    for j in range(n):
        if joints.kind[j] == BALL:
            k = 1 + 3 * n + 4 * j
            d = _turn(joints, j, a, b)[1]
            u, v = 1.0 - s, s
            if abs(d) < 0.9999995:
                angle = math.acos(abs(d))
                size = math.sin(angle)
                u, v = math.sin(u * angle) / size, math.sin(v * angle) / size
            if d < 0.0:
                v = -v
            w, x = u * a[k] + v * b[k], u * a[k + 1] + v * b[k + 1]
            y, z = u * a[k + 2] + v * b[k + 2], u * a[k + 3] + v * b[k + 3]
            f = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
            joints.q[j, 0], joints.q[j, 1], joints.q[j, 2], joints.q[j, 3] = w * f, x * f, y * f, z * f
            x, y, z = _ball_terms(joints, j, row_of(joints.q, j))
            past = max(past, _past(joints, j, x, y, z))
        else:
            k, r = 1 + 3 * j, 1.0 - s
            _put(joints, j, r * a[k] + s * b[k], r * a[k + 1] + s * b[k + 1], r * a[k + 2] + s * b[k + 2])
    return a[0] + s * (b[0] - a[0]), past


@lean()
def _allowed(joints, a, b):
    """How far ball joints may be out of range between two states: as far as they are at the ends."""
    past = 0.0
    for j in range(joints.kind.shape[0]):
        if joints.kind[j] == BALL:
            k = 1 + 3 * j
            past = max(past, _past(joints, j, a[k], a[k + 1], a[k + 2]), _past(joints, j, b[k], b[k + 1], b[k + 2]))
    return past + _ROUNDING


@lean()
def _free(space, t, tally):
    """Whether the posture that is set is free at a time; leaves its frames on the bench."""
    tally[CHECKS] += 1
    return check(space.limb, space.around, space.joints.q, t, space.bench)[0] == FREE


@lean()
def _settle(joints, t, a, b, s, out):
    """Write the state of the posture at hand, at a share of the way from a to b, but for its marks."""
    n = joints.kind.shape[0]
    out[0] = t
    for j in range(n):
        k = 1 + 3 * j
        if joints.kind[j] == BALL:
            out[k], out[k + 1], out[k + 2] = _ball_terms(joints, j, row_of(joints.q, j))
        else:
            for i in range(k, k + 3):
                out[i] = (1.0 - s) * a[i] + s * b[i]
    _keep(joints, out)


@lean()
def _keep(joints, out):
    """Write the rotations of the posture at hand into a state."""
    n = joints.kind.shape[0]
    for j in range(n):
        for i in range(4):
            out[1 + 3 * n + 4 * j + i] = joints.q[j, i]


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
        t, _ = _pose(space.joints, a, b, share * i / pieces)
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
        _put(space.joints, j, state[k], state[k + 1], state[k + 2])
    _keep(space.joints, state)
    place_limb(space.limb, space.around, space.joints.q, state[0], space.bench)
    _mark(space.bench.frames, space.mark_joint, space.mark, state)


# answers to the questions of a search


def draw(space, dice, effort, out, tally):
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
            past = _past(space.joints, j, out[k], out[k + 1], out[k + 2])
            if past <= 0.0:
                break
            if tries == _DRAWS - 1:
                size = math.sqrt(out[k] * out[k] + out[k + 1] * out[k + 1])
                out[k] *= 1.0 - past / size
                out[k + 1] *= 1.0 - past / size
    for j in range(n):
        k = 1 + 3 * j
        _put(space.joints, j, out[k], out[k + 1], out[k + 2])
    if not _free(space, out[0], tally):
        return False
    _keep(space.joints, out)
    _mark(space.bench.frames, space.mark_joint, space.mark, out)
    return True


def stands(space, state, tally):
    n = space.joints.kind.shape[0]
    for j in range(n):
        for i in range(4):
            space.joints.q[j, i] = state[1 + 3 * n + 4 * j + i]
    return _free(space, state[0], tally)


@lean()
def apart(space, a, b):
    span = b[0] - a[0]
    if space.timed and span <= 0.0:
        return np.inf
    most = _farthest(a, b, 1 + 7 * space.joints.kind.shape[0])
    if space.timed and most > space.top * span:
        return np.inf
    return space.time_weight * span + most if space.timed else most


def grow(space, a, b, forward, out, tally):
    far = apart(space, a, b) if forward else apart(space, b, a)
    length, slow = travel(space, a, b)
    if not slow or not 0.0 < far < np.inf:
        return False
    share = min(space.step / far, 1.0)
    looks = looks_along(space, a, b, share, length * share)
    allowed = _allowed(space.joints, a, b)
    good = 0
    for k in range(1, looks + 1):
        t, past = _pose(space.joints, a, b, share * k / looks)
        if past > allowed or not _free(space, t, tally):
            break
        good = k
    if good == 0 or good < _WORTH * looks:
        return False
    s = share * good / looks
    t, past = _pose(space.joints, a, b, s)
    place_limb(space.limb, space.around, space.joints.q, t, space.bench)
    _settle(space.joints, t, a, b, s, out)
    _mark(space.bench.frames, space.mark_joint, space.mark, out)
    return True


def leads(space, a, b, tally):
    if space.timed and b[0] <= a[0]:
        return False
    length, slow = travel(space, a, b)
    if not slow:
        return False
    looks = looks_along(space, a, b, 1.0, length)
    allowed = _allowed(space.joints, a, b)
    stride = 1
    while 2 * stride < looks:
        stride *= 2
    # about the middle first, then quarters, ...: each place once
    while stride >= 1:
        for k in range(stride, looks, 2 * stride):
            t, past = _pose(space.joints, a, b, k / looks)
            if past > allowed or not _free(space, t, tally):
                return False
        stride //= 2
    return True


@lean()
def on_the_way(space, a, b, share, out):
    t, _ = _pose(space.joints, a, b, share)
    place_limb(space.limb, space.around, space.joints.q, t, space.bench)
    _settle(space.joints, t, a, b, share, out)
    _mark(space.bench.frames, space.mark_joint, space.mark, out)


answer(questions.sample, LimbSpace, draw)
answer(questions.valid, LimbSpace, stands)
answer(questions.distance, LimbSpace, apart.py_func)
answer(questions.steer, LimbSpace, grow)
answer(questions.joins, LimbSpace, leads)
answer(questions.between, LimbSpace, on_the_way.py_func)
