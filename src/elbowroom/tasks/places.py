"""Where things are put: at a point, or on top of something."""

from __future__ import annotations

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array, about
from elbowroom.geometry.transforms import apply, transform
from elbowroom.tasks.verbs import Point, Put
from elbowroom.world.world import World

# What is put onto something ends this far above it, metres.
_ABOVE = 0.0005

_UP = np.array([0.0, 0.0, 1.0])

# Turns of a thing about the vertical that are tried, radians: it stays as level as it is.
_TURNS = np.radians([0.0, 30.0, -30.0, 60.0, -60.0, 90.0, -90.0, 120.0, -120.0, 150.0, -150.0, 180.0])


def place_for(world: World, task: Put, taken: Array, t: float) -> Array:
    """`T_world_object` (4, 4) that a task asks for, of an object that was taken from a place (4, 4), at a time."""
    turn = taken[:3, :3] if task.turn is None else transform(np.zeros(3), about(_UP, task.turn))[:3, :3]
    T = np.eye(4)
    T[:3, :3] = turn
    mesh = world.objects[task.object].mesh
    if task.onto is None:
        if task.to is None:
            raise BadValue(f"put {task.object}: say where, with 'to' or 'onto'.")
        T[:3, 3] = task.to
        return T
    T[:3, 3] = surface_at(world, task.onto, t, task.to, taken[:3, 3])
    if task.onto == "floor" or task.onto in world.static or task.onto in world.objects:
        T[2, 3] += _ABOVE - float(apply(T, mesh.vertices)[:, 2].min() - T[2, 3])
    return T


def surface_at(world: World, onto: str, t: float, at: Point | None, near: Array) -> Array:
    """A place (3,) on top of a mesh or a thing at a time, above or below a point; a frame or body part is its own.

    Without the point it is the middle of the mesh, and on the floor below a place near by (3,).
    """
    if onto == "floor" and world.floor is not None:
        x, y = near[:2] if at is None else at[:2]
        return np.array([x, y, world.floor])
    if onto in world.static:
        ground = world.static[onto]
    elif onto in world.objects:
        ground = world.objects[onto].mesh.moved(world.frame(onto, t))
    else:
        return np.asarray(world.frame(onto, t)[:3, 3])
    xy = ground.bounds.mean(axis=0)[:2] if at is None else np.asarray(at[:2])
    return np.array([*xy, top_of(ground, xy, onto)])


def top_of(mesh: Mesh, xy: Array, name: str) -> float:
    """Height of the highest triangle above or below a place on the ground (2,), metres."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    u, v = b[:, :2] - a[:, :2], c[:, :2] - a[:, :2]
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    p = np.asarray(xy) - a[:, :2]
    flat = np.abs(area) > 1e-12
    safe = np.where(flat, area, 1.0)
    s = (p[:, 0] * v[:, 1] - p[:, 1] * v[:, 0]) / safe
    r = (u[:, 0] * p[:, 1] - u[:, 1] * p[:, 0]) / safe
    inside = flat & (s >= -1e-9) & (r >= -1e-9) & (s + r <= 1.0 + 1e-9)
    if not inside.any():
        raise BadValue(f"'{name}' has no surface at {xy[0]:g}, {xy[1]:g} to put things on.")
    z = a[:, 2] + s * (b[:, 2] - a[:, 2]) + r * (c[:, 2] - a[:, 2])
    return float(z[inside].max())


def turned(T_thing: Array, point: Array) -> list[Array]:
    """Places (4, 4) of a thing at a point (3,), turned about the vertical from how it is."""
    out = []
    for angle in _TURNS:
        T = transform(np.zeros(3), about(_UP, angle)) @ T_thing
        T[:3, 3] = point
        out.append(np.asarray(T))
    return out
