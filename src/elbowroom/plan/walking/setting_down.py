"""Places on a surface where a held object is set down: its middle, or nearer to an edge if that is out of reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.mesh import Mesh, highest
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import facing
from elbowroom.locomotion.departure import stance_of
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.hands import BOW_RAD, bow_of, may_step
from elbowroom.plan.checks.places import surface_at
from elbowroom.plan.state.actor import Actor, stands
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Put
from elbowroom.plan.verbs.put import posture_to_put
from elbowroom.plan.walking.approach import WORTH_IT, spots_for
from elbowroom.plan.walking.stances import standing_at, suited_first
from elbowroom.world.columns import LAYER_M, columns_of
from elbowroom.world.pairs import FLOOR, moves
from elbowroom.world.world import World

# Directions from the middle of a surface to its edges; metres between samples on the way there.
_DIRECTIONS, _STEP_M = 8, 0.02
# Heights within which a surface is level, and distance of an object from its edge, metres.
_LEVEL_M, _INSIDE_M = 0.01, 0.03
# Radius from which on a flat object may stand out over the edge for fingers below it, metres, and the share of its
# radius that stays on the surface beyond its middle.
_WIDE_M, _STAYS_ON = 0.08, 0.4
# Metres from a place on the floor to what stands beside it or is above it, in which somebody bows down to it; distance
# of such a place from the feet, share of the height, and from the object, metres, at most.
_BOW_M, _BEFORE, _NEAR_M = 0.35, 0.28, 2.5
# Samples across the footprint of an object, either way.
_ACROSS = 7
# Bow up to which a posture is easy, radians: trunk inclination that ISO 11226 accepts without further conditions.
_EASY_BOW_RAD = np.radians(20.0)
# Shares of the way from the middle of a surface to a place near its edge that are tried.
_SHARES = (0.35, 0.7, 1.0)
# Directions that are checked, those for an easier posture, and positions to stand for each place.
_EDGES, _EASED, _SPOTS = 4, 3, 3


def within_reach(d: Director, task: Put) -> Put:
    """A task to put something onto a surface at a place in easy reach: its middle, or else nearer to an edge.

    Unchanged where no better place is known, or the task leaves no choice.
    """
    actor = d.actor(task.who)
    if task.to is not None or task.support is not None or not may_step(actor, task):
        return task
    if _furniture(d.world, task.onto, actor.now) is None:
        return task
    if d.whole_body == "at once" or d.settings.tier == "ik":
        return task
    least = bow = _bow(d, actor, task)
    chosen = task
    edges = _nearer_an_edge(d, actor, task) if bow > _EASY_BOW_RAD else iter(())
    for other in islice(edges, _EASED) if np.isfinite(bow) else edges:
        for nearer in _on_the_way(d, actor, other):
            there = _bow(d, actor, nearer)
            if there < WORTH_IT * bow and there < least:
                chosen, least = nearer, there
            if least <= _EASY_BOW_RAD:
                break
        if chosen is not task:
            break
    if chosen.to is None:
        return task
    place, why = (
        f"({chosen.to[0]:.2f}, {chosen.to[1]:.2f})",
        "takes a deep bow" if np.isfinite(bow) else "is out of reach",
    )
    note = f"{task.object} is put nearer to the edge of {task.onto}, at {place}: its middle {why}."
    d.world = d.world.with_(notes=(*d.world.notes, note))
    return chosen


def _furniture(world: World, name: str | None, t: float) -> Mesh | None:
    """Static mesh or object of a name that rests all the time, as it is at a time; None for anything else."""
    if name is None or name in world.static:
        return None if name is None else world.static[name]
    thing = world.objects.get(name)
    if thing is None or moves(world, name, thing):
        return None
    return thing.mesh.moved(world.frame(name, t))


def _bow(d: Director, actor: Actor, task: Put) -> float:
    """Bow in which an actor puts down a held object, radians: from its stance, or from the best of a few near the goal
    if that is easier; infinite where it cannot."""
    least = _bow_at(d, actor, task)
    if least <= BOW_RAD:
        return least
    goal = surface_at(d.world, str(task.onto), actor.now, task.to, np.zeros(3))
    spots = suited_first(d, actor, spots_for(d, actor, goal, task.hand))
    for there in (standing_at(actor, spot.place, spot.face or 0.0) for spot in islice(spots, _SPOTS)):
        least = least if there is None else min(least, _bow_at(d, there, task))
        if least <= _EASY_BOW_RAD:
            break
    return least


def _bow_at(d: Director, stands: Actor, task: Put) -> float:
    """Bow in which an actor puts down a held object from its stance, radians; infinite where it cannot."""
    pose = posture_to_put(d, task, stands)
    return np.inf if pose is None else float(bow_of(stands.body, stands.body.skeleton.at(pose)))


def on_open_floor(world: World, task: Put) -> tuple[World, Put]:
    """A task to put something onto the floor where nothing is above it, with a note: what is taken from a table would
    otherwise be put under the table. Unchanged where the task says where, or no such place is near."""
    clip = world.characters.get(task.who)
    if task.onto != FLOOR or task.object not in world.objects or world.floor is None:
        return world, task
    if (task.to, task.at, task.feet) != (None, None, "auto") or not isinstance(clip, Clip) or not stands(clip):
        return world, task
    T_lies, body = np.asarray(world.frame(task.object, world.span[0])), clip.character
    start = stance_of(body, Pose.of(clip.root[0], clip.rotations[0]))[0]
    columns = columns_of(world, world.span[0], [T_lies[:2, 3], start], without=[task.object])
    room = columns.room(LAYER_M, body.height)
    flat = world.objects[task.object].mesh.vertices @ T_lies[:2, :3].T
    below = [np.array(xy) for xy in product(*np.linspace(flat.min(axis=0), flat.max(axis=0), _ACROSS).T)]

    def is_open(place: Array) -> bool:
        return room[columns.cell(place)] > _BOW_M and all(room[columns.cell(place + off)] > 0.0 for off in below)

    if is_open(T_lies[:2, 3]):
        return world, task
    places = columns.point(np.argwhere(room > _BOW_M).astype(float))
    off = np.linalg.norm(places - T_lies[:2, 3], axis=1)
    off[np.linalg.norm(places - start, axis=1) < _BEFORE * body.height] = np.inf
    near = places[np.argsort(off, kind="stable")[: int((off < _NEAR_M).sum())]]
    place = next((place for place in near if is_open(place)), None)
    if place is None:
        return world, task
    note = f"{task.object} is put onto the floor at ({place[0]:.2f}, {place[1]:.2f}): something is above where it was."
    to = (float(place[0]), float(place[1]), float(world.floor))
    return world.with_(notes=(*world.notes, note)), replace(task, to=to)


def _on_the_way(d: Director, actor: Actor, task: Put) -> Iterator[Put]:
    """The task with places between the middle of a surface and its own, which comes last."""
    middle = surface_at(d.world, str(task.onto), actor.now, None, np.zeros(3))
    for share in _SHARES:
        x, y, z = middle + share * (np.array(task.to) - middle)
        yield replace(task, to=(float(x), float(y), float(z)))


def _nearer_an_edge(d: Director, actor: Actor, task: Put) -> Iterator[Put]:
    """The task with places near the edges of a surface, those near the actor first; wide objects stand out over it."""
    mesh, start = _furniture(d.world, task.onto, actor.now), stance_of(actor.body, actor.pose)[0]
    assert mesh is not None
    middle = surface_at(d.world, str(task.onto), actor.now, None, np.zeros(3))
    triangles, thing = mesh.vertices[mesh.faces], d.world.objects[task.object].mesh
    radius = float(np.linalg.norm(thing.vertices[:, :2] - thing.bounds.mean(axis=0)[:2], axis=1).max())
    edges = []
    for out in (facing(angle) for angle in np.linspace(0.0, 2.0 * np.pi, _DIRECTIONS, endpoint=False)):
        far = _to_edge(triangles, middle, out)
        edges.append((float(np.linalg.norm(middle[:2] + far * out - start)), far, tuple(out)))
    gaps = [radius + _INSIDE_M, *([_STAYS_ON * radius] if radius > _WIDE_M else [])]
    for gap in gaps:
        for _, far, (x, y) in sorted(edges)[:_EDGES]:
            if far > gap:
                at = middle + (far - gap) * np.array([x, y, 0.0])
                yield replace(task, to=(float(at[0]), float(at[1]), float(at[2])))


def _to_edge(triangles: Array, middle: Array, out: Array) -> float:
    """Metres from a point (3,) of a surface (F, 3, 3) in a direction (2,) up to its edge."""
    far = 0.0
    while (
        abs(highest(triangles, (middle[:2] + (far + _STEP_M) * out)[None], middle[2] + _LEVEL_M) - middle[2]) < _LEVEL_M
    ):
        far += _STEP_M
    return far
