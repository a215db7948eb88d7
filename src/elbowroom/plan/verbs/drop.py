"""A hand opens and lets its object fall (S5)."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry.rotations import UP, Array
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.plan.checks.falling import landing, let_fall
from elbowroom.plan.checks.hands import hand_of, joints_of, shifted
from elbowroom.plan.checks.places import surface_at
from elbowroom.plan.checks.postures import PRESS, hand_contacts
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director
from elbowroom.plan.steps.give_way import require_free
from elbowroom.plan.tasks import Drop, Put
from elbowroom.plan.verbs.carry import grip_of, holding_hand
from elbowroom.plan.verbs.encounters import in_motion
from elbowroom.plan.verbs.hold import bring
from elbowroom.plan.verbs.put import put_in_motion
from elbowroom.plan.verbs.touch import place_of

# Seconds in which a dropping hand opens, and shares of them after which the object may be off.
_OPENS, _OFF = 0.16, (0.4, 0.7, 1.0)

# Heights above the requested one from which an object is dropped where a hand does not get so low, metres.
_HIGHER_M = (0.0, 0.1, 0.2, 0.3)


def drop(d: Director, task: Drop) -> None:
    """Move above the landing place, if given, and open the hand; over a motion, while it continues."""
    actor = d.actor(task.who)
    hand = holding_hand(d, task, task.object)
    what = f"drop {task.object}"
    grip = grip_of(d, actor, hand, task.object)
    if task.over is None:
        if task.at is not None:
            acting.wait(d, actor, d.frames_until(actor, 0.0, task.at, 0, what))
    else:
        T_release = _above(d, task, grip.T_world_taken[:3, :3], actor.now)
        if in_motion(d, actor, None, task.at):
            asked = {name: getattr(task, name) for name in ("who", "hand", "at", "begin", "back", "priority", "object")}
            x, y, z = T_release[:3, 3].tolist()
            put_in_motion(d, Put(**asked, to=(x, y, z)), what, falls=True)
            d.take = d.take.with_grip(task.object, None)
            return
        T_thing_hand = inverse(d.world.frame(task.object, actor.now)) @ hand_of(actor, hand, actor.pose)

        def to_height(more: float) -> None:
            bring(d, actor, hand, shifted(T_release @ T_thing_hand, more * UP), task.at, what)
            if more > 0.0:
                note = f"{what}: from {task.height + more:.2f} m above: the hand cannot get lower there."
                d.world = d.world.with_(notes=(*d.world.notes, note))

        d.first(_HIGHER_M, to_height)
    d.first(_OFF, lambda share: _let_fall(d, actor, hand, task.object, grip.open, share, what))


def _above(d: Director, task: Drop, turn: Array, t: float) -> Array:
    """Placement (4, 4) of the object at release: above where it lands, oriented as it was taken."""
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
        raise PlanningFailure("target-out-of-reach", f"drop {task.object}: there is nothing below for it to fall onto")
    T[2, 3] += task.height - found.depth
    return T


def _let_fall(d: Director, actor: Actor, hand: str, thing: str, opened: Array, share: float, what: str) -> None:
    """Open the fingers to rotations (n, 4); the object is off after a share of that time."""
    begin = actor.now
    off = begin + share * _OPENS
    d.world = let_fall(d.world, thing, off, d.world.frame(thing, begin), actor.base.fps)
    down = max(hold.fall.times[-1] for hold in d.world.holds if hold.object == thing and hold.fall is not None)
    d.allow(hand_contacts(d.world, actor.who, hand, thing, (off, off + _OPENS), PRESS))
    acting.move_fingers(d, actor, {hand: opened}, _OPENS)
    acting.wait(d, actor, max(actor.frame(down) - actor.k, 0) + actor.frames(_OPENS))
    actor.keep(joints_of(actor, hand))
    require_free(d, (begin, actor.now), what)
    d.take = d.take.with_grip(thing, None)
