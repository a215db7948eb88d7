"""Grips of one hand or both on an object that is to be moved (Y1): palms on opposite sides, or one hand above the
other on a pole, which is too thin for palms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply, transform
from elbowroom.locomotion.departure import stance_of
from elbowroom.plan.checks.hands import effort, front_of, shoulder_of
from elbowroom.plan.checks.margins import STEPS_M
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.verbs.holding import Grips, Holding
from elbowroom.posing.grasps import closed_on, grasps_of, opposed
from elbowroom.posing.grasps_form import GraspForm, form_of
from elbowroom.posing.grasps_settle import Grasp
from elbowroom.posing.two_hands import STEEP, edge_grasps, two_hand_grasps
from elbowroom.world.world import World

# Objects whose two smaller sizes are below this are poles, metres.
_THIN_M = 0.1
# Distances between two hands on a pole, metres: fists have room from the first on.
_APART_M = (0.25, 0.7)
# Spacing of grasps along a pole, and distance of the last ones from its ends, metres.
_STEP_M = 0.13
_END_M = 0.06
# Best height of hands below the shoulders, share of the body's height; cost per metre off it; tuned on `long-pole`.
_BELOW = 0.17
_OFF_COST = 8.0
# Grasps of a hand that are kept at each place, and that are examined for them.
_PER_PLACE = 3
_EXAMINED = 6


def is_pole(mesh: Mesh) -> bool:
    """Return whether an object is too thin for palms on opposite sides and long enough for two fists."""
    form = form_of(mesh)
    size = np.zeros(3) if form is None else np.sort(form.size)
    return bool(size[1] < _THIN_M and size[2] > _APART_M[0] + 2.0 * _END_M)


def pole_grasps(world: World, actor: Actor, thing: str, places: Sequence[Array]) -> list[tuple[Grasp, Grasp]]:
    """Pairs of grasps, left and right, along a pole that is to be held at placements (4, 4)."""
    form = form_of(world.objects[thing].mesh)
    if form is None:
        return []
    axis = form.T_thing_form[:3, int(np.argmax(form.size))]
    left, right = (_along(world, actor, hand, thing, form, places) for hand in ("left", "right"))
    return [
        (a, b)
        for a, b in product(left, right)
        if _APART_M[0] <= abs(float(axis @ (a.T_thing_hand - b.T_thing_hand)[:3, 3])) <= _APART_M[1]
    ]


def _along(world: World, actor: Actor, hand: str, thing: str, form: GraspForm, places: Sequence[Array]) -> list[Grasp]:
    """Grasps of a hand along a pole: those proposed for its middle, shifted, where fingers still close on it."""
    grasps = grasps_of(world, actor.who, hand, thing, actor.now)
    if not grasps:
        return []
    axis = form.T_thing_form[:3, int(np.argmax(form.size))]
    off = np.abs([(g.T_thing_hand[:3, 3] - form.T_thing_form[:3, 3]) @ axis for g in grasps])
    middle = [g for g, far in zip(grasps, off, strict=True) if far < off.min() + 0.5 * _STEP_M]
    height = shoulder_of(actor, hand, actor.pose)[2] - _BELOW * actor.body.height
    steps = np.floor((0.5 * float(form.size.max()) - _END_M) / _STEP_M)
    out: list[Grasp] = []
    for by in np.arange(-steps, steps + 1.0) * _STEP_M:
        hands = transform(by * axis) @ np.stack([g.T_thing_hand for g in middle])
        high = [float(np.mean([abs((T @ T_hand)[2, 3] - height) for T in places])) for T_hand in hands]
        moved = [
            replace(g, T_thing_hand=T_hand, name=f"{g.name} {100.0 * by:+.0f}", cost=g.cost + _OFF_COST * far)
            for g, T_hand, far in zip(middle, hands, high, strict=True)
        ]
        cost = np.array([g.cost for g in moved]) + sum(effort(actor, hand, T @ hands, actor.k) for T in places)
        few = (moved[i] for i in np.argsort(cost, kind="stable")[:_EXAMINED])
        out += islice((g for g in few if _holds(actor, world.objects[thing].mesh, g)), _PER_PLACE)
    return out


def _holds(actor: Actor, mesh: Mesh, grasp: Grasp) -> bool:
    """Return whether thumb and fingers close on the object."""
    touching = closed_on(actor.body, mesh, grasp).touching
    return "thumb" in touching and len(touching) > 1


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
        what = holding.d.world.objects[holding.thing]
        ordered = (grips for grips in ordered if opposed(actor.body, what, grips.grasps[hand]))
    else:  # hands that meet the floor beside a low object do so whatever the body does
        easiest = _suited(holding, ordered)
        ordered = iter(list(islice((grips for grips in easiest if _have_room(holding, grips)), most)) or easiest)
    found = list(islice(ordered, most))
    if not found:
        raise _unfit(holding, f"the {hands[0]} hand of {actor.who} alone cannot grasp it from two sides")
    return found


def _suited(holding: Holding, ordered: Iterable[Grips]) -> list[Grips]:
    """Grips in their order, those from above last where the object is nowhere low: they would fill the list of those
    that are checked, and higher up wrists do not follow them."""
    world, mesh = holding.d.world, holding.d.world.objects[holding.thing].mesh
    middles = [apply(T, mesh.bounds.mean(axis=0)[None])[0, 2] for T in (holding.T_start, holding.T_goal)]
    low = min(middles) - (world.floor or 0.0) < _LOW * holding.actor.body.height
    if low:
        return list(ordered)
    return sorted(ordered, key=lambda grips: any(g.name == STEEP for g in grips.grasps.values()))


def _have_room(holding: Holding, grips: Grips) -> bool:
    """Return whether hands on the object are free at its start and at its goal."""
    return all(holding.carried_blame(grips, T, STEPS_M[-1]) is None for T in (holding.T_start, holding.T_goal))


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
