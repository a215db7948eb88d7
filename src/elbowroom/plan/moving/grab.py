"""A hand takes a thing while the person walks, the thing moves, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from elbowroom.errors import UnknownName
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.transforms import inverse
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import FOREVER, Director, Grip
from elbowroom.plan.hands import holder_of, released
from elbowroom.plan.moving.carry import homes
from elbowroom.plan.moving.passage import Passage
from elbowroom.plan.moving.put import next_put
from elbowroom.plan.moving.timing import (
    ContactTiming,
    beside,
    far_away,
    frames_for,
    frames_of,
    helpful,
    in_motion,
    lingers,
    moments,
    named,
    paces,
    speed_past,
)
from elbowroom.plan.moving.touch import begin_layer
from elbowroom.plan.places import CLEAR_ABOVE, resting, supported, under_cover
from elbowroom.plan.postures import PRESS, Postures, hand_contacts
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Grab
from elbowroom.plan.verbs import grab as standing
from elbowroom.plan.verbs.grasp_choice import Place, Taking, eligible, fitting, look, ranked, sifted
from elbowroom.posing.grasps import closed_on, grasps_of

# How many grasps are looked at in earnest, how many that suit are enough, and how many of these are tried.
_LOOKS, _ENOUGH, _TRIES = 24, 6, 4

# Motions of the arm with a thing in its hand that are tried.
_HOMES = 3

# Metres that a thing is lifted or drawn out on its way off, and seconds in which it is lifted off what it lies on, if
# there is time.
_LIFT, _DRAW, _LIFTS = 0.07, 0.16, 0.36

# Seconds in which what is worn is lifted off, straight along its own axis, tried in turn.
_TAKES_OFF = (0.36, 0.5, 0.25)

# Seconds for which a thing may still touch what has held it.
_OFF = 0.3

_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Chance:
    """One way to take a thing in a frame."""

    k: int
    taking: Taking


def grab(d: Director, task: Grab) -> None:
    """Take an object; over a motion or from one, or standing before it."""
    actor = d.actor(task.who)
    if task.object not in d.world.objects:
        raise UnknownName("object", task.object, d.world.objects)
    moving = in_motion(d, actor, task.object, task.at)
    last = actor.time(len(actor.base) - 1) - 0.5 / actor.base.fps if moving else actor.now
    if standing.in_hand(d, task, last if task.at is None else task.at):
        return
    if not moving:
        return standing.grab(d, task)
    begin_layer(d, actor, task)
    T_thing = frames_of(d.world, task.object, actor.base.times)
    what = f"grab {task.object}"

    def do(chance: Chance) -> None:
        hand = chance.taking.hand
        ways = paces(actor, hand, T_thing[:, :3, 3], chance.k)
        d.first(ways, lambda pace: _take(d, actor, task, chance, T_thing, pace, what))

    d.first(_chances(d, actor, task, T_thing, what), do)
    actor.layered = not actor.stands


def _take(
    d: Director, actor: Actor, task: Grab, chance: Chance, T_thing: Array, pace: ContactTiming, what: str
) -> None:
    """Come, close the fingers, and carry it off."""
    k, taking, thing = chance.k, chance.taking, task.object
    hand, grasp = taking.hand, taking.grasp
    T_hand = T_thing @ grasp.T_thing_hand
    m = moments(d, actor, hand, task, k, T_hand[k], actor.frames(pace.work), pace.early)
    owner = holder_of(d.world, thing, actor.time(m.done))
    under = resting(d.world, thing, actor.time(k))
    passage = Passage(d, actor, hand, m, taking.target, named(actor, task, what, k), quick=pace.quick)
    passage.help(T_thing[:, :3, 3])
    near = actor.time(max(m.there - actor.frames(pace.slow), m.leaves))
    off = actor.time(m.done)
    d.allow(hand_contacts(d.world, actor.who, hand, thing, (near, off), PRESS))
    closed = closed_on(actor.body, d.world.objects[thing].mesh, grasp)
    rows = np.arange(m.leaves, m.done + 1)
    left = 1.0 - smootherstep((rows - m.there + actor.frames(pace.slow)) / actor.frames(pace.slow))
    back = -T_thing[k, :3, :3].T @ taking.approach
    passage.come(beside(T_thing[rows], T_hand[rows], back, left), taking.open, closed.rotations, pace)
    T_taken = T_thing[m.done]
    T_hand_thing = inverse(grasp.T_thing_hand)
    if owner is not None:
        d.world = released(d.world, thing, off)
        d.allow(hand_contacts(d.world, owner.by, owner.hand, thing, (off, off + _OFF), PRESS, "taken off"))
    d.world = d.world.with_hold(thing, actor.who, hand, (off, FOREVER), T_hand_thing)
    out = normalize(-taking.approach)
    d.grips = {**d.grips, thing: Grip(taking.open, T_hand[k, :3, :3].T @ out, T_taken, (hand, grasp.name))}
    d.allow(supported(thing, under, (-np.inf, off + 1.0)))
    covered = under_cover(d.world, thing, off, T_taken)
    rows = np.arange(m.done, m.back + 1)

    def leave(option: tuple[Array, tuple[Array, float]]) -> None:
        home, (by, seconds) = option
        way, keeps = T_thing[k, :3, :3].T @ by, round(seconds * actor.base.fps)
        hands = beside(T_thing[rows], T_hand[rows], way, passage.away(keeps))
        passage.leave(hands, home, None, f"carry {thing}", keeps)

    speed = speed_past(actor, hand, T_thing[:, :3, 3], k)
    if owner is not None and owner.hand in d.world.body(owner.by).roles:
        ways = [(CLEAR_ABOVE * T_thing[k, :3, 2], seconds) for seconds in _TAKES_OFF]
    else:
        # what lies on something is lifted off that before it goes with the body, where the arm can follow
        ways = [(by, seconds) for seconds in _lifting(bool(under), pace, speed) for by in offs(out, covered)]
    found = list(islice(homes(d, actor, hand, thing, m), _HOMES))
    # the ways off first: what is in the way of one may leave another free
    d.first([*((found[0], way) for way in ways), *((home, ways[0]) for home in found[1:])], leave, _HOMES)
    passage.finish()


def _lifting(lies: bool, pace: ContactTiming, speed: float) -> tuple[float, ...]:
    """Seconds for which a thing is lifted before it goes with the body, tried in turn; passed by at a speed, m/s."""
    if not lies:
        return (0.0,)
    return (lingers(speed), 0.0) if pace.quick else (0.0, _LIFTS)


def offs(out: Array, covered: bool) -> list[Array]:
    """Ways off (3,) of a hand with what it has taken, in the world; it came the other way than `out` (3,)."""
    level = out * [1.0, 1.0, 0.0]
    size = float(np.linalg.norm(level))
    up = _LIFT * _UP
    if size < 0.3:
        return [up, 0.4 * up, _DRAW * out]
    pull = _DRAW * level / size
    return [pull + 0.1 * up, pull, 1.4 * pull, up] if covered else [0.6 * up + 0.4 * pull, up, pull, 1.4 * pull]


def _leading_on(
    d: Director,
    actor: Actor,
    found: Taking | tuple[float, PlanningFailure],
    then: tuple[Sequence[Array], int] | None,
    thing: str,
) -> Taking | tuple[float, PlanningFailure]:
    """A way to take a thing, if the hand gets to where it is to go next; one that does not is none."""
    if not isinstance(found, Taking) or then is None:
        return found
    goals, at = then
    if any(d.reach(actor, found.hand, goal @ found.grasp.T_thing_hand, at, None).found for goal in goals):
        return found
    return 0.8, PlanningFailure("target-out-of-reach", f"put {thing}: no grasp of it leads there")


def _chances(d: Director, actor: Actor, task: Grab, T_thing: Array, what: str) -> Iterator[Chance]:
    """Ways to take a thing, the best first; raises `PlanningFailure` where there is none."""
    failed: list[tuple[float, PlanningFailure]] = []
    given = 0
    for hand, k in frames_for(d, actor, task, T_thing[:, :3, 3], what):
        if standing.in_hand(d, task, actor.time(k)):
            raise PlanningFailure("hand-not-free", f"{what}: {actor.who} holds it already at {actor.time(k):.2f} s")
        actor.trunk = helpful(actor, hand, k, None)
        grasps = grasps_of(d.world, actor.who, hand, task.object, actor.time(k))
        grasps = eligible(d, hand, task.object, grasps, task.grasp)
        postures = Postures(d.world, actor.who, actor.time(k), hand=hand, taking=task.object)
        then = next_put(d, actor, hand, task.object, T_thing[k], k)
        place = Place(T_thing[k], postures, what)
        order = ranked(actor, hand, grasps, T_thing[k], k)
        fit = (fitting(d, order, actor.neutral(k), [place], failed, back=back) for back in (False, True))
        looks = (
            _leading_on(d, actor, look(d, actor, hand, grasp, T_thing[k], k, postures, what), then, task.object)
            for grasp in islice(chain.from_iterable(fit), _LOOKS)
        )
        suited = sifted(looks, _ENOUGH, failed)
        for taking in suited[:_TRIES]:
            given += 1
            yield Chance(k, taking)
        if not suited and failed and all(f[1].status == "target-out-of-reach" for f in failed):
            why = min(failed, key=lambda f: f[0])[1].why
            failed.append((1.9, far_away(actor, hand, T_thing[:, :3, 3], k, why)))
    if not given:
        if not failed:
            raise PlanningFailure("target-out-of-reach", f"{what}: no way to grasp it is known")
        raise min(failed, key=lambda f: f[0])[1]
