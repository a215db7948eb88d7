"""Choice of hand, grasp and posture for taking an object, and the reason where there is none (K9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Literal

import numpy as np

from elbowroom.character.dynamics import slips, too_heavy
from elbowroom.character.hand_shapes import finger_joints, finger_rotations
from elbowroom.character.skeleton import Pose
from elbowroom.errors import UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.plan.checks.hands import arm_to, discomfort, effort, holder_of, shifted
from elbowroom.plan.checks.places import turned
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, blamed
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Grab
from elbowroom.plan.verbs.encounters import frames_for, helpful
from elbowroom.plan.verbs.next_places import Place, easiest_turns, next_places
from elbowroom.posing.grasps import closed_on, grasps_of, opposed
from elbowroom.posing.grasps_settle import Grasp
from elbowroom.posing.reach import Reached
from elbowroom.stopping import may_stop_here
from elbowroom.world.things import Fixture

# Grasps with room for the hand that are examined, feasible ones that are compared at a time, and those of these that
# are tried: each examination takes 10 to 70 ms, and the best is among the first few feasible ones.
_LOOKS, _ENOUGH, _TRIES = 24, 3, 5

# The number examined for objects below this share of the height: each squat takes 100 to 200 ms, and if the first few
# hit the thighs another stance is better than another grasp.
_LOW_LOOKS, _LOW = 9, 0.2

# The number compared at a time over a motion, where fingers close quickly: with three, the little finger of `ring-idle`
# jerks twice as much.
_ENOUGH_PASSING = 6

# Stages of the search for a grasp: whether the object counts as lying on something, and whether hands are retreated.
# Near the floor hands come from above at once.
_STAGES = ((False, False), (True, False), (False, True))
_LOW_STAGES = (_STAGES[1], _STAGES[0], _STAGES[2])

# Cost of thumb or palm and fingers that press at right angles rather than against each other.
_NOT_ACROSS = 0.5

# Manner of taking an object: the body helps and, if the object lies somewhere, fingers hold it against thumb or palm;
# by the 'alone' arm, the body in place; or 'loose', by hands that hold nothing.
Manner = Literal["usual", "alone", "loose"]

# A target this far beyond what a body reaches, by another target nearby, is not examined, metres.
_AS_FAR_M = 0.005

# Shares of the approach at which a hand may begin it.
_NEARER = (1.0, 0.7, 0.5)


@dataclass(frozen=True, eq=False)
class ReachableGrasp:
    """A grasp in reach: the posture at it, open fingers, and the posture at the start of the approach."""

    hand: str
    k: int  # frame of contact
    grasp: Grasp
    T_world_hand: Array  # (4, 4) hand transform then
    target: Pose
    before: Pose
    open: Array  # (n, 4) of the finger joints
    approach: Array  # (3,) of the hand in the world, metres
    cost: float = 0.0  # of grasp and posture, lower is better


# Severity of a failure, and the failure; the least severe is reported.
Failed = tuple[float, PlanningFailure]


def reachable_grasps(
    d: Director,
    actor: Actor,
    thing: str,
    task: Grab,
    what: str,
    hands: Sequence[tuple[str, int]] = (),
    *,
    proposed: Callable[[str], list[Grasp]] | None = None,
    manner: Manner = "usual",
) -> Iterator[ReachableGrasp]:
    """Grasps of an object that a person can reach, the best first; raises `PlanningFailure` where there is none.

    `hands` are those that may, with the frame in which each is there; by default all, as soon as they can. Grasps are
    those of the thing, or `proposed` for each hand.
    """
    failed: list[Failed] = []
    seen: set[tuple[str, bytes]] = set()
    given, looked, passing, enough = 0, 0, bool(hands), _ENOUGH_PASSING if hands else _ENOUGH
    hands = hands or frames_for(d, actor, task, d.world.frame(thing, actor.now)[:3, 3], what)
    # grasps for something in empty space first, then those that keep the hand above what it lies on; those that have
    # no room as they are proposed are drawn back once nothing else would do
    alone, loose = manner == "alone", manner == "loose"
    simple = alone or d.settings.tier == "ik"
    low = lies_low(d, actor, d.world.frame(thing, actor.now))
    stages = _STAGES[:1] if simple or proposed is not None else _LOW_STAGES if low else _STAGES
    for lying, back in stages:
        for hand, k in hands:
            lies = _lies(d, thing, actor.time(k))
            choosy = lies and not (simple or passing or task.grasp is not None)
            if (lying and (task.grasp is not None or not lies)) or (loose and (back or not choosy)):
                continue
            actor.change(trunk=helpful(actor, hand, k, None))
            T_world_thing = d.world.frame(thing, actor.time(k))
            if proposed is not None:
                grasps = proposed(hand)
            else:
                named = task.grasp is not None and lies  # any of them may be requested by name
                kinds = (False, True) if named else (lying,)
                grasps = [
                    g for low in kinds for g in grasps_of(d.world, actor.who, hand, thing, actor.time(k), lying=low)
                ]
            grasps = eligible(d, hand, thing, grasps, task.grasp)
            postures = Postures(d.world, actor.who, actor.time(k), hand=hand, taking=thing)
            postures = postures.with_soft_tissue() if d.settings.reach.soft else postures
            here = Place(T_world_thing, k, postures, what)
            then = [] if alone else next_places(d, actor, hand, thing, T_world_thing, k)
            # of several next placements any will do
            places = [here, *(then if len(then) == 1 else ())]
            order = ranked(actor, hand, grasps, T_world_thing, k, after=places[1:])
            if low and choosy and order:
                order = ranked(actor, hand, grasps, T_world_thing, k, _squat(d, actor, order[0], here))
            fit = fitting(d, order, actor.neutral(k), places, failed, back=back)
            if choosy:
                fit = (g for g in fit if opposed(actor.body, d.world.objects[thing], g) != loose)
            at_it = _reach_alone if alone else reach_grasp
            fit = _unseen(fit, seen)
            first = next(fit, None)
            looked += first is not None
            most = _LOW_LOOKS if choosy and low else _LOOKS
            some = () if first is None else islice(chain([first], fit), most)
            at_once = (borne(d, actor, thing, at_it(d, actor, hand, grasp, here)) for grasp in some)
            looks = (_leading_on(d, actor, found, then) for found in at_once)
            if choosy:
                looks = (_opposed(d, actor, thing, found) for found in looks)
            tried = 0
            while tried < _TRIES and (suited := first_reachable(looks, enough, failed)):
                yield from suited[: _TRIES - tried]
                tried += len(suited)
            given += tried
    if not given:
        unknown = 0.0, PlanningFailure("target-out-of-reach", f"{what}: it has no known grasps")
        why_not = min(failed or [unknown], key=lambda f: f[0])[1]
        why_not.anywhere = looked == 0  # the hand itself has no room, whatever the body does
        raise why_not


def _squat(d: Director, actor: Actor, grasp: Grasp, place: Place) -> Pose:
    """Posture near that of a grasp, whatever it meets: wrists are otherwise at the floor than while standing."""
    return d.reach(actor, grasp.hand, place.T_world_thing @ grasp.T_thing_hand, place.k, None).pose


def _unseen(grasps: Iterable[Grasp], seen: set[tuple[str, bytes]]) -> Iterator[Grasp]:
    """Grasps at other places than those in `seen`, which they join: things that lie have many grasps of free ones."""
    for grasp in grasps:
        key = grasp.hand, np.round(grasp.T_thing_hand, 4).tobytes()
        if key not in seen:
            seen.add(key)
            yield grasp


def holdable(d: Director, actor: Actor, thing: str) -> bool:
    """Return whether some grasp of a thing, wherever it lies, has it between fingers and thumb or palm."""
    grasps = (
        grasp
        for lying in (False, True)
        for hand in ("left", "right")
        for grasp in grasps_of(d.world, actor.who, hand, thing, actor.now, lying=lying)
    )
    return any(opposed(actor.body, d.world.objects[thing], grasp) for grasp in grasps)


def _opposed(d: Director, actor: Actor, thing: str, found: ReachableGrasp | Failed) -> ReachableGrasp | Failed:
    """An option with the cost of thumb and fingers that are not opposite each other."""
    if not isinstance(found, ReachableGrasp):
        return found
    across = closed_on(actor.body, d.world.objects[thing].mesh, found.grasp).across
    return replace(found, cost=found.cost + _NOT_ACROSS * (1.0 + across))


def lies_low(d: Director, actor: Actor, T_world_thing: Array) -> bool:
    """Return whether an object at a placement (4, 4) is so low that a person folds up to take it."""
    return bool(T_world_thing[2, 3] - (d.world.floor or 0.0) < _LOW * actor.body.height)


def _lies(d: Director, thing: str, t: float) -> bool:
    """Return whether an object lies free at a time: not a fixture, and in nobody's hand."""
    return not isinstance(d.world.objects[thing], Fixture) and holder_of(d.world, thing, t) is None


