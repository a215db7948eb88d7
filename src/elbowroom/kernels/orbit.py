"""Search for an orbit angle at which a limb is within its ranges (Kallmann 2005), for many targets."""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

from elbowroom.kernels.limb_ik import REACHED, Array, Geometry, solve


@nb.njit(cache=True, nogil=True)
def candidates(start: float, low: float, high: float, steps: Array, out: Array) -> int:
    """Orbit angles in the order of trial: the start, then up and down by each of the growing `steps` (K,).

    Past an end of the range the end itself is tried, once. out (2 K + 1,); returns how many there are.
    """
    low, high = min(low, start), max(high, start)
    out[0] = start
    count = 1
    up, down = start, start
    for step in steps:
        if up < high:
            up = min(start + step, high)
            out[count] = up
            count += 1
        if down > low:
            down = max(start - step, low)
            out[count] = down
            count += 1
    return count


@nb.njit(cache=True, nogil=True)
def search(
    limb: Geometry,
    parents: Array,
    ends: Array,
    starts: Array,
    low: float,
    high: float,
    steps: Array,
    tolerance: float,
    off_axis: float,
    held: float,
    backwards: bool,
    rotations: Array,
    gaps: Array,
    excess: Array,
    orbits: Array,
    tests: NDArray[np.int64],
) -> None:
    """First orbit angle of each target within the ranges, or the one that is the least out of them.

    parents, ends (N, 4, 4), starts (N,), each with one row that counts for all or N; rotations (N, 3, 4), gaps (N,),
    excess (N, 3), orbits (N,), tests (N,): how many angles were tried. See `limb_ik.solve` for the others.
    """
    order = np.zeros(2 * len(steps) + 1)
    turns, past = np.zeros((3, 4)), np.zeros(3)
    for i in range(len(gaps)):
        count = candidates(starts[min(i, len(starts) - 1)], low, high, steps, order)
        least = np.inf
        for k in range(count):
            parent, end = parents[min(i, len(parents) - 1)], ends[min(i, len(ends) - 1)]
            gap = solve(limb, parent, end, order[k], off_axis, held, backwards, turns, past)
            tests[i] = k + 1
            worst = max(past[0], past[1], past[2])
            if worst < least:
                least = worst
                rotations[i], excess[i], gaps[i], orbits[i] = turns, past, gap, order[k]
            if worst <= tolerance or abs(gap) > REACHED:  # no angle brings the end nearer
                break
