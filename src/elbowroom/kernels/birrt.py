"""Two trees that grow towards each other until they meet, in any space (Kuffner and LaValle 2000, Kallmann 2005)."""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.lean import lean
from elbowroom.kernels.space import CHECKS, NODES, ROUNDS, SAMPLES, distance, joins, sample, steer, valid

# How a search ended.
FOUND, START_HIT, GOAL_HIT, SPENT = 0, 1, 2, 3


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
def connect(space, dice, most_checks, widen, rows, parent, tried, drawn, tally):
    """(how it ended, last state of the first tree, first state of the second) of a search from start to goal.

    rows (2, N, W), parent (2, N): room for the two trees, whose first rows are start and goal. A connection is tried
    before and after each growth. Effort rises from 0 to 1 in `widen` rounds. tried (N,), drawn (W,): room to work in.
    """
    if not valid(space, rows[0, 0], tally):
        return START_HIT, 0, 0
    if not valid(space, rows[1, 0], tally):
        return GOAL_HIT, 0, 0
    most_nodes = rows.shape[1]
    parent[0, 0] = parent[1, 0] = -1
    mine, other_count = 1, 1  # states in the tree that grows now, and in the other
    tally[NODES] = 2
    if joins(space, rows[0, 0], rows[1, 0], tally):
        return FOUND, 0, 0
    tried[0] = 0
    tree = 0
    while tally[CHECKS] < most_checks and max(mine, other_count) < most_nodes:
        effort = min(tally[ROUNDS] / widen, 1.0)
        tally[ROUNDS] += 1
        good = False
        while not good and tally[CHECKS] < most_checks:
            tally[SAMPLES] += 1
            good = sample(space, dice, effort, drawn, tally)
        if not good:
            break
        other = 1 - tree
        i = nearest(space, rows[tree], mine, drawn, tree == 0)
        j = nearest(space, rows[other], other_count, drawn, other == 0)
        # the pair at hand, then the one with the state that was grown
        for grown in range(2):
            if grown == 1:
                if i < 0 or not steer(space, rows[tree, i], drawn, tree == 0, rows[tree, mine], tally):
                    break
                parent[tree, mine] = i
                if tree == 0:
                    tried[mine] = -1
                i = mine
                mine += 1
                tally[NODES] += 1
            if i >= 0 and j >= 0:
                a, b = (i, j) if tree == 0 else (j, i)
                if tried[a] != b:  # what failed just before is not tried again
                    tried[a] = b
                    if joins(space, rows[0, a], rows[1, b], tally):
                        return FOUND, a, b
        tree = other
        mine, other_count = other_count, mine
    return SPENT, 0, 0
