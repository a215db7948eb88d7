"""Walks worked into somebody's motion: along a way, free of what is met on it, round people who cross it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.departure import footprints_of, stance_of, standing_height, walk_from
from elbowroom.locomotion.envelope import envelope
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.route import Manner, wrapped
from elbowroom.locomotion.steps import Footprints
from elbowroom.motion.clip import Clip
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import FOREVER, Director
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Rest
from elbowroom.plan.verbs.carry import rest
from elbowroom.plan.walking.ground import LOW_M, Ground
from elbowroom.plan.walking.ways import Disc, Gait, Way, Ways
from elbowroom.world.certificate import Certificate, certify
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
# Metres around such a place that the next way leaves out, and between two people who pass each other.
_AVOID_M, _PASSING_M = 0.35, 0.06
# Seconds before and after two people meet in which they pass each other, and how much dearer a way round may be.
_PASSING_S, _OUT_OF_WAY = np.linspace(-0.9, 0.9, 7), 1.5
# Seconds before and after a moment, and metres a second of somebody who walks then.
_MOMENT_S, _UNDER_WAY_M_S = 0.3, 0.2
# Metres before and after a low place in which somebody is crouched, those in which they crouch, and between looks.
_CROUCHED_M, _CROUCHES_M, _LOOKS_M = 0.35, 0.7, 0.05
# Metres before and after a narrow place in which somebody goes sideways already.
_TURNED_M = 0.35
# Metres above the floor from which a target may be upstairs.
_UPSTAIRS_M = 0.3
# Delays that are tried where somebody crosses every way, seconds.
_DELAYS_S = (0.8, 1.6, 2.4, 3.5, 5.0)


@dataclass(frozen=True, eq=False)
class Spot:
    """Place to stand (2,) and heading to face there; None: as one arrives. `feet` where they are to stand, if given."""

    place: Array
    face: float | None
    feet: Footprints = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Walk:
    """A way to walk to a spot: at which speed, in frames from now, arriving `at` a time; why, in words.

    `not_before`, and `feet` in which it ends, see `walk_route`. People who cross it are gone round elsewhere unless the
    walk is to `mend` that; without `repairs` nothing is met on it.
    """

    way: Way
    face: float | None
    speed: float
    what: str
    at: float | None = None
    delay: int = 0
    not_before: Callable[[Array], Array] | None = None
    mend: bool = False
    feet: Footprints = field(default_factory=dict)
    repairs: bool = True


class Blocked(PlanningFailure):
    """A walk that cannot be made free: discs for the next way to leave out, and whether somebody is there."""

    def __init__(self, why: str, discs: Sequence[Disc], person: bool) -> None:
        super().__init__("no-path", why)
        self.discs, self.person = discs, person


class NoWay(PlanningFailure):
    """There is no way to a place, as the scene is."""


def walk_to(
    d: Director,
    actor: Actor,
    spot: Spot,
    *,
    gait: Gait = "any",
    at: float | None = None,
    what: str = "go",
    repairs: bool = True,
) -> None:
    """Walk to a spot as the scene allows and stand there; raises `PlanningFailure`.

    Without `repairs` it is the first way, and free as it is, or `Blocked`.
    """
    start, heading = stance_of(actor.body, actor.pose)
    turn = 0.0 if spot.face is None else wrapped(spot.face - heading)
    there = float(np.linalg.norm(spot.place - start)) < _THERE_M and abs(turn) < _THERE_RAD
    if there and _stands_on(actor, spot.feet):
        return
    if actor.away:  # what is in the hands is carried at ease
        rest(d, Rest(who=actor.who))
    ways = ways_of(d, actor, [spot.place], gait)
    first = ways.find(start, spot.place)
    if first is None:
        climbing = ways_of(d, actor, [spot.place], gait, climbs=True)
        first = climbing.find(start, spot.place)
        ways = ways if first is None else climbing
    if first is None:
        raise no_way(d, actor, ways, start, spot.place, what)
    walk = Walk(first, spot.face, SPEEDS[gait], what, at, feet=spot.feet, repairs=repairs)
    if not repairs:
        return walked(d, actor, walk)
    avoid: list[Disc] = []
    stuck: Blocked | None = None
    way: Way | None = first
    for _ in range(_WAYS):
        # who would have to go far out of their way waits instead
        if way is None or (stuck is not None and stuck.person and way.cost > _OUT_OF_WAY * first.cost):
            break
        try:
            return walked(d, actor, replace(walk, way=way))
        except Blocked as blocked:
            stuck = stuck or blocked
            avoid += blocked.discs
            way = ways.find(start, spot.place, avoid)
    assert stuck is not None, "a path was tried"
    if not stuck.person:
        raise stuck
    later = [] if at is not None else [replace(walk, delay=actor.frames(s)) for s in _DELAYS_S]
    for other in (*later, replace(walk, mend=True)):
        try:
            return walked(d, actor, other)
        except Blocked:
            continue
    raise stuck


def _stands_on(actor: Actor, feet: Footprints) -> bool:
    """Return whether feet are where they are to stand."""
    now = footprints_of(actor.body, actor.pose)
    return all(
        float(np.linalg.norm(now[side][0] - place)) < _FOOT_THERE_M and abs(wrapped(now[side][1] - face)) < _THERE_RAD
        for side, (place, face) in feet.items()
    )


def walked(d: Director, actor: Actor, walk: Walk) -> None:
    """Work a walk into somebody's motion, free of what is met on it; raises `Blocked`, with all as before."""
    over = walk.way.points[[mode.low > 0.0 for mode in walk.way.modes]]
    scale = figure(actor.body).scale
    ground = Ground(d.world, actor.now, scale, walk.way.points, walk.way.columns, over)
    clip = walk_from(
        actor.body, actor.pose, walk.way.points, walk.face, _manners(walk.way),
        speed=walk.speed, fps=actor.base.fps, floor=0.0 if d.world.floor is None else d.world.floor,
        seed=d.settings.seed, terrain=ground, not_before=walk.not_before, library=d.settings.library,
        low=_crouching(walk.way), last=walk.feet,
    )  # fmt: skip
    delay = walk.delay
    if walk.at is not None:
        delay = actor.frame(walk.at) - actor.k - (len(clip) - 1)
        if delay < 0:
            short = f"{walk.at:g} s is {-delay / actor.base.fps:.1f} s too early for {walk.way.length:.1f} m"
            raise PlanningFailure("too-little-time", f"{walk.what}: {short}")
    begin, saved = actor.now, d.save()
    actor.walk(clip, delay)
    d.world = actor.placed(d.world)
    # who stands on something goes on standing there
    d.allow(ground.contacts(actor.who, actor.body, (begin, FOREVER)))
    if d.settings.tier == "ik":
        return
    found = certify(d.world, during=(begin, actor.now), clearance=False)
    if found.free:
        return
    people, things = _met(d.world, found, actor.who)
    try:
        if people and not walk.mend:
            raise _passing(d.world, actor, people[0], walk.what)
        if not walk.repairs:
            raise Blocked(f"{walk.what}: {actor.who} collides along the path", (), False)
        _mended(d, actor, [*things, *people][0], walk)
    except Blocked:
        d.restore(saved)
        raise


