"""Stances from which an object can be held at its start and at its goal, for moves over fixed feet (Y1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import UP, Array, about, multiply
from elbowroom.geometry.transforms import apply, transform
from elbowroom.locomotion.course import facing, heading_of, leftwards, towards
from elbowroom.locomotion.departure import footprints_of, stance_of, stance_on
from elbowroom.locomotion.figure import SIDES
from elbowroom.locomotion.steps import Footprints
from elbowroom.motion.layers import held
from elbowroom.plan.checks.places import place_for
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, Status, tried
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Footprint, Move
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.plan.verbs.carry_path import carried
from elbowroom.plan.verbs.move import free_hands
from elbowroom.plan.walking.finding import paths_of
from elbowroom.plan.walking.walked import Spot
from elbowroom.posing.whole_body import WholeBody
from elbowroom.world.world import World

# Distances of the ankles from the object's side, and of the feet from the middle, shares of the height; turn-out of the
# toes, radians: first as people stand, then wider for low objects. Tuned on crates of 24 cm on the floor before a
# woman: toes turned out make room for the belly between the thighs.
_GAPS = (0.19, 0.16, 0.22, 0.13)
_EASY_GAP = 0.19
_SHAPES = ((0.052, np.radians(6.0)), (0.055, np.radians(25.0)), (0.085, np.radians(25.0)))
_LOW_SHAPES = (*_SHAPES[1:], (0.055, np.radians(40.0)), _SHAPES[0])
# The same for one hand at the floor, and the share of the height by which one foot is drawn back and the other put
# forward: the thigh beside the arm then points down. Tuned on a ball of 9 cm before a woman.
_STAGGERED, _DRAWN_BACK = (0.055, np.radians(10.0)), 0.08
# Objects whose middle is below this at their start or goal are low, share of the height.
_LOW = 0.3
# Sampled directions around the object; largest angle of start and goal from the front, radians.
_AROUND = 24
_ASIDE_RAD = np.radians(65.0)
# Free gap of the goal, a share of the height: arms are stretched farther than trunks are bent.
_FAR_GAP = 0.36
# Gap of the goal that is out of reach, the same: arms are 0.33 to 0.45 long, and trunks bend by as much again.
_FARTHEST_GAP = 0.8
# Costs of a metre of path, of squared angles of start and goal from the front, and of a farther goal, relative to a gap
# at the start.
_WAY, _TURNS, _FARTHER = 0.03, (1.0, 0.3), 0.5
# The same for squared angles between the heading and an object's sides: palms press opposite sides of it.
_ASKEW = 0.5
# Cosine of the angle between headings of places on different sides of an object, at most.
_OTHER_SIDE = np.cos(np.radians(50.0))
# Positions that are tested with the whole body, for each shape of the stance, and grips that are tested there.
_LOOKS = 3
_GRIPS = 2
# Spots for which it is asked whether a task could be done from there.
_ASKED = 8
# Start and goal of an object, placements (4, 4).
Ends = tuple[Array, Array]
# Failures that other feet at the same place do not resolve.
_OUT_OF_REACH: tuple[Status, ...] = ("target-out-of-reach", "out-of-balance")


def spot_on(actor: Actor, feet: Sequence[Footprint]) -> Spot:
    """The spot of a character on a left and a right footprint."""
    prints = {side: (np.array([x, y]), heading) for side, (x, y, heading) in zip(SIDES, feet, strict=True)}
    return Spot(*stance_on(actor.body, prints), prints)


def stances_for(
    d: Director, actor: Actor, task: Move, *, at_once: bool = False, ends: Ends | None = None
) -> Iterator[Spot]:
    """Stances in which the whole body can hold the object at its start and at its goal, or at two `ends` (4, 4), the
    easiest first.

    With `at_once`, it also finds a way from one to the other without a search, as an object that is lifted does.
    """
    taken = np.asarray(d.world.frame(task.object, actor.now))
    ends = ends or (taken, place_for(d.world, task, taken, actor.now))
    middles = [apply(T, d.world.objects[task.object].mesh.bounds.mean(axis=0)[None])[0] for T in ends]
    low = any(_is_low(d.world, actor, middle) for middle in middles)
    places = _free(d, actor, _places(d, actor, task, ends, middles))
    looks = places[:_LOOKS] + _other_sides(places[:_LOOKS], places[_LOOKS:])
    far: set[int] = set()
    for half, toes_out in _LOW_SHAPES if low else _SHAPES:
        for number, (place, face) in enumerate(looks):
            feet = _footprints(actor, place, face, half, toes_out)
            stands = standing_on(actor, feet) if number not in far else None
            if stands is None:
                continue
            failed = hold_failures(d, stands, task, at_once=at_once, ends=ends)
            if not failed:
                yield Spot(*stance_on(actor.body, feet), feet)
            elif all(why.status in _OUT_OF_REACH for why in failed):  # with feet otherwise there as well
                far.add(number)


def _free(d: Director, actor: Actor, places: Sequence[tuple[Array, float]]) -> list[tuple[Array, float]]:
    """Places at which the body stands free of everything else: what an object lies on may be in the way of the feet."""
    postures = Postures(d.world, actor.who, actor.now)
    stands = [(spot, standing_on(actor, _footprints(actor, *spot, *_SHAPES[0]))) for spot in places]
    return [spot for spot, there in stands if there is not None and postures.blame(there.pose) is None]


def is_low(world: World, actor: Actor, thing: str, t: float) -> bool:
    """Return whether an actor has to bend down or squat to hold an object with both hands where it is at a time."""
    T = np.asarray(world.frame(thing, t))
    return _is_low(world, actor, apply(T, world.objects[thing].mesh.bounds.mean(axis=0)[None])[0])


def _is_low(world: World, actor: Actor, middle: Array) -> bool:
    return bool(middle[2] - (world.floor or 0.0) < _LOW * actor.body.height)


def _other_sides(
    looks: Sequence[tuple[Array, float]], places: Sequence[tuple[Array, float]]
) -> list[tuple[Array, float]]:
    """The easiest place with each heading that is clearly another than those of places `looks`."""
    found: list[tuple[Array, float]] = []
    for place, face in places:
        if all(np.cos(face - other) < _OTHER_SIDE for _, other in (*looks, *found)):
            found.append((place, face))
    return found


def _places(
    d: Director, actor: Actor, task: Move, ends: Sequence[Array], middles: Sequence[Array]
) -> list[tuple[Array, float]]:
    """Middles (2,) between the ankles, with the heading of the body, the easiest first."""
    tall, start = actor.body.height, stance_of(actor.body, actor.pose)[0]
    paths = paths_of(d, actor, [middle[:2] for middle in middles], "any")
    sides = [apply(T, d.world.objects[task.object].mesh.vertices)[:, :2] for T in ends]
    found = []
    for angle in np.linspace(0.0, 2.0 * np.pi, _AROUND, endpoint=False):
        out = facing(angle)
        reach = float(((sides[0] - middles[0][:2]) @ out).max())
        for gap in _GAPS:
            place = middles[0][:2] + (reach + gap * tall) * out
            to = [middle[:2] - place for middle in middles]
            face = float(heading_of(np.sum([path / np.linalg.norm(path) for path in to], axis=0)))
            aside = [abs(float(np.angle(np.exp(1j * (towards(place, m) - face))))) for m in middles]
            if max(aside) > _ASIDE_RAD or not paths.stands(place):
                continue
            beyond = float(np.linalg.norm(sides[1] - place, axis=1).min()) / tall
            if beyond > _FARTHEST_GAP:
                continue
            cost = abs(gap - _EASY_GAP) + _FARTHER * max(beyond - _FAR_GAP, 0.0)
            cost += float(np.square(aside) @ _TURNS) + sum(_ASKEW * _askew(T, face) ** 2 for T in ends)
            found.append((cost + _WAY * float(np.linalg.norm(place - start)), tuple(place), face))
    return [(np.array(place), face) for _, place, face in sorted(found)]


def _askew(T_object: Array, face: float) -> float:
    """Angle from a heading to the nearest of an object's own axes on the floor, at a placement (4, 4), radians."""
    quarter = 0.5 * np.pi
    return abs((face - float(heading_of(T_object[:2, 0])) + 0.5 * quarter) % quarter - 0.5 * quarter)


