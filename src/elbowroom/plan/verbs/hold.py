"""Bringing a held object somewhere and keeping it there: held out, before a drop, or for a handover (S5)."""

from __future__ import annotations

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import UP, Array, normalize
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.checks.hands import effort, front_of, hand_of, joints_of, shoulder_of
from elbowroom.plan.checks.places import turned
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import HoldOut
from elbowroom.plan.verbs.carry import carry_to, holding_hand
from elbowroom.plan.verbs.grasp_choice import failure
from elbowroom.plan.verbs.touch import place_of
from elbowroom.posing.limb_ik import LimbIK

# Distances at which a hand holds objects out, shares of the arm's length; forward component of sideways ones, as a
# share of that; and how many are planned.
_OUT, _AHEAD, _TRIES = (0.8, 0.7, 0.6), (0.3, 0.8), 8


def hold_out(d: Director, task: HoldOut) -> None:
    """Bring a held object to its place, and stay for a while."""
    if not (np.isfinite(task.seconds) and task.seconds > 0.0):
        raise BadValue(f"hold {task.object}: the duration must be more than 0 s, not {task.seconds}.")
    actor = d.actor(task.who)
    hand = holding_hand(d, task, task.object)
    what = f"hold out {task.object}"
    T_hand, T_thing = hand_of(actor, hand, actor.pose), d.world.frame(task.object, actor.now)
    if task.to is None:
        ends = _before(actor, hand, T_hand, task.toward)
    else:
        point = place_of(d, task.to, actor.now if task.at is None else task.at)
        ends = np.stack([T @ inverse(T_thing) @ T_hand for T in turned(T_thing, point)])

    def do(T_target: Array) -> None:
        bring(d, actor, hand, T_target, task.at, what)
        acting.wait(d, actor, actor.frames(task.seconds))

    d.first([ends[i] for i in at_ease(actor, hand, ends)[:_TRIES]], do)


def bring(d: Director, actor: Actor, hand: str, T_target: Array, at: float | None, what: str) -> None:
    """Carry a held object to the hand's target (4, 4), look there, and stay; raises `PlanningFailure`."""
    distance = float(np.linalg.norm(T_target[:3, 3] - hand_of(actor, hand, actor.pose)[:3, 3]))
    count = d.frames_until(actor, distance, at, 0, what)
    k = actor.k + count
    postures = Postures(d.world, actor.who, actor.time(k))
    there = d.reach(actor, hand, T_target, k, postures)
    if not there.found:
        raise failure(there, postures, what)[1]
    goal = d.looking(actor, there.pose, T_target[:3, 3])
    carry_to(d, actor, hand, goal, acting.set_out(d, actor, distance, count), what, direct=at is not None)
    actor.keep(joints_of(actor, hand))
    actor.pin(hand)


def at_ease(actor: Actor, hand: str, ends: Array) -> list[int]:
    """Indices of hand transforms (N, 4, 4), the easiest for the arm first."""
    return [int(i) for i in np.argsort(effort(actor, hand, ends, actor.k), kind="stable")]


def _before(actor: Actor, hand: str, T_hand: Array, toward: str) -> Array:
    """Transforms (N, 4, 4) of a hand stretched out to a side of the body, rotated about the vertical from now."""
    pose = actor.neutral(actor.k)
    front = front_of(actor, actor.body.skeleton.at(pose))
    left = np.cross(UP, front)
    main = {"front": front - 0.4 * UP, "left": left, "right": -left, "up": UP}[toward]
    directions = [normalize(main + share * front) for share in _AHEAD]
    shoulder, length = shoulder_of(actor, hand, pose), LimbIK(actor.body, f"{hand}_arm", pose).reach[1]
    return np.stack(
        [T for direction in directions for share in _OUT for T in turned(T_hand, shoulder + share * length * direction)]
    )
