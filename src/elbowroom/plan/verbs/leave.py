"""A hand moves to an object and closes on it, and departs: with what it has taken, or from what it has released."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from elbowroom.character.hand_shapes import FLAT, finger_joints, finger_rotations
from elbowroom.geometry.rotations import UP, Array, continuous, normalize
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.layers import held
from elbowroom.plan.checks.hands import arm_to, hand_of, joints_of, shifted
from elbowroom.plan.checks.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.state.take import Grip
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director
from elbowroom.plan.steps.give_way import require_free
from elbowroom.plan.verbs.grasp_choice import ReachableGrasp
from elbowroom.posing.grasps import closed_on
from elbowroom.world.fast import LimbCheck
from elbowroom.world.things import FOREVER
from elbowroom.world.world import World

# Distance that an object is lifted or drawn out before it travels, metres.
_LIFT, _DRAW = 0.05, 0.14

# Retreat of a hand after release, before it travels, metres; longer and shorter ones by these factors.
_LEAVE = 0.09
_SHARES = (2.0, 1.0, 0.6, 0.3)


def depart(d: Director, actor: Actor, hand: str, goals: Sequence[Array], what: str) -> None:
    """Move the hand straight to the first goal (4, 4) with a free path and clearance at its end.

    Without such a goal the first with a free path counts. Raises `PlanningFailure` where there is none.
    """
    begin, fallback = d.take, None
    failure: PlanningFailure | None = None
    postures: Postures | None = None
    T = hand_of(actor, hand, actor.pose)
    for place in goals:
        goal = arm_to(actor, hand, actor.pose, place)
        least = 0.25
        if goal is None or d.whole_body != "never":
            if postures is None:
                postures = Postures(d.world, actor.who, actor.now)
                postures = postures.with_soft_tissue() if d.settings.reach.soft else postures
            if goal is None or not postures.valid(goal):  # the body must help, which takes its time
                helped = d.reach(actor, hand, place, actor.k, postures)
                if not helped.found:
                    continue
                goal, least = d.looking(actor, helped.pose, place[:3, 3]), 0.7
        distance = float(np.linalg.norm(place[:3, 3] - T[:3, 3]))
        count = actor.frames(max(distance / d.settings.slow, least))
        reason = d.attempt(partial(acting.travel, d, actor, {hand: None}, goal, count, what, "contact"))
        if reason is None:
            actor.keep(joints_of(actor, hand))
            if _has_room(d, actor, hand):
                return
            fallback = fallback or d.take
        failure, d.take = failure or reason, begin
    if fallback is None:
        raise failure or PlanningFailure("no-path", f"{what}: the arm cannot withdraw from it")
    d.take = fallback


def _has_room(d: Director, actor: Actor, hand: str) -> bool:
    """Return whether the arm has the clearance of planned paths now."""
    limb = f"{hand}_arm"
    check = LimbCheck(d.world, actor.who, limb, (actor.now, actor.now), margin=d.settings.margin)
    return bool(check.free(actor.q[-1, list(actor.body.chain(limb).joints)], actor.now, exact=False))


def departures(out: Array, covered: bool) -> list[Array]:
    """Departures (3,) of a hand with an object, in the world; it came opposite to `out` (3,).

    Upwards first; towards the body first where something is above.
    """
    above = [share * _LIFT * UP for share in (1.0, 0.5, 0.2)]
    level = out * [1.0, 1.0, 0.0]
    size = float(np.linalg.norm(level))
    if size < 0.3:
        return above
    pull = level / size
    before = [share * _DRAW * pull + lift * UP for share in (1.4, 2.2, 1.0, 0.5) for lift in (0.01, 0.0)]
    return [*before, *above] if covered else [0.6 * _LIFT * UP + 0.4 * _DRAW * pull, *above, *before]


def let_go(
    d: Director,
    actor: Actor,
    hand: str,
    thing: str,
    opened: Array,
    outs: Sequence[Array],
    what: str,
    back: Array | None = None,
) -> None:
    """Open the fingers to rotations (n, 4) and retreat, the way that the hand came first; `outs` are retreats (3,).

    `back` (4, 4) is another goal for the hand. Fingers that get stuck are tried stretched.
    """
    begin = actor.now
    relax(d.world, actor, hand, thing, actor.k)
    if thing:
        d.allow(hand_contacts(d.world, actor.who, hand, thing, (begin, begin + d.settings.close + 1.0), PRESS))

    def do(fingers: Array) -> None:
        acting.move_fingers(d, actor, {hand: fingers}, d.settings.close)
        actor.keep(joints_of(actor, hand))
        if fingers is not opened:  # they did not come this way, and may sweep through the object
            require_free(d, (begin, actor.now), what)
        units = [normalize(out) for out in outs]
        units.append(normalize(outs[0] * [1.0, 1.0, 0.0] + 0.3 * UP))
        T = hand_of(actor, hand, actor.pose)
        goals = [shifted(T, share * _LEAVE * out) for share in _SHARES for out in units]
        if back is not None:
            goals.insert(2, back)
        depart(d, actor, hand, goals, what)

    d.first([opened, finger_rotations(actor.body, hand, FLAT)], do)


def relax(world: World, actor: Actor, hand: str, thing: str, k: int) -> None:
    """Let arm and fingers that held an object from the start be at ease in the base from frame k on."""
    at_ease = [h.at_ease for h in world.holds if (h.object, h.by, h.hand) == (thing, actor.who, hand)]
    fingers = list(finger_joints(actor.body, hand))
    base = held(actor.base, max(len(actor.base), k + 1))
    q = np.array(base.rotations)
    if not at_ease or at_ease[0] is None or not np.allclose(q[-1, fingers], q[0, fingers]):  # after a walk they are
        return
    rows, joints = np.arange(k, len(q)), [*actor.body.chain(f"{hand}_arm").joints, *fingers]
    q[k:, joints] = at_ease[0][np.minimum(rows, len(at_ease[0]) - 1)][:, joints]
    actor.change(base=base.with_(rotations=continuous(q)))


def take(
    d: Director,
    actor: Actor,
    taking: ReachableGrasp,
    thing: str,
    what: str,
    at: float | None,
    *,
    close: bool = True,
    focus: Array | None = None,
) -> None:
    """Travel, approach, and close the fingers, the eyes on the object or on a point."""
    hand, start = taking.hand, hand_of(actor, taking.hand, actor.pose)
    slow = actor.frames(float(np.linalg.norm(taking.approach)) / d.settings.slow)
    way = float(np.linalg.norm(hand_of(actor, hand, taking.before)[:3, 3] - start[:3, 3]))
    count = acting.set_out(d, actor, way, d.frames_until(actor, way, at, slow, what))
    if focus is None:
        focus = d.world.frame(thing, actor.time(actor.k + count + slow))[:3, 3]
    acting.travel(d, actor, {hand: taking.open}, d.looking(actor, taking.before, focus), count, what)
    begin = actor.now
    closing = d.settings.close
    end = actor.time(actor.k + slow + actor.frames(closing))
    if thing:
        d.allow(hand_contacts(d.world, actor.who, hand, thing, (begin, end), PRESS))
    target = d.looking(actor, taking.target, focus)
    acting.travel(d, actor, {hand: None}, target, slow, what, "contact")
    acting.join(d, actor, hand, actor.k - slow, actor.k - slow - count)
    if not close:
        return
    closed = closed_on(actor.body, d.world.objects[thing].mesh, taking.grasp)
    acting.move_fingers(d, actor, {hand: closed.rotations}, closing)


def hold(
    d: Director, actor: Actor, taking: ReachableGrasp, thing: str, t: float, T_hand: Array, T_thing: Array
) -> None:
    """Attach an object at its placement (4, 4) to a hand at a transform (4, 4) from a time on."""
    d.world = d.world.with_hold(thing, actor.who, taking.hand, (t, FOREVER), inverse(T_hand) @ T_thing)
    off = T_hand[:3, :3].T @ normalize(-taking.approach)
    d.take = d.take.with_grip(thing, Grip(taking.open, off, T_thing, (taking.hand, taking.grasp.name)))
