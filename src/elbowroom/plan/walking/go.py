"""Walking to a goal or behind a character: the positions that a task may mean, and a walk to the best of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import scipy

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import towards
from elbowroom.locomotion.departure import stance_of
from elbowroom.locomotion.modes import WALK
from elbowroom.locomotion.walk import STANDS_S
from elbowroom.plan.checks.places import inside_of
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Follow, Go
from elbowroom.plan.walking.doors import walk_through
from elbowroom.plan.walking.finding import ground_at, no_path, paths_of, paths_to, point_text
from elbowroom.plan.walking.paths import WalkPath
from elbowroom.plan.walking.stances import suited_first
from elbowroom.plan.walking.walked import Spot, Walk, WalkRequest, until_end, walked
from elbowroom.world.world import World

# Distances from a person, and from the middle of an object, at which positions to stand are searched, metres, the
# nearest the best.
_BESIDE_M, _BEFORE_M = np.arange(0.95, 1.85, 0.1), np.arange(0.3, 2.7, 0.1)
# Positions that are tried.
_TRIES = 4
# Heights over the floor at which a person who stands there would be inside a wall, metres: lower things have a top.
_BODY_AT_M = (1.0, 1.5)


def go(d: Director, task: Go) -> None:
    """Walk to the goal of a task; raises `PlanningFailure`."""
    actor = d.actor(task.who)
    until_end(d, actor)
    spots = islice(suited_first(d, actor, _spots(d, actor, task)), _TRIES)
    d.first(spots, lambda spot: walk_through(d, actor, spot, WalkRequest(_words(task), task.gait, task.at)))


def _spots(d: Director, actor: Actor, task: Go) -> Iterator[Spot]:
    """Positions that a task may mean, the best first; raises where there is none."""
    face = task.facing
    if not isinstance(task.to, str):
        place = np.asarray(task.to, dtype=float)[:2]
        if not np.all(np.isfinite(place)):
            raise BadValue(f"go: a goal must be two finite numbers, not {task.to}.")
        within = inside_of(d.world, standing_points(d.world, place), 0.0)
        if within is not None:  # unless there are stairs to the top of it
            within = inside_of(d.world, standing_points(d.world, place, ground_at(d, actor, place)), 0.0)
        if within is not None:
            raise BadValue(f"{_words(task)}: the goal is inside '{within[0]}'; give a place with room to stand.")
        yield Spot(place, _heading(d, actor, face, place))
        return
    owner = d.world.split(task.to)[0]
    if owner in d.world.characters:
        middle, radii = d.world.frame(task.to, actor.now)[:3, 3], _BESIDE_M
    else:
        middle, radii = middle_of(d.world, task.to, actor.now), _BEFORE_M
    centre = middle[:2]
    paths = paths_to(d, actor, middle, task.gait)
    places = list(paths.around(centre, radii, float(radii[0]), stance_of(actor.body, actor.pose)[0]))
    if not places:
        raise PlanningFailure("target-in-collision", f"{_words(task)}: there is no room to stand near it")
    for place in places:
        yield Spot(place, towards(place, centre) if face is None else _heading(d, actor, face, place))


def standing_points(world: World, place: Sequence[float] | Array, ground: float = 0.0) -> Array:
    """Points (2, 3) of a person who stands at a place (2,) so high above the floor."""
    return np.array([[*place, (world.floor or 0.0) + ground + high] for high in _BODY_AT_M])


def middle_of(world: World, name: str, t: float) -> Array:
    """Middle (3,) of a mesh, also one of several parts, an object or a frame at a time."""
    parts = [mesh.bounds for part, mesh in world.static.items() if part == name or part.startswith(f"{name}.")]
    if parts:
        return np.asarray(0.5 * (np.min(parts, axis=(0, 1)) + np.max(parts, axis=(0, 1))))
    if name in world.objects:
        return np.asarray(world.objects[name].mesh.moved(world.frame(name, t)).bounds.mean(axis=0))
    return world.frame(name, t)[:3, 3]


def _heading(d: Director, actor: Actor, face: str | float | None, place: Array) -> float | None:
    """Heading of a task at a position: an angle (radians, counter-clockwise from -Y), or towards something."""
    if not isinstance(face, str):
        return face
    return towards(place, middle_of(d.world, face, actor.now))


def _words(task: Go) -> str:
    return f"go to {task.to}" if isinstance(task.to, str) else f"go to {point_text(task.to)}"


# Samples per second of the leader's path, and seconds over which its sway is smoothed.
_LOOKS, _SWAY_S = 30.0, 0.5
# Metres between points of the path.
_SPACED_M = 0.25
# Distance from a follower at which the leader passes when it comes back, metres.
_PASSES_M = 0.9
# Speed of a follower that has fallen behind, m/s.
_SPEED_M_S = 1.6


def follow(d: Director, task: Follow) -> None:
    """Walk behind a character until it stands; raises `PlanningFailure`."""
    actor, what = d.actor(task.who), f"follow {task.whom}"
    until_end(d, actor)
    times, places = _way_of(d.world, task.whom, actor.now)
    start = stance_of(actor.body, actor.pose)[0]
    far = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    paths = paths_of(d, actor, [places[0], places[-1]])
    to_them = paths.find(start, places[0])
    if to_them is None:
        raise no_path(d, actor, paths, start, places[0], what)
    way = points = np.concatenate([to_them.points, _spaced(places, far)])
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    length = _last_apart(points, along, task.distance)
    if length < _SPACED_M:
        raise PlanningFailure(
            "no-path", f"{what}: {task.whom} never walks farther than {task.distance:g} m "
            f"after {actor.now:.1f} s"
        )  # fmt: skip
    end = np.array([np.interp(length, along, points[:, k]) for k in (0, 1)])
    points = np.concatenate([points[along < length - 0.5 * _SPACED_M], end[None]])
    begun = actor.now + STANDS_S

    def not_before(s: Array) -> Array:
        """Times at which the leader is far enough ahead of travel (N,), and does not come back there, seconds."""
        travel = s / s[-1] * length
        ahead = travel + task.distance - to_them.length
        behind = np.where(ahead > 0.0, np.interp(ahead, far, times), actor.now)
        there = np.stack([np.interp(travel, along, way[:, k]) for k in (0, 1)], axis=-1)
        return np.maximum(behind, _left(there, times, places, min(task.distance, _PASSES_M))) - begun

    path = WalkPath(points, (WALK,) * len(points), length, length, to_them.columns)
    spot = Spot(path.points[-1], None)
    walked(d, actor, Walk(path, spot, WalkRequest(what), _SPEED_M_S, not_before=not_before, repair_crossings=True))


def _last_apart(points: Array, along: Array, distance: float) -> float:
    """Length of a path (N, 2) up to where it last is `distance` metres or more from its end, as the crow flies too: a
    leader who turns or steps aside before stopping walks more than it gets away."""
    sampled = np.arange(0.0, max(float(along[-1]) - distance, 0.0) + _SPACED_M / 5.0, _SPACED_M / 5.0)
    sampled = np.minimum(sampled, max(float(along[-1]) - distance, 0.0))
    places = np.stack([np.interp(sampled, along, points[:, k]) for k in (0, 1)], axis=-1)
    apart = np.linalg.norm(places - points[-1], axis=1) >= distance
    return float(sampled[np.flatnonzero(apart)[-1]]) if apart.any() else 0.0


def _left(there: Array, times: Array, places: Array, room: float) -> Array:
    """Times (N,) from which on a leader at places (M, 2) at times (M,) stays `room` metres away from points (N, 2)."""
    near = np.linalg.norm(there[:, None] - places[None], axis=-1) < room
    last = near.shape[1] - 1 - np.argmax(near[:, ::-1], axis=1)
    return np.asarray(np.where(near.any(axis=1), times[np.minimum(last + 1, len(times) - 1)], times[0]))


def _way_of(world: World, whom: str, now: float) -> tuple[Array, Array]:
    """Times (N,) from now on and positions (N, 2) of a character on the floor then, without the sway of steps."""
    motion = world.motion(whom)
    end = max(motion.span[1], now + 1.0 / _LOOKS)
    times = np.linspace(now, end, max(int((end - now) * _LOOKS), 2) + 1)
    return times, scipy.ndimage.gaussian_filter1d(
        motion.sample(times)[0][:, :2], _SWAY_S * _LOOKS, axis=0, mode="nearest"
    )


def _spaced(places: Array, far: Array) -> Array:
    """Positions (N, 2) along a path at even distances."""
    count = max(int(far[-1] / _SPACED_M), 1)
    even = np.linspace(0.0, far[-1], count + 1)[1:]
    return np.stack([np.interp(even, far, places[:, k]) for k in (0, 1)], axis=-1)
