"""Footing for tasks without a time: a motion that comes to rest near the target pauses there.

A base that stays in one place continues under its tasks. One that walks up to something and stands for a moment is held
there until its tasks are done: the feet stay planted and the whole body can help. A task with a time never changes the
timing of the base, and a character that is never at rest near the target reaches while moving.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.hands import arms_of
from elbowroom.plan.checks.places import moves, target_of
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Rest, Task
from elbowroom.plan.verbs.carry import rest
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.world.things import FOREVER
from elbowroom.world.world import World

# Hips and feet below this speed are at rest, m/s: weight shifts are slower, steps are faster.
_REST_M_S = 0.15
# Shortest rest, seconds: the double support of a walk is shorter.
_LASTS_S = 0.3
# A resting place may be this much farther from the target than the nearest position of the motion, metres.
_FARTHER_M = 0.15
# Rests within this distance of the nearest one, metres, count as equal; so do those whose shoulder is within this share
# of the arm's length. The first of them is taken.
_AS_NEAR_M = 0.03
_EASY = 0.9
# Rests that are tried.
_RESTS = 3


def on_footing(d: Director, task: Task, do: Callable[[], None]) -> None:
    """Carry out a task with every participant's base paused at a rest near the target.

    Further rests are tried if the first fails. Nothing is paused for characters that stay in place, for tasks with a
    time, and where no participant comes to rest near the target.
    """
    people = [d.actor(who) for who in task.people]
    going = [actor for actor in people if not (task.at is not None or actor.over or (actor.stands and not actor.left))]
    if not going:
        return do()
    if task.begins_moving(d) and d.attempt(do) is None:  # where it fails, it may be possible standing
        return None

    def attempt(number: int) -> None:
        for actor in going:
            _stop(d, actor, task, number)
        do()

    d.first(range(_RESTS), attempt)


def _stop(d: Director, actor: Actor, task: Task, number: int) -> None:
    """Advance to the rest of the given number and pause; do nothing where there is none."""
    found = target_of(d.world, task, actor.now)
    rests = _rests(actor, None if found is None else found[1], task)
    if number >= max(len(rests), 1):
        raise PlanningFailure("target-out-of-reach", f"{task.verb}: {actor.who} comes to rest nowhere else")
    if actor.left is not None:
        if rests[number] == actor.k:
            return
        rest(d, Rest(who=actor.who))
        resume(d, actor)
        rests = _rests(actor, None if found is None else found[1], task)
    target = d.world.split(found[0])[0] if found is not None else ""
    moving = target in d.world.things and moves(d.world, target, actor.base.times[actor.k :])
    if number < len(rests) and not moving and not _bound(d, actor):
        acting.wait(d, actor, rests[number] - actor.k)
        actor.pause()


def resume(d: Director, actor: Actor) -> None:
    """Let a paused base continue; the world's notes say how long it stood still."""
    begin, end = actor.resume()
    note = f"{actor.who} pauses at {begin:.2f} s of the motion for {end - begin:.2f} s"
    d.world = actor.placed(d.world).with_(notes=(*d.world.notes, note))


def finished(d: Director) -> World:
    """The world with complete motions; open holds end with them."""
    for actor in d.actors.values():
        if actor.left is not None:
            resume(d, actor)
    world = d.world
    for actor in d.actors.values():
        world = actor.placed(world)
    begin, end = world.span
    holds = tuple(replace(h, during=(h.during[0], min(h.during[1], end))) for h in world.holds if h.during[0] < end)
    contacts = tuple(replace(c, during=(max(c.during[0], begin), min(c.during[1], end))) for c in world.contacts)
    return world.with_(holds=holds, contacts=contacts)


def _rests(actor: Actor, point: Array | None, task: Task) -> list[int]:
    """Frames from now on at rest near a point (3,): the first with an easy reach, then by distance.

    A handover is not done in passing: its last frame counts as a rest of a motion that has no other.
    """
    clip = actor.ahead_clip()
    rows = np.flatnonzero(_at_rest(clip))
    if not len(rows) and task.receiver is not None:
        return [actor.k + len(clip) - 1]
    if not len(rows) or point is None:
        return [actor.k + int(row) for row in rows[:1]]
    T = clip.world()
    arms = [T[:, actor.body.chain(f"{hand}_arm").joints[0], :3, 3] for hand in arms_of(actor, None)]
    far = np.min([np.linalg.norm(point - shoulder, axis=1) for shoulder in arms], axis=0)
    rows, near = rows[far[rows] <= far.min() + _FARTHER_M], far.min()
    limits = [_EASY * max(LimbIK(actor.body, f"{hand}_arm").reach[1] for hand in arms_of(actor, None)), near]
    limits.insert(1, 0.5 * sum(limits))
    firsts = [rows[far[rows] <= max(limit, far[rows].min()) + _AS_NEAR_M][:1] for limit in limits if len(rows)]
    return list(dict.fromkeys(actor.k + int(row) for first in firsts for row in first))


def _at_rest(clip: Clip) -> NDArray[np.bool_]:
    """Mask of frames (N,) in the middle of an interval of rest of hips and feet."""
    body = clip.character
    joints = [0, *(chain.joints[-1] for chain in body.chains.values() if chain.kind == "leg")]
    step = np.linalg.norm(np.diff(clip.world()[..., :3, 3][:, joints], axis=0), axis=-1).max(axis=1, initial=0.0)
    still = np.append(step * clip.fps < _REST_M_S, True)
    if len(still) > 1:
        still[-1] = still[-2]
    around = max(round(0.5 * _LASTS_S * clip.fps), 1)
    padded = np.pad(still, around, mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * around + 1).all(axis=1))


def _bound(d: Director, actor: Actor) -> bool:
    """Return whether the world depends on the timing of the base, as with recorded holds and contacts."""
    times = [t for hold in d.world.holds if hold.by == actor.who for t in hold.during]
    mine = (c for c in d.world.contacts if actor.who in (d.world.split(c.who)[0], d.world.split(c.on)[0]))
    times += [contact.during[0] for contact in mine]
    return any(actor.now < t < FOREVER for t in times)
