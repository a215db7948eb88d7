"""Going somewhere: a way through the scene, a walk along it, and what is in its way avoided by the whole body."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import facing
from elbowroom.locomotion.departure import stance_of, walk_from
from elbowroom.locomotion.envelope import envelope
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.route import towards
from elbowroom.motion.clip import Clip
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import FOREVER, Director
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Go, Rest
from elbowroom.plan.verbs.carry import rest
from elbowroom.plan.walking.ground import Ground
from elbowroom.plan.walking.ways import Gait, Way, Ways
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.certificate_findings import Collision, Unproven
from elbowroom.world.columns import columns_of
from elbowroom.world.world import World

# Metres a second by gait.
SPEEDS: dict[Gait, float] = {
    "any": 1.25, "walk": 1.25, "brisk": 1.6, "crouch": 0.8, "sidle": 0.5, "back": 0.7, "run": 1.8,
}  # fmt: skip
# Who is so near to a place, and faces it so, is there: metres and radians.
_THERE_M, _THERE_RAD = 0.03, np.radians(8.0)
# Ways that are tried, each without the place where the one before it failed.
_WAYS = 3
# Metres around such a place that the next way leaves out.
_AVOID_M = 0.35
# Metres between somebody who is gone to and who goes there, and from a thing to the middle of who stands before it.
_BESIDE_M, _BEFORE_M = 0.95, 0.25
# Metres around a thing in which a place before it is looked for.
_AROUND_M = 0.9
# Seconds beyond a walk's end by which somebody else may be in its way.
_AFTER_S = 0.2
# Delays that are tried where somebody crosses the way, seconds.
_DELAYS_S = (0.0, 0.8, 1.6, 2.6, 4.0)


@dataclass(frozen=True, eq=False)
class Spot:
    """Place to stand (2,) and heading to face there; None: as one arrives."""

    place: Array
    face: float | None


def go(d: Director, task: Go) -> None:
    """Walk to where a task says; raises `PlanningFailure`."""
    actor = d.actor(task.who)
    until_end(d, actor)
    spots = list(_spots(d, actor, task))
    d.first(spots, lambda spot: walk_to(d, actor, spot, gait=task.gait, at=task.at, what=_words(task)))


def walk_to(
    d: Director, actor: Actor, spot: Spot, *, gait: Gait = "any", at: float | None = None, what: str = "go"
) -> None:
    """Walk to a spot as the scene allows and stand there; raises `PlanningFailure`."""
    start, heading = stance_of(actor.body, actor.pose)
    turn = 0.0 if spot.face is None else (spot.face - heading + np.pi) % (2.0 * np.pi) - np.pi
    if float(np.linalg.norm(spot.place - start)) < _THERE_M and abs(turn) < _THERE_RAD:
        return
    if actor.away:  # what is in the hands is carried at ease
        rest(d, Rest(who=actor.who))
    ways = ways_of(d, actor, [spot.place], gait)
    avoid: list[tuple[Array, float]] = []
    stuck: PlanningFailure | None = None
    for _ in range(_WAYS):
        way = ways.find(start, spot.place, avoid)
        if way is None:
            raise stuck or no_way(d, actor, ways, start, spot.place, what)
        try:
            return walk_along_way(d, actor, way, SPEEDS[gait], what, spot=spot, at=at)
        except _Blocked as blocked:
            stuck = stuck or blocked
            avoid.append((blocked.place, _AVOID_M))
    assert stuck is not None, "a way was tried"
    raise stuck


def ways_of(d: Director, actor: Actor, goals: Sequence[Array], gait: Gait = "any") -> Ways:
    """Ways of somebody from where they stand, among all that does not move with them."""
    held = [hold.object for hold in d.world.holds if hold.by == actor.who and hold.during[1] > actor.now]
    start = stance_of(actor.body, actor.pose)[0]
    columns = columns_of(d.world, actor.now, [start, *goals], without=held)
    for who, motion in d.world.characters.items():
        if who != actor.who and isinstance(motion.body, Character):
            ended = motion.sample([max(actor.now, motion.span[1])])[0][0]
            if np.linalg.norm(ended[:2] - motion.sample([actor.now])[0][0][:2]) < _AVOID_M:
                columns = columns.with_disc(ended[:2], 0.5 * envelope(motion.body, "forward").width)
    return Ways(columns, actor.body, gait)


def until_end(d: Director, actor: Actor) -> None:
    """Go on until the base motion ends, unless somebody stands."""
    if not actor.stands and actor.k < len(actor.base) - 1:
        actor.go_on(len(actor.base) - 1)
        d.world = actor.placed(d.world)


class _Blocked(PlanningFailure):
    """A walk that cannot be made free, where (2,) it is not, and the names of what meets there."""

    def __init__(self, why: str, place: Array, names: Sequence[str]) -> None:
        super().__init__("no-path", why)
        self.place, self.names = place, tuple(names)


def walk_along_way(
    d: Director,
    actor: Actor,
    way: Way,
    speed: float,
    what: str,
    not_before: Callable[[Array], Array] | None = None,
    spot: Spot | None = None,
    at: float | None = None,
) -> None:
    """Walk along a way to stand at its end, free of what is met on it; raises `_Blocked` and `PlanningFailure`.

    `not_before`: see `walk_route`; `spot`: for where to face; `at`: when to arrive.
    """
    manners = [mode.manner for mode in way.modes]
    ground = Ground(d.world, actor.now, figure(actor.body).scale)
    walk = walk_from(
        actor.body, actor.pose, way.points, None if spot is None else spot.face, manners, speed=speed,
        fps=actor.base.fps, floor=0.0 if d.world.floor is None else d.world.floor, seed=d.settings.seed,
        ground=ground, not_before=not_before,
    )  # fmt: skip
    spare = 0 if at is None else actor.frame(at) - actor.k - (len(walk) - 1)
    if spare < 0:
        short = -spare / actor.base.fps
        raise PlanningFailure("too-little-time", f"{what}: {at:g} s is {short:.1f} s too early for {way.length:.1f} m")
    timed = at is not None or not_before is not None
    first: _Blocked | None = None
    saved = d.save()
    for delay in [spare] if timed else [round(s * actor.base.fps) for s in _DELAYS_S]:
        try:
            return _joined(d, actor, walk, delay, ground, what)
        except _Blocked as blocked:
            d.restore(saved)
            first = first or blocked
            if not _others(d.world, actor.who, blocked):
                break
    assert first is not None, "a delay was tried"
    raise first


def _joined(d: Director, actor: Actor, walk: Clip, delay: int, ground: Ground, what: str) -> None:
    """Add a walk to somebody's motion some frames from now; raises `_Blocked` where it does not get free."""
    begin = actor.now
    actor.walk(walk, delay)
    d.world = actor.placed(d.world)
    during = (begin, actor.now)
    feet = [shape.name for shape in actor.body.shapes if _is_foot(actor.body, shape.joint)]
    # who stands on something goes on standing there
    d.allow(ground.contacts(actor.who, dict.fromkeys(feet), (begin, FOREVER)))
    if d.settings.tier == "ik":
        return
    found = certify(d.world, during=during, clearance=False)
    if found.free:
        return
    plan = repair(d.world, actor.who, seed=d.settings.seed)
    left = plan.certificate
    if plan.found or (left is not None and not _touched(left, actor.who)):
        new = plan.world.motion(actor.who)
        assert isinstance(new, Clip)
        q = np.array(new.rotations)
        actor.root, actor.q = np.array(new.root), q.copy()
        q[:, list(actor.kept)] = actor.base.rotations[:, list(actor.kept)]
        actor.base = new.with_(rotations=q)
        d.edits += [edit for edit in plan.edits if edit.who == actor.who]
        d.allow([contact for edit in plan.edits for contact in edit.contacts])
        d.world = actor.placed(d.world)
        return
    hit = (found.collisions or found.unproven)[0]
    when = 0.5 * (hit.during[0] + hit.during[1])
    k = min(max(actor.frame(when), 0), len(actor.root) - 1)
    raise _Blocked(f"{what}: {plan.why}", actor.root[k, :2], hit.who)


