"""A hand grasps an object: it approaches, closes its fingers, and retreats with it (K9).

A standing actor waits for the hand, which travels, approaches and lifts in steps. With a moving actor or object the
hand acts on top of the motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import get_args

import numpy as np

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import UP, Array, normalize
from elbowroom.plan.checks.hands import hand_of, holder_of, joints_of, released, shifted
from elbowroom.plan.checks.places import CLEAR_ABOVE, frames_of, resting, supported, supported_until, under_cover
from elbowroom.plan.checks.postures import PRESS, hand_contacts
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, tried
from elbowroom.plan.steps.director import Director, varied
from elbowroom.plan.tasks import Grab, Hand
from elbowroom.plan.verbs.carry import homes, on_top
from elbowroom.plan.verbs.encounters import ContactTiming, frames_for, in_motion, in_reach, lingers, paces, speed_past
from elbowroom.plan.verbs.grasp_choice import Manner, ReachableGrasp, holdable, lies_low, reachable_grasps
from elbowroom.plan.verbs.leave import depart, departures, hold, take
from elbowroom.plan.verbs.passage import Encounter, Passage
from elbowroom.plan.verbs.tilt import slide_to_edge, tilt_up
from elbowroom.posing.grasps import closed_on, edge_grasps
from elbowroom.posing.grasps_settle import Grasp
from elbowroom.world.things import FOREVER

# Motions of the arm with the object in hand that are tried.
_HOMES = 3

# Grasps without a path that are tried by offsets of the arm alone before any path is searched.
_GRASPS = 4

# Further timings tried without a path, once each grasp has failed at its first one.
_PACES = 6

# Seconds in which an object is lifted off its support while the body goes on, if there is time.
_LIFTS = 0.36

# Seconds in which a worn object is lifted off along its own axis, tried in turn.
_TAKES_OFF = (0.36, 0.5, 0.25)

# Seconds for which an object may still touch what has held it.
_OFF = 0.3


def grab(d: Director, task: Grab) -> None:
    """Take an object and lift it off its support: standing before it, over a motion, or from one."""
    actor = d.actor(task.who)
    if task.object not in d.world.objects:
        raise UnknownName("object", task.object, d.world.objects)
    what = f"grab {task.object}"
    moving = in_motion(d, actor, task.object, task.at)
    last = actor.time(len(actor.base) - 1) - 0.5 / actor.base.fps if moving else actor.now
    if in_hand(d, task, last if task.at is None else task.at):
        return
    if moving:
        with on_top(d, actor, task):
            return _grab_passing(d, actor, task, what)
    owner = holder_of(d.world, task.object, actor.now)
    if owner is not None:
        raise PlanningFailure(
            "hand-not-free", f"{what}: {owner.by} wears it ({owner.hand}); it can be taken only while one of them moves"
        )
    standing, begin = partial(_take_standing, d, actor, task, what), d.take

    settings = d.settings
    if lies_low(d, actor, d.world.frame(task.object, actor.now)):
        d.settings = replace(settings, reach=replace(settings.reach, soft=True))
        d.take = d.take.folding(actor.who)

    def take_it(manner: Manner = "usual", proposed: Callable[[str], list[Grasp]] | None = None) -> None:
        options = reachable_grasps(d, actor, task.object, task, what, proposed=proposed, manner=manner)
        d.first(varied(d, options), standing)

    def slide_first() -> None:
        out = slide_to_edge(d, actor, task)
        mesh, R = d.world.objects[task.object].mesh, d.world.frame(task.object, actor.now)[:3, :3]
        take_it(proposed=lambda hand: edge_grasps(actor.body, hand, mesh, R.T @ out, R.T @ UP))

    def tilted() -> None:
        T_lies = d.world.frame(task.object, actor.now)
        tilt_up(d, actor, task, what, standing)
        # it is put down flat
        d.take = d.take.with_grip(task.object, replace(d.take.grips[task.object], T_world_taken=T_lies))

    def loosely() -> None:
        if holdable(d, actor, task.object):  # a hand that is laid on it would be no help
            none = PlanningFailure("target-in-collision", f"{what}: there is no room around it for the fingers")
            none.anywhere = True
            raise none
        take_it("loose")
        note = f"{what}: no hand can grasp it from two sides, so one is laid on it."
        d.world = d.world.with_(notes=(*d.world.notes, note))

    try:
        failed = d.attempt(take_it)
        if failed is None:
            return
        if failed.status == "too-heavy" or task.grasp is not None:
            raise failed
        # flat objects have no room for fingers below them except over an edge, or tilted
        for other in (slide_first, tilted, loosely) if task.at is None else (loosely,):
            d.take = begin
            also = d.attempt(other)
            if also is None:
                return
            failed.anywhere &= also.anywhere
        raise failed
    finally:
        d.settings = settings


def _take_standing(
    d: Director, actor: Actor, task: Grab, what: str, taking: ReachableGrasp, by: Callable[..., None] = take
) -> None:
    """Move to an object and close the fingers, which is done `by` a function, and lift it."""
    thing, hand, out = task.object, taking.hand, normalize(-taking.approach)
    under = resting(d.world, thing, actor.now)
    by(d, actor, taking, thing, what, task.at)
    T_taken = d.world.frame(thing, actor.now)
    hold(d, actor, taking, thing, actor.now, hand_of(actor, hand, actor.pose), T_taken)
    actor.keep(joints_of(actor, hand))
    d.allow(supported(thing, under, (-np.inf, FOREVER)))
    T, covered = hand_of(actor, hand, actor.pose), under_cover(d.world, thing, actor.now, T_taken)
    depart(d, actor, hand, [shifted(T, by) for by in departures(out, covered)], f"lift {thing}")
    # once off, it may no longer touch its support: a bookcase has other boards, a drawer has walls
    d.world = supported_until(d.world, thing, under, actor.now)


def in_hand(d: Director, task: Grab, t: float) -> bool:
    """Return whether the requested hand already has the object, and note it.

    Raises where it is in another hand: an object is in one hand at a time.
    """
    hold = holder_of(d.world, task.object, t)
    if hold is None or hold.hand not in get_args(Hand):
        return False
    has = f"grab {task.object}: {hold.by} holds it in the {hold.hand} hand already"
    if hold.by != task.who:
        raise PlanningFailure("hand-not-free", f"{has} and must hand it over or put it down first")
    if task.hand not in (None, hold.hand):
        raise BadValue(f"{has}; to change hands use regrasp.")
    d.world = d.world.with_(notes=(*d.world.notes, f"{has}; nothing to do."))
    return True


def _grab_passing(d: Director, actor: Actor, task: Grab, what: str) -> None:
    """Take an object over a motion, in the best frame, at the first timing that works."""
    T_thing = frames_of(d.world, task.object, actor.base.times)
    points = T_thing[:, :3, 3]
    hands = frames_for(d, actor, task, points, what)
    for _, k in hands:
        if in_hand(d, task, actor.time(k)):
            raise PlanningFailure("hand-not-free", f"{what}: {actor.who} holds it already at {actor.time(k):.2f} s")

    later: list[ReachableGrasp] = []
    left: list[tuple[ReachableGrasp, ContactTiming]] = []

    def take_at(option: tuple[ReachableGrasp, ContactTiming], searches: bool = True) -> None:
        passage = Passage(d, actor, task, Encounter.of(option[0], T_thing), option[1], what, searches)
        _take_passing(passage, task.object, *option, T_thing)

    def do(taking: ReachableGrasp, searches: bool = True) -> None:
        ways = iter([(taking, pace) for pace in paces(actor, taking.hand, points, taking.k)])
        reason = tried(lambda: d.first(ways, lambda option: take_at(option, searches), 1))
        if reason is not None:
            if searches:
                left.extend(ways)
            elif reason.searched:
                later.append(taking)
            raise reason

    grasps = varied(d, in_reach(reachable_grasps(d, actor, task.object, task, what, hands), actor, hands, points, what))
    # an arm led aside a little by one grasp is better than a searched path by another, and sooner found
    stuck = d.attempt(lambda: d.first(grasps, lambda taking: do(taking, searches=False), _GRASPS))
    if stuck is not None and later:
        stuck = d.attempt(lambda: d.first(chain(later, grasps), do))
    if stuck is None:
        return
    if not left:
        raise stuck
    # a grasp without a path at one timing seldom has one at another, so those come last
    d.first(left, take_at, _PACES)


def _take_passing(passage: Passage, thing: str, taking: ReachableGrasp, pace: ContactTiming, T_thing: Array) -> None:
    """Approach, close the fingers, and carry it off."""
    d, actor, k, hand, out = passage.d, passage.actor, taking.k, taking.hand, normalize(-taking.approach)
    off = actor.time(passage.m.done)
    owner = holder_of(d.world, thing, off)
    under = resting(d.world, thing, actor.time(k))
    passage.help(T_thing[:, :3, 3])
    d.allow(hand_contacts(d.world, actor.who, hand, thing, (passage.near, off), PRESS))
    closed = closed_on(actor.body, d.world.objects[thing].mesh, taking.grasp)
    passage.come(-taking.approach, taking.open, closed.rotations)
    if owner is not None:
        d.world = released(d.world, thing, off)
        d.allow(hand_contacts(d.world, owner.by, owner.hand, thing, (off, off + _OFF), PRESS, "taken off"))
    hold(d, actor, taking, thing, off, taking.T_world_hand, T_thing[k])
    d.allow(supported(thing, under, (-np.inf, off + _OFF)))
    d.world = supported_until(d.world, thing, under, off + _OFF)
    if owner is not None and owner.hand in d.world.body(owner.by).roles:
        ways = [(CLEAR_ABOVE * T_thing[k, :3, 2], seconds) for seconds in _TAKES_OFF]
    else:
        covered = under_cover(d.world, thing, off, T_thing[passage.m.done])
        speed = speed_past(actor, hand, T_thing[:, :3, 3], k)
        # lift it off its support before it moves with the body, where the arm can follow
        ways = [(by, seconds) for seconds in _lifting(bool(under), pace, speed) for by in departures(out, covered)]
    found = list(islice(homes(d, actor, hand, thing, passage.m), _HOMES))

    def leave(option: tuple[Array, tuple[Array, float]]) -> None:
        home, (by, seconds) = option
        passage.leave(by, f"carry {thing}", home=home, seconds=seconds)

    # retreats first: another one may be free
    d.first([*((found[0], way) for way in ways), *((home, ways[0]) for home in found[1:])], leave, _HOMES)
    passage.finish()


def _lifting(lies: bool, pace: ContactTiming, speed: float) -> tuple[float, ...]:
    """Seconds for which an object is lifted before it moves with the body, tried in turn; `speed` of passing, m/s."""
    if not lies:
        return (0.0,)
    return (lingers(speed), 0.0) if pace.quick else (0.0, _LIFTS)
