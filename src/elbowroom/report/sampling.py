"""Sampled clearance of a world: nearest pairs and their distances, at times dense enough to plot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.world.allowances import allow, recorded_people, supports
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_placed import TINY
from elbowroom.world.extent import frame_times
from elbowroom.world.own_pairs import belonging
from elbowroom.world.pairs import FLOOR, Pair
from elbowroom.world.world import World

# Distances are measured up to this, metres: what is further away is no news.
REACH = 0.5
# Looks a second, and how many at most: a distance is exact, and takes a millisecond or more. Around the nearest of them
# as many more are taken.
_LOOKS, _MOST, _MORE = 30.0, 600, 16

# Distances (N,) and the pairs they are of.
Nearest = tuple[Array, tuple[Pair | None, ...]]
# A distance, the pair it is of, and when.
Tightest = tuple[float, Pair, float]


def sampled(world: World, own_contacts: bool = True, also: float | None = None) -> tuple[Array, Nearest, Nearest]:
    """Times (N,), and nearest pairs of bodies that must not touch: of different bodies, and of each body with itself
    and the objects it holds. `also` is an additional time to sample, seconds.

    Feet may stand on the floor; with `own_contacts` recorded clips may touch themselves and the floor.
    """
    exact = ExactWorld(replace(world, contacts=(*world.contacts, *supports(world))))
    allow(exact, recorded_people(world) if own_contacts else set())
    begin, end = _span(world)
    regular = frame_times((begin, end), min(_LOOKS, _MOST / max(end - begin, 1e-9)))
    first = regular if also is None else np.union1d(regular, np.clip(also, begin, end))
    found = _looked(world, exact, first)
    others = np.array([d for (d, _), _ in found])
    if np.isfinite(others).any() and len(first) > 1:
        k = int(np.nanargmin(others))
        around = np.linspace(first[max(k - 1, 0)], first[min(k + 1, len(first) - 1)], _MORE + 2)[1:-1]
        more = _looked(world, exact, around)
        every = np.concatenate([first, around])
        order = np.argsort(every, kind="stable")
        found, first = [(found + more)[i] for i in order], every[order]
    to_others, to_itself = (
        (np.array([pair[g][0] for pair in found]), tuple(pair[g][1] for pair in found)) for g in (0, 1)
    )
    return first, to_others, to_itself


def _looked(
    world: World, exact: ExactWorld, times: Array
) -> list[tuple[tuple[float, Pair | None], tuple[float, Pair | None]]]:
    """Nearest pair with other bodies and nearest pair of own parts at each time."""
    owners = np.array([part.owner for part in exact.parts])[exact.index]
    same, held = belonging(world, owners)
    record = world.record(times)
    found = []
    for k, t in enumerate(times):
        exact.place_snapshot(record[k])
        gaps, near = exact.gaps(), exact.near(REACH)
        own = same.copy()
        for begin, end, pairs in held:
            if begin <= t <= end:
                own |= pairs
        found.append((_nearest(exact, near[~own[near]], gaps), _nearest(exact, near[own[near]], gaps)))
    return found


def smallest(times: Array, distance: Array, pairs: tuple[Pair | None, ...]) -> Tightest | None:
    """Minimum of distances (N,), its pair and time."""
    if not np.isfinite(distance).any():
        return None
    k = int(np.nanargmin(distance))
    pair = pairs[k]
    return None if pair is None else (float(distance[k]), pair, float(times[k]))


def _nearest(exact: ExactWorld, numbers: NDArray[np.int64], gaps: Array) -> tuple[float, Pair | None]:
    """Minimum distance of some pairs, nearest boxes first, and its pair; NaN and None beyond reach.

    A pair that may touch counts only if it is deeper than allowed; shins are always near the floor, so the floor counts
    only if something penetrates it.
    """
    best: tuple[float, Pair | None] = (float("nan"), None)
    reach = REACH
    for k in numbers.tolist():
        if gaps[k] > max(reach, 0.0):
            break
        d = exact.distance(k, max(reach, TINY))
        value = 0.0 if d.value is None else d.value
        touching = FLOOR in d.pair or any(c.during[0] <= exact.time <= c.during[1] for c in exact.contacts.get(k, ()))
        if touching and (value > 0.0 or exact.allowed(k, None if d.value is None else -d.value) is not None):
            continue
        if (d.points is not None or d.hit) and value < reach:
            best, reach = (value, d.pair), value
    return best


def _span(world: World) -> tuple[float, float]:
    """Span of the world without artificial frames at the start of clips."""
    begin, end = world.span
    leads = [m.start + m.source.lead / m.fps for m in world.characters.values() if isinstance(m, Clip)]
    return min(max(min(leads), begin), end) if leads else begin, end