def eligible(d: Director, hand: str, thing: str, grasps: Sequence[Grasp], name: str | None) -> list[Grasp]:
    """Grasps of an object, with a given name if any, without those that led to later failures."""
    if name is not None and all(g.name != name for g in grasps):
        raise UnknownName(f"grasp of {thing}", name, dict.fromkeys(g.name for g in grasps))
    refused = d.spent.refused.get(thing, set())
    return [g for g in grasps if name in (None, g.name) and (hand, g.name) not in refused]


def fitting(
    d: Director, grasps: Iterable[Grasp], pose: Pose, places: Sequence[Place], failed: list[Failed], *, back: bool
) -> Iterator[Grasp]:
    """Grasps with room for the hand at all placements, open and while it closes; others join `failed`.

    With `back`, those without room at the first placement, retreated until they have it. The body is in `pose`, which
    does not count.
    """
    looked = places if d.settings.tier != "ik" else ()
    for grasp in grasps if looked or not back else ():
        may_stop_here()
        if back:
            first = looked[0]
            if first.postures.grasp_blame(pose, grasp, first.T_world_thing) is None:
                continue
            moved = first.postures.with_room(pose, grasp, first.T_world_thing)
            if moved is None:
                continue
            grasp = moved
        blames = ((place.what, place.postures.grasp_blame(pose, grasp, place.T_world_thing)) for place in looked)
        met = next(((what, pair) for what, pair in blames if pair is not None), None)
        if met is None:
            yield grasp
        else:
            failed.append((1.2, PlanningFailure("target-in-collision", f"{met[0]}: {blamed(met[1])}")))


