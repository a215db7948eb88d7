"""Grasps of both hands on a pole, one above the other: too thin for palms on opposite sides (Y1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, product

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.plan.actor import Actor
from elbowroom.plan.hands import effort, shoulder_of
from elbowroom.posing.grasps import Grasp, closed_on, grasps_of
from elbowroom.posing.grasps_form import Form, form_of
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


def _along(world: World, actor: Actor, hand: str, thing: str, form: Form, places: Sequence[Array]) -> list[Grasp]:
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
