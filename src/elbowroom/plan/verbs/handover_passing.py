"""Handovers on the way: two people walk side by side, and an object changes hands while both go on (S5, S7)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy

from elbowroom.character.hand_shapes import finger_joints
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import UP, Array, normalize
from elbowroom.plan.checks.hands import released
from elbowroom.plan.checks.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.steps.director import Director, varied
from elbowroom.plan.tasks import Grab, Handover
from elbowroom.plan.verbs.carry import grip_of, holding_hand, homes, on_top
from elbowroom.plan.verbs.encounters import ContactTiming, frames_for, in_reach, shoulders
from elbowroom.plan.verbs.grasp_choice import ReachableGrasp, failure, reachable_grasps
from elbowroom.plan.verbs.handover import BOTH_S, EARLY_S, Beside, any_of, hand_over_standing, meetings
from elbowroom.plan.verbs.leave import departures, hold
from elbowroom.plan.verbs.passage import Encounter, Passage
from elbowroom.posing.grasps import closed_on

# Seconds in which the taker's fingers close after contact, and in which those of the giver open.
_CLOSING_S, _OPENING_S = 0.1, 0.25
# Seconds for which the taker keeps the object in place after that, while the giver's hand goes back.
_STAYS_S = 0.35
# The giver's hand retreats by this, metres, and may touch the object for this long after its fingers are open, seconds.
_OFF_M, _TOUCHES_S = 0.12, 0.6
# Two people walk side by side while their chests are nearer than this share of the smaller one's height, and the
# distance between them changes by less than so many m/s.
_BESIDE, _ALIKE_M_S = 0.6, 0.35
# Seconds before and after the handover that their motions need to have; over which sway is smoothed.
_BEFORE_S, _AFTER_S, _SMOOTHED_S = 1.2, 1.2, 0.2
# Meeting places, and carrying postures of the taker, that are tried.
_TRIES, _HOMES = 6, 3


def alongside(d: Director, task: Handover) -> bool:
    """Return whether two people who walk are side by side for long enough to hand something over."""
    people = [d.actor(task.who), d.actor(task.to)]
    if any(actor.stands or actor.left is not None for actor in people):
        return False
    return bool(np.isfinite(_nearness(*people)).any())


def hand_over(d: Director, task: Handover) -> None:
    """Hand an object over, standing or while both go on; raises `PlanningFailure`."""
    if task.to == task.who:
        raise BadValue(f"{task.who} cannot hand '{task.object}' over to {task.who}: name another character.")
    giver, taker, what = d.actor(task.who), d.actor(task.to), f"hand over {task.object}"
    if giver.stands and taker.stands:
        return hand_over_standing(d, task)
    with on_top(d, giver, task), on_top(d, taker, task):
        closed = _time(giver, taker, what) if task.at is None else task.at
        begin = closed - _CLOSING_S
        hand = holding_hand(d, task, task.object)
        at = giver.frame(begin), taker.frame(begin)
        if not all(0 <= k < len(actor.base) for k, actor in zip(at, (giver, taker), strict=True)):
            raise PlanningFailure("too-little-time", f"{what}: {closed:g} s is outside the motions of both")
        beside = Beside(d, giver, hand, taker, task.object)
        places = meetings(d, beside, what, at)
        drifts = [_drift(giver, taker, actor.base.times, begin) for actor in (giver, taker)]

        def meet(T_meet: Array) -> None:
            both = [np.repeat(T_meet[None], len(drift), axis=0) for drift in drifts]
            for T, drift in zip(both, drifts, strict=True):
                T[:, :3, 3] += drift
            _give(d, task, beside, (both[0], both[1]), closed, what)

        d.first(varied(d, places), meet, _TRIES)


def _give(d: Director, task: Handover, beside: Beside, places: tuple[Array, Array], closed: float, what: str) -> None:
    """Hold the object at placements (N, 4, 4) by frame of giver and taker, have it taken, let go and return."""
    giver, hand, thing, (T_target, T_thing) = d.actor(task.who), beside.hand, task.object, places
    grip = grip_of(d, giver, hand, thing)
    opens = giver.frame(closed + BOTH_S)
    T_hand = T_target @ beside.T_thing_hand
    postures = Postures(d.world, giver.who, giver.time(opens))
    found = d.reach(giver, hand, T_hand[opens], opens, postures)
    if not found.found:
        raise failure(found, postures, what)[1]
    pace = ContactTiming(early=EARLY_S + _CLOSING_S + BOTH_S, closing=0.0, work=_OPENING_S)
    passage = Passage(d, giver, task, Encounter(hand, opens, found.pose, T_target, T_hand), pace, what)
    passage.help(T_target[:, :3, 3])
    held = giver.base.rotations[passage.m.leaves, list(finger_joints(giver.body, hand))]
    passage.come(np.zeros(3), held, grip.open)
    out, release, done = normalize(T_hand[opens, :3, :3] @ grip.out), giver.time(opens), giver.time(passage.m.done)

    def let_go() -> None:
        d.world = released(d.world, thing, release, giver.who)
        d.allow(hand_contacts(d.world, giver.who, hand, thing, (release, done + _TOUCHES_S), PRESS))
        retreats = [_OFF_M * by for by in (out, normalize(out + 0.7 * UP), normalize(out - 0.7 * UP))]
        d.first(retreats, lambda by: passage.leave(by, f"leave {thing}"))

    _take(d, task, T_thing, beside, (closed, done + _STAYS_S), let_go)
    passage.finish()


def _take(
    d: Director,
    task: Handover,
    T_thing: Array,
    beside: Beside,
    during: tuple[float, float],
    let_go: Callable[[], None],
) -> None:
    """Take an object at placements (N, 4, 4) by frame beside the giver's hand, and carry it off.

    The fingers have closed at the first time of `during`, and the hand stays until the second, when those of the giver
    have let go: it is known how that hand goes back (`let_go`) before the object is carried off.
    """
    taker, thing, what = d.actor(task.to), task.object, f"take {task.object}"
    begin = during[0] - _CLOSING_S
    asked = Grab(who=task.to, object=thing, at=begin)
    points = T_thing[:, :3, 3]
    hands = frames_for(d, taker, asked, points, what)
    options = reachable_grasps(d, taker, thing, asked, what, hands, proposed=partial(beside.grasps_of, t=begin))
    room = in_reach(options, taker, hands, points, what)
    pace = ContactTiming(work=during[1] - during[0] + _CLOSING_S)

    def receive(taking: ReachableGrasp) -> None:
        passage = Passage(d, taker, asked, Encounter.of(taking, T_thing), pace, what)
        done = taker.frame(during[0])
        passage.help(points)
        d.allow(hand_contacts(d.world, taker.who, taking.hand, thing, (passage.near, during[1]), PRESS))
        fingers = closed_on(taker.body, d.world.objects[thing].mesh, taking.grasp).rotations
        passage.come(-taking.approach, taking.open, fingers, by_frame=done)
        hold(d, taker, taking, thing, taker.time(done), taking.T_world_hand, T_thing[taking.k])
        let_go()
        ways = departures(normalize(-taking.approach), False)
        carried = [home for home, _ in zip(homes(d, taker, taking.hand, thing, passage.m), range(_HOMES), strict=False)]
        tries = [*((carried[0], by) for by in ways), *((home, ways[0]) for home in carried[1:])]
        d.first(tries, lambda option: passage.leave(option[1], f"carry {thing}", home=option[0]), _HOMES)
        passage.finish()

    d.first(any_of(room, f"{what}: no grasp of {task.to} keeps clear of the hand of {task.who}"), receive)


def _chests(actor: Actor, times: Array) -> Array:
    """Middle between the shoulders (N, 3) at times (N,), smoothed over the sway of steps."""
    own = 0.5 * (shoulders(actor, "left") + shoulders(actor, "right"))
    own = scipy.ndimage.gaussian_filter1d(own, _SMOOTHED_S * actor.base.fps, axis=0, mode="nearest")
    return np.stack([np.interp(times, actor.base.times, own[:, k]) for k in range(3)], axis=1)


def _nearness(giver: Actor, taker: Actor) -> Array:
    """Distances of two chests (N,) by frame of the giver, metres; inf where they are not side by side for long."""
    times = giver.base.times
    apart = np.linalg.norm(_chests(giver, times) - _chests(taker, times), axis=1)
    fine = (apart < _BESIDE * min(giver.body.height, taker.body.height)) & (
        np.abs(np.gradient(apart, times)) < _ALIKE_M_S
    )
    fine &= times >= max(giver.now, taker.now, giver.base.span[0], taker.base.span[0]) + _BEFORE_S
    fine &= times <= min(giver.base.span[1], taker.base.span[1]) - _AFTER_S
    return np.where(fine, apart, np.inf)


def _time(giver: Actor, taker: Actor, what: str) -> float:
    """Time at which two people who walk are nearest to each other, seconds."""
    apart = _nearness(giver, taker)
    if not np.isfinite(apart).any():
        raise PlanningFailure(
            "target-out-of-reach", f"{what}: {giver.who} and {taker.who} do not walk side by side for long enough"
        )
    return float(giver.base.times[int(np.argmin(apart))])


def _drift(giver: Actor, taker: Actor, times: Array, begin: float) -> Array:
    """Motion (N, 3) over the floor of the place between two people at times (N,), zero at the time `begin`."""
    times = np.append(times, begin)
    middle = 0.5 * (_chests(giver, times) + _chests(taker, times))
    return np.asarray((middle[:-1] - middle[-1]) * [1.0, 1.0, 0.0])
