"""Robots as moving objects, for files and programs that support only skeletons and rigid objects."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.character.visual import SHAPE_COLOR
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.solids import merge
from elbowroom.motion.clip import Motion
from elbowroom.world.exact import own_pairs_of
from elbowroom.world.pairs import shapes_of
from elbowroom.world.things import Linked, Thing
from elbowroom.world.world import World


@dataclass(frozen=True, eq=False)
class JointPath:
    """Path of one joint of a moving body."""

    motion: Motion
    joint: int

    def __call__(self, t: float) -> Array:
        return np.asarray(self.sample([t])[0])

    def sample(self, times: ArrayLike) -> Array:
        """Places at many times, (N, 4, 4)."""
        t = np.atleast_1d(np.asarray(times, dtype=float))
        return self.motion.body.transforms(*self.motion.sample(t))[:, self.joint]


def robots_as_things(world: World) -> World:
    """The same world with every robot as one object for each joint that carries shapes, named 'robot.joint'.

    What robots hold keeps its way. Links of a robot that never collide with each other are `linked`.
    """
    robots = {name: m for name, m in world.characters.items() if not isinstance(m.body, Character)}
    if not robots:
        return world
    objects = dict(world.things)
    linked = list(world.linked)
    for name, motion in robots.items():
        body = motion.body
        for joint, title in enumerate(body.joint_names):
            meshes = [shape_mesh(shape) for shape in body.shapes if shape.joint == joint]
            if meshes:
                mesh = merge(meshes, color=SHAPE_COLOR)
                objects[f"{name}.{title}"] = Thing(mesh=mesh, path=JointPath(motion, joint))
        counts = own_pairs_of(body).counts
        shapes = [s.shape for s in shapes_of(body)]
        pairs = {(shapes[a].joint, shapes[b].joint) for a, b in np.argwhere(np.triu(~counts, 1)).tolist()}
        titles = body.joint_names
        linked += [Linked(f"{name}.{titles[a]}", f"{name}.{titles[b]}") for a, b in sorted(pairs) if a != b]
    people = {name: m for name, m in world.characters.items() if name not in robots}
    holds = tuple(h for h in world.holds if h.by in people)
    present = tuple(link for link in linked if link.a in objects and link.b in objects)
    return replace(world, characters=people, objects=objects, holds=holds, linked=present)


def of_one_robot(link: Linked) -> bool:
    """Return whether two objects are named as links of one robot: the only ones that a file may declare as joined."""
    one, other = (name.rpartition(".")[0] for name in (link.a, link.b))
    return one != "" and one == other


def file_names(world: World) -> dict[str, str]:
    """Names of robots' parts in collision pairs, each with the name of the object that stands for it in files."""
    out = {}
    for name, motion in world.characters.items():
        if not isinstance(motion.body, Character):
            for shape in motion.body.shapes:
                out[f"{name}.{shape.name}"] = f"{name}.{motion.body.joint_names[shape.joint]}"
    return out
