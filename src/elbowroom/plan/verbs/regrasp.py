"""An object changes hands of one character: both hold it for a moment, and only then the first lets go (Y5)."""

from __future__ import annotations

from dataclasses import replace

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director, varied
from elbowroom.plan.give_way import require_free
from elbowroom.plan.hands import arms_of, hand_of, held_by
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Grab, Regrasp
from elbowroom.plan.verbs.carry import grip_of, holding_hand
from elbowroom.plan.verbs.grasp_choice import ReachableGrasp, reachable_grasps
from elbowroom.plan.verbs.handover import any_of, apart, closes, meetings, pass_on
from elbowroom.plan.verbs.hold import bring
from elbowroom.plan.verbs.take import take

# Placements before the body that are tried without a path to them.
_TRIES = 6


def regrasp(d: Director, task: Regrasp) -> None:
    """Hold an object before the body, take it with the other hand, and release it with the first."""
    actor, what = d.actor(task.who), f"regrasp {task.object}"
    first = holding_hand(d, replace(task, hand=None), task.object)
    other = _other_hand(d, actor, first, task, what)
    grip = grip_of(d, actor, first, task.object)
    T_thing_hand = inverse(d.world.frame(task.object, actor.now)) @ hand_of(actor, first, actor.pose)
    begin = actor.now

    def meet(T_meet: Array) -> None:
        bring(d, actor, first, T_meet @ T_thing_hand, None, what)

        def receive(taking: ReachableGrasp) -> None:
            take(d, actor, taking, task.object, what, None)
            pass_on(d, actor, first, actor, taking, task.object, grip)
            require_free(d, (begin, actor.now), what)

        asked = Grab(who=actor.who, object=task.object)
        options = reachable_grasps(d, actor, task.object, asked, what, [(other, actor.k)], manner="alone")
        room = (t for t in options if apart(actor, first, actor, t) and closes(d, actor, t, task.object, actor.now))
        d.first(any_of(room, f"{what}: the {first} hand leaves no room on it for the {other} hand"), receive)

    d.first(varied(d, meetings(d, actor, first, actor, task.object, T_thing_hand, what)), meet, _TRIES)


def _other_hand(d: Director, actor: Actor, first: str, task: Regrasp, what: str) -> str:
    """The hand that takes the object from the first one; raises where it cannot."""
    if first not in ("left", "right"):
        raise PlanningFailure("hand-not-free", f"{what}: {actor.who} wears it ({first}) and must grab it first")
    (other,) = arms_of(actor, task.hand or ("left" if first == "right" else "right"))
    hold = held_by(d.world, actor.who, other, actor.now)
    if hold is not None:
        held = "it already" if hold.object == task.object else f"'{hold.object}'"
        raise PlanningFailure("hand-not-free", f"{what}: the {other} hand of {actor.who} holds {held}")
    if not actor.stands:
        raise PlanningFailure("no-path", f"{what}: {actor.who} is walking; hands can be changed only while standing")
    return other
