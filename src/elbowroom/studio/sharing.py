"""Reuse of unchanged meshes and clips, and of data derived from them, in a rebuilt storyboard."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.motion.clip import Clip, Motion
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.world.world import World


def sharing(board: Storyboard, before: World) -> Storyboard:
    """Storyboard with meshes and clips taken from a world if they are bitwise equal."""
    meshes = {_key(mesh): mesh for mesh in _meshes(before)}
    world = board.world
    static = {name: meshes.get(_key(mesh), mesh) for name, mesh in world.static.items()}
    objects = {
        name: replace(thing, mesh=meshes[_key(thing.mesh)]) if _key(thing.mesh) in meshes else thing
        for name, thing in world.objects.items()
    }
    people = {name: _same(motion, before.characters.get(name)) for name, motion in world.characters.items()}
    return replace(board, world=world.with_(static=static, objects=objects, characters=people))


def _meshes(world: World) -> Iterable[Mesh]:
    yield from world.static.values()
    yield from (thing.mesh for thing in world.objects.values())


def _key(mesh: Mesh) -> bytes:
    digest = hashlib.blake2b(mesh.vertices.tobytes(), digest_size=16)
    digest.update(mesh.faces.tobytes())
    digest.update(repr(mesh.color).encode())
    digest.update(b"" if mesh.colors is None else mesh.colors.tobytes())
    return digest.digest()


def _same(motion: Motion, before: Motion | None) -> Motion:
    if not (isinstance(motion, Clip) and isinstance(before, Clip) and motion.character is before.character):
        return motion
    alike = (motion.start, motion.fps, motion.source) == (before.start, before.fps, before.source)
    frames = np.array_equal(motion.rotations, before.rotations) and np.array_equal(motion.root, before.root)
    return before if alike and frames else motion