def _footprints(
    actor: Actor, place: Array, face: float, half: float, toes_out: float, left_ahead: float = 0.0
) -> Footprints:
    """Footprints around a position (2,) between the ankles: shares of the height to either side, toes turned out.

    `left_ahead` is the share of the height by which the left foot is before that position, and the right one behind.
    """
    off = actor.body.height * (half * leftwards(face) + left_ahead * facing(face))
    return {side: (place + sign * off, face + sign * toes_out) for side, sign in zip(SIDES, (1.0, -1.0), strict=True)}


def staggered(actor: Actor, place: Array, face: float, hand: str) -> Spot:
    """The spot of a person who squats at a position (2,) to reach down with a hand, the foot of its side drawn back."""
    ahead = -_DRAWN_BACK if hand == "left" else _DRAWN_BACK
    feet = _footprints(actor, place, face, *_STAGGERED, ahead)
    return Spot(*stance_on(actor.body, feet), feet)


def suited_first(
    d: Director, actor: Actor, spots: Iterable[Spot], suits: Callable[[Actor], bool] | None = None
) -> Iterator[Spot]:
    """Spots in order, those first at which the body, with what it holds, stands free of everything else, and an actor
    `suits` who stands there; that is asked of a few of them."""
    postures, heading = Postures(d.world, actor.who, actor.now), stance_of(actor.body, actor.pose)[1]
    others, asked = [], 0
    for spot in spots:
        face = heading if spot.face is None else spot.face
        stands = standing_on(actor, spot.feet) if spot.feet else standing_at(actor, spot.place, face)
        if stands is None or asked >= _ASKED or postures.blame(stands.pose) is not None:
            others.append(spot)
            continue
        asked += suits is not None
        if suits is None or suits(stands):
            yield spot
        else:
            others.append(spot)
    yield from others


