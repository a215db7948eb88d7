"""Hands of people: what they hold, and how an arm is brought to a place on the body as it stands."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.plan.actor import Actor
from elbowroom.plan.places import moves
from elbowroom.plan.repair.allowed import own_touches
from elbowroom.plan.tasks import Carry, Drop, Follow, Go, HoldOut, Move, Regrasp, Repair, Rest, Task
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.posing.orbit import search_orbit
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Riding
from elbowroom.world.things import Fixture, Hold
from elbowroom.world.world import World

# With all its help a body that stands brings a shoulder no farther than this, share of its height.
_LEANS = 0.55

# How often in a second a recorded motion is looked at for what it touches of itself.
_LOOKS = 20.0


def held_by(world: World, who: str, hand: str, t: float) -> Hold | None:
    """Return what a hand holds at a time and from then on."""
    for hold in world.holds:
        if (hold.by, hold.hand) == (who, hand) and hold.during[0] <= t + 1e-9 < hold.during[1]:
            return hold
    return None


def holder_of(world: World, thing: str, t: float) -> Hold | None:
    """The hold on a thing at a time; of several the one that has lasted longest."""
    return next(_holding(world, thing, t), None)


def _holding(world: World, thing: str, t: float) -> Iterator[Hold]:
    """Holds on a thing at a time, the longest first."""
    holds = (h for h in world.holds if h.object == thing and h.during[0] <= t + 1e-9 < h.during[1])
    return iter(sorted(holds, key=lambda h: h.during[0]))


def released(
    world: World,
    thing: str,
    t: float,
    by: str | None = None,
    on: Collection[str] = (),
    T_world_thing: Array | None = None,
) -> World:
    """A world in which a thing is let go at a time by a person, or by whoever has held it longest.

    `on` names what it rests on then: what is left in a drawer goes with the drawer. `T_world_thing` (4, 4) is where it
    is then, if the world does not have it there yet.
    """
    hold = next((h for h in _holding(world, thing, t) if by in (None, h.by)), None)
    if hold is None:
        return world
    ended = replace(
        hold,
        during=(hold.during[0], t),
        onto=_riding(world, world.frame(thing, t) if T_world_thing is None else T_world_thing, t, on),
    )
    return world.with_(holds=tuple(ended if h is hold else h for h in world.holds))


def _riding(world: World, T_world_thing: Array, t: float, on: Collection[str]) -> Riding | None:
    """Path of a thing that rests on a fixture, or on what moves, since a time; None where nothing takes it along."""
    if any(name not in world.objects for name in on):
        return None
    later = np.linspace(t, max(world.span[1], t + 1.0), 33)
    base = next(
        (world.objects[n].path for n in on if isinstance(world.objects[n], Fixture) or moves(world, n, later)), None
    )
    if base is None:
        return None
    return Riding(base, inverse(np.asarray(base(t))) @ T_world_thing)


def joints_of(actor: Actor, hand: str) -> tuple[int, ...]:
    """Joints that go with a hand: its arm's, and its fingers'."""
    chain = actor.body.chain(f"{hand}_arm")
    return (*chain.lead, *chain.joints, *finger_joints(actor.body, hand))


def hand_of(actor: Actor, hand: str, pose: Pose) -> Array:
    """`T_world_hand` (4, 4) of a hand's joint in a posture."""
    joint, T = actor.body.hand(hand)
    return np.asarray(actor.body.skeleton.at(pose)[joint] @ T)


def shoulder_of(actor: Actor, hand: str, pose: Pose) -> Array:
    """Return where the shoulder of a hand's arm is in a posture, (3,)."""
    return np.asarray(actor.body.skeleton.at(pose)[actor.body.chain(f"{hand}_arm").joints[0], :3, 3])


def beyond_reach(actor: Actor, hand: str, point: Array) -> float:
    """Metres by which a point (3,) is out of reach of somebody who stands, however far they lean; 0 where it is not."""
    far = float(np.linalg.norm(point - shoulder_of(actor, hand, actor.pose)))
    return max(far - longest_reach(actor, hand), 0.0)


def longest_reach(actor: Actor, hand: str) -> float:
    """Metres from the shoulder of somebody upright to what a hand reaches at most, however far they lean."""
    return LimbIK(actor.body, f"{hand}_arm").reach[1] + _LEANS * actor.body.height


def may_step(actor: Actor, task: Task) -> bool:
    """Return whether somebody may walk for a task of a hand: who stands, without a time to keep or feet to leave."""
    timed = task.at is not None or task.begin is not None
    stays = isinstance(task, Carry | Go | Follow | Regrasp | Rest | Repair) or getattr(task, "foot", None) is not None
    # who moves something together with others stays with them
    stays |= isinstance(task, Move) and bool(task.helpers)
    # before the body, or below the hand
    stays |= (isinstance(task, HoldOut) and task.to is None) or (isinstance(task, Drop) and task.over is None)
    return not (timed or stays or task.feet == "stay" or actor.over) and actor.stands


def touches_itself(world: World, actor: Actor) -> list[Contact]:
    """Return what parts of a recorded motion may touch of its own body: as deep as they do there, and a little more."""
    clip = actor.original
    if not clip.source.format:
        return []
    count = max(int(clip.duration * _LOOKS), 1) + 1
    touches = own_touches(ExactWorld(world), actor.who, [0], np.linspace(*clip.span, count))
    return touches.contacts((clip.span[0], np.inf), planned=True)


def front_of(actor: Actor, T: Array) -> Array:
    """Return where a body faces whose joints are at T (..., J, 4, 4): a level unit vector (..., 3)."""
    front = T[..., 0, :3, :3] @ actor.body.T_rest[0, :3, :3].T @ actor.body.front
    return np.asarray(normalize(front * [1.0, 1.0, 0.0]))


def arms_of(actor: Actor, wanted: str | None) -> list[str]:
    """Hands that a task may mean: the wanted one, or all that the body has; a missing limb is told by its name."""
    if wanted is not None:
        actor.body.chain(f"{wanted}_arm")
        return [wanted]
    return [hand for hand in ("right", "left") if f"{hand}_arm" in actor.body.chains]


def arm_to(actor: Actor, hand: str, pose: Pose, T_world_hand: Array) -> Pose | None:
    """A posture with a hand at its target by the arm alone, the elbow as near to where it was as may be."""
    ik = LimbIK(actor.body, f"{hand}_arm", pose)
    found = search_orbit(ik, ik.T_world_parent(pose), T_world_hand, start=ik.orbit_of(pose))
    return ik.posed(pose, found.solution) if found.found else None


def shifted(T: Array, by: Array) -> Array:
    """A place (4, 4) moved by a vector (3,) of the world."""
    return np.asarray(transform(by) @ T)
