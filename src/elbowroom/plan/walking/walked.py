"""Walks added to a character's motion: along a path, collision-free, past people who cross it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import facing
from elbowroom.locomotion.course import wrapped
from elbowroom.locomotion.departure import footprints_of, stance_of, walk_from
from elbowroom.locomotion.envelope import envelope
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.modes import DUCK, HIGH_OVER, OVER, STOOP, WALK, Gait, Mode
from elbowroom.locomotion.steps import Footprints
from elbowroom.locomotion.walk import WalkOptions
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.accept import hits
from elbowroom.plan.checks.ground import Ground
from elbowroom.plan.checks.hands import arms_of, held_by, joints_of
from elbowroom.plan.repair.repair import repair_near
from elbowroom.plan.repair.stretch import within_reach
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import Plan, PlanningFailure
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Rest
from elbowroom.plan.verbs.carry import lower_idle_hands, rest, sways_free
from elbowroom.plan.walking.along import crouching_along, manners_along, still_arms_along, trodden
from elbowroom.plan.walking.crossing import discs_at_rest, discs_of, met, past_people
from elbowroom.plan.walking.finding import no_path, paths_of
from elbowroom.plan.walking.paths import AVOID_M, Disc, WalkPath, WalkPaths
from elbowroom.world.certificate_findings import Finding
from elbowroom.world.own_pairs import tissue_contacts
from elbowroom.world.things import FOREVER
from elbowroom.world.world import World

# Speed by gait, m/s.
SPEEDS: dict[Gait, float] = {
    "any": 1.25, "walk": 1.25, "brisk": 1.6, "run": 2.8, "crouch": 0.8, "sidle": 0.5, "back": 0.7,
}  # fmt: skip
# Distance and angle within which a character already stands at a spot, metres and radians.
_THERE_M, _THERE_RAD = 0.03, np.radians(8.0)
# The same for a foot with a given footprint.
_FOOT_THERE_M = 0.005
# Paths that are tried, each without the places where earlier ones failed.
_WAYS = 4
# The same where walks are changed little, since other positions are tried, too.
_QUICK_WAYS = 2
# Distance from the start or the end of a walk within which a collision calls for another start or end, metres.
_AT_AN_END_M = 0.75
# Lengths of steps back from where turning with a held object has no room, shares of the height.
_BACK = (0.25, 0.4)
# Times that an arm collides, seconds apart at least, and the longest of them, seconds, which are resolved by offsets
# before another position is tried: an arm swings for half a second, and what it meets for longer is not in its swing.
_FEW, _TIMES_APART_S, _SWING_S = 6, 0.3, 1.2
# Seconds of a walk among others that are proven at a time: after a collision another walk is tried.
_PROVEN_S = 2.5
# Walks past people who cross that are tried, and the difference of their delays on one path, seconds.
_PAST_PEOPLE, _OTHER_DELAY_S = 4, 0.5


@dataclass(frozen=True, eq=False)
class Spot:
    """Position to stand (2,) and heading there; None: that of arrival. `feet` are footprints, if given."""

    place: Array
    face: float | None
    feet: Footprints = field(default_factory=dict)


# Effort of repairing a walk: none, limb offsets, or everything.
Effort = Literal["none", "leans", "all"]


@dataclass(frozen=True, eq=False)
class WalkRequest:
    """Reason for a walk in words, gait, time of arrival, and effort of repairs.

    Paths avoid the discs in `avoid`, where earlier walks failed.
    """

    what: str = "go"
    gait: Gait = "any"
    at: float | None = None
    effort: Effort = "all"
    avoid: tuple[Disc, ...] = ()


@dataclass(frozen=True, eq=False)
class Walk:
    """A path to a spot for a request, at a speed in m/s, `delay` frames from now.

    `not_before`: see `walk_route`. People who cross it are passed elsewhere unless the walk has `repair_crossings`.
    """

    path: WalkPath
    spot: Spot
    request: WalkRequest
    speed: float
    delay: int = 0
    not_before: Callable[[Array], Array] | None = None
    repair_crossings: bool = False


class Blocked(PlanningFailure):
    """A walk that cannot be made free: position (2,) on the path, discs for the next path to avoid, and whether it is a
    person.
    """

    def __init__(self, why: str, at: Array, discs: Sequence[Disc], person: bool) -> None:
        super().__init__("no-path", why)
        self.at, self.discs, self.person = at, discs, person


def walk_to(d: Director, actor: Actor, spot: Spot, request: WalkRequest) -> None:
    """Walk to a spot as the scene allows and stand there; raises `PlanningFailure`."""
    start, heading = stance_of(actor.body, actor.pose)
    turn = 0.0 if spot.face is None else wrapped(spot.face - heading)
    there = float(np.linalg.norm(spot.place - start)) < _THERE_M and abs(turn) < _THERE_RAD
    if there and _stands_on(actor, spot.feet):
        return
    if actor.away:  # held objects are carried in a comfortable posture
        rest(d, Rest(who=actor.who))
    lower_idle_hands(d, actor)
    full = [hand for hand in arms_of(actor, None) if held_by(d.world, actor.who, hand, actor.now) is not None]
    for hand in full:  # a walk would open its fingers
        actor.keep(joints_of(actor, hand))
    if not all(sways_free(d, actor, hand) for hand in full):  # an upper arm at the trunk would meet it in each step
        rest(d, Rest(who=actor.who))
    paths = paths_of(d, actor, [spot.place], request.gait)
    first = paths.find(start, spot.place, request.avoid)
    if first is None:
        climbing = paths_of(d, actor, [spot.place], request.gait, climbs=True)
        first = climbing.find(start, spot.place, request.avoid)
        paths = paths if first is None else climbing
    if first is None:
        raise no_path(d, actor, paths, start, spot.place, request.what)
    walk = Walk(first, spot, request, SPEEDS[request.gait])
    stuck = _first_free(d, actor, walk, paths, heading)
    if stuck is None:
        return
    if not stuck.person:
        raise stuck
    for other in (*_past_people(d, actor, walk, paths, stuck), replace(walk, repair_crossings=True)):
        try:
            return walked(d, actor, other)
        except Blocked:
            continue
    raise stuck


def _past_people(d: Director, actor: Actor, walk: Walk, paths: WalkPaths, stuck: Blocked) -> Iterator[Walk]:
    """Walks on the same path, past the meeting place, or past where others come to rest, earlier or later, faster or
    slower: the most promising.
    """
    if walk.request.at is not None:
        return
    start, goal = walk.path.points[0], walk.spot.place
    others = [
        paths.find(start, goal, [*walk.request.avoid, *discs]) for discs in (stuck.discs, discs_at_rest(d.world, actor))
    ]
    tried_delays: set[tuple[int, float]] = set()
    tried = [walk.path, *(path for path in others if path is not None)]
    for path, speed, delay in past_people(d.world, actor, tried, walk.speed):
        # others that differ little fail alike
        if all(key[0] != id(path) or abs(key[1] - delay) > _OTHER_DELAY_S for key in tried_delays):
            tried_delays.add((id(path), delay))
            yield replace(walk, path=path, speed=speed, delay=round(delay * actor.base.fps))
        if len(tried_delays) >= _PAST_PEOPLE:
            return


def _first_free(d: Director, actor: Actor, walk: Walk, paths: WalkPaths, heading: float) -> Blocked | None:
    """Walk the first free path of several; the failure of the first one where there is none.

    Where a walk fails near its start the next one backs off first, near its end it comes straight up to the spot;
    elsewhere the next path avoids that place in that mode.
    """
    start, spot = walk.path.points[0], walk.spot
    avoid = list(walk.request.avoid)
    stuck: Blocked | None = None
    leaving: float | None = None
    arriving: float | None = None
    path: WalkPath | None = walk.path
    for _ in range(_WAYS if walk.request.effort == "all" else _QUICK_WAYS):
        if path is None:
            break
        try:
            walked(d, actor, replace(walk, path=path))
            return None
        except Blocked as blocked:
            if blocked.person:  # the person is there at other times
                return blocked
            stuck, end = stuck or blocked, near_an_end(blocked, start, spot)
            if end == "start" and leaving is None and paths.before(start, heading) is not None:
                leaving = heading
            elif end == "goal" and arriving is None and paths.before(spot.place, spot.face) is not None:
                arriving = spot.face
            else:
                avoid += blocked.discs
            path = paths.find(start, spot.place, avoid, leaving, arriving)
    return stuck


def near_an_end(blocked: Blocked, start: Array, spot: Spot) -> Literal["start", "goal"] | None:
    """The end near which a walk from a position (2,) to a spot was blocked; None where it was between them."""
    if float(np.linalg.norm(blocked.at - start)) < _AT_AN_END_M:
        return "start"
    return "goal" if float(np.linalg.norm(blocked.at - spot.place)) < _AT_AN_END_M else None


def stepped_back(d: Director, actor: Actor) -> bool:
    """Step back from where there is no room to turn with a held object, as at a shelf; return whether that works."""
    if all(held_by(d.world, actor.who, hand, actor.now) is None for hand in arms_of(actor, None)):
        return False
    place, heading = stance_of(actor.body, actor.pose)

    def step(share: float) -> None:
        spot = Spot(place - share * actor.body.height * facing(heading), heading)
        walk_to(d, actor, spot, WalkRequest("step back", "back", effort="leans"))
        rest(d, Rest(who=actor.who))

    return any(d.attempt(partial(step, share)) is None for share in _BACK)


def _stands_on(actor: Actor, feet: Footprints) -> bool:
    """Return whether feet are on their footprints."""
    now = footprints_of(actor.body, actor.pose)
    return all(
        float(np.linalg.norm(now[side][0] - place)) < _FOOT_THERE_M and abs(wrapped(now[side][1] - face)) < _THERE_RAD
        for side, (place, face) in feet.items()
    )


def walked(d: Director, actor: Actor, walk: Walk) -> None:
    """Work a free walk into a character's motion; raises `Blocked`, with the take as before."""
    stuck = d.attempt(lambda: _walked(d, actor, walk))
    if stuck is not None:
        raise stuck


