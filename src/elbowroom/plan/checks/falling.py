"""Falls of objects: where they land, how long it takes, and the world in which they fall."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.plan.checks.hands import holder_of
from elbowroom.plan.checks.places import alone, supported
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.world.paths import Fall
from elbowroom.world.world import Snapshot, World

GRAVITY = 9.81  # m/s²

# Gap between a fallen object and its support, metres: the smallest that a proof accepts.
_ABOVE = 0.0005

# Step lengths downwards, metres: at least the first, never past the nearest obstacle; the last refines the end.
_STEP, _FINE = 0.003, 0.0001

# Interval before the end of a fall in which the object may touch its support, seconds.
LANDS = 0.04

# Largest depth of a fall, metres.
_DEEPEST = 20.0


@dataclass(frozen=True)
class Landing:
    """Depth of a fall in metres, and the names of what the object then lies on."""

    depth: float
    on: tuple[str, ...]


def landing(world: World, thing: str, t: float, T_world_thing: Array) -> Landing | None:
    """Landing of an object that falls straight down from a placement (4, 4); None where nothing is below.

    Characters are ignored: the proof reports what falls onto their feet.
    """
    exact, places = alone(world, thing, t)
    numbers = np.array([k for k in range(len(exact.index)) if thing in exact.pairs[k]], dtype=np.int64)
    if not len(numbers):
        return None

    def hits(depth: float) -> list[int]:
        """Indices of pairs that collide with the object lowered by `depth`."""
        lower = {**places, thing: transform([0.0, 0.0, -depth]) @ T_world_thing}
        exact.place_snapshot(Snapshot(t, {}, lower))
        return [int(k) for k in exact.near(0.0) if thing in exact.pairs[k] and exact.hit(int(k))]

    free = step = 0.0
    hits(free)
    while free < _DEEPEST:
        # bounding boxes give a lower bound of the distance
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
    """Duration of a fall from rest over a depth in metres."""
    return float(np.sqrt(2.0 * depth / GRAVITY))


def falling(start: float, depth: float, fps: float) -> Fall:
    """Keyframes of a fall from rest that starts at a time and ends `depth` metres below, one per frame."""
    lasts = seconds_of(depth)
    if lasts < 1e-6:
        return Fall(np.array([start]), np.zeros((1, 3)))
    since = np.append(np.arange(int(np.ceil(lasts * fps - 1e-9))) / fps, lasts)
    offsets = np.zeros((len(since), 3))
    offsets[:, 2] = -np.minimum(0.5 * GRAVITY * since**2, depth)
    return Fall(start + since, offsets)


def let_fall(world: World, thing: str, t: float, T_world_thing: Array, fps: float) -> World:
    """A world in which a hand releases an object at a time and placement (4, 4), from where it falls.

    Raises `PlanningFailure` where nothing is below.
    """
    found, hold = landing(world, thing, t, T_world_thing), holder_of(world, thing, t)
    if found is None or hold is None:
        raise PlanningFailure("target-out-of-reach", f"drop {thing}: there is nothing below for it to fall onto")
    ended = replace(hold, during=(hold.during[0], t), fall=falling(t, found.depth, fps))
    down = t + seconds_of(found.depth)
    return world.with_(
        holds=tuple(ended if h is hold else h for h in world.holds),
        contacts=(*world.contacts, *supported(thing, found.on, (down - LANDS, np.inf))),
    )
