"""Grips of one hand or both on an object that is to be moved (Y1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from elbowroom.geometry.transforms import apply
from elbowroom.locomotion.departure import stance_of
from elbowroom.plan.hands import effort, front_of
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.verbs.grasp_choice import holds
from elbowroom.plan.verbs.holding import ROOM_M, Grips, Holding
from elbowroom.plan.verbs.pole import is_pole, pole_grasps
from elbowroom.posing.grasps import Grasp, grasps_of
from elbowroom.posing.two_hands import STEEP, edge_grasps, two_hand_grasps

# Height of the middle of an object below which it is taken from above, a share of the body's.
_LOW = 0.3


def ranked_grips(holding: Holding, hands: Sequence[str], candidates: Sequence[Grips], most: int) -> list[Grips]:
    """Up to `most` of some grips on the object, the easiest first, whether feasible or not; raises
    `PlanningFailure`."""
    actor = holding.actor
    if not candidates:
        fit = "two hands of {} do not fit round it" if len(hands) > 1 else "hand of {} finds no grasp on it"
        raise _unfit(holding, f"the {fit.format(actor.who)} from where it lies")
    cost = np.array([sum(grasp.cost for grasp in grips.grasps.values()) for grips in candidates])
    for T in (holding.T_start, holding.T_goal):
        for hand in hands:
            ends = T @ np.stack([grips.grasps[hand].T_thing_hand for grips in candidates])
            cost = cost + effort(actor, hand, ends, actor.k)
    ordered: Iterator[Grips] = (candidates[i] for i in np.argsort(cost, kind="stable"))
    if len(hands) == 1:
        (hand,) = hands
        ordered = (grips for grips in ordered if holds(holding.d, actor, holding.thing, grips.grasps[hand]))
    else:  # hands that meet the floor beside a low object do so whatever the body does
        easiest = _suited(holding, ordered)
        ordered = iter(list(islice((grips for grips in easiest if _have_room(holding, grips)), most)) or easiest)
    found = list(islice(ordered, most))
    if not found:
        raise _unfit(holding, f"the {hands[0]} hand of {actor.who} alone cannot grasp it from two sides")
    return found


def _suited(holding: Holding, ordered: Iterable[Grips]) -> list[Grips]:
    """Grips in their order, those from above last where the object is nowhere low: they would fill the list of those
    that are looked at, and higher up wrists do not follow them."""
    world, mesh = holding.d.world, holding.d.world.objects[holding.thing].mesh
    middles = [apply(T, mesh.bounds.mean(axis=0)[None])[0, 2] for T in (holding.T_start, holding.T_goal)]
    low = min(middles) - (world.floor or 0.0) < _LOW * holding.actor.body.height
    if low:
        return list(ordered)
    return sorted(ordered, key=lambda grips: any(g.name == STEEP for g in grips.grasps.values()))


def _have_room(holding: Holding, grips: Grips) -> bool:
    """Return whether hands on the object are free at its start and at its goal."""
    return all(holding.carried_blame(grips, T, ROOM_M) is None for T in (holding.T_start, holding.T_goal))


def _unfit(holding: Holding, why: str) -> PlanningFailure:
    """Failure of hands that do not fit an object."""
    failed = PlanningFailure("target-out-of-reach", f"{holding.what}: {why}")
    failed.remedy = "make it smaller, turn it, or mark grasps on it"
    return failed


def grips_on(holding: Holding, hands: Sequence[str]) -> list[Grips]:
    """Grips on the object: of both hands one above the other on a pole, or palms on opposite sides."""
    d, actor = holding.d, holding.actor
    if len(hands) == 1:
        return [Grips({hands[0]: g}) for g in grasps_of(d.world, actor.who, hands[0], holding.thing, actor.now)]
    mesh = d.world.objects[holding.thing].mesh
    if is_pole(mesh):
        return _paired(pole_grasps(d.world, actor, holding.thing, (holding.T_start, holding.T_goal)))
    ahead = front_of(actor, actor.body.skeleton.at(actor.pose))
    return _paired(two_hand_grasps(actor.body, mesh, holding.T_start, ahead))


def edge_grips(holding: Holding) -> list[Grips]:
    """Grips of both hands under the edge of the object before the body."""
    actor = holding.actor
    place, heading = stance_of(actor.body, actor.pose)
    ahead = np.array([np.sin(heading), -np.cos(heading), 0.0])
    mesh = holding.d.world.objects[holding.thing].mesh
    return _paired(edge_grasps(actor.body, mesh, holding.T_start, place, ahead))


def _paired(pairs: Sequence[tuple[Grasp, Grasp]]) -> list[Grips]:
    return [Grips({"left": left, "right": right}) for left, right in pairs]
