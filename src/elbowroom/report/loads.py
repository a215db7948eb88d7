"""Loads that characters carry: mass, position and time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.character.dynamics import GRAVITY
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.motion.smooth import derivative, smoothed
from elbowroom.report.people import Subject
from elbowroom.world.paths import places
from elbowroom.world.world import World

# Seconds in which a hand takes over the weight of what it lifts, or gives it away: nobody does that at once.
_TAKE = 0.2


@dataclass(frozen=True, eq=False)
class Load:
    """Object in a hand: mass in kilograms, the joint that carries it, its centre (T, 3), and the share borne (T,)."""

    name: str
    mass: float
    joint: int
    at: Array
    share: Array

    def force(self, fps: float) -> Array:
        """Force on the hand, newtons (T, 3): weight and inertia."""
        return self.share[:, None] * self.mass * (np.array([0.0, 0.0, -GRAVITY]) - derivative(self.at, fps, 2))


def weighed(world: World, masses: Mapping[str, float]) -> World:
    """World with the masses of objects set, kilograms."""
    objects = dict(world.objects)
    for name, mass in masses.items():
        if name not in objects:
            raise UnknownName("object to weigh", name, objects)
        if not (np.isfinite(mass) and mass >= 0.0):
            raise BadValue(f"the mass of '{name}' is zero or more kilograms, not {mass}.")
        objects[name] = replace(objects[name], mass=mass)
    return world.with_(objects=objects)


def loads_of(world: World, subject: Subject) -> tuple[tuple[Load, ...], tuple[str, ...]]:
    """All held objects of known mass, and notes on those of unknown mass."""
    times, fps = subject.times, subject.clip.fps
    mine = [h for h in world.holds if h.by == subject.name]
    found, unknown = [], []
    for hold in mine:
        thing = world.things[hold.object]
        if thing.mass is None:
            unknown.append(
                f"the mass of '{hold.object}' is unknown and counts as zero; set it with --mass or in the storyboard."
            )
            continue
        joint, _ = subject.character.hand(hold.hand)
        at = apply(places(thing.path, times), _center(thing.mesh)[None])[:, 0]
        others = [o for o in world.holds if o.object == hold.object]
        bearers = sum(((times >= o.during[0]) & (times <= o.during[1])).astype(float) for o in others)
        share = _borne(times, hold.during) / np.maximum(bearers, 1.0)
        found.append(Load(hold.object, thing.mass, joint, smoothed(at, fps), share))
    return tuple(found), tuple(dict.fromkeys(unknown))


def _borne(times: Array, during: tuple[float, float]) -> Array:
    """Share of a weight borne over time (T,): all of it in the interval except near its ends."""
    begin, end = during
    up = np.ones(len(times)) if begin <= times[0] else smoothstep((times - begin) / _TAKE)
    down = np.ones(len(times)) if end >= times[-1] else smoothstep((end - times) / _TAKE)
    return np.minimum(up, down)


def _center(mesh: Mesh) -> Array:
    """Centroid (3,) of a mesh's surface."""
    corners = mesh.vertices[mesh.faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    if not area.sum() > 0.0:
        return np.asarray(mesh.bounds.mean(axis=0))
    return np.asarray(np.average(corners.mean(axis=1), axis=0, weights=area))
