"""Where things are put: at a point, or on top of something."""

from __future__ import annotations

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array, about
from elbowroom.geometry.transforms import apply, transform
from elbowroom.tasks.verbs import Put
from elbowroom.world.world import World

# What is put onto something ends this far above it, metres.
_ABOVE = 0.0005

_UP = np.array([0.0, 0.0, 1.0])


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
    if task.onto in world.static:
        ground = world.static[task.onto]
    elif task.onto in world.objects:
        ground = world.objects[task.onto].mesh.moved(world.frame(task.onto, t))
    else:  # a frame or a body part
        T[:3, 3] = world.frame(task.onto, t)[:3, 3]
        return T
    low = float(apply(T, mesh.vertices)[:, 2].min())
    xy = ground.bounds.mean(axis=0)[:2] if task.to is None else np.asarray(task.to[:2])
    T[:3, 3] = [*xy, top_of(ground, xy, task.onto) - low + _ABOVE]
    return T


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
