"""Walking to a goal: the positions that a task may mean, and a walk to the best of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.departure import stance_of
from elbowroom.locomotion.route import towards
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director
from elbowroom.plan.places import inside_of
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Go
from elbowroom.plan.walking.doors import walk_through
from elbowroom.plan.walking.finding import ground_at, paths_to, told
from elbowroom.plan.walking.stances import suited_first
from elbowroom.plan.walking.walked import Spot, WalkRequest, until_end
from elbowroom.world.world import World

# Distances from a person, and from the middle of an object, at which positions to stand are searched, metres, the
# nearest the best.
_BESIDE_M, _BEFORE_M = np.arange(0.95, 1.85, 0.1), np.arange(0.3, 2.7, 0.1)
# Positions that are tried.
_TRIES = 4
# Heights over the floor at which somebody who stands there would be inside of a wall, metres: lower things have a top.
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
    """Points (2, 3) of somebody who stands at a place (2,) so high above the floor."""
    return np.array([[*place, (world.floor or 0.0) + ground + high] for high in _BODY_AT_M])


def middle_of(world: World, name: str, t: float) -> Array:
    """Middle (3,) of a mesh, also one of several parts, an object or a frame at a time."""
    parts = [mesh.bounds for part, mesh in world.static.items() if part == name or part.startswith(f"{name}.")]
    if parts:
        return 0.5 * (np.min(parts, axis=(0, 1)) + np.max(parts, axis=(0, 1)))
    if name in world.objects:
        return world.objects[name].mesh.moved(world.frame(name, t)).bounds.mean(axis=0)
    return world.frame(name, t)[:3, 3]


def _heading(d: Director, actor: Actor, face: str | float | None, place: Array) -> float | None:
    """Heading of a task at a position: an angle (radians, counter-clockwise from -Y), or towards something."""
    if not isinstance(face, str):
        return face
    return towards(place, middle_of(d.world, face, actor.now))


def _words(task: Go) -> str:
    return f"go to {task.to}" if isinstance(task.to, str) else f"go to {told(task.to)}"
