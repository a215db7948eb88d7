"""Hands: what they hold, how far they reach, and arm postures for a target with the body in place."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import UP, Array, about, angle, rotate
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.plan.checks.allowed import own_touches
from elbowroom.plan.checks.places import moves, moving_until
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.tasks import Task
from elbowroom.posing.limb_ik import EASY_ORBIT, LimbIK
from elbowroom.posing.orbit import search_orbit, search_orbits
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Riding
from elbowroom.world.things import Fixture, Hold
from elbowroom.world.world import World

# With all its help a standing body moves a shoulder by no more than this share of its height.
_LEANS = 0.55

# Rate at which a recorded motion is sampled for contacts with itself, per second.
_SAMPLES_PER_S = 20.0


def held_by(world: World, who: str, hand: str, t: float) -> Hold | None:
    """The object that a hand holds at a time and afterwards."""
    for hold in world.holds:
        if (hold.by, hold.hand) == (who, hand) and hold.during[0] <= t + 1e-9 < hold.during[1]:
            return hold
    return None


def holder_of(world: World, thing: str, t: float) -> Hold | None:
    """The hold on an object at a time; of several, the one that began first."""
    return next(_holding(world, thing, t), None)


def _holding(world: World, thing: str, t: float) -> Iterator[Hold]:
    """Holds on an object at a time, the earliest first."""
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
    """A world in which an object is released at a time by a character, or by the holder that began first.

    `on` names its new support: what is left in a drawer moves with the drawer. `T_world_thing` (4, 4) is its placement
    then, if the world does not have it there yet.
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
    """Path of an object on a moving fixture or object since a time; None where nothing carries it along."""
    if any(name not in world.objects for name in on):
        return None
    # a belt may begin to move after everybody has come to rest
    later = np.linspace(t, max(world.span[1], t + 1.0, *(moving_until(world, name) for name in on)), 65)
    base = next(
        (world.objects[n].path for n in on if isinstance(world.objects[n], Fixture) or moves(world, n, later)), None
    )
    if base is None:
        return None
    return Riding(base, inverse(np.asarray(base(t))) @ T_world_thing)


def joints_of(actor: Actor, hand: str) -> tuple[int, ...]:
    """Joints of a hand's arm and fingers."""
    chain = actor.body.chain(f"{hand}_arm")
    return (*chain.lead, *chain.joints, *finger_joints(actor.body, hand))


def hand_of(actor: Actor, hand: str, pose: Pose) -> Array:
    """`T_world_hand` (4, 4) of a hand's joint in a posture."""
    joint, T = actor.body.hand(hand)
    return np.asarray(actor.body.skeleton.at(pose)[joint] @ T)


def shoulder_of(actor: Actor, hand: str, pose: Pose) -> Array:
    """Position of the shoulder of a hand's arm in a posture, (3,)."""
    return np.asarray(actor.body.skeleton.at(pose)[actor.body.chain(f"{hand}_arm").joints[0], :3, 3])


def beyond_reach(actor: Actor, hand: str, point: Array) -> float:
    """Distance of a point (3,) from the reach of a standing character, leaning included, metres; 0 within."""
    far = float(np.linalg.norm(point - shoulder_of(actor, hand, actor.pose)))
    return max(far - longest_reach(actor, hand), 0.0)


def longest_reach(actor: Actor, hand: str) -> float:
    """Largest distance from the upright shoulder to a point within reach, leaning included, metres."""
    return arm_length(actor, hand) + _LEANS * actor.body.height


def arm_length(actor: Actor, hand: str) -> float:
    """Distance from the shoulder to the wrist of a stretched arm, metres."""
    return LimbIK(actor.body, f"{hand}_arm").reach[1]


def may_step(actor: Actor, task: Task) -> bool:
    """Return whether an actor may walk for a task: standing, without a time or fixed feet."""
    timed = task.at is not None or task.begin is not None
    return not (timed or task.stays or task.feet == "stay" or actor.over or actor.knee is not None) and actor.stands


def touches_itself(world: World, actor: Actor) -> list[Contact]:
    """Self-contacts of a recorded motion: allowed as deep as they are in it, with a small reserve."""
    clip = actor.original
    if not clip.source.format:
        return []
    count = max(int(clip.duration * _SAMPLES_PER_S), 1) + 1
    touches = own_touches(ExactWorld(world), actor.who, [0], np.linspace(*clip.span, count))
    return touches.contacts((clip.span[0], np.inf), planned=True)