def ranked(
    actor: Actor,
    hand: str,
    grasps: Sequence[Grasp],
    T_world_thing: Array,
    k: int,
    pose: Pose | None = None,
    after: Sequence[Place] = (),
) -> list[Grasp]:
    """Grasps in order of suitability: near, within joint limits, wrist and elbow at ease; see `effort` for the pose.

    Places where the object is put `after` count as well, at their easiest rotation.
    """
    if not grasps:
        return []
    ends = T_world_thing @ np.stack([g.T_thing_hand for g in grasps])
    cost = np.array([g.cost for g in grasps]) + effort(actor, hand, ends, k, pose)
    for place in after:
        T = place.T_world_thing
        goals = np.stack(turned(T, T[:3, 3]) if place.turns else [T])
        ends = goals[:, None] @ np.stack([g.T_thing_hand for g in grasps])
        cost += effort(actor, hand, ends.reshape(-1, 4, 4), place.k).reshape(len(goals), -1).min(axis=0)
    return [grasps[i] for i in np.argsort(cost, kind="stable")]


def first_reachable(
    looks: Iterable[ReachableGrasp | Failed], enough: int, failed: list[Failed]
) -> list[ReachableGrasp]:
    """Feasible options, the easiest first, after `enough` of them were found; failures join `failed`."""
    suited: list[ReachableGrasp] = []
    for found in looks:
        if isinstance(found, ReachableGrasp):
            suited.append(found)
        else:
            failed.append(found)
        if len(suited) >= enough:
            break
        may_stop_here()
    return sorted(suited, key=lambda taking: taking.cost)


def reach_grasp(d: Director, actor: Actor, hand: str, grasp: Grasp, place: Place) -> ReachableGrasp | Failed:
    """A grasp as an option, or the severity and reason of its failure."""
    k, postures, what = place.k, place.postures, place.what
    fingers, T_target = opened(actor, hand, grasp, place)
    # what is missing changes by no more than the distance between two targets
    bounds = (missing - float(np.linalg.norm(T_target[:3, 3] - wrist)) for wrist, missing in place.far)
    if (least := max(bounds, default=0.0)) > _AS_FAR_M:
        why = f"{what}: the goal is {least:.2f} m out of reach"
        return 2.0 + least, PlanningFailure("target-out-of-reach", why, missing=least)
    there = d.reach(actor, hand, T_target, k, postures)
    if not there.found:
        if there.status == "out-of-reach":
            place.far.append((T_target[:3, 3], there.missing))
        return failure(there, postures, what)
    toward = place.T_world_thing[:3, :3] @ grasp.approach
    reason = "the arm cannot get there"
    for share in _NEARER:
        way = share * d.settings.approach * toward
        before = d.near(actor, hand, there.pose, shifted(T_target, -way), k, postures)
        if isinstance(before, Pose):
            # The trunk stays as it is for the last part of the approach where it can.
            stayed = arm_to(actor, hand, before, T_target)
            target = there.pose if stayed is None or not postures.valid(stayed) else stayed
            cost = grasp.cost + discomfort(actor, hand, target) + discomfort(actor, hand, before)
            return ReachableGrasp(hand, k, grasp, T_target, target, before, fingers, way, cost)
        reason = blamed(before) or reason
    return 0.5, PlanningFailure(
        "target-in-collision", f"{what}: there is no room in front of it for the open hand ({reason})"
    )


