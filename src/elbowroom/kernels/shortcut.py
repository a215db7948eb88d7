"""Shorter paths by random straight pieces, in any space (Kallmann 2005; with time, Shapiro, Kallmann, Faloutsos 2007)."""

from __future__ import annotations

import numba as nb
import numpy as np

from elbowroom.kernels.dice import throw
from elbowroom.kernels.space import CHECKS, ROUNDS, between, distance, joins


@nb.njit(cache=True, nogil=True)
def shorten(space, path, dice, rounds, vain, most_checks, tally):
    """The path (N, W) with pieces between two random places on it replaced by straight ones where those are valid.

    Ends after `rounds`, or when `vain` rounds in a row gained nothing.
    """
    width = path.shape[1]
    kept = np.zeros((path.shape[0] + 2, width))
    count = path.shape[0]
    kept[:count] = path
    ends = np.zeros((2, width))
    along = np.zeros(kept.shape[0])
    idle = 0
    fresh = True
    length = 0.0
    for _ in range(rounds):
        if count < 3 or idle >= vain or tally[CHECKS] >= most_checks:
            break
        tally[ROUNDS] += 1
        if fresh:
            if count + 2 > kept.shape[0]:
                more = np.zeros((2 * kept.shape[0], width))
                more[:count] = kept[:count]
                kept = more
                along = np.zeros(kept.shape[0])
            for i in range(1, count):
                along[i] = along[i - 1] + distance(space, kept[i - 1], kept[i])
            length = along[count - 1]
            fresh = False
        u, v = throw(dice) * length, throw(dice) * length
        if u > v:
            u, v = v, u
        idle += 1
        i = _piece(along, count, u)
        j = _piece(along, count, v)
        if i == j:
            continue
        _at(space, kept, along, i, u, ends[0])
        _at(space, kept, along, j, v, ends[1])
        # ends that fall on corners are those corners
        straight = distance(space, ends[0], ends[1])
        if not straight < (v - u) * 0.999 or not joins(space, ends[0], ends[1], tally):
            continue
        # corners i+1 .. j go, the two ends come
        after = count - (j + 1)
        shift = i + 3 - (j + 1)
        if shift > 0:
            for k in range(after - 1, -1, -1):
                kept[j + 1 + k + shift] = kept[j + 1 + k]
        elif shift < 0:
            for k in range(after):
                kept[j + 1 + k + shift] = kept[j + 1 + k]
        kept[i + 1], kept[i + 2] = ends[0], ends[1]
        count += shift
        idle, fresh = 0, True
    return kept[:count].copy()


@nb.njit(cache=True, nogil=True)
def _piece(along, count, place):
    """Index of the piece of the path that holds a place."""
    for i in range(count - 2):
        if place < along[i + 1]:
            return i
    return count - 2


@nb.njit(cache=True, nogil=True)
def _at(space, path, along, i, place, out):
    """The state at a place on piece i."""
    size = along[i + 1] - along[i]
    share = (place - along[i]) / size if size > 0.0 else 0.0
    between(space, path[i], path[i + 1], min(max(share, 0.0), 1.0), out)
