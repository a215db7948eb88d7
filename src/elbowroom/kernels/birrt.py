"""Two trees that grow towards each other until they meet, in any space (Kuffner and LaValle 2000, Kallmann 2005)."""

from __future__ import annotations

import numba as nb
import numpy as np

from elbowroom.kernels.space import CHECKS, NODES, ROUNDS, SAMPLES, distance, joins, sample, steer, valid

# How a search ended.
FOUND, START_HIT, GOAL_HIT, SPENT = 0, 1, 2, 3


@nb.njit(cache=True, nogil=True)
def nearest(space, rows, count, state, forward):
    """Index of the tree's state that is nearest to a state, -1 where none leads to it (or is led to)."""
    best, found = np.inf, -1
    for i in range(count):
        d = distance(space, rows[i], state) if forward else distance(space, state, rows[i])
        if d < best:
            best, found = d, i
    return found


@nb.njit(cache=True, nogil=True)
def connect(space, start, goal, dice, most_checks, most_nodes, widen, tally):
    """(how it ended, path (N, W)) from start to goal, rows (W,) with all that is carried.

    A connection is tried before and after each growth. Effort rises from 0 to 1 in `widen` rounds.
    """
    width = start.shape[0]
    none = np.zeros((0, width))
    if not valid(space, start, tally):
        return START_HIT, none
    if not valid(space, goal, tally):
        return GOAL_HIT, none
    rows = np.zeros((2, most_nodes, width))
    parent = np.full((2, most_nodes), -1, np.int64)
    tried = np.full(most_nodes, -1, np.int64)  # for states of the first tree: what was last tried in vain
    count = np.ones(2, np.int64)
    rows[0, 0], rows[1, 0] = start, goal
    drawn = np.zeros(width)
    tally[NODES] = 2
    if joins(space, start, goal, tally):
        return FOUND, _path(rows, parent, 0, 0)
    tried[0] = 0
    tree = 0
    while tally[CHECKS] < most_checks and max(count[0], count[1]) < most_nodes:
        effort = min(tally[ROUNDS] / widen, 1.0)
        tally[ROUNDS] += 1
        good = False
        while not good and tally[CHECKS] < most_checks:
            tally[SAMPLES] += 1
            good = sample(space, dice, effort, drawn, tally)
        if not good:
            break
        other = 1 - tree
        i = nearest(space, rows[tree], count[tree], drawn, tree == 0)
        j = nearest(space, rows[other], count[other], drawn, other == 0)
        if i >= 0 and j >= 0:
            a, b = (i, j) if tree == 0 else (j, i)
            if _meets(space, rows, tried, a, b, tally):
                return FOUND, _path(rows, parent, a, b)
        if i >= 0:
            k = count[tree]
            if steer(space, rows[tree, i], drawn, tree == 0, rows[tree, k], tally):
                parent[tree, k] = i
                count[tree] = k + 1
                tally[NODES] += 1
                if j >= 0:
                    a, b = (k, j) if tree == 0 else (j, k)
                    if _meets(space, rows, tried, a, b, tally):
                        return FOUND, _path(rows, parent, a, b)
        tree = other
    return SPENT, none


@nb.njit(cache=True, nogil=True)
def _meets(space, rows, tried, a, b, tally):
    """Whether the trees meet by an edge from a to b; what failed just before is not tried again."""
    if tried[a] == b:
        return False
    tried[a] = b
    return joins(space, rows[0, a], rows[1, b], tally)


@nb.njit(cache=True, nogil=True)
def _path(rows, parent, a, b):
    """States from the first tree's root by a and b to the second tree's root."""
    before, after = 0, 0
    k = a
    while k >= 0:
        before += 1
        k = parent[0, k]
    k = b
    while k >= 0:
        after += 1
        k = parent[1, k]
    path = np.zeros((before + after, rows.shape[2]))
    k = a
    for i in range(before):
        path[before - 1 - i] = rows[0, k]
        k = parent[0, k]
    k = b
    for i in range(after):
        path[before + i] = rows[1, k]
        k = parent[1, k]
    return path
