"""Walks worked into somebody's motion: along a way, free of what is met on it, round people who cross it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.departure import footprints_of, stance_of, standing_height, walk_from
from elbowroom.locomotion.envelope import envelope
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.route import wrapped
from elbowroom.locomotion.steps import Footprints
from elbowroom.locomotion.walk import WalkOptions
from elbowroom.motion.clip import Clip
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import FOREVER, Director
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.result import Plan, PlanningFailure
from elbowroom.plan.tasks import Rest
from elbowroom.plan.verbs.carry import rest
from elbowroom.plan.walking.crossing import discs_of, met, past_people
from elbowroom.plan.walking.ground import LOW_M, Ground
from elbowroom.plan.walking.ways import Disc, Gait, Way, Ways, crouching_along, manners_along
from elbowroom.world.certificate import certify
from elbowroom.world.certificate_findings import Collision, Unproven
from elbowroom.world.columns import columns_of
from elbowroom.world.world import World

# Metres a second by gait.
SPEEDS: dict[Gait, float] = {
    "any": 1.25, "walk": 1.25, "brisk": 1.6, "run": 2.8, "crouch": 0.8, "sidle": 0.5, "back": 0.7,
}  # fmt: skip
# Who is so near to a place, and faces it so, is there: metres and radians.
_THERE_M, _THERE_RAD = 0.03, np.radians(8.0)
# The same for a foot whose place was given.
_FOOT_THERE_M = 0.005
# Ways that are tried, each without the places where those before it failed.
_WAYS = 4
# The same where walks are changed little, since other places are tried, too.
_QUICK_WAYS = 2
# Metres from the start or the end of a walk within which what is met there calls for another start or end of it.
_AT_AN_END_M = 0.75
# Collisions of arms that are leaned aside before another place is tried.
_FEW = 6
# Metres around such a place that the next way leaves out.
_AVOID_M = 0.35
# Walks past people who cross that are tried, and seconds by which their delays differ on one path.
_PAST_PEOPLE, _OTHER_DELAY_S = 4, 0.5
# Metres above the floor from which a target may be upstairs.
_UPSTAIRS_M = 0.3


@dataclass(frozen=True, eq=False)
class Spot:
    """Place to stand (2,) and heading to face there; None: as one arrives. `feet` where they are to stand, if given."""

    place: Array
    face: float | None
    feet: Footprints = field(default_factory=dict)


# How much a walk may be changed to bring it out of what it meets: not at all, limbs leaned aside, or all that is known.
Effort = Literal["none", "leans", "all"]


@dataclass(frozen=True, eq=False)
class Errand:
    """Reason for a walk in words, gait, time of arrival, and the effort of bringing it out of what it meets.

    Paths leave out the discs in `avoid`, where earlier walks failed.
    """

    what: str = "go"
    gait: Gait = "any"
    at: float | None = None
    effort: Effort = "all"
    avoid: tuple[Disc, ...] = ()


@dataclass(frozen=True, eq=False)
class Walk:
    """A path to walk to a spot on an errand, at a speed in m/s, `delay` frames from now.

    `not_before`: see `walk_route`. People who cross it are passed elsewhere unless the walk is to `mend` that.
    """

    way: Way
    spot: Spot
    errand: Errand
    speed: float
    delay: int = 0
    not_before: Callable[[Array], Array] | None = None
    mend: bool = False


class Blocked(PlanningFailure):
    """A walk that cannot be made free: place (2,) on the path, discs for the next path to leave out, and whether
    somebody is there."""

    def __init__(self, why: str, at: Array, discs: Sequence[Disc], person: bool) -> None:
        super().__init__("no-path", why)
        self.at, self.discs, self.person = at, discs, person


class NoWay(PlanningFailure):
    """There is no way to a place, as the scene is."""


def walk_to(d: Director, actor: Actor, spot: Spot, errand: Errand) -> None:
    """Walk to a spot as the scene allows and stand there; raises `PlanningFailure`."""
    start, heading = stance_of(actor.body, actor.pose)
    turn = 0.0 if spot.face is None else wrapped(spot.face - heading)
    there = float(np.linalg.norm(spot.place - start)) < _THERE_M and abs(turn) < _THERE_RAD
    if there and _stands_on(actor, spot.feet):
        return
    if actor.away:  # what is in the hands is carried at ease
        rest(d, Rest(who=actor.who))
    ways = ways_of(d, actor, [spot.place], errand.gait)
    first = ways.find(start, spot.place, errand.avoid)
    if first is None:
        climbing = ways_of(d, actor, [spot.place], errand.gait, climbs=True)
        first = climbing.find(start, spot.place, errand.avoid)
        ways = ways if first is None else climbing
    if first is None:
        raise no_way(d, actor, ways, start, spot.place, errand.what)
    walk = Walk(first, spot, errand, SPEEDS[errand.gait])
    stuck = _first_free(d, actor, walk, ways, heading)
    if stuck is None:
        return
    if not stuck.person:
        raise stuck
    for other in (*_past_people(d, actor, walk, ways, stuck), replace(walk, mend=True)):
        try:
            return walked(d, actor, other)
        except Blocked:
            continue
    raise stuck


def _past_people(d: Director, actor: Actor, walk: Walk, ways: Ways, stuck: Blocked) -> Iterator[Walk]:
    """Walks on the same path, or past where somebody was met, sooner or later, faster or slower: the most promising."""
    if walk.errand.at is not None:
        return
    round_them = ways.find(walk.way.points[0], walk.spot.place, [*walk.errand.avoid, *stuck.discs])
    both = [walk.way, *([] if round_them is None else [round_them])]
    told: set[tuple[int, float]] = set()
    for way, speed, delay in past_people(d.world, actor, both, walk.speed):
        # others that differ little fail alike
        if all(key[0] != id(way) or abs(key[1] - delay) > _OTHER_DELAY_S for key in told):
            told.add((id(way), delay))
            yield replace(walk, way=way, speed=speed, delay=round(delay * actor.base.fps))
        if len(told) >= _PAST_PEOPLE:
            return


def _first_free(d: Director, actor: Actor, walk: Walk, ways: Ways, heading: float) -> Blocked | None:
    """Walk the first of several paths on which nothing is met; the failure of the first one where there is none.

    Where a walk fails near its start the next one backs off first, near its end it comes straight up to the spot;
    elsewhere the next path leaves out that place in that mode.
    """
    start, spot = walk.way.points[0], walk.spot
    avoid = list(walk.errand.avoid)
    stuck: Blocked | None = None
    leaving: float | None = None
    arriving: float | None = None
    way: Way | None = walk.way
    for _ in range(_WAYS if walk.errand.effort == "all" else _QUICK_WAYS):
        if way is None:
            break
        try:
            walked(d, actor, replace(walk, way=way))
            return None
        except Blocked as blocked:
            if blocked.person:  # who is there at other times
                return blocked
            stuck, end = stuck or blocked, near_an_end(blocked, start, spot)
            if end == "start" and leaving is None and ways.before(start, heading) is not None:
                leaving = heading
            elif end == "goal" and arriving is None and ways.before(spot.place, spot.face) is not None:
                arriving = spot.face
            else:
                avoid += blocked.discs
            way = ways.find(start, spot.place, avoid, leaving, arriving)
    return stuck


def near_an_end(blocked: Blocked, start: Array, spot: Spot) -> Literal["start", "goal"] | None:
    """Return near which end a walk from a place (2,) to a spot was blocked; None where it was between them."""
    if float(np.linalg.norm(blocked.at - start)) < _AT_AN_END_M:
        return "start"
    return "goal" if float(np.linalg.norm(blocked.at - spot.place)) < _AT_AN_END_M else None


def _stands_on(actor: Actor, feet: Footprints) -> bool:
    """Return whether feet are where they are to stand."""
    now = footprints_of(actor.body, actor.pose)
    return all(
        float(np.linalg.norm(now[side][0] - place)) < _FOOT_THERE_M and abs(wrapped(now[side][1] - face)) < _THERE_RAD
        for side, (place, face) in feet.items()
    )


def walked(d: Director, actor: Actor, walk: Walk) -> None:
    """Work a walk into somebody's motion, free of what is met on it; raises `Blocked`, with all as before."""
    begin, saved = actor.now, d.save()
    ground = _set_out(d, actor, walk)
    d.world = actor.placed(d.world)
    # somebody who stands on something goes on standing there
    d.allow(ground.contacts(actor.who, actor.body, (begin, FOREVER)))
    if d.settings.tier == "ik":
        return
    found = certify(d.world, during=(begin, actor.now), clearance=False)
    if found.free:
        return
    people, things = met(d.world, found, actor.who)
    try:
        if people and not walk.mend:
            other, t = next(name for name in people[0].who if name != actor.who), people[0].during[0]
            discs = discs_of(d.world, actor, other, t)
            why = f"{walk.errand.what}: {actor.who} collides with {other} at {t:.1f} s"
            raise Blocked(why, discs[len(discs) // 2].centre, discs, True)
        _mended(d, actor, [*things, *people], walk)
    except Blocked:
        d.restore(saved)
        raise


def _set_out(d: Director, actor: Actor, walk: Walk) -> Ground:
    """Add the frames of a walk, whatever it meets; the ground that it is on."""
    way, at, fps = walk.way, walk.errand.at, actor.base.fps
    over = way.points[[mode.low > 0.0 for mode in way.modes]]
    ground = Ground(d.world, actor.now, figure(actor.body).scale, way.points, way.columns, over)
    options = WalkOptions(
        speed=walk.speed, fps=fps, seed=d.settings.seed, last=walk.spot.feet, terrain=ground,
        library=d.settings.library, low=crouching_along(way), not_before=walk.not_before,
    )  # fmt: skip
    floor = 0.0 if d.world.floor is None else d.world.floor
    clip = walk_from(actor.body, actor.pose, way.points, walk.spot.face, manners_along(way), floor, options=options)
    delay = walk.delay
    if at is not None:
        delay = actor.frame(at) - actor.k - (len(clip) - 1)
        if delay < 0:
            short = f"{at:g} s is {-delay / fps:.1f} s too early for {way.length:.1f} m"
            raise PlanningFailure("too-little-time", f"{walk.errand.what}: {short}")
    actor.walk(clip, delay)
    return ground


def _mended(d: Director, actor: Actor, hits: Sequence[Collision | Unproven], walk: Walk) -> None:
    """Bring a walk out of what it meets by the ladder of repairs; raises `Blocked`."""
    why, certificate = f"{actor.who} collides along the path", None
    effort = walk.errand.effort
    if effort == "all" or (effort == "leans" and _little(d.world, actor, hits)):
        plan = repair(d.world, actor.who, seed=d.settings.seed, searches=effort == "all")
        if plan.found or (plan.certificate is not None and not any(met(d.world, plan.certificate, actor.who))):
            return _adopt(d, actor, plan)
        why, certificate = plan.why, plan.certificate
    left: list[Collision | Unproven] = []
    if certificate is not None:
        left = [*certificate.collisions, *certificate.unproven]
    at = _place_of(actor, min(left or hits, key=lambda hit: hit.during))
    # there is another path past it, or another manner
    mode = walk.way.modes[int(np.argmin(np.linalg.norm(walk.way.points - at, axis=1)))]
    raise Blocked(f"{walk.errand.what}: {why}", at, [Disc(at, _AVOID_M, mode)], False)


def _little(world: World, actor: Actor, hits: Sequence[Collision | Unproven]) -> bool:
    """Return whether leaning arms aside may do: they, or what they hold, are all that meets something."""
    body = actor.body
    arms = {body.joint_names[j] for name, chain in body.chains.items() if chain.kind == "arm"
            for j in body.subtree(chain.joints[0])}  # fmt: skip
    mine = {f"{actor.who}.{name}" for name in arms} | {hold.object for hold in world.holds if hold.by == actor.who}
    return len(hits) <= _FEW and all(mine & set(hit.pair) for hit in hits)


def _place_of(actor: Actor, hit: Collision | Unproven) -> Array:
    """Place (2,) of the body in the middle of what it meets."""
    return actor.root[min(max(actor.frame(0.5 * sum(hit.during)), 0), len(actor.root) - 1), :2]


def _adopt(d: Director, actor: Actor, plan: Plan) -> None:
    """Go on from a repaired walk."""
    new = plan.world.motion(actor.who)
    assert isinstance(new, Clip)
    q = np.array(new.rotations)
    actor.root, actor.q = np.array(new.root), q.copy()
    q[:, list(actor.kept)] = actor.base.rotations[:, list(actor.kept)]
    actor.base = new.with_(rotations=q)
    d.edits += [edit for edit in plan.edits if edit.who == actor.who]
    d.allow([contact for edit in plan.edits for contact in edit.contacts])
    d.world = actor.placed(d.world)


def ways_of(
    d: Director,
    actor: Actor,
    goals: Sequence[Array],
    gait: Gait = "any",
    climbs: bool = False,
    without: Sequence[str] = (),
) -> Ways:
    """Ways of somebody from where they stand, among all that does not move with them; on one level unless `climbs`."""
    held = [*without]
    held += [hold.object for hold in d.world.holds if hold.by == actor.who and hold.during[1] > actor.now]
    start = stance_of(actor.body, actor.pose)[0]
    high = standing_height(actor.body, actor.pose) - (d.world.floor or 0.0) if climbs else None
    columns = columns_of(d.world, actor.now, [start, *goals], without=held, climbing=high)
    for who, motion in d.world.characters.items():
        if who != actor.who and isinstance(motion.body, Character):
            ended = motion.sample([max(actor.now, motion.span[1])])[0][0]
            if np.linalg.norm(ended[:2] - motion.sample([actor.now])[0][0][:2]) < _AVOID_M:
                columns = columns.with_disc(ended[:2], 0.5 * envelope(motion.body, "forward").width)
    return Ways(columns, actor.body, gait)


def ways_to(d: Director, actor: Actor, target: Array, gait: Gait = "any") -> Ways:
    """Ways of somebody to a target (3,): on one level unless it is above ground that is climbed to."""
    level = ways_of(d, actor, [target[:2]], gait)
    high = float(target[2]) - level.columns.floor
    if high < _UPSTAIRS_M:
        return level
    climbing = ways_of(d, actor, [target[:2]], gait, climbs=True)
    assert climbing.columns.ground is not None
    ground = climbing.columns.ground[climbing.columns.cell(target)]
    return climbing if LOW_M < ground < high else level


def until_end(d: Director, actor: Actor) -> None:
    """Go on until the base motion ends, unless somebody stands."""
    if not actor.stands and actor.k < len(actor.base) - 1:
        actor.go_on(len(actor.base) - 1)
        d.world = actor.placed(d.world)


def no_way(d: Director, actor: Actor, ways: Ways, start: Array, goal: Array, what: str) -> PlanningFailure:
    """Reason why there is no way: what stands at the goal, or the place that is too narrow."""
    if not ways.stands(goal):
        near = _nearest(d.world, goal, actor.now)
        return PlanningFailure("target-in-collision", f"{what}: there is no room to stand at {told(goal)}, {near}")
    narrow = ways.narrowest(start, goal)
    if narrow is None:
        other = Ways(ways.columns, actor.body).find(start, goal)
        modes = () if other is None else dict.fromkeys(m.name for m in other.modes if m not in ways.modes)
        if modes:
            return PlanningFailure("no-path", f"{what}: no path in that gait; 'any' finds one ({', '.join(modes)})")
        return NoWay("no-path", f"{what}: walls or low obstacles block {told(goal)}")
    return NoWay(
        "no-path",
        f"{what}: the path is {narrow.width:.2f} m wide at {told(narrow.at)}, "
        f"{_nearest(d.world, narrow.at, actor.now)}, and {actor.who} needs {narrow.needed:.2f} m",
    )


def _nearest(world: World, point: Sequence[float] | Array, t: float) -> str:
    """Words for what is nearest to a point on the floor."""
    best, name = np.inf, ""
    meshes = dict(world.static) | {n: o.mesh.moved(np.asarray(o.path(t))) for n, o in world.things.items()}
    for n, mesh in meshes.items():
        low, high = mesh.bounds
        if high[2] < 0.05:
            continue
        gap = float(np.linalg.norm(np.maximum(np.maximum(low[:2] - point, point - high[:2]), 0.0)))
        if gap < best:
            best, name = gap, n
    return f"by '{name}'" if name else "in the open"


def told(point: Sequence[float] | Array) -> str:
    """Words for a point on the floor."""
    return f"({float(point[0]):.2f}, {float(point[1]):.2f})"
