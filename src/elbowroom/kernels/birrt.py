"""Two trees that grow towards each other until they meet, in any space (Kuffner and LaValle 2000, Kallmann 2005)."""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.lean import lean
from elbowroom.kernels.space import CHECKS, NODES, ROUNDS, SAMPLES, distance, joins, sample, steer, valid

# How a search ended.
FOUND, START_HIT, GOAL_HIT, SPENT, FULL = 0, 1, 2, 3, 4


@lean()
def nearest(space, rows, count, state, forward):
    """Index of the tree's state that is nearest to a state, -1 where none leads to it (or is led to)."""
    best, found = np.inf, -1
    for i in range(count):
        d = distance(space, rows[i], state) if forward else distance(space, state, rows[i])
        if d < best:
            best, found = d, i
    return found


@lean()
def connect(space, dice, most_checks, widen, rows, parent, tried, drawn, size, tally):
    """(how it ended, last state of the first tree, first state of the second) of a search from start to goal.

    rows (2, N, W), parent (2, N), tried (N,): room for the two trees, whose first rows are start and goal; size (2,):
    states in them, 0 at first. A connection is tried before and after each growth. Effort rises from 0 to 1 in `widen`
    rounds. With FULL, a call with more room goes on from there. drawn (W,): room to work in.
    """
    if size[0] == 0:
        if not valid(space, rows[0, 0], tally):
            return START_HIT, 0, 0
        if not valid(space, rows[1, 0], tally):
            return GOAL_HIT, 0, 0
        size[0], size[1] = 1, 1
        parent[0, 0], parent[1, 0], tried[0] = -1, -1, 0
        tally[NODES] = 2
        if joins(space, rows[0, 0], rows[1, 0], tally):
            return FOUND, 0, 0
    while tally[CHECKS] < most_checks:
        if max(size[0], size[1]) == rows.shape[1]:
            return FULL, 0, 0
        tree = tally[ROUNDS] % 2
        other = 1 - tree
        effort = min(tally[ROUNDS] / widen, 1.0)
        good = False
        while not good and tally[CHECKS] < most_checks:
            tally[SAMPLES] += 1
            good = sample(space, dice, effort, drawn, tally)
        if not good:
            break
        tally[ROUNDS] += 1
        i = nearest(space, rows[tree], size[tree], drawn, tree == 0)
        j = nearest(space, rows[other], size[other], drawn, other == 0)
        # the pair at hand, then the one with the state that was grown
        for grown in range(2):
            if grown == 1:
                k = size[tree]
                if i < 0 or not steer(space, rows[tree, i], drawn, tree == 0, rows[tree, k], tally):
                    break
                parent[tree, k] = i
                if tree == 0:
                    tried[k] = -1
                i = k
                size[tree] += 1
                tally[NODES] += 1
            if i >= 0 and j >= 0:
                a, b = (i, j) if tree == 0 else (j, i)
                if tried[a] != b:  # what failed just before is not tried again
                    tried[a] = b
                    if joins(space, rows[0, a], rows[1, b], tally):
                        return FOUND, a, b
    return SPENT, 0, 0
