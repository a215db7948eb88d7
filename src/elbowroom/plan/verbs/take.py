"""A hand moves to an object and closes on it."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.transforms import inverse
from elbowroom.plan import acting
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import FOREVER, Director, Grip
from elbowroom.plan.hands import hand_of
from elbowroom.plan.postures import PRESS, hand_contacts
from elbowroom.plan.verbs.grasp_choice import ReachableGrasp
from elbowroom.posing.grasps import closed_on


def take(
    d: Director,
    actor: Actor,
    taking: ReachableGrasp,
    thing: str,
    what: str,
    at: float | None,
    *,
    close: bool = True,
    focus: Array | None = None,
) -> None:
    """Travel, approach, and close the fingers, the eyes on the object or on a point."""
    hand, start = taking.hand, hand_of(actor, taking.hand, actor.pose)
    slow = actor.frames(float(np.linalg.norm(taking.approach)) / d.settings.slow)
    way = float(np.linalg.norm(hand_of(actor, hand, taking.before)[:3, 3] - start[:3, 3]))
    count = acting.set_out(d, actor, way, d.frames_until(actor, way, at, slow, what))
    if focus is None:
        focus = d.world.frame(thing, actor.time(actor.k + count + slow))[:3, 3]
    acting.travel(d, actor, {hand: taking.open}, d.looking(actor, taking.before, focus), count, what)
    begin = actor.now
    closing = d.settings.close
    end = actor.time(actor.k + slow + actor.frames(closing))
    if thing:
        d.allow(hand_contacts(d.world, actor.who, hand, thing, (begin, end), PRESS))
    target = d.looking(actor, taking.target, focus)
    acting.travel(d, actor, {hand: None}, target, slow, what, "contact")
    acting.join(d, actor, hand, actor.k - slow, actor.k - slow - count)
    if not close:
        return
    closed = closed_on(actor.body, d.world.objects[thing].mesh, taking.grasp)
    acting.move_fingers(d, actor, {hand: closed.rotations}, closing)


def hold(
    d: Director, actor: Actor, taking: ReachableGrasp, thing: str, t: float, T_hand: Array, T_thing: Array
) -> None:
    """Attach an object at its placement (4, 4) to a hand at a transform (4, 4) from a time on."""
    d.world = d.world.with_hold(thing, actor.who, taking.hand, (t, FOREVER), inverse(T_hand) @ T_thing)
    off = T_hand[:3, :3].T @ normalize(-taking.approach)
    d.grips = {**d.grips, thing: Grip(taking.open, off, T_thing, (taking.hand, taking.grasp.name))}
