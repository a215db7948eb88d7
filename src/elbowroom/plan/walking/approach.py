"""Stepping up to what is out of reach: places to stand for a task, and walking there before it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import facing
from elbowroom.locomotion.departure import stance_of
from elbowroom.locomotion.route import towards
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director
from elbowroom.plan.hands import arms_of, beyond_reach, may_step
from elbowroom.plan.places import on_oneself, target_of
from elbowroom.plan.result import PlanningFailure, Status
from elbowroom.plan.tasks import Close, Move, Open, Task
from elbowroom.plan.walking.doors import step_and_open, walk_through
from elbowroom.plan.walking.overlap import set_out_early
from elbowroom.plan.walking.stances import spot_on, stances_for
from elbowroom.plan.walking.walked import Blocked, Spot, ways_to
from elbowroom.plan.walking.ways import Ways

# What standing elsewhere may help against.
_ELSEWHERE: tuple[Status, ...] = ("target-out-of-reach", "out-of-balance", "target-in-collision", "no-path")
# Places that are tried, and how far they are apart, metres.
_TRIES, _APART_M = 6, 0.12
# The same where whole bodies are planned, which takes longer.
_TIGHT_TRIES = 2
# Stances of a move that are tried: each is known to hold the object at its start and goal.
_STANCES = 3
# Distances of the middle of the body from the target that are looked at, and the best one, shares of its height: there
# the arm is bent at ease and the hand has room before the belly.
_FAR, _EASY = (0.24, 0.28, 0.32, 0.36, 0.4, 0.45, 0.5), 0.33
# Directions around the target, and how far the target is to the side of the hand that is to reach it, radians.
_AROUND, _ASIDE = 32, np.radians(12.0)
# What a metre of way counts against a share of the height, and places that are narrow, as dear as this at most.
_WAY, _NARROW, _MOST_NARROW = 0.03, 0.02, 4.0


def stepping_up(d: Director, task: Task, do: Callable[[], None]) -> None:
    """Do a task where somebody stands, or else from other places that they walk to; raises `PlanningFailure`."""
    actor = d.actor(task.who)
    if isinstance(task, Open | Close):
        return step_and_open(d, task)
    if isinstance(task, Move) and not isinstance(task.feet, str):
        walk_through(d, actor, spot_on(actor, task.feet), what=f"step up to {task.object}")
        return do()
    walks = may_step(actor, task) and not on_oneself(d.world, task)
    found = target_of(d.world, task, actor.now) if walks else None
    if found is None:
        return do()
    saved = d.save()
    targets = [found[1]]
    if isinstance(task, Move) and task.object in d.world.objects:
        targets.append(np.asarray(d.world.frame(task.object, actor.now)[:3, 3]))
    far = max(min(beyond_reach(actor, hand, at) for hand in arms_of(actor, task.hand)) for at in targets)
    if far > 0.0:
        doing = f"move {task.object}" if isinstance(task, Move) else task.verb
        why = f"{doing}: {found[0]} is at least {far:.2f} m out of reach"
        first = PlanningFailure("target-out-of-reach", why, missing=far)
    else:
        try:
            return do()
        except PlanningFailure as stuck:
            if stuck.status not in _ELSEWHERE:
                raise
            d.restore(saved)
            first = stuck
    spots = stances_for(d, actor, task) if isinstance(task, Move) else spots_for(d, actor, found[1], task.hand)
    most = _STANCES if isinstance(task, Move) else _TRIES
    untried: Iterable[Spot] = islice(spots, min(most, _TIGHT_TRIES) if d.escalates else most)
    # a walk that is free as it is comes first: to repair one takes long
    for repairs in (False, True):
        blocked = []
        for spot in untried:
            try:
                walk_through(d, actor, spot, what=f"step up to {found[0]}", repairs=repairs)
                arrived = actor.k
                do()
                return set_out_early(d, actor, arrived)
            except Blocked:
                blocked.append(spot)
                d.restore(saved)
            except PlanningFailure:
                d.restore(saved)
        untried = blocked
    raise first


def spots_for(d: Director, actor: Actor, target: Array, hand: str | None) -> Iterator[Spot]:
    """Places from which a target (3,) is in easy reach of a hand, the best first, each from another side."""
    ways = ways_to(d, actor, target)
    tall = actor.body.height
    start = stance_of(actor.body, actor.pose)[0]
    found = []
    for angle in np.linspace(0.0, 2.0 * np.pi, _AROUND, endpoint=False):
        for share in _FAR:
            place = target[:2] + share * tall * facing(angle)
            if ways.stands(place):
                narrow = min(_cost(ways, place), _MOST_NARROW)
                far = float(np.linalg.norm(place - start))
                found.append((abs(share - _EASY) + _NARROW * narrow + _WAY * far, tuple(place)))
    taken: list[Array] = []
    side = 0.0 if hand is None else _ASIDE if hand == "right" else -_ASIDE
    for _, (x, y) in sorted(found):
        place = np.array([x, y])
        if all(np.linalg.norm(place - other) > _APART_M for other in taken):
            taken.append(place)
            yield Spot(place, towards(place, target) + side)


def _cost(ways: Ways, place: Array) -> float:
    return float(ways.comfort(place[None])[0])