def _walked(d: Director, actor: Actor, walk: Walk) -> None:
    begin = actor.now
    ground = _set_out(d, actor, walk)
    d.world = actor.placed(d.world)
    # a character that stands on something keeps standing there
    d.allow(ground.contacts(actor.who, actor.body, (begin, FOREVER)))
    if any(mode.high < 1.0 for mode in walk.path.modes):  # bellies of people who stoop give way to their thighs
        T = actor.body.transforms(actor.root[actor.frame(begin) :], actor.q[actor.frame(begin) :])
        d.allow(tissue_contacts(actor.body, actor.who, (begin, actor.now), d.world.caps.tissue, T))
    if d.settings.tier == "ik":
        return
    people, things = _collisions(d, actor, walk, begin)
    if not people and not things:
        return
    if people and not walk.repair_crossings:
        other, t = next(name for name in people[0].who if name != actor.who), people[0].during[0]
        discs = discs_of(d.world, actor, other, t)
        why = f"{walk.request.what}: {actor.who} collides with {other} at {t:.1f} s"
        raise Blocked(why, discs[len(discs) // 2].centre, discs, True)
    _repair_walk(d, actor, [*things, *people], walk)


def _collisions(d: Director, actor: Actor, walk: Walk, begin: float) -> tuple[list[Finding], ...]:
    """Collisions of a walk since its beginning with people under way, and with everything else, the earliest first.

    Those after a meeting are left out if the walk is given up because of it.
    """
    near = within_reach(d.world, actor.who, (begin, actor.now))
    count = 1 if walk.repair_crossings or len(near.characters) < 2 else int(np.ceil((actor.now - begin) / _PROVEN_S))
    people: list[Finding] = []
    things: list[Finding] = []
    for during in pairwise(np.linspace(begin, actor.now, max(count, 1) + 1).tolist()):
        found = met(d.world, hits(near, during), actor.who)
        people, things = [*people, *found[0]], [*things, *found[1]]
        if people and not walk.repair_crossings:
            break
    return people, things


def _set_out(d: Director, actor: Actor, walk: Walk) -> Ground:
    """Add the frames of a walk, whether free or not; return its ground."""
    path, at, fps = walk.path, walk.request.at, actor.base.fps
    over = path.points[[mode.low > 0.0 for mode in path.modes]]
    ground = Ground(d.world, actor.now, figure(actor.body).scale, path.points, path.columns, over)
    options = WalkOptions(
        speed=walk.speed, fps=fps, seed=d.settings.seed, last=walk.spot.feet, terrain=ground,
        library=d.settings.library, low=crouching_along(path), still_arms=still_arms_along(path),
        not_before=walk.not_before, on_frames=True,
    )  # fmt: skip
    floor = 0.0 if d.world.floor is None else d.world.floor
    points = trodden(path, actor.body)
    clip = walk_from(actor.body, actor.pose, points, walk.spot.face, manners_along(path), floor, options=options)
    delay = walk.delay
    if at is not None:
        delay = actor.frame(at) - actor.k - (len(clip) - 1)
        if delay < 0:
            short = f"{at:g} s is {-delay / fps:.1f} s too early to walk {path.length:.1f} m"
            raise PlanningFailure("too-little-time", f"{walk.request.what}: {short}")
    actor.walk(clip, delay)
    return ground


def _repair_walk(d: Director, actor: Actor, found: Sequence[Finding], walk: Walk) -> None:
    """Resolve the collisions of a walk by the ladder of repairs; raises `Blocked`."""
    why = f"{actor.who} collides along the path"
    left: list[Finding] = []
    effort = walk.request.effort
    if effort == "all" or (effort == "leans" and _little(d.world, actor, found)):
        around = within_reach(d.world, actor.who, d.world.motion(actor.who).span)
        plan = repair_near(around, actor.who, found, seed=d.settings.seed, searches=effort == "all")
        if plan.found:  # what hands do before the walk is proven with their tasks
            return _adopt(d, actor, plan)
        if plan.certificate is not None:
            begun = min(hit.during[0] for hit in found)
            later = [hit for hit in plan.certificate.hits if hit.during[1] >= begun]
            left = [hit for some in met(d.world, later, actor.who) for hit in some]
        why = plan.why
    at = _place_of(actor, min(left or found, key=lambda hit: hit.during))
    # there is another path past it, or another manner
    mode = walk.path.modes[int(np.argmin(np.linalg.norm(walk.path.points - at, axis=1)))]
    useless = _useless_instead(d.world, actor, left or found) if mode == WALK else []
    raise Blocked(f"{walk.request.what}: {why}", at, [Disc(at, AVOID_M, m) for m in (mode, *useless)], False)


def _useless_instead(world: World, actor: Actor, found: Sequence[Finding]) -> list[Mode]:
    """Modes that do not resolve collisions of an upright walk: crouching helps heads, and stepping over helps where
    something low is met.
    """
    body, met = actor.body, {name for hit in found for name in hit.pair}
    heads = {f"{actor.who}.{body.joint_names[body.role(role)]}" for role in ("neck", "head")}
    most = (world.floor or 0.0) + HIGH_OVER.low * envelope(body, "forward").height
    low = any(name in met and mesh.bounds[1, 2] < most for name, mesh in world.static.items())
    return [*(() if heads & met else (DUCK, STOOP)), *(() if low else (OVER, HIGH_OVER))]


def _little(world: World, actor: Actor, found: Sequence[Finding]) -> bool:
    """Return whether arm offsets may suffice: only arms, or what they hold, collide, not too often nor too long.

    A hand that meets a wall is one collision, not one of each finger.
    """
    body = actor.body
    arm_of = {f"{actor.who}.{body.joint_names[j]}": name for name, chain in body.chains.items() if chain.kind == "arm"
              for j in body.subtree(chain.joints[0])}  # fmt: skip
    arm_of |= {hold.object: f"{hold.hand}_arm" for hold in world.holds if hold.by == actor.who}
    until: dict[str, float] = {}
    times = 0
    for hit in sorted(found, key=lambda hit: hit.during):
        mine = [arm_of[name] for name in hit.pair if name in arm_of]
        if not mine:
            return False
        if hit.during[1] - hit.during[0] > _SWING_S:
            return False
        times += hit.during[0] > until.get(mine[0], -np.inf) + _TIMES_APART_S
        until[mine[0]] = max(until.get(mine[0], -np.inf), hit.during[1])
    return times <= _FEW


def _place_of(actor: Actor, hit: Finding) -> Array:
    """Position (2,) of the body in the middle of a collision."""
    return actor.root[min(max(actor.frame(0.5 * sum(hit.during)), 0), len(actor.root) - 1), :2]


def _adopt(d: Director, actor: Actor, plan: Plan) -> None:
    """Continue from a repaired walk."""
    new = plan.world.motion(actor.who)
    assert isinstance(new, Clip)
    q = np.array(new.rotations)
    q[:, list(actor.kept)] = actor.base.rotations[:, list(actor.kept)]
    actor.change(root=new.root, q=new.rotations, base=new.with_(rotations=q))
    d.take = d.take.with_edits(*(edit for edit in plan.edits if edit.who == actor.who))
    d.allow([contact for edit in plan.edits for contact in edit.contacts])
    d.world = actor.placed(d.world)


def until_end(d: Director, actor: Actor) -> None:
    """Advance to the end of the base motion, unless the actor stands."""
    if not actor.stands and actor.k < len(actor.base) - 1:
        actor.go_on(len(actor.base) - 1)
        d.world = actor.placed(d.world)
