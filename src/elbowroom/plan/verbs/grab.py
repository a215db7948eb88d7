"""A hand takes hold of a thing: it travels there, approaches, and closes its fingers on it (K9)."""

from __future__ import annotations

from typing import get_args

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.plan import acting
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import FOREVER, Director, Grip, varied
from elbowroom.plan.hands import (
    hand_of,
    holder_of,
    joints_of,
)
from elbowroom.plan.places import resting, supported, under_cover
from elbowroom.plan.postures import PRESS, hand_contacts
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Grab, Hand
from elbowroom.plan.verbs.grasp_choice import Taking, takings
from elbowroom.plan.verbs.leave import depart, lifts
from elbowroom.posing.grasps import closed_on


def grab(d: Director, task: Grab) -> None:
    """Take an object and lift it off what it lies on."""
    actor = d.actor(task.who)
    what = f"grab {task.object}"
    owner = holder_of(d.world, task.object, actor.now)
    if owner is not None:
        raise PlanningFailure(
            "hand-not-free", f"{what}: {owner.by} wears it ({owner.hand}), and nobody moves when it is taken"
        )
    under = resting(d.world, task.object, actor.now)

    def do(taking: Taking) -> None:
        hand = taking.hand
        out = -taking.approach / np.linalg.norm(taking.approach)
        take(d, actor, taking, task.object, what, task.at)
        T_hand, T_taken = hand_of(actor, hand, actor.pose), d.world.frame(task.object, actor.now)
        d.world = d.world.with_hold(task.object, actor.who, hand, (actor.now, FOREVER), inverse(T_hand) @ T_taken)
        actor.keep(joints_of(actor, hand))
        d.grips[task.object] = Grip(taking.open, T_hand[:3, :3].T @ out, T_taken, (hand, taking.grasp.name))
        contacts = d.world.contacts
        d.allow(supported(task.object, under, (-np.inf, FOREVER)))
        covered = under_cover(d.world, task.object, actor.now, T_taken)
        depart(d, actor, hand, lifts(actor, hand, out, covered), f"lift {task.object}")
        # once off, it may not touch what it lay on any more: a bookcase has other boards, too
        d.world = d.world.with_(contacts=(*contacts, *supported(task.object, under, (-np.inf, actor.now))))

    d.first(varied(d, takings(d, actor, task.object, task, what)), do)


def in_hand(d: Director, task: Grab, t: float) -> bool:
    """Return whether the hand that is asked for has the object at a time already; a note tells that nothing is done
    then.

    Raises where it is in another hand, of the same person or of somebody else: an object is in one hand at a time.
    """
    hold = holder_of(d.world, task.object, t)
    if hold is None or hold.hand not in get_args(Hand):
        return False
    has = f"grab {task.object}: {hold.by} holds it in the {hold.hand} hand already"
    if hold.by != task.who:
        raise PlanningFailure("hand-not-free", f"{has} and has to hand it over or put it down first")
    if task.hand not in (None, hold.hand):
        raise BadValue(f"{has}; to change hands use regrasp.")
    d.world = d.world.with_(notes=(*d.world.notes, f"{has}: nothing is done."))
    return True


def take(
    d: Director,
    actor: Actor,
    taking: Taking,
    thing: str,
    what: str,
    at: float | None,
    *,
    close: bool = True,
    focus: Array | None = None,
) -> None:
    """Travel, approach, and close the fingers, the eyes on the thing or on a point."""
    hand, start = taking.hand, hand_of(actor, taking.hand, actor.pose)
    slow = actor.frames(float(np.linalg.norm(taking.approach)) / d.settings.slow)
    way = float(np.linalg.norm(hand_of(actor, hand, taking.before)[:3, 3] - start[:3, 3]))
    count = acting.set_out(d, actor, way, d.frames_until(actor, way, at, slow, what))
    if focus is None:
        focus = d.world.frame(thing, actor.time(actor.k + count + slow))[:3, 3]
    acting.travel(d, actor, hand, d.looking(actor, taking.before, focus), count, what, fingers=taking.open)
    begin = actor.now
    closing = d.settings.close
    end = actor.time(actor.k + slow + actor.frames(closing))
    if thing:
        d.allow(hand_contacts(d.world, actor.who, hand, thing, (begin, end), PRESS))
    acting.travel(d, actor, hand, d.looking(actor, taking.target, focus), slow, what, margin=0.0, straight=True)
    acting.join(d, actor, hand, actor.k - slow, actor.k - slow - count)
    if not close:
        return
    closed = closed_on(actor.body, d.world.objects[thing].mesh, taking.grasp)
    acting.move_fingers(d, actor, hand, closed.rotations, closing)
