"""Steps that all tasks are made of: a hand travels, goes straight, opens and closes, waits.

Every step adds frames to an actor and leaves the world in which they are done.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.limits import clamp_pose
from elbowroom.character.skeleton import Pose
from elbowroom.finish.rounding import joined
from elbowroom.finish.settle import between_free
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array, slerp
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director
from elbowroom.plan.give_way import give_way, require_free
from elbowroom.plan.limb_path import body_way, limb_way
from elbowroom.world.fast import LimbCheck

# Seconds to either side over which two ways of a hand become one.
_JOIN = 0.12


def set_out(d: Director, actor: Actor, metres: float, count: int) -> int:
    """Wait while there is more time than a way takes at ease; the frames that are left for it."""
    spare = count - round(1.3 * actor.frames(d.seconds_for(metres)))
    if spare <= 0 or d.at_once:
        return count
    wait(d, actor, spare)
    return count - spare


def travel(
    d: Director,
    actor: Actor,
    hands: Mapping[str, Array | None],
    goal: Pose,
    count: int,
    what: str,
    *,
    margin: float | None = None,
    straight: bool = False,
    back: bool = False,
) -> None:
    """Go to a posture in some frames: the body straight there, each arm as its tier finds. Raises `PlanningFailure`.

    `hands` that go there have the rotations (n, 4) that their fingers become on the way, or None where those stay.
    `straight` is a hand's way or none. `back` joins the base motion again.
    """
    root, q = body_way(actor, goal, count, hands)
    share = smoothstep(np.linspace(0.0, 1.0, count + 1))[:, None]
    arms = {f"{hand}_arm": list(actor.body.chain(f"{hand}_arm").joints) for hand in hands}
    for hand, arm in zip(hands, arms.values(), strict=True):
        actor.unpin(hand)
        q[:, arm] = slerp(q[0, arm], goal.rotations[arm], share)
    found = {}
    for limb, arm in arms.items():
        found[limb] = way = limb_way(d, actor, limb, root, q, what, margin=margin, straight=straight)
        q[:, arm] = way.rotations
    add(d, actor, root, q, away=not back)
    during = (actor.time(actor.k - count), actor.now)
    for limb, way in found.items():
        d.note(actor, limb, what, during, way)
    if len(hands) == 1:
        give_way(d, actor, next(iter(hands)), count, what)
    if d.careful:
        require_free(d, during, what)


def move_fingers(d: Director, actor: Actor, turned: Mapping[str, Array], seconds: float) -> None:
    """Fingers turn to rotations (n, 4) by hand, those of all hands at the same time."""
    count = actor.frames(seconds)
    root, q = actor.ahead(count)
    share = smoothstep(np.linspace(0.0, 1.0, count + 1))[:, None]
    for hand, rotations in turned.items():
        joints = list(finger_joints(actor.body, hand))
        if joints:
            q[:, joints] = slerp(q[:1, joints], rotations, share)
    add(d, actor, root, q)


def join(d: Director, actor: Actor, hand: str, at: int, since: int) -> None:
    """Let the arm go on without a stop at frame `at` where that is free; frames from `since` on may change."""
    arm = list(actor.body.chain(f"{hand}_arm").joints)
    since = max(since, at - 2 * actor.frames(_JOIN))
    smooth = joined(actor.q[since:, arm], at - since, actor.frames(_JOIN))
    limits = actor.body.limits
    within = clamp_pose([limits[j] if j < len(limits) else None for j in arm], smooth)
    during = (actor.time(since), actor.now)
    check = LimbCheck(d.world, actor.who, f"{hand}_arm", during)
    times = actor.base.start + np.arange(since, actor.k + 1) / actor.base.fps
    for frames in (within, smooth):
        if between_free(check, frames, times):
            actor.q = actor.q.copy()
            actor.q[since:, arm] = frames
            d.world = actor.placed(d.world)
            break


def wait(d: Director, actor: Actor, count: int) -> None:
    """Go on as if nothing was asked for some frames."""
    root, q = actor.ahead(count)
    add(d, actor, root, q, away=actor.away)


def add(d: Director, actor: Actor, root: Array, q: Array, *, away: bool = True) -> None:
    """Add frames that begin with the last one."""
    actor.done(root, q, away=away)
    d.world = actor.placed(d.world)