def _is_foot(body: Character, joint: int) -> bool:
    return any(joint in body.subtree(body.role(f"{side}_foot")) for side in ("left", "right"))


def _touched(certificate: Certificate, who: str) -> bool:
    found: list[Collision | Unproven] = [*certificate.collisions, *certificate.unproven]
    return any(who in c.who for c in found)


def _others(world: World, who: str, blocked: _Blocked) -> bool:
    """Return whether somebody else is in the way, who may be gone later."""
    return any(name != who and name in world.characters for name in blocked.names)


def _spots(d: Director, actor: Actor, task: Go) -> Iterator[Spot]:
    """Places that a task may mean, the best first; raises where it means none."""
    face = None if task.facing is None else task.facing
    if not isinstance(task.to, str):
        place = np.asarray(task.to, dtype=float)[:2]
        if not np.all(np.isfinite(place)):
            raise BadValue(f"go: a place is two finite numbers, not {task.to}.")
        yield Spot(place, _heading(d, actor, face, place))
        return
    owner = d.world.split(task.to)[0]
    if owner in d.world.characters:
        centre = d.world.frame(task.to, actor.now)[:2, 3]
        far = _BESIDE_M
    else:
        centre, far = middle_of(d.world, task.to, actor.now), 0.0
    ways = ways_of(d, actor, [centre], task.gait)
    start = stance_of(actor.body, actor.pose)[0]
    found = []
    for angle in np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False):
        for radius in np.arange(far or 0.3, (far or 0.3) + _AROUND_M + 1.5 * (far == 0.0), 0.1):
            place = centre + radius * facing(angle)
            cost = float(ways.comfort(place[None])[0])
            if np.isfinite(cost):
                near = float(np.linalg.norm(place - start))
                found.append((radius * 2.0 + cost + 0.3 * near, tuple(place)))
                break
    if not found:
        raise PlanningFailure("target-in-collision", f"{_words(task)}: there is no room to stand near it")
    for _, (x, y) in sorted(found)[:4]:
        place = np.array([x, y])
        yield Spot(place, towards(place, centre) if face is None else _heading(d, actor, face, place))


