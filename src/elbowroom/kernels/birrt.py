"""Two trees that grow towards each other until they meet, in any space (Kuffner and LaValle 2000, Kallmann 2005).

Trees grow by rough looks; when they meet, the edges that the path takes are looked at closely, and what does not stand
that is cut. A share of the samples strays from states of the tree that is to grow: that finds the way out of narrow
places, which samples from everywhere rarely point to.
"""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.rng import uniform
from elbowroom.kernels.space import CHECKS, NODES, ROUNDS, SAMPLES, distance, joins, sample, steer, stray, valid

# How a search ended.
FOUND, START_HIT, GOAL_HIT, SPENT, FULL, PAUSED = 0, 1, 2, 3, 4, 5

# What is known of the edge that leads to a state.
_ROUGHLY, _CLOSELY, _CUT = 0, 1, 2

# Share of the samples that stray from the tree, and how often that is tried before one from everywhere is drawn.
_STRAYS, _DRAWS = 0.3, 8

# Samples that count for a round: where none is valid, effort rises all the same.
_PATIENCE = 4


@inner()
def nearest(space, rows, count, state, forward):
    """Index of the tree's state that is nearest to a state, -1 where none leads to it (or is led to)."""
    best, found = np.inf, -1
    for i in range(count):
        d = distance(space, rows[i], state) if forward else distance(space, state, rows[i])
        if d < best:
            best, found = d, i
    return found


@inner()
def stands(space, rows, parent, seen, count, k, forward, tally):
    """Check all edges between the tree's root and state k closely; where one fails, cut off what hangs on it."""
    while parent[k] >= 0:
        p = parent[k]
        if seen[k] == _ROUGHLY:
            a, b = (p, k) if forward else (k, p)
            if not joins(space, rows[a], rows[b], tally):
                for i in range(k, count):
                    if i == k or (parent[i] >= 0 and seen[parent[i]] == _CUT):
                        seen[i] = _CUT
                        for c in range(rows.shape[1]):
                            rows[i, c] = np.inf  # far from everything
                return False
            seen[k] = _CLOSELY
        k = p
    return True


@njit_nogil()
def connect(space, rng, most_checks, pause, widen, rows, parent, seen, tried, drawn, size, tally):
    """(how it ended, last state of the first tree, first state of the second) of a search from start to goal.

    rows (2, N, W), parent (2, N), seen (2, N), tried (N,): room for the two trees, whose first rows are start and goal;
    size (3,): states in them, and whether a sample is being drawn, 0 at first. A connection is tried before and after
    each growth. Effort rises from 0 to 1 in `widen` rounds, sooner where few samples are valid. With FULL, a call with
    more room goes on from there; with PAUSED, after `pause` checks, a call with a later pause, as if it never had been.
    drawn (W,): room to work in.
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
        if tally[CHECKS] >= pause:
            return PAUSED, 0, 0
        tree = tally[ROUNDS] % 2
        other = 1 - tree
        i, good = -1, False
        if size[2] == 0 and uniform(rng) < _STRAYS:
            for _ in range(_DRAWS):
                tally[SAMPLES] += 1
                i = int(uniform(rng) * size[tree])
                good = seen[tree, i] != _CUT and stray(space, rng, rows[tree, i], tree == 0, drawn, tally)
                if good:
                    break
        strays = good
        while not good and tally[CHECKS] < most_checks:
            if tally[CHECKS] >= pause:
                size[2] = 1
                return PAUSED, 0, 0
            tally[SAMPLES] += 1
            effort = min(max(tally[ROUNDS], tally[SAMPLES] // _PATIENCE) / widen, 1.0)
            good = sample(space, rng, effort, drawn, tally)
        if not good:
            break
        size[2] = 0
        tally[ROUNDS] += 1
        if not strays:
            i = nearest(space, rows[tree], size[tree], drawn, tree == 0)
        j = nearest(space, rows[other], size[other], drawn, other == 0)
        # the pair at hand, then the one with the state that was grown
        for grown in range(2):
            if grown == 1:
                k = size[tree]
                if i < 0 or not steer(space, rows[tree, i], drawn, tree == 0, rows[tree, k], tally):
                    break
                parent[tree, k], seen[tree, k] = i, _ROUGHLY
                if tree == 0:
                    tried[k] = -1
                i = k
                size[tree] += 1
                tally[NODES] += 1
                j = nearest(space, rows[other], size[other], rows[tree, i], other == 0)
            if i >= 0 and j >= 0:
                a, b = (i, j) if tree == 0 else (j, i)
                if tried[a] != b:  # what failed just before is not tried again
                    tried[a] = b
                    if joins(space, rows[0, a], rows[1, b], tally):
                        first = stands(space, rows[0], parent[0], seen[0], size[0], a, True, tally)
                        if first and stands(space, rows[1], parent[1], seen[1], size[1], b, False, tally):
                            return FOUND, a, b
                        break
    return SPENT, 0, 0
