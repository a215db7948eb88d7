"""Shorter paths by random straight pieces, in any space (Kallmann 2005; with time, Shapiro et al. 2007)."""

from __future__ import annotations

from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.rng import uniform
from elbowroom.kernels.space import CHECKS, ROUNDS, between, distance, joins

# A round has gained something when the path is shorter by this share.
_GAIN = 0.01


@njit_nogil()
def shorten(space, path, count, rng, rounds, vain, most_checks, ends, along, tally):
    """Replace pieces of a path between two random places on it by straight ones, where those are valid.

    path (N, W): `count` states, with room for one more in each round. Ends after `rounds`, or when `vain` rounds in a
    row gained little; returns how many states there are. ends (2, W), along (N,): room to work in.
    """
    idle, fresh, length = 0, True, 0.0
    for _ in range(rounds):
        if count < 3 or idle >= vain or tally[CHECKS] >= most_checks:
            break
        tally[ROUNDS] += 1
        if fresh:
            along[0] = 0.0
            for i in range(1, count):
                along[i] = along[i - 1] + distance(space, path[i - 1], path[i])
            length, fresh = along[count - 1], False
        u, v = uniform(rng) * length, uniform(rng) * length
        if u > v:
            u, v = v, u
        idle += 1
        i = _piece(along, count, u)
        j = _piece(along, count, v)
        if i == j:
            continue
        _at(space, path, along, i, u, ends[0])
        _at(space, path, along, j, v, ends[1])
        straight = distance(space, ends[0], ends[1])
        if not straight < (v - u) * 0.999 or not joins(space, ends[0], ends[1], tally):
            continue
        # corners i+1 .. j go, the two ends come
        after = count - (j + 1)
        shift = i + 3 - (j + 1)
        if shift > 0:
            for k in range(after - 1, -1, -1):
                _copy(path[j + 1 + k], path[j + 1 + k + shift])
        elif shift < 0:
            for k in range(after):
                _copy(path[j + 1 + k], path[j + 1 + k + shift])
        _copy(ends[0], path[i + 1])
        _copy(ends[1], path[i + 2])
        count += shift
        if v - u - straight > _GAIN * length:
            idle = 0
        fresh = True
    return count


@inner()
def _copy(row, out):
    """Copy a state; without an array of its own, as assignment would make."""
    for i in range(row.shape[0]):
        out[i] = row[i]


@inner()
def _piece(along, count, place):
    """Index of the piece of the path that holds a place."""
    for i in range(count - 2):
        if place < along[i + 1]:
            return i
    return count - 2


@inner()
def _at(space, path, along, i, place, out):
    """The state at a place on piece i."""
    size = along[i + 1] - along[i]
    share = (place - along[i]) / size if size > 0.0 else 0.0
    between(space, path[i], path[i + 1], min(max(share, 0.0), 1.0), out)
