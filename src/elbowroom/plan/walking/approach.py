"""Stepping up to a target out of reach: positions to stand for a task, and the walk there before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import UP, Array
from elbowroom.locomotion.course import towards, wrapped
from elbowroom.locomotion.departure import stance_of
from elbowroom.plan.checks.hands import (
    BOW_RAD,
    arm_length,
    arms_of,
    beyond_reach,
    bow_of,
    hand_of,
    held_by,
    may_step,
    shoulder_of,
)
from elbowroom.plan.checks.places import frames_of, moving_until, on_oneself, target_of
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, Status, tried
from elbowroom.plan.state.take import Take
from elbowroom.plan.steps.director import MOST_FAILED_WALKS, Director
from elbowroom.plan.tasks import Rest, Task
from elbowroom.plan.verbs.carry import holding_hand, rest
from elbowroom.plan.walking.doors import walk_through
from elbowroom.plan.walking.finding import NoPath, paths_to
from elbowroom.plan.walking.overlap import set_out_early
from elbowroom.plan.walking.stances import staggered, suited_first
from elbowroom.plan.walking.walked import Blocked, Effort, Spot, WalkRequest, near_an_end, stepped_back
from elbowroom.world.columns import columns_of

# Failures that standing elsewhere may resolve.
_ELSEWHERE: tuple[Status, ...] = ("target-out-of-reach", "out-of-balance", "target-in-collision", "no-path")
# Failures of hands at a position that was reached.
_AT_HAND: tuple[Status, ...] = ("target-in-collision", "out-of-balance", "too-heavy")
# Positions that are tried, those to which walks are repaired by all means, or unusual postures searched, and those
# tried for an easier posture.
_TRIES, _REPAIRED, _EASIER = 6, 2, 2
# Efforts of walks to positions, in turn, and whether unusual postures are searched there.
_QUICKLY: tuple[tuple[Effort, bool], ...] = (("leans", False),)
_AT_LENGTH: tuple[tuple[Effort, bool], ...] = (*_QUICKLY, ("leans", True), ("all", True))
# The same for what lies low, where usual postures hardly ever do, and positions that are tried.
_LOWLY, _LOW_TRIES = _AT_LENGTH[1:], 4
# Walks that fail at their start, after which others would as well.
_SAME_START = 2
# Positions that are tried where whole bodies are planned, which takes longer.
_TIGHT_TRIES = 2
# Stances of a move that are tried: each is known to hold the object at its start and goal.
_STANCES = 3
# Distances of the body's middle from the target, smallest and largest, and the best one, shares of its height: there
# the arm is comfortably bent and the hand has room before the belly.
_FAR, _EASY = np.array([0.24, 0.28, 0.32, 0.36, 0.4, 0.45, 0.5]), 0.33
# Angle of the target to the side of the reaching hand, radians.
_ASIDE = np.radians(12.0)
# Height of a target below which people fold up, share of the height; there its angle to the side and its distance are
# such that the arm goes down beside the knee.
_LOW, _BESIDE, _LOW_EASY = 0.2, np.radians(40.0), 0.3
# Drop of the pelvis beyond which a posture is strained, share of the height.
_SQUAT = 0.12
# Distance from the target beyond which a step brings a body nearer, share of the height, and angle to the side.
_STEP_FROM, _STEP_ASIDE = 0.42, np.radians(50.0)
# Metres above a target at which a hand comes to it, and from it within which nothing counts: the board that it is on,
# and what a hand goes round. Height of a shoulder, share of the height.
_HAND_ABOVE_M, _VIEW_M, _SHOULDER = 0.1, 0.08, 0.8
# Length of a hand with stretched fingers, share of the height, with a reserve.
_HAND = 0.13
# A hand meets what moves no sooner than this, seconds; times at which it may are so far apart; speed of a walk to it.
_READY_S, _LATER_S, _WALKS_M_S = 1.0, 0.1, 0.8
# Room for a person in front of a carried object, metres.
_BODY_M = 0.15
# Strain of the posture after a step against that before it, at most.
WORTH_IT = 0.75


def stepping_up(d: Director, task: Task, do: Callable[[], None]) -> None:
    """Carry out a task from the present stance, or else from other positions; raises `PlanningFailure`.

    A task that takes a deep bow or a squat is done from another position if that is easier.
    """
    actor = d.actor(task.who)
    walks = may_step(actor, task) and not on_oneself(d.world, task)
    found = _meeting(d, actor, task) if walks else None
    if found is None or not np.all(np.isfinite(found[1])):  # the verb names what is wrong with the target
        return do()
    saved = d.take
    targets = [found[1], *task.waypoints(d.world, actor.now)]
    if (high := _above_reach(d, actor, task, *found)) > 0.0:
        why = f"{task.verb}: {found[0]} is at least {high:.2f} m out of reach, wherever {actor.who} stands"
        refused = PlanningFailure("target-out-of-reach", why, missing=high)
        refused.anywhere, refused.remedy = True, "lower the target, or place something to climb on"
        raise refused
    far = max(min(beyond_reach(actor, hand, at) for hand in arms_of(actor, task.hand)) for at in targets)
    elsewhere = partial(_from_elsewhere, d, task, found, do)
    if far > 0.0:
        why = f"{task.label}: {found[0]} is at least {far:.2f} m out of reach"
        first = PlanningFailure("target-out-of-reach", why, missing=far)
    elif not _in_view(d, actor, found[1], [stance_of(actor.body, actor.pose)[0]])[0] and elsewhere() is None:
        return
    else:
        begun, nearer = actor.k, _may_be_nearer(actor, task, found[1])
        stuck = d.attempt(do)
        if stuck is None:
            if nearer and (strain := _strain(actor, begun)) > 1.0:
                _eased(d, actor, saved, strain, elsewhere)
            return
        if stuck.status not in _ELSEWHERE or stuck.anywhere:
            raise stuck
        first = stuck
    there = elsewhere()
    if there is not None and (carried := task.on_foot()) is not None:
        there = _on_foot(d, carried, there)
    if there is not None:
        first.anywhere = there.anywhere
        if first.missing > 0.0 and first.status == "target-out-of-reach":
            first.why = f"{there.why}; without a step {first.why.partition(': ')[2]}"
            by_hand = there.status == "no-path" and not isinstance(there, Blocked | NoPath)
            if by_hand or there.status in _AT_HAND:  # once there, another grasp may help
                first.status, first.missing = there.status, there.missing
        raise first


def _above_reach(d: Director, actor: Actor, task: Task, name: str, at: Array) -> float:
    """Metres by which a target (3,) is too high for either hand from anywhere on the ground that an actor walks on.

    0 where a hand may get there, or where there is higher ground to climb to.
    """
    if not task.hand_arrives or name in d.world.static:
        return 0.0
    high = float(at[2])
    if name in d.world.things:  # any part of it may do
        high -= float(np.linalg.norm(d.world.things[name].mesh.vertices, axis=1).max(initial=0.0))
    missing = []
    for hand in arms_of(actor, task.hand):
        T, shoulder = hand_of(actor, hand, actor.pose), shoulder_of(actor, hand, actor.pose)
        T[:3, 3] = [*shoulder[:2], high - _HAND * actor.body.height]
        if T[2, 3] - shoulder[2] <= arm_length(actor, hand):
            return 0.0
        missing.append(d.reach(actor, hand, T, actor.k, None).missing)
    level = min(missing, default=0.0) > 0.0 and paths_to(d, actor, at).columns.ground is None
    return min(missing) if level else 0.0


def _meeting(d: Director, actor: Actor, task: Task) -> tuple[str, Array] | None:
    """Name of the target of a task, and the place (3,) to meet it: where it is, or where one that moves comes nearest.

    If it never comes into reach, the nearest of its places that a walk gets to in time.
    """
    found = target_of(d.world, task, actor.now)
    until = moving_until(d.world, found[0]) if found is not None and actor.idle else 0.0
    if found is None or until <= actor.now:
        return found
    times = np.arange(actor.now + _READY_S, until + _LATER_S, _LATER_S)
    points = frames_of(d.world, found[0], times)[:, :3, 3]
    far = np.array([min(beyond_reach(actor, hand, at) for hand in arms_of(actor, task.hand)) for at in points])
    in_time = far <= np.maximum(_WALKS_M_S * (times - times[0]), 0.0)
    middle = np.linalg.norm(points - shoulder_of(actor, arms_of(actor, task.hand)[0], actor.pose), axis=1)
    return found[0], points[int(np.argmin(np.where(in_time, middle, np.inf))) if in_time.any() else -1]


def _from_elsewhere(
    d: Director, task: Task, target: tuple[str, Array], do: Callable[[], None], easier: bool = False
) -> PlanningFailure | None:
    """Carry out a task from the first feasible of some positions; otherwise restore the state and return the reason.

    For an `easier` posture fewer positions are tried, and no walk is repaired at length.
    """
    actor, saved = d.actor(task.who), d.take
    # held objects are carried in a comfortable posture
    if actor.away and (stuck := d.attempt(lambda: rest(d, Rest(who=actor.who)))) is not None:
        return stuck
    ready = d.take
    spots = tried(lambda: _places_to_try(d, actor, task, target))
    if isinstance(spots, PlanningFailure):
        d.take = saved
        return spots
    brief = easier or d.mode.brief
    low = not task.object_leads and _is_low(d, actor, target[1])
    most = _STANCES if task.object_leads else _EASIER if brief else _LOW_TRIES if low else _TRIES
    untried: Iterable[Spot] = islice(spots, min(most, _TIGHT_TRIES) if d.mode.escalates else most)
    request = WalkRequest(f"step up to {target[0]}")
    why: PlanningFailure | None = None
    blocked: list[Spot] = []
    missed: list[Spot] = []
    settings, may_step_back = d.settings, not brief
    # quick attempts first: long repairs of a walk, and searches for unusual postures, take time
    efforts = _LOWLY if low else _AT_LENGTH
    for effort, thorough in efforts[:1] if brief else efforts:
        if (effort, thorough) != efforts[0]:
            untried = (missed if effort == "leans" else blocked)[:_REPAIRED]
        if effort == "all":  # repairs at length may resolve what was to be avoided
            request = replace(request, avoid=())
        d.settings = replace(settings, reach=replace(settings.reach, thorough=thorough))
        at_start, places = 0, iter(untried)
        while (spot := next(places, None)) is not None:
            if (effort != "all" and at_start >= _SAME_START) or d.spent.walks >= MOST_FAILED_WALKS:
                break
            stuck = d.attempt(partial(_from_spot, d, actor, spot, replace(request, effort=effort), do))
            if stuck is None:
                d.settings = settings
                return None
            d.take = ready
            if isinstance(stuck, Blocked):
                d.spent.walks += 1
                why = why or stuck
                blocked.append(spot)
                end = near_an_end(stuck, stance_of(actor.body, actor.pose)[0], spot)
                at_start += end == "start"
                if end == "start" and may_step_back:
                    may_step_back = False
                    if stepped_back(d, actor):
                        ready, places, at_start = d.take, chain([spot], places), 0
                        blocked.pop()
                if end is None:
                    request = replace(request, avoid=(*request.avoid, *stuck.discs))
            else:
                cut_off = isinstance(stuck, NoPath) and bool(request.avoid)  # there is a path, where others failed
                d.spent.walks += not cut_off
                why = why or stuck if cut_off else stuck
                (blocked if cut_off else missed).append(spot)
                if stuck.anywhere:
                    break
        if why is not None and why.anywhere:
            break
    d.settings, d.take = settings, saved
    return why or PlanningFailure("target-out-of-reach", f"there is no room to stand near {target[0]}")


def _from_spot(d: Director, actor: Actor, spot: Spot, request: WalkRequest, do: Callable[[], None]) -> None:
    """Walk to a spot and carry a task out from there, the arm setting out before the walk ends where that is free."""
    walk_through(d, actor, spot, request)
    arrived = actor.k
    do()
    set_out_early(d, actor, arrived)


def _places_to_try(d: Director, actor: Actor, task: Task, target: tuple[str, Array]) -> Iterable[Spot]:
    """Positions for a task, the most promising first; raises `PlanningFailure` where a held object should be grasped
    differently first."""
    if (stances := task.stances(d, actor)) is not None:
        return stances
    ahead = _carried_ahead(d, actor) if d.world.split(target[0])[0] in d.world.characters else 0.0
    thing = task.thing or ""
    seen, low = list[bool](), _is_low(d, actor, target[1])
    # somebody squats beside the arm that reaches down
    hand = holding_hand(d, task, thing) if low and task.puts_down else task.hand
    spots = suited_first(d, actor, spots_for(d, actor, target[1], hand, ahead), _suits(d, task, seen, low))
    first = list(islice(spots, 1))
    if task.puts_down and thing in d.spent.choosy and seen and not any(seen):
        why = f"put {thing}: with this grasp the hand cannot reach the goal or leave it"
        raise PlanningFailure("target-in-collision", why)
    return chain(first, spots)


def _suits(d: Director, task: Task, seen: list[bool], low: bool) -> Callable[[Actor], bool] | None:
    """A test whether a task could be done by an actor who stands somewhere, which notes its answers in `seen`; None
    where that takes too long."""
    if not task.puts_down or d.whole_body == "at once":
        return None

    def suits(stands: Actor) -> bool:
        settings = d.settings
        if low:  # usual postures hardly ever get there
            d.settings = replace(settings, reach=replace(settings.reach, thorough=True))
        seen.append(task.suits(d, stands))
        d.settings = settings
        return seen[-1]

    return suits


def _on_foot(d: Director, task: Task, why: PlanningFailure) -> PlanningFailure | None:
    """Carry out a task on foot; otherwise return the reason, `why` where it is out of reach even so."""
    stuck = d.attempt(lambda: task.perform(d))
    return why if stuck is not None and stuck.status == "target-out-of-reach" else stuck


def _may_be_nearer(actor: Actor, task: Task, target: Array) -> bool:
    """Return whether a step would bring a freely standing actor nearer to a target (3,), or in front of it."""
    place, heading = stance_of(actor.body, actor.pose)
    far = float(np.linalg.norm(target[:2] - place)) > _STEP_FROM * actor.body.height
    aside = abs(wrapped(towards(place, target) - heading)) > _STEP_ASIDE
    free = actor.left is None and actor.k >= 0 and not task.object_leads
    return free and (far or aside)


def _eased(
    d: Director, actor: Actor, saved: Take, strain: float, elsewhere: Callable[..., PlanningFailure | None]
) -> None:
    """Repeat a task that was done with some `strain` from another position, if that is clearly easier."""
    stayed, begun = d.take, len(saved.tracks[actor.who].q) - 1
    d.take = saved
    if elsewhere(easier=True) is not None or _strain(actor, begun) > WORTH_IT * strain:
        d.take = stayed


def _strain(actor: Actor, begun: int) -> float:
    """Bow of the chest and drop of the pelvis since a frame, the larger, relative to those of a strained posture."""
    body = actor.body
    T = body.transforms(actor.root[begun:], actor.q[begun:])
    pelvis = body.role("pelvis")
    drop = float(T[0, pelvis, 2, 3] - T[:, pelvis, 2, 3].min()) / body.height
    return float(max(bow_of(body, T).max() / BOW_RAD, drop / _SQUAT))


def _carried_ahead(d: Director, actor: Actor) -> float:
    """Distance at which a carried object is clear of a person that its carrier approaches, metres."""
    place = stance_of(actor.body, actor.pose)[0]
    held = [hold for hand in arms_of(actor, None) if (hold := held_by(d.world, actor.who, hand, actor.now)) is not None]
    meshes = [d.world.objects[hold.object].mesh.moved(d.world.frame(hold.object, actor.now)) for hold in held]
    return max((_BODY_M + float(np.linalg.norm(m.vertices[:, :2] - place, axis=1).max()) for m in meshes), default=0.0)


def spots_for(d: Director, actor: Actor, target: Array, hand: str | None, ahead: float = 0.0) -> Iterator[Spot]:
    """Places from which a target (3,) is in easy reach of a hand, at least `ahead` metres away where that is possible,
    each from another side: the best first of those with nothing between, then the others."""
    tall, start = actor.body.height, stance_of(actor.body, actor.pose)[0]
    side = 0.0 if hand is None else _ASIDE if hand == "right" else -_ASIDE
    easy = tall * _EASY
    low = _is_low(d, actor, target)
    if low:
        side, easy = -_BESIDE if hand == "left" else _BESIDE, tall * _LOW_EASY
    places = list(paths_to(d, actor, target).around(target[:2], tall * _FAR, max(easy, ahead), start))
    for k in np.argsort(~_in_view(d, actor, target, places), kind="stable"):
        face = towards(places[k], target) + side
        yield staggered(actor, places[k], face, hand or "right") if low else Spot(places[k], face)


def _is_low(d: Director, actor: Actor, target: Array) -> bool:
    """Return whether people fold up to reach a target (3,)."""
    return bool(target[2] - (d.world.floor or 0.0) < _LOW * actor.body.height)


def _in_view(d: Director, actor: Actor, target: Array, places: Sequence[Array]) -> NDArray[np.bool_]:
    """Return for places (2,) whether no wall is between a person who stands there and a target (3,), (N,): on a line
    from the shoulder, or on a level one."""
    if d.world.floor is None:
        return np.ones(len(places), dtype=bool)
    columns = columns_of(d.world.with_(objects={}), actor.now, [target[:2], *places])
    goal = np.asarray(target) + _HAND_ABOVE_M * UP
    heights = (goal[2], d.world.floor + _SHOULDER * actor.body.height)
    return np.array(
        [any(columns.in_view(np.array([*p, z]), goal, _VIEW_M) for z in heights) for p in places], dtype=bool
    )
