"""Plans for a limb whose ends may be near contact, where the fast test is in doubt and the exact one decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.search.birrt import USUAL, Budget, Path, plan
from elbowroom.spaces.limb import LimbSpace
from elbowroom.world.fast import FREE

# Radians that joints are moved by to get out of doubt, and how often each is tried.
_AWAY = (0.02, 0.05, 0.1, 0.2)
_TRIES = 24


def plan_limb(space: LimbSpace, start: Array, goal: Array, seed: int = 0, budget: Budget = USUAL) -> Path:
    """As `search.birrt.plan`, but ends that only the exact test finds free are left and entered under its eyes."""
    path = plan(space, start, goal, seed, budget)
    before, after = np.zeros((0, space.width)), np.zeros((0, space.width))
    for _ in range(2):
        leaving = path.status == "start-in-collision"
        if not leaving and path.status != "goal-in-collision":
            break
        end = start if leaving else goal
        found = way_out(space, end, seed, forward=leaving)
        if found is None:
            return path
        if leaving:
            before, start = end[None], found
        else:
            after, goal = end[None], found
        path = plan(space, start, goal, seed, budget)
    if not path.found:
        return path
    return replace(path, states=frozen(np.concatenate([before, path.states, after])))


def way_out(space: LimbSpace, state: Array, seed: int = 0, *, forward: bool = True) -> Array | None:
    """A state near by that is surely free, the way there free by the exact test; None where there is none.

    With time, it comes a moment later, or earlier where not `forward`.
    """
    check, rng = space.check, np.random.default_rng(seed)
    coordinates, t = space.coordinates(state), float(state[0])
    if not check.free(space.rotations(state), t):
        return None
    for away in _AWAY:
        moved = coordinates + rng.uniform(-away, away, (_TRIES, *coordinates.shape))
        q = np.stack([x.rotation(x.clamp_coordinates(moved[:, j])) for j, x in enumerate(space.limits)], axis=1)
        span = float(4.0 * away / space.slowest) if space.timed else 0.0
        then = t + span if forward else t - span
        if not check.span[0] <= then <= check.span[1]:
            continue
        for k in np.flatnonzero(check.batch(q, then) == FREE):
            there = space.state(q[k], then)
            ends = np.stack([state, there] if forward else [there, state])
            way = space.dense(Path(ends, "found"), space.resolution)
            if all(check.free(space.rotations(row), float(row[0])) for row in way):
                return there
    return None