def front_of(actor: Actor, T: Array) -> Array:
    """Facing direction of bodies with joints at T (..., J, 4, 4): horizontal unit vectors (..., 3)."""
    return actor.body.facing(T)


# Lean of the chest from the vertical beyond which a posture is strained, radians: people step up rather than bow more.
BOW_RAD = np.radians(38.0)


def bow_of(body: Character, T: Array) -> Array:
    """Angle of the chest to the vertical with joints at T (..., J, 4, 4), radians (...)."""
    chest = body.role("chest")
    up = T[..., chest, :3, :3] @ (body.T_rest[chest, :3, :3].T @ UP)
    return np.asarray(np.arccos(np.clip(up[..., 2], -1.0, 1.0)))


def arms_of(actor: Actor, wanted: str | None) -> list[str]:
    """Hands that a task may use: the given one, or all that the body has. Raises for a missing limb."""
    if wanted is not None:
        actor.body.chain(f"{wanted}_arm")
        return [wanted]
    return [hand for hand in ("right", "left") if f"{hand}_arm" in actor.body.chains]


def arm_to(actor: Actor, hand: str, pose: Pose, T_world_hand: Array) -> Pose | None:
    """A posture with a hand at its target by the arm alone, the elbow as near as possible to where it was."""
    ik = LimbIK(actor.body, f"{hand}_arm", pose)
    found = search_orbit(ik, ik.T_world_parent(pose), T_world_hand, start=ik.orbit_of(pose))
    return ik.posed(pose, found.solution) if found.found else None


def shifted(T: Array, by: Array) -> Array:
    """A transform (4, 4) translated by a vector (3,) of the world."""
    return np.asarray(transform(by) @ T)


def as_it_stood(T_thing: Array, T_stood: Array) -> Array:
    """A placement (4, 4) as it is now, but with the tilt of an earlier one: what stood is to stand again."""
    turn = T_thing[:3, :3] @ T_stood[:3, :3].T
    heading = np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1])
    T = transform(T_thing[:3, 3], about(UP, heading))
    T[:3, :3] = T[:3, :3] @ T_stood[:3, :3]
    return T


def effort(
    actor: Actor, hand: str, ends: Array, k: int, pose: Pose | None = None, *, elbows_low: bool = False
) -> Array:
    """Effort (N,) of a hand at transforms (N, 4, 4) at a frame: reach, joint limits, wrist and elbow.

    With `elbows_low` the height of elbows counts as well.

    The body is in `pose`, or in its posture without the task.
    """
    pose = actor.neutral(k) if pose is None else pose
    ik = LimbIK(actor.body, f"{hand}_arm", pose)
    T_parent = ik.T_world_parent(pose)
    out = search_orbits(ik, T_parent, ends)
    wrist = angle(out.solution.rotations[:, 2])
    raised: Array | float = 0.0
    if elbows_low:
        upper = rotate(out.solution.rotations[:, 0], rotate(ik.geometry.hinge, ik.geometry.upper))
        raised = _raised(actor, upper @ T_parent[2, :3])
    return np.asarray(
        4.0 * out.solution.missing
        + 0.7 * out.solution.excess.sum(axis=1)
        + 0.4 * wrist
        + 0.3 * np.abs(out.angle - EASY_ORBIT)
        + raised
    )


def _raised(actor: Actor, elbow: Array) -> Array:
    """Discomfort (N,) of elbows at heights (N,) above the shoulder, metres: none where they hang."""
    return 8.0 * (np.maximum(elbow / actor.body.height, -0.1) + 0.1)


def discomfort(actor: Actor, hand: str, pose: Pose) -> float:
    """Discomfort of a posture: wrist bent, elbow up or turned out, trunk bent, more so sideways."""
    ik = LimbIK(actor.body, f"{hand}_arm", pose)
    T = actor.body.skeleton.at(pose)
    shoulder, elbow = (T[j, 2, 3] for j in ik.joints[:2])
    raised = float(_raised(actor, elbow - shoulder))
    bent = float(angle(pose.rotations[ik.joints[2]]))
    chest = actor.body.roles.get("chest", ik.parent)
    up = T[chest, :3, :3] @ actor.body.T_rest[chest, :3, :3].T @ UP
    aside = abs(float(up @ np.cross(UP, front_of(actor, T))))
    lean = float(np.arccos(np.clip(up[2], -1.0, 1.0)))
    trunk = 0.4 * lean**2 + 3.0 * aside**2
    return 0.35 * bent**2 + 0.3 * abs(ik.orbit_of(pose) - EASY_ORBIT) + raised + trunk