def standing_at(actor: Actor, place: Array, heading: float) -> Actor | None:
    """An actor who stands at ease at a position (2,) with a heading; None where legs do not reach."""
    feet = _footprints(actor, place, heading, *_SHAPES[0])
    by = place - stance_on(actor.body, feet)[0]
    return standing_on(actor, {side: (at + by, face) for side, (at, face) in feet.items()})


def standing_on(actor: Actor, feet: Footprints) -> Actor | None:
    """An actor on footprints, from its present posture; None where legs do not reach."""
    body, pose = actor.body, actor.pose
    T, now, (place, heading) = body.skeleton.at(pose), footprints_of(body, pose), stance_of(body, pose)
    targets = {}
    for side, (at, face) in feet.items():
        joint = body.role(f"{side}_foot")
        T_foot = transform(np.zeros(3), about(UP, face - now[side][1])) @ T[joint]
        T_foot[:2, 3] = at
        targets[f"{side}_foot"] = T_foot
    there, turned = stance_on(body, feet)
    moved = transform([*there, 0.0], about(UP, turned - heading)) @ transform([*-place, 0.0])
    rotations = np.array(pose.rotations)
    rotations[0] = multiply(about(UP, turned - heading), rotations[0])
    found = WholeBody(body).solve(Pose.of(apply(moved, pose.root[None])[0], rotations), targets)
    if not found.found:
        return None
    here = held(actor.base.with_(root=found.pose.root[None], rotations=found.pose.rotations[None]), actor.k + 1)
    return Actor.alone(actor.who, replace(actor.track, base=here, root=here.root, q=here.rotations))


def hold_failures(d: Director, actor: Actor, task: Move, *, ends: Ends, at_once: bool = False) -> list[PlanningFailure]:
    """Reasons why an actor cannot hold the object at two placements from its present stance; none where it can."""
    carrier = Carrier(d, actor, task, f"move {task.object}")
    carrier.T_start, carrier.T_goal = ends
    hands = free_hands(d, actor, task.hands, carrier.what)
    failed: list[PlanningFailure] = []
    ranked = tried(lambda: carrier.ranked(hands)[:_GRIPS])
    if isinstance(ranked, PlanningFailure):
        return [ranked]
    for guide in dict.fromkeys((carrier.guided[0], None)):
        carrier.guided = guide, carrier.guided[1]
        for option in (option for grips in ranked if (option := carrier.option(grips, failed)) is not None):
            team, both = [(carrier, option.grips)], [(option.start, option.goal)]
            stuck = tried(partial(carried, team, both, searched=False)) if at_once else None
            if not isinstance(stuck, PlanningFailure):
                return []
            failed.append(stuck)
    return failed
