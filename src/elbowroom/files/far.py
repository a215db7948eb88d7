"""Scenes that are far from the origin, in formats with numbers of 32 bits.

400 km away such numbers are 31 mm apart. A far scene is written near its own origin, which the file places where it
is with numbers of 64 bits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.world.paths import Keyed, places
from elbowroom.world.played import PlayedWorld
from elbowroom.world.things import Thing
from elbowroom.world.world import World

# Distance from the origin up to which numbers of 32 bits are used as they are, metres: they are off by at most 4 µm
# there, of the 20 µm that proofs reserve for the rounding of two parts.
NEAR_M = 128.0


def origin_of(world: World, times: Array) -> Array:
    """Origin (3,) for a file of a world, whole metres; zero for scenes that are near enough as they are."""
    points = _moving(world, times)
    if not len(points):
        points = np.concatenate([*map(corners, world.static.values()), np.zeros((0, 3))])
    if not len(points) or np.abs(points).max() <= NEAR_M:
        return np.zeros(3)
    return np.round(0.5 * (points.min(axis=0) + points.max(axis=0)))


def spread_m(on: PlayedWorld) -> float:
    """Largest number that a file of a world stores in 32 bits, metres."""
    moving = _moving(on, on.times) - origin_of(on, on.times)
    meshes = [*on.static.values(), *(thing.mesh for thing in on.objects.values())]
    sizes = [float(np.ptp(corners(mesh), axis=0).max()) for mesh in meshes if len(mesh.faces)]
    return max([float(np.abs(moving).max(initial=0.0)), *sizes])


def corners(mesh: Mesh) -> Array:
    """Vertices (K, 3) of a mesh that its triangles use; others may be anywhere, or nowhere."""
    return np.asarray(mesh.vertices[np.unique(mesh.faces)])


def near_origin(world: World, times: Array, origin: Array) -> World:
    """World moved so that `origin` (3,) is at zero; its objects have keyframes at `times` (T,)."""
    if not np.any(origin):
        return world
    T = transform(-origin)
    moved = {}
    for name, motion in world.characters.items():
        assert isinstance(motion, Clip), "robots are objects in files"
        moved[name] = motion.with_(root=motion.root - origin)
    objects = {name: _thing(thing, times, origin) for name, thing in world.objects.items()}
    static = {name: mesh.moved(T) for name, mesh in world.static.items()}
    floor = None if world.floor is None else world.floor - float(origin[2])
    return replace(world, characters=moved, objects=objects, static=static, floor=floor)


def _thing(thing: Thing, times: Array, origin: Array) -> Thing:
    T = places(thing.path, times)
    return replace(thing, path=Keyed(times, T[:, :3, 3] - origin, rot.from_matrix(T[:, :3, :3])))


def _moving(world: World, times: Array) -> Array:
    """Positions (N, 3) of everything that moves."""
    roots = [motion.sample(times)[0] for motion in world.characters.values()]
    things = [places(thing.path, times)[:, :3, 3] for thing in world.things.values()]
    return np.concatenate([*roots, *things, np.zeros((0, 3))])
