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

from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.fields import FREE
from elbowroom.kernels.limb_terms import Joints, keep, pose, put, settle, turn_between
from elbowroom.kernels.limb_world import Around, Buffers, Limb
from elbowroom.kernels.meeting import point
from elbowroom.kernels.space import CHECKS
from elbowroom.kernels.validity import check, place_limb

Array = NDArray[np.float64]


class LimbSpace(NamedTuple):
    """n joints of a limb with K marks.

    first (n, 3, 2), last (n, 3, 2): intervals that terms are drawn from at effort 0 and 1. mark_joint (K,), mark
    (K, 3): joint of the limb that a mark rides on, and where in its frame. lever (n,): metres from a joint to the
    farthest point that it moves; travelled (S,): metres that the limb was carried until each row of the tables;
    stirred (S,): metres that things near it moved on top of that.
    speed (n,): most radians a second, where timed; top: most metres a second of a mark. begin, end: seconds that times
    are drawn from. time_weight: metres that a second counts for. step: metres of one growth; resolution: most metres
    that any point travels from look to look. spare (2, 3 K): room to work in.
    """

    limb: Limb
    around: Around
    buffers: Buffers
    joints: Joints
    first: Array
    last: Array
    mark_joint: NDArray[np.int64]
    mark: Array
    lever: Array
    travelled: Array
    stirred: Array
    timed: bool
    speed: Array
    top: float
    begin: float
    end: float
    time_weight: float
    step: float
    resolution: float
    spare: Array


@inner()
def until(space, table, t):
    """Value of a table (S,) at a time."""
    rows = table.shape[0]
    s = min(max((t - space.around.start) * space.around.rate, 0.0), rows - 1.0)
    k = min(int(s), max(rows - 2, 0))
    after = min(k + 1, rows - 1)
    return table[k] + (s - k) * (table[after] - table[k])


@inner()
def moved_until(space, t):
    """Metres that the limb was carried, and what is around it moved on top of that, until a time."""
    return until(space, space.travelled, t) + until(space, space.stirred, t)


@inner()
def travel(space, a, b):
    """Metres that points of the limb travel at most past anything from a to b, and whether that is slow enough."""
    far, slow = 0.0, True
    span = abs(b[0] - a[0])
    for j in range(space.joints.kind.shape[0]):
        turn = turn_between(space.joints, j, a, b)[0]
        far += turn * space.lever[j]
        slow = slow and (not space.timed or turn <= space.speed[j] * span + 1e-9)
    return far + abs(moved_until(space, b[0]) - moved_until(space, a[0])), slow


@inner()
def free_at(space, t, tally):
    """Return whether the posture that is set is free at a time; leaves its frames on the buffers."""
    tally[CHECKS] += 1
    return check(space.limb, space.around, space.joints.q, t, 1, space.buffers)[0] == FREE


@inner()
def note_marks(frames, mark_joint, mark, out):
    """Write where the marks are into a state."""
    k = out.shape[0] - 3 * mark.shape[0]
    for m in range(mark.shape[0]):
        x, y, z = point(frames[mark_joint[m]], mark[m], 0)
        out[k + 3 * m], out[k + 3 * m + 1], out[k + 3 * m + 2] = x, y, z


@inner()
def farthest(a, b, first):
    """Largest displacement of the marks that stand in two rows from a place on, metres."""
    most = 0.0
    for k in range(first, a.shape[0], 3):
        x, y, z = a[k] - b[k], a[k + 1] - b[k + 1], a[k + 2] - b[k + 2]
        most = max(most, x * x + y * y + z * z)
    return math.sqrt(most)


@njit_nogil()
def fill(space, states):
    """Work out what states (N, W) with time and terms carry."""
    for i in range(states.shape[0]):
        for j in range(space.joints.kind.shape[0]):
            k = 1 + 3 * j
            put(space.joints, j, states[i, k], states[i, k + 1], states[i, k + 2])
        keep(space.joints, states[i])
        place_limb(space.limb, space.around, space.joints.q, states[i, 0], space.buffers)
        note_marks(space.buffers.frames, space.mark_joint, space.mark, states[i])


@inner()
def on_the_way(space, a, b, share, out):
    """The state at a share of the way from a to b."""
    t, _ = pose(space.joints, a, b, share)
    place_limb(space.limb, space.around, space.joints.q, t, space.buffers)
    settle(space.joints, t, a, b, share, out)
    note_marks(space.buffers.frames, space.mark_joint, space.mark, out)


@njit_nogil()
def dense(space, states, spacing, out):
    """States along the way through states (N, W), evenly between two, at most `spacing` metres of travel apart.

    Returns how many there are; as many as there is room for are written to out (M, W), but for the first.
    """
    count = 1
    for i in range(states.shape[0] - 1):
        parts = max(math.ceil(travel(space, states[i], states[i + 1])[0] / spacing), 1)
        for k in range(1, parts + 1):
            if count < out.shape[0]:
                on_the_way(space, states[i], states[i + 1], k / parts, out[count])
            count += 1
    return count
