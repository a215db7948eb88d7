"""Digest of everything that a proof depends on: two worlds with the same digest play alike and allow the same."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from elbowroom.character.body import Body, Character
from elbowroom.character.robot import Robot
from elbowroom.geometry.kept import contents
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.shapes import Shape
from elbowroom.world.contacts import DECLARED
from elbowroom.world.paths import places

if TYPE_CHECKING:
    from elbowroom.world.played import PlayedWorld


def digest_of(world: PlayedWorld) -> str:
    """SHA-256 over frames, bodies, skins, meshes, floor, holds, declared contacts and caps; looks and masses do not
    count.
    """
    sha = hashlib.sha256()
    times = world.times
    people = [(name, *m.sample(times), _body(m.body)) for name, m in world.characters.items()]
    things = [(name, _mesh(thing.mesh), places(thing.path, times)) for name, thing in world.objects.items()]
    static = [(name, _mesh(mesh)) for name, mesh in world.static.items()]
    holds = [(h.object, h.by, h.hand, h.during) for h in world.holds]
    # contacts of edits come with the proof, which lists what it used of them
    declared = [contact for contact in world.contacts if contact.why == DECLARED]
    allowed = (world.floor, world.caps, declared, world.linked)
    for part in contents((world.fps, times, people, things, static, holds, allowed)):
        if isinstance(part, np.ndarray):
            sha.update(f"array {part.dtype.str} {part.shape};".encode())
            sha.update(np.ascontiguousarray(part).tobytes())
        else:
            sha.update(f"{part!r};".encode())
    return sha.hexdigest()


def _body(body: Body) -> tuple[Any, ...]:
    """Everything of a body that decides where its parts are and which of them may touch."""
    parts = tuple(_shape(shape) for shape in body.shapes), body.roles
    if isinstance(body, Robot):
        return (*parts, body.joints, body.links)
    if not isinstance(body, Character):
        return (*parts, body.joint_names, body.parents, body.T_rest)
    s = body.skin
    skin = None if s is None else (s.vertices, s.faces, s.joints, s.weights, s.inverse_bind)
    return (*parts, body.skeleton, body.limits, skin)


def _shape(shape: Shape) -> tuple[Any, ...]:
    mesh = None if shape.mesh is None else _mesh(shape.mesh)
    return shape.name, shape.joint, shape.kind, shape.size, shape.T_joint_shape, mesh


def _mesh(mesh: Mesh) -> tuple[Any, ...]:
    return mesh.vertices, mesh.faces
