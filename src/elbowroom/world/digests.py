"""Digest of everything that a proof depends on: two worlds with the same digest play alike and allow the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elbowroom.character.body import Body, Character, Skin
from elbowroom.character.robot import Robot
from elbowroom.geometry.mesh import Mesh
from elbowroom.world.paths import places

if TYPE_CHECKING:
    from elbowroom.world.played import PlayedWorld


def digest_of(world: PlayedWorld) -> str:
    """SHA-256 over frames, bodies, skins, meshes, floor, holds, contacts and caps; looks and masses do not count."""
    sha = hashlib.sha256()
    _feed(sha, (world.fps, world.times, world.floor, world.caps))
    for name, motion in world.characters.items():
        _feed(sha, ("character", name, *motion.sample(world.times), *_body(motion.body)))
    for name, thing in world.objects.items():
        _feed(sha, ("object", name, thing.mesh, places(thing.path, world.times)))
    for name, mesh in world.static.items():
        _feed(sha, ("static", name, mesh))
    _feed(sha, tuple((h.object, h.by, h.hand, h.during) for h in world.holds))
    _feed(sha, (world.linked, world.contacts))
    return sha.hexdigest()


def _body(body: Body) -> tuple[Any, ...]:
    """Everything of a body that decides where its parts are and which of them may touch."""
    if isinstance(body, Character):
        return body.skeleton, body.shapes, body.roles, body.limits, body.skin
    if isinstance(body, Robot):
        return body.joints, body.shapes, body.roles, body.links
    return body.joint_names, body.parents, body.T_rest, body.shapes, body.roles


def _feed(sha: Any, value: object) -> None:
    """Feed a value and its kind, so that different values never give the same bytes."""
    if isinstance(value, np.ndarray):
        sha.update(f"array {value.dtype.str} {value.shape};".encode())
        sha.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, Mesh):
        _feed(sha, (value.vertices, value.faces))
    elif isinstance(value, Skin):
        _feed(sha, (value.vertices, value.faces, value.joints, value.weights, value.inverse_bind))
    elif is_dataclass(value):
        _feed(sha, (type(value).__name__, *(getattr(value, f.name) for f in fields(value))))
    elif isinstance(value, Mapping):
        _feed(sha, tuple(value.items()))
    elif isinstance(value, tuple | list):
        sha.update(f"list {len(value)};".encode())
        for entry in value:
            _feed(sha, entry)
    else:
        sha.update(f"{value!r};".encode())
