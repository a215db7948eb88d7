"""Paths of a held object, whatever the body does: detours that are tried before a search, and whether there is a path
at all (Y2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import UP, Array
from elbowroom.kernels.space import CHECKS
from elbowroom.plan.checks.hands import front_of, shifted
from elbowroom.plan.checks.places import resting
from elbowroom.plan.state.result import PlanningFailure, tried
from elbowroom.plan.verbs.holding import Grips, Holding, Team
from elbowroom.search.birrt import Budget
from elbowroom.search.rrt import plan
from elbowroom.spaces.object import ObjectSpace, between_states, cube_side, place_of, state_of

# Distances of the object from the body's middle on a detour, shares of the body's height, or of the height that fits
# its arms if that is less.
_NEAR_BODY = (0.27, 0.24, 0.21, 0.18, 0.15)
# Length from shoulder to wrist relative to the height, of the built-in woman.
_ARM = 0.309
# Ways to the side, shares of the same height: of a box from under a board of the same width, and of a wider one.
_ASIDE = (0.24, 0.36)
# Extra height of the approach to the goal, and heights above what is between; shares of the body's height.
_HIGHER = (0.0, 0.06)
_OVER = (0.0, 0.12, 0.22)
# Metres that an object is lifted before it is carried, and above its place before it is set down; less at the end of
# the arms' reach.
_LIFT_M, _LOW_LIFT_M = 0.04, 0.015
# Metres from one look at the object to the next, before bodies are checked.
_STEP_M = 0.06
# Looks at the object alone before its goal counts as closed off: three times the steps that any search of benchmarks/
# object_moves.py with a body took, each twice as long.
_ALONE = Budget(checks=1000, nodes=1000)
# How far hips may move from where a person stands, a share of the height.
_HIPS = 0.25


def detours(holding: Holding, T_a: Array, T_b: Array, *, alone: bool) -> Iterator[list[Array]]:
    """Via placements (4, 4) of the object between two: up and over, drawn in to the body, or sideways.

    An object of several carriers goes up and over only.
    """
    body, up = holding.actor.body, UP
    top = max(T_a[2, 3], T_b[2, 3])
    for over in _OVER:  # lifted, moved across, lowered
        yield [shifted(T, (top - T[2, 3] + over * body.height) * up) for T in (T_a, T_b)]
    if not alone:
        return
    drawn_in = []
    for near in _NEAR_BODY:
        for higher in _HIGHER:
            above = shifted(T_b, higher * body.height * up)
            drawn_in.append([_drawn_in(holding, T_a, near), _drawn_in(holding, above, near), above])
        # half way up or down in front of low placements, where crouched thighs leave no room to draw it in
        half = shifted(min(T_a, T_b, key=_height), 0.5 * abs(_height(T_b) - _height(T_a)) * up)
        high = _drawn_in(holding, max(T_a, T_b, key=_height), near)
        rising = [half, _drawn_in(holding, half, near), high]
        drawn_in.append(rising if T_a[2, 3] < T_b[2, 3] else rising[::-1])
    yield from drawn_in[: len(_HIGHER)]
    left = np.cross(up, front_of(holding.actor, body.skeleton.at(holding.actor.pose)))
    middle = float(left @ (0.5 * (T_a[:3, 3] + T_b[:3, 3]) - holding.actor.pose.root))
    sides = (-1.0, 1.0) if middle > 0.0 else (1.0, -1.0)
    ways = [side * aside * arms_height(holding) * left for aside in _ASIDE for side in sides]
    sideways = [[shifted(T_a, by), shifted(T_b, by)] for by in ways]
    yield from sideways[: len(sides)]
    yield from drawn_in[len(_HIGHER) :]
    yield from sideways[len(sides) :]


def _height(T: Array) -> float:
    """Height of a placement (4, 4), metres."""
    return float(T[2, 3])


def arms_height(holding: Holding) -> float:
    """Height of a person with such arms, metres, at most the body's own."""
    body = holding.actor.body
    arm = [body.T_rest[j, :3, 3] for j in body.chain("left_arm").joints]
    length = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(arm))
    return min(body.height, length / _ARM)


def _drawn_in(holding: Holding, T: Array, near: float) -> Array:
    """The placement (4, 4) drawn in to a distance from the body's middle, a share of its height, as people carry."""
    pelvis = holding.actor.pose.root
    way = np.array([*(T[:2, 3] - pelvis[:2]), 0.0])
    far = float(np.linalg.norm(way))
    by = max(far - near * arms_height(holding), 0.0)
    return shifted(T, -by * way / max(far, 1e-9))


def ends_above(holding: Holding, grips: Grips | None = None, ends: Sequence[Pose] = ()) -> list[Array]:
    """Places (4, 4) to which the object is lifted off what it lies on, and from which it is set down.

    Lower where the body cannot hold it so high, near its postures at the `ends`.
    """
    here = holding.d.world, holding.thing, holding.actor.now
    out = []
    for k, T in enumerate((holding.T_start, holding.T_goal)):
        lies = resting(*here, T)
        high = shifted(T, _LIFT_M * UP) if lies else T
        held = tried(partial(holding.held_at, grips, high, ends[k])) if lies and grips is not None else None
        if isinstance(held, PlanningFailure):
            high = shifted(T, _LOW_LIFT_M * UP)
        out.append(high)
    return out


def clear(team: Team, stations: Sequence[Array], room: float) -> bool:
    """Return whether the object and the hands on it are free at stations (7,) and between them, whatever bodies do."""
    for a, b in pairwise(stations):
        count = max(int(np.linalg.norm(b[:3] - a[:3]) / _STEP_M), 1)
        for T in place_of(between_states(a, b, np.arange(1, count + 1) / count)):
            if any(holding.carried_blame(grips, T, room, lies=False) for holding, grips in team):
                return False
    return True


def require_way(holding: Holding) -> None:
    """Raise `PlanningFailure` where the object alone, without hands on it, finds no way to its goal within reach."""
    body, pelvis, nobody = holding.actor.body, holding.actor.pose.root, Grips({})
    T_rest = body.T_rest[:, :3, 3]
    arm = T_rest[[0, *body.chain("left_arm").joints]]
    size = np.linalg.norm(np.ptp(holding.d.world.objects[holding.thing].mesh.bounds, axis=0))
    reach = float(np.linalg.norm(np.diff(arm, axis=0), axis=1).sum() + _HIPS * body.height + 0.5 * size)

    def follow(start: Array, payload: bool, end: Array, tally: NDArray[np.int64]) -> bool | None:
        tally[CHECKS] += 1
        far = np.linalg.norm(end[:3] - pelvis) > reach
        return None if far or holding.carried_blame(nobody, place_of(end), 0.0, lies=False) else True

    first, last = (state_of(T) for T in ends_above(holding))
    space = ObjectSpace(0.5 * (first + last)[:3], cube_side(body.height), follow, turning="level", upright=first[3:],
                        step_m=_STEP_M, ends=(first[:3], last[:3]))  # fmt: skip
    if not plan(space, (first, True), last, 0, _ALONE, True).found:
        raise PlanningFailure("no-path", f"{holding.what}: the object itself has no collision-free path to its goal")
