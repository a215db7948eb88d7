"""A hand opens and lets what it holds fall (S5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.tasks import acting
from elbowroom.tasks.actor import Actor
from elbowroom.tasks.beside import supported
from elbowroom.tasks.carrying import holding_hand, usual_grip
from elbowroom.tasks.director import FOREVER, Director
from elbowroom.tasks.falling import LANDS, falling, landing, seconds_of
from elbowroom.tasks.hands import hand_of, holder_of, joints_of
from elbowroom.tasks.holding import bring
from elbowroom.tasks.places import surface_at
from elbowroom.tasks.postures import PRESS, hand_contacts
from elbowroom.tasks.stuck import Stuck
from elbowroom.tasks.touching import place_of
from elbowroom.tasks.verbs import Drop

# Seconds in which a hand that drops something opens, and the shares of them after which the thing may be off.
_OPENS, _OFF = 0.16, (0.4, 0.7, 1.0)


def drop(d: Director, task: Drop) -> None:
    """Go above where the thing is to land, where that is told, and open the hand."""
    actor = d.actor(task.who)
    hand = holding_hand(d, task, task.object)
    what = f"drop {task.object}"
    grip = d.grips.get(task.object) or usual_grip(d, actor, hand, task.object)
    if task.over is None:
        if task.at is not None:
            acting.wait(d, actor, d.frames_until(actor, 0.0, task.at, 0, what))
    else:
        T_release = above(d, task, grip.T_world_taken[:3, :3], actor.now)
        T_thing_hand = inverse(d.world.frame(task.object, actor.now)) @ hand_of(actor, hand, actor.pose)
        bring(d, actor, hand, T_release @ T_thing_hand, task.at, what)

    def do(share: float) -> None:
        _let_fall(d, actor, hand, task.object, grip.open, share, what)

    d.first(_OFF, do)


def above(d: Director, task: Drop, turn: Array, t: float) -> Array:
    """Where the thing is let go, (4, 4): so far above where it lands, turned as it was taken."""
    assert task.over is not None
    mesh = d.world.objects[task.object].mesh
    T = np.eye(4)
    T[:3, :3] = turn
    here = d.world.frame(task.object, t)[:3, 3]
    named = isinstance(task.over, str)
    T[:3, 3] = surface_at(d.world, str(task.over), t, None, here) if named else place_of(d, task.over, t)
    T[2, 3] += task.height - float(apply(T, mesh.vertices)[:, 2].min() - T[2, 3])
    found = landing(d.world, task.object, t, T)
    if found is None:
        raise Stuck("target-out-of-reach", f"drop {task.object}: there is nothing below to fall onto")
    T[2, 3] += task.height - found.depth
    return T


def _let_fall(d: Director, actor: Actor, hand: str, thing: str, opened: Array, share: float, what: str) -> None:
    """Open the fingers to rotations (n, 4); the thing is off after a share of that time."""
    begin = actor.now
    off = begin + share * _OPENS
    T = d.world.frame(thing, begin)
    found = landing(d.world, thing, begin, T)
    if found is None:
        raise Stuck("target-out-of-reach", f"{what}: there is nothing below to fall onto")
    hold = holder_of(d.world, thing, begin)
    assert hold is not None, "somebody who holds it was asked for"
    falls = replace(hold, during=(hold.during[0], off), fall=falling(off, found.depth, actor.base.fps))
    d.world = d.world.with_(holds=tuple(falls if h is hold else h for h in d.world.holds))
    down = off + seconds_of(found.depth)
    d.allow(supported(thing, found.on, (down - LANDS, FOREVER)))
    d.allow(hand_contacts(d.world, actor.who, hand, thing, (off, off + _OPENS), PRESS))
    acting.move_fingers(d, actor, hand, opened, _OPENS)
    acting.wait(d, actor, max(actor.frame(down) - actor.k, 0) + actor.frames(_OPENS))
    actor.keep(joints_of(actor, hand))
    d.require_free((begin, actor.now), what)
    d.grips.pop(thing, None)