def _reach_alone(d: Director, actor: Actor, hand: str, grasp: Grasp, place: Place) -> ReachableGrasp | Failed:
    """A grasp as an option by the arm with the body in place, or the severity and reason of its failure."""
    fingers, T_target = opened(actor, hand, grasp, place)
    way = d.settings.approach * place.T_world_thing[:3, :3] @ grasp.approach
    target, before = (arm_to(actor, hand, actor.pose, T) for T in (T_target, shifted(T_target, -way)))
    if target is None or before is None:
        return 2.0, PlanningFailure("target-out-of-reach", f"{place.what}: the {hand} arm cannot get there")
    met = place.postures.blame(target) or place.postures.blame(before)
    if met is not None:
        return 1.0, PlanningFailure("target-in-collision", f"{place.what}: {blamed(met)}")
    cost = grasp.cost + discomfort(actor, hand, target)
    return ReachableGrasp(hand, place.k, grasp, T_target, target, before, fingers, way, cost)


def opened(actor: Actor, hand: str, grasp: Grasp, place: Place) -> tuple[Array, Array]:
    """Rotations (n, 4) of open fingers for a grasp, set in the placement's posture check, and the hand's transform (4,
    4).
    """
    fingers = finger_rotations(actor.body, hand, grasp.open)
    place.postures.fingers = dict(zip(finger_joints(actor.body, hand), fingers, strict=True))
    return fingers, place.T_world_thing @ grasp.T_thing_hand


def borne(d: Director, actor: Actor, thing: str, found: ReachableGrasp | Failed) -> ReachableGrasp | Failed:
    """An option, if hand, arm and back can bear the object's mass there; a fixture is borne by its joint."""
    what = d.world.objects[thing]
    if not isinstance(found, ReachableGrasp) or not what.mass or isinstance(what, Fixture):
        return found
    T_thing = found.T_world_hand @ inverse(found.grasp.T_thing_hand)
    center = apply(T_thing, what.mesh.bounds.mean(axis=0)[None])[0]
    T = actor.body.skeleton.at(found.target)
    why = slips(actor.body, what.mass, found.grasp.shape.name)
    why = why or too_heavy(actor.body, T, what.mass, center, (found.hand,))
    return (0.1, PlanningFailure("too-heavy", f"grab {thing}: {why}")) if why else found


def failure(there: Reached, postures: Postures, what: str) -> Failed:
    """Severity and reason of a failed reach: the least severe is reported."""
    if there.status == "out-of-reach":
        far = f"{what}: the goal is {there.missing:.2f} m out of reach"
        return 2.0 + there.missing, PlanningFailure("target-out-of-reach", far, missing=there.missing)
    if there.status == "out-of-balance":
        return 1.5, PlanningFailure("out-of-balance", f"{what}: the body would fall over")
    if there.status == "limits":
        return 1.8, PlanningFailure("target-out-of-reach", f"{what}: joint limits are exceeded")
    pair = postures.blame(there.pose)
    return 1.0, PlanningFailure("target-in-collision", f"{what}: {blamed(pair) or 'something is in the way'}")


def _leading_on(
    d: Director, actor: Actor, found: ReachableGrasp | Failed, then: Sequence[Place]
) -> ReachableGrasp | Failed:
    """An option, if it can put the object at one of its next placements, rotated where that is left open; a failure
    otherwise.
    """
    if not isinstance(found, ReachableGrasp) or not then:
        return found
    failed: list[Failed] = []
    for place in chain(then, _rotated(d, actor, found, then)):
        goal = reach_grasp(d, actor, found.hand, found.grasp, place)
        if isinstance(goal, ReachableGrasp):
            return replace(found, cost=found.cost + goal.cost)
        failed.append(goal)
    return min(failed, key=lambda f: f[0])


def _rotated(d: Director, actor: Actor, found: ReachableGrasp, then: Sequence[Place]) -> Iterator[Place]:
    """Rotated placements for an option, as `put` will try them."""
    for place in then:
        for T in easiest_turns(actor, found.hand, place.T_world_thing, found.grasp.T_thing_hand) if place.turns else ():
            key = T.tobytes()
            if np.array_equal(T, place.T_world_thing):
                continue
            if key not in place.rotated:
                place.rotated[key] = replace(place, T_world_thing=T, postures=place.postures.with_object_at(T))
            yield place.rotated[key]
