"""Things that are worn: a hat on a head. To the world they are held by the part that wears them."""

from __future__ import annotations

import numpy as np

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import merge
from elbowroom.geometry.tessellate import shape_mesh
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Keyed
from elbowroom.world.things import Thing
from elbowroom.world.world import Snapshot, World

# Metres above its place, along its own upright axis, from which on what is worn may go anywhere.
CLEAR_ABOVE = 0.13

# What is put on is lowered in such steps, metres, until it would meet the part, and stays this far above that.
_STEP, _ABOVE = 0.002, 0.001


def worn_place(body: Character, part: str, thing: Thing, name: str) -> Array:
    """`T_part_thing` (4, 4) of a thing on a part of a body: as far down over it as it goes, its -Y to the front.

    A frame 'worn' of the thing, where it has one, says where the part's joint comes to be instead, in the axes of a
    body at rest that faces -Y.
    """
    joint, _ = body.hand(part)
    T_axes = np.eye(4)
    up = np.array([0.0, 0.0, 1.0])
    facing = np.stack([np.cross(-body.front, up), -body.front, up], axis=1)
    T_axes[:3, :3] = facing.T @ body.T_rest[joint, :3, :3]
    if "worn" in thing.frames:
        return np.asarray(inverse(T_axes) @ inverse(thing.frame("worn")))
    shapes = [shape_mesh(s).moved(T_axes @ s.T_joint_shape) for s in body.shapes if s.joint == joint]
    if not shapes:
        raise BadValue(f"'{part}' of {body.name} has no surface to wear '{name}' on.")
    wearer = merge(shapes)
    top = float(wearer.bounds[1, 2])
    high = wearer.vertices[wearer.vertices[:, 2] > 0.5 * top]
    T = np.eye(4)
    T[:2, 3] = 0.5 * (high.min(axis=0) + high.max(axis=0))[:2] - thing.mesh.bounds.mean(axis=0)[:2]
    moving = Keyed.along([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    exact = ExactWorld(World(floor=None).with_static("wearer", wearer).with_object(name, thing.mesh, moving))
    lowest = float(apply(T, thing.mesh.vertices)[:, 2].min())
    for z in np.arange(top - lowest + _STEP, wearer.bounds[0, 2] - lowest, -_STEP):
        T[2, 3] = z
        exact.place_snapshot(Snapshot(0.0, {}, {name: T}))
        if exact.hit(0):
            T[2, 3] += _STEP + _ABOVE
            return np.asarray(inverse(T_axes) @ T)
    raise BadValue(f"'{name}' does not stay on '{part}' of {body.name}: it is too wide.")