def _met(world: World, certificate: Certificate, who: str) -> tuple[list[Collision | Unproven], ...]:
    """Return what somebody meets: other people who are under way, and all else, the earliest first."""
    found: list[Collision | Unproven] = [*certificate.collisions, *certificate.unproven]
    found.sort(key=lambda c: c.during)
    people = [c for c in found if any(_under_way(world, name, c.during[0]) for name in c.who if name != who)]
    return people, [c for c in found if c not in people]


def _under_way(world: World, who: str, t: float) -> bool:
    """Return whether somebody walks at a time."""
    before, after = world.motion(who).sample([t - _MOMENT_S, t + _MOMENT_S])[0][:, :2]
    return float(np.linalg.norm(after - before)) > 2.0 * _MOMENT_S * _UNDER_WAY_M_S


def _passing(world: World, actor: Actor, hit: Collision | Unproven, what: str) -> Blocked:
    """The failure of meeting somebody, with where they are then."""
    other = next(name for name in hit.who if name != actor.who)
    motion = world.motion(other)
    places = motion.sample(hit.during[0] + _PASSING_S)[0][:, :2]
    wide = 0.5 * envelope(motion.body, "forward").width if isinstance(motion.body, Character) else _AVOID_M
    radius = wide + 0.5 * envelope(actor.body, "forward").width + _PASSING_M
    discs = [Disc(place, radius) for place in places]
    return Blocked(f"{what}: {actor.who} collides with {other} at {hit.during[0]:.1f} s", discs, True)


def _mended(d: Director, actor: Actor, hit: Collision | Unproven, walk: Walk) -> None:
    """Bring a walk out of what it meets by the ladder of repairs; raises `Blocked`."""
    plan = repair(d.world, actor.who, seed=d.settings.seed)
    if not plan.found and (plan.certificate is None or any(_met(d.world, plan.certificate, actor.who))):
        k = min(max(actor.frame(0.5 * sum(hit.during)), 0), len(actor.root) - 1)
        at = actor.root[k, :2]
        # there is another way past it, or another manner
        mode = walk.way.modes[int(np.argmin(np.linalg.norm(walk.way.points - at, axis=1)))]
        raise Blocked(f"{walk.what}: {plan.why}", [Disc(at, _AVOID_M, mode)], False)
    new = plan.world.motion(actor.who)
    assert isinstance(new, Clip)
    q = np.array(new.rotations)
    actor.root, actor.q = np.array(new.root), q.copy()
    q[:, list(actor.kept)] = actor.base.rotations[:, list(actor.kept)]
    actor.base = new.with_(rotations=q)
    d.edits += [edit for edit in plan.edits if edit.who == actor.who]
    d.allow([contact for edit in plan.edits for contact in edit.contacts])
    d.world = actor.placed(d.world)


def _manners(way: Way) -> list[Manner]:
    """Manner of going at each point of a way: who goes sideways through a gap has turned before it."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way.points, axis=0), axis=1))])
    turned = [k for k, mode in enumerate(way.modes) if mode.manner != "forward"]
    out: list[Manner] = ["forward"] * len(along)
    for j, s in enumerate(along):
        near = min(turned, key=lambda k: abs(along[k] - s), default=None)
        if near is not None and abs(along[near] - s) < _TURNED_M:
            out[j] = way.modes[near].manner
    return out


def _crouching(way: Way) -> Callable[[Array], Array] | None:
    """Share of crouching over ways (N,), up to the end of one, from before each low place until after it."""
    crouched = np.array([mode.high < 1.0 for mode in way.modes])
    if not crouched.any():
        return None
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way.points, axis=0), axis=1))])
    even = np.linspace(0.0, along[-1], max(int(along[-1] / _LOOKS_M), 2) + 1)
    here = np.min(np.abs(even[:, None] - along[crouched]), axis=1)
    share = smootherstep(1.0 - (here - _CROUCHED_M) / _CROUCHES_M)
    return lambda s: np.interp(s / max(float(s[-1]), 1e-9) * along[-1], even, share)


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
