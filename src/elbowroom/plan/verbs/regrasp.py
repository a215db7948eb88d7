"""An object goes from one hand to the other: both hold it for a moment, and only then the first lets go (Y5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from elbowroom.character.hand_shapes import finger_joints, finger_rotations
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director, varied
from elbowroom.plan.give_way import require_free
from elbowroom.plan.hands import arm_to, arms_of, hand_of, held_by, shifted
from elbowroom.plan.postures import Postures
from elbowroom.plan.result import PlanningFailure, blamed
from elbowroom.plan.tasks import Regrasp
from elbowroom.plan.verbs.carry import grip_of, holding_hand
from elbowroom.plan.verbs.grab import take
from elbowroom.plan.verbs.grasp_choice import Failed, Place, Taking, discomfort, eligible, fitting, ranked, sifted
from elbowroom.plan.verbs.handover import any_of, apart, closes, meetings, pass_on
from elbowroom.plan.verbs.hold import bring
from elbowroom.posing.grasps import Grasp, grasps_of

# Grasps of the other hand that are looked at, and how many that suit are enough.
_LOOKS = 24
_ENOUGH = 4
# Places before the body that are tried without a way to them.
_TRIES = 6


def regrasp(d: Director, task: Regrasp) -> None:
    """Hold an object before the body, take it with the other hand, and let go with the first."""
    actor, what = d.actor(task.who), f"regrasp {task.object}"
    first = holding_hand(d, replace(task, hand=None), task.object)
    other = _other_hand(d, actor, first, task, what)
    grip = grip_of(d, actor, first, task.object)
    T_thing_hand = inverse(d.world.frame(task.object, actor.now)) @ hand_of(actor, first, actor.pose)
    begin = actor.now

    def meet(T_meet: Array) -> None:
        bring(d, actor, first, T_meet @ T_thing_hand, None, what)

        def receive(taking: Taking) -> None:
            take(d, actor, taking, task.object, what, None)
            pass_on(d, actor, first, actor, taking, task.object, grip)
            require_free(d, (begin, actor.now), what)

        options = _takings(d, actor, other, task.object, what)
        room = (t for t in options if apart(actor, first, actor, t) and closes(d, actor, t, task.object, actor.now))
        d.first(any_of(room, f"{what}: the {first} hand leaves the {other} one no room on it"), receive)

    d.first(varied(d, meetings(d, actor, first, actor, task.object, T_thing_hand, what)), meet, _TRIES)


def _other_hand(d: Director, actor: Actor, first: str, task: Regrasp, what: str) -> str:
    """The hand that is to take the object from the first one; raises where it cannot."""
    if first not in ("left", "right"):
        raise PlanningFailure("hand-not-free", f"{what}: {actor.who} wears it ({first}) and has to grab it first")
    (other,) = arms_of(actor, task.hand or ("left" if first == "right" else "right"))
    hold = held_by(d.world, actor.who, other, actor.now)
    if hold is not None:
        held = "it already" if hold.object == task.object else f"'{hold.object}'"
        raise PlanningFailure("hand-not-free", f"{what}: the {other} hand of {actor.who} holds {held}")
    if not actor.stands:
        raise PlanningFailure("no-path", f"{what}: {actor.who} walks, and hands change only where feet stand")
    return other


def _takings(d: Director, actor: Actor, hand: str, thing: str, what: str) -> Iterator[Taking]:
    """Ways to take an object that the other hand holds still, by the arm alone, the best first; raises without any."""
    T_thing = d.world.frame(thing, actor.now)
    postures = Postures(d.world, actor.who, actor.now, hand=hand, taking=thing)
    failed: list[Failed] = []
    grasps = eligible(d, hand, thing, grasps_of(d.world, actor.who, hand, thing, actor.now), None)
    place = Place(T_thing, actor.k, postures, what)
    fit = fitting(d, ranked(actor, hand, grasps, T_thing, actor.k), actor.pose, [place], failed, back=False)
    looks = (_look(d, actor, hand, grasp, place) for grasp in islice(fit, _LOOKS))
    suited = sifted(looks, _ENOUGH, failed)
    if not suited and failed:
        raise min(failed, key=lambda f: f[0])[1]
    yield from suited


def _look(d: Director, actor: Actor, hand: str, grasp: Grasp, place: Place) -> Taking | Failed:
    """A grasp as something to do with the body as it stands, or how far it is from that and why."""
    T_thing, postures, what = place.T_world_thing, place.postures, place.what
    fingers = finger_rotations(actor.body, hand, grasp.open)
    postures.fingers = dict(zip(finger_joints(actor.body, hand), fingers, strict=True))
    T_target = T_thing @ grasp.T_thing_hand
    way = d.settings.approach * T_thing[:3, :3] @ grasp.approach
    target, before = (arm_to(actor, hand, actor.pose, T) for T in (T_target, shifted(T_target, -way)))
    if target is None or before is None:
        return 2.0, PlanningFailure("target-out-of-reach", f"{what}: the {hand} arm does not get there")
    met = postures.blame(target) or postures.blame(before)
    if met is not None:
        return 1.0, PlanningFailure("target-in-collision", f"{what}: {blamed(met)}")
    cost = grasp.cost + discomfort(actor, hand, target)
    return Taking(hand, place.k, grasp, T_target, target, before, fingers, way, cost)
