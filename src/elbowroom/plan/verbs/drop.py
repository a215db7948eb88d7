"""A hand opens and lets what it holds fall (S5)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply, inverse, transform
from elbowroom.plan import acting
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import FOREVER, Director
from elbowroom.plan.give_way import require_free
from elbowroom.plan.hands import hand_of, holder_of, joints_of
from elbowroom.plan.places import alone, supported, surface_at
from elbowroom.plan.postures import PRESS, hand_contacts
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Drop
from elbowroom.plan.verbs.hold import bring
from elbowroom.plan.verbs.put import holding_hand, usual_grip
from elbowroom.plan.verbs.touch import place_of
from elbowroom.world.paths import Fall
from elbowroom.world.world import Snapshot, World

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
    """Return where the thing is let go, (4, 4): so far above where it lands, turned as it was taken."""
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
        raise PlanningFailure("target-out-of-reach", f"drop {task.object}: there is nothing below to fall onto")
    T[2, 3] += task.height - found.depth
    return T


def _let_fall(d: Director, actor: Actor, hand: str, thing: str, opened: Array, share: float, what: str) -> None:
    """Open the fingers to rotations (n, 4); the thing is off after a share of that time."""
    begin = actor.now
    off = begin + share * _OPENS
    T = d.world.frame(thing, begin)
    found = landing(d.world, thing, begin, T)
    if found is None:
        raise PlanningFailure("target-out-of-reach", f"{what}: there is nothing below to fall onto")
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
    require_free(d, (begin, actor.now), what)
    d.grips.pop(thing, None)


GRAVITY = 9.81  # m/s²

# A thing comes to lie this far above what it falls onto, metres, as close as the proof of a motion asks for.
_ABOVE = 0.0005

# Steps of the way down, metres: never less than the first, never past what is nearer; its end is found to the last.
_STEP, _FINE = 0.003, 0.0001

# Seconds before the end of a fall from which the thing may touch what it falls onto.
LANDS = 0.04

# Nothing is looked for farther below than this, metres.
_DEEPEST = 20.0


@dataclass(frozen=True)
class Landing:
    """Landing of a thing: how far it falls, metres, and the names of what it then lies on."""

    depth: float
    on: tuple[str, ...]


def landing(world: World, thing: str, t: float, T_world_thing: Array) -> Landing | None:
    """Return where a thing would land from a place (4, 4) if it fell straight down at a time; None where nothing is
    below.

    People are not looked at: what falls onto their feet is for the proof to tell.
    """
    exact, places = alone(world, thing, t)
    numbers = np.array([k for k in range(len(exact.index)) if thing in exact.pairs[k]], dtype=np.int64)
    if not len(numbers):
        return None

    def hits(depth: float) -> list[int]:
        """Numbers of pairs that meet with the thing so far below."""
        lower = {**places, thing: transform([0.0, 0.0, -depth]) @ T_world_thing}
        exact.place_snapshot(Snapshot(t, {}, lower))
        return [int(k) for k in exact.near(0.0) if thing in exact.pairs[k] and exact.hit(int(k))]

    free = step = 0.0
    hits(free)
    while free < _DEEPEST:
        # boxes around things are never nearer than the things themselves
        step = max(float(exact.gaps()[numbers].min()), _STEP)
        if hits(free + step):
            break
        free += step
    else:
        return None
    blocked = free + step
    while blocked - free > _FINE:
        middle = 0.5 * (free + blocked)
        free, blocked = (free, middle) if hits(middle) else (middle, blocked)
    names = [exact.pairs[k] for k in hits(blocked)]
    on = tuple(dict.fromkeys(pair.b if pair.a == thing else pair.a for pair in names))
    return Landing(max(free - _ABOVE, 0.0), on)


def seconds_of(depth: float) -> float:
    """Return how long a fall takes from rest, seconds, for metres."""
    return float(np.sqrt(2.0 * depth / GRAVITY))


def falling(start: float, depth: float, fps: float) -> Fall:
    """A fall from rest that starts at a second and ends metres below, with a key for each frame."""
    lasts = seconds_of(depth)
    if lasts < 1e-6:
        return Fall(np.array([start]), np.zeros((1, 3)))
    since = np.append(np.arange(int(np.ceil(lasts * fps - 1e-9))) / fps, lasts)
    offsets = np.zeros((len(since), 3))
    offsets[:, 2] = -np.minimum(0.5 * GRAVITY * since**2, depth)
    return Fall(start + since, offsets)


def let_fall(world: World, thing: str, t: float, T_world_thing: Array, fps: float) -> World:
    """A world in which a hand lets go of a thing at a time and a place (4, 4), from where it falls.

    Raises `PlanningFailure` where nothing is below.
    """
    found, hold = landing(world, thing, t, T_world_thing), holder_of(world, thing, t)
    if found is None or hold is None:
        raise PlanningFailure("target-out-of-reach", f"drop {thing}: there is nothing below to fall onto")
    ended = replace(hold, during=(hold.during[0], t), fall=falling(t, found.depth, fps))
    down = t + seconds_of(found.depth)
    return world.with_(
        holds=tuple(ended if h is hold else h for h in world.holds),
        contacts=(*world.contacts, *supported(thing, found.on, (down - LANDS, np.inf))),
    )