def middle_of(world: World, name: str, t: float) -> Array:
    """Middle (2,) on the floor of a mesh, also one of several parts, an object or a frame at a time."""
    parts = [mesh.bounds for part, mesh in world.static.items() if part == name or part.startswith(f"{name}.")]
    if parts:
        return 0.5 * (np.min(parts, axis=(0, 1)) + np.max(parts, axis=(0, 1)))[:2]
    if name in world.objects:
        return world.objects[name].mesh.moved(world.frame(name, t)).bounds.mean(axis=0)[:2]
    return world.frame(name, t)[:2, 3]


def _heading(d: Director, actor: Actor, face: str | float | None, place: Array) -> float | None:
    """Heading that a task asks for at a place: an angle (radians, counter-clockwise from -Y), or towards something."""
    if not isinstance(face, str):
        return face
    return towards(place, middle_of(d.world, face, actor.now))


def no_way(d: Director, actor: Actor, ways: Ways, start: Array, goal: Array, what: str) -> PlanningFailure:
    """Reason why there is no way: what stands at the goal, or the place that is too narrow."""
    if not ways.stands(goal):
        near = _nearest(d.world, goal, actor.now)
        return PlanningFailure("target-in-collision", f"{what}: there is no room to stand at {_at(goal)}, {near}")
    narrow = ways.narrowest(start, goal)
    if narrow is None:
        return PlanningFailure("no-path", f"{what}: walls close off {_at(goal)}")
    return PlanningFailure(
        "no-path",
        f"{what}: the way is {narrow.width:.2f} m wide at {_at(narrow.at)}, {_nearest(d.world, narrow.at, actor.now)}, "
        f"and {actor.who} needs {narrow.needed:.2f} m",
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


def _at(point: Sequence[float] | Array) -> str:
    return f"({float(point[0]):.2f}, {float(point[1]):.2f})"


def _words(task: Go) -> str:
    return f"go to {task.to}" if isinstance(task.to, str) else f"go to {_at(task.to)}"
