"""Placements of an object that is taken, and of those where it is put next (K9)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.plan.checks.hands import effort, may_step, shoulder_of
from elbowroom.plan.checks.places import goals_of, on_oneself, target_of, turned, wearer_of
from elbowroom.plan.checks.postures import Postures, at_rest
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Go, Put, only
from elbowroom.posing.limb_ik import LimbIK

# Shoulder travel beyond which a person would rather walk, share of the height.
_LEANS = 0.25

# Saving of effort for which an object is put down at another rotation than it was taken, and options that are tried.
_AS_TAKEN, _TURNS = 0.5, 4


@dataclass(frozen=True, eq=False)
class Place:
    """Placement (4, 4) of an object that is taken or put, with frame, posture check and description.

    One that `turns` may be rotated about the vertical; its rotations are made once each, by their bytes.
    """

    T_world_thing: Array
    k: int
    postures: Postures
    what: str
    turns: bool = False
    rotated: dict[bytes, Place] = field(default_factory=dict)
    far: list[tuple[Array, float]] = field(default_factory=list)  # wrists (3,) out of reach, and by how many metres


def easiest_turns(actor: Actor, hand: str, T_goal: Array, T_thing_hand: Array) -> list[Array]:
    """Placements (4, 4) of an object rotated about the vertical, the easiest for a hand first, the goal's own rotation
    preferred.
    """
    goals = turned(T_goal, T_goal[:3, 3])
    cost = effort(actor, hand, np.stack(goals) @ T_thing_hand, actor.k)
    cost[0] -= _AS_TAKEN
    return [goals[k] for k in np.argsort(cost, kind="stable")[:_TURNS]]


def next_places(d: Director, actor: Actor, hand: str, thing: str, taken: Array, k: int) -> list[Place]:
    """Placements where an object taken from one (4, 4) in frame k may be put next by the same hand."""
    task = next((t for t in only(d.coming, Put) if t.object == thing), None)
    if task is None or task.who != actor.who or task.hand not in (None, hand) or task.support is not None:
        return []
    t = actor.now
    if (
        may_step(actor, task)
        and not on_oneself(d.world, task)
        and (_walks_before(d, task) or _afar(d, actor, hand, task))
    ):
        return []
    if actor.layered:  # on top of a motion the time is known, or nothing is
        at = k if task.at is None else actor.frame(task.at)
        if not k < at < len(actor.base):
            return []
        k, t = at, actor.time(at)
    turns = not actor.layered and task.turn is None and wearer_of(d.world, task.onto) is None
    out = []
    for T_goal in goals_of(d.world, task, taken, np.array([t])):
        postures = Postures(at_rest(d.world, thing, T_goal[0]), actor.who, t, hand=hand, taking=thing)
        out.append(Place(T_goal[0], k, postures, f"put {thing}", turns))
    return out


def _walks_before(d: Director, task: Put) -> bool:
    """Return whether the actor walks elsewhere before a task."""
    earlier = takewhile(lambda other: other is not task, d.coming)
    return any(other.who == task.who for other in only(earlier, Go))


def _afar(d: Director, actor: Actor, hand: str, task: Put) -> bool:
    """Return whether the actor would step up to where an object is to be put."""
    found = target_of(d.world, task, actor.now)
    if found is None:
        return False
    far = float(np.linalg.norm(found[1] - shoulder_of(actor, hand, actor.pose)))
    return far > LimbIK(actor.body, f"{hand}_arm").reach[1] + _LEANS * actor.body.height
