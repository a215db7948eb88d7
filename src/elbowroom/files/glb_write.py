"""Writing a world as GLB: skinned and animated characters, static meshes and moving objects.

glTF has Y up. Root joints and meshes are turned at the border; all other joint frames stay as they are,
so that what is read back has the same rotations.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.visual import visible
from elbowroom.errors import BadFile, BadValue
from elbowroom.files.atomic import writing
from elbowroom.files.content import CONTENT, ProofClaim, glb_content, proof_of
from elbowroom.files.edits import Edited, file_facts
from elbowroom.files.far import corners, near_origin, origin_of
from elbowroom.files.glb_build import GlbBuilder, Look
from elbowroom.files.glb_container import Container
from elbowroom.files.glb_story import story_of
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Motion
from elbowroom.motion.layers import Layer
from elbowroom.world.paths import places
from elbowroom.world.played import played
from elbowroom.world.robots import robots_as_things
from elbowroom.world.things import Thing
from elbowroom.world.world import World

# The turn from glTF's axes to ours, (x, y, z) -> (x, -z, y), and back.
_TO_OURS = rot.about([1.0, 0.0, 0.0], np.pi / 2)
_TO_FILE = rot.conjugate(_TO_OURS)

_STILL = 1e-7  # changes below it, in metres or of a quaternion's numbers, are none


def write_glb(
    path: str | Path, world: World, fps: float = 30.0, proof: ProofClaim | None = None, edited: Edited | None = None
) -> None:
    """Write everything in a world on frames, `fps` a second, with its proof; the file's time 0 is its first frame.

    The motion is the first animation. Edits, and the motions below them, are further ones.
    """
    on = played(world, fps)
    proof = proof_of(on) if proof is None else proof
    whole, times = robots_as_things(on), on.times
    origin = origin_of(whole, times)
    world = near_origin(whole, times, origin)
    file = GlbBuilder()
    keys = _AnimationChannels(file, (times - times[0]).astype(np.float32))
    roots: list[int] = []
    nodes: dict[str, list[int]] = {}
    for name, motion in world.characters.items():
        nodes[name] = list(range(file.count("nodes"), file.count("nodes") + len(motion.body.parents)))
        roots += _character(file, keys, name, motion, times, origin)
    for name, mesh in world.static.items():
        if len(mesh.faces):
            roots.append(_static(file, name, mesh))
    for name, thing in world.things.items():
        if len(thing.mesh.faces):
            roots.append(_object(file, keys, name, thing, times))
    if np.any(origin):
        moved = {"name": "origin", "translation": rot.rotate(_TO_FILE, origin).tolist(), "children": roots}
        roots = [file.add("nodes", moved)]
    file.add("scenes", {"nodes": roots} if roots else {"name": "empty"})
    if keys.channels:
        file.add("animations", {"name": "motion", "channels": keys.channels, "samplers": keys.samplers})
    extras: dict[str, Any] = {"fps": on.fps, "frames": len(times), "start": float(times[0]), "floor": whole.floor}
    extras |= story_of(whole, float(times[0]), proof)
    if edited is not None and edited.edits:
        extras["layers"] = _layers(file, edited, nodes, times, origin)
    with suppress(BadFile):  # a file that is too large to be read again has no digests
        extras["proof"][CONTENT] = glb_content(Container(Path(path), file.glb(extras)))
    with writing(path) as (stand_in,):
        stand_in.write_bytes(file.glb(extras))


@dataclass(eq=False)
class _AnimationChannels:
    """Animation channels in the making; tracks that do not change get two keys."""

    file: GlbBuilder
    times: NDArray[np.float32]  # (T,), from 0

    def __post_init__(self) -> None:
        self.channels: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self._inputs: dict[bool, int] = {}

    def add(self, nodes: list[int], path: str, tracks: Array, rest: Array, always: bool = False) -> None:
        """Add tracks (K, T, n) of one property of K nodes; those that stay at `rest` (K, n) need no keys."""
        moving = np.ptp(tracks, axis=1).max(axis=1) > _STILL
        away = np.abs(tracks[:, 0] - rest).max(axis=1) > _STILL
        for still, chosen in ((False, moving), (True, ~moving & (away | always))):
            picked = np.flatnonzero(chosen)
            if not len(picked):
                continue
            values = tracks[picked]
            if still and len(self.times) > 1:
                values = values[:, [0, -1]]
            outputs = self.file.arrays(np.ascontiguousarray(values, dtype=np.float32))
            for k, output in zip(picked, outputs, strict=True):
                if still not in self._inputs:
                    times = self.times[[0, -1]] if still and len(self.times) > 1 else self.times
                    self._inputs[still] = self.file.array(times[:, None], bounds=True)
                self.samplers.append({"input": self._inputs[still], "output": output})
                target = {"node": nodes[k], "path": path}
                self.channels.append({"sampler": len(self.samplers) - 1, "target": target})


def _file_order(q: Array) -> Array:
    """Quaternions from (w, x, y, z) to glTF's (x, y, z, w)."""
    return q[..., [1, 2, 3, 0]]


def _character(
    file: GlbBuilder, keys: _AnimationChannels, name: str, motion: Motion, times: Array, origin: Array
) -> list[int]:
    """A character's nodes: its name above its joints, and beside it the skinned mesh; a far rest pose comes nearer."""
    body = motion.body
    if not isinstance(body, Character):
        raise BadValue(f"'{name}' is not a character and cannot be written to glTF.")
    skeleton = body.skeleton
    root, q = motion.sample(times)
    q, rest = np.array(q), np.array(skeleton.rest)
    q[:, 0], rest[0] = rot.multiply(_TO_FILE, q[:, 0]), rot.multiply(_TO_FILE, rest[0])
    # the sign of a rest pose is free: the one nearest to the first frame spares keys
    rest = rot.nearest(rest, q[0])
    places = np.array(skeleton.offsets)
    places[0] = rot.rotate(_TO_FILE, min(places[0], places[0] - origin, key=np.linalg.norm))
    first = file.count("nodes")
    joints = [first + j for j in range(len(skeleton))]
    for j, joint in enumerate(skeleton.names):
        node: dict[str, Any] = {"name": joint, "translation": places[j].tolist()}
        node["rotation"] = _file_order(rest[j]).tolist()
        if skeleton.children[j]:
            node["children"] = [joints[k] for k in skeleton.children[j]]
        file.add("nodes", node)
    top = file.add("nodes", {"name": name, "children": joints[:1]})
    skinned = _skin(file, name, body, joints)
    turned = rot.rotate(_TO_FILE, root)
    keys.add(joints[:1], "translation", turned[None], places[:1], always=True)
    keys.add(joints, "rotation", _file_order(rot.continuous(q)).swapaxes(0, 1), _file_order(rest))
    return [top, skinned]


def _layers(
    file: GlbBuilder, edited: Edited, nodes: Mapping[str, list[int]], times: Array, origin: Array
) -> dict[str, Any]:
    """Animations of edits, and of the motions below them; what extras say of them."""
    base = {}
    for who, clip in edited.base.items():
        whole = Layer(tuple(range(len(nodes[who]))), clip.fps, clip.start, clip.rotations, clip.root)
        base[who] = _layer(file, whole, nodes[who], f"{who}: base", times, origin)
    edits = []
    for n, edit in enumerate(edited.edits):
        name = f"{edit.who}: edit {n + 1} {edit.limb} {edit.reason}"
        named = _layer(file, edit.layer, nodes[edit.who], name, times, origin)
        during = [t - float(times[0]) for t in edit.during]
        edits.append(file_facts(edit) | {"during": during, "animation": named})
    return {"base": base, "edits": edits}


def _layer(file: GlbBuilder, layer: Layer, nodes: list[int], name: str, times: Array, origin: Array) -> str | None:
    """One animation with the channels of a layer; its name, None where there is nothing in it."""
    first = round((layer.start - times[0]) * layer.fps)
    keys = _AnimationChannels(file, (times[first : first + len(layer)] - times[0]).astype(np.float32))
    if layer.root is not None:
        keys.add(
            nodes[:1], "translation", rot.rotate(_TO_FILE, layer.root - origin)[None], np.zeros((1, 3)), always=True
        )
    if layer.joints:
        q = np.array(layer.rotations)
        if 0 in layer.joints:
            top = layer.joints.index(0)
            q[:, top] = rot.multiply(_TO_FILE, q[:, top])
        tracks = _file_order(rot.continuous(q)).swapaxes(0, 1)
        keys.add([nodes[j] for j in layer.joints], "rotation", tracks, tracks[:, 0], always=True)
    if not keys.channels:
        return None
    file.add("animations", {"name": name, "channels": keys.channels, "samplers": keys.samplers})
    return name


def _skin(file: GlbBuilder, name: str, body: Character, joints: list[int]) -> int:
    """The node of the skinned mesh."""
    skin = visible(body)
    T_ours_file = np.eye(4)
    T_ours_file[:3, :3] = rot.to_matrix(_TO_OURS)
    binds = (skin.inverse_bind @ T_ours_file).swapaxes(1, 2).reshape(-1, 16).astype(np.float32)
    binds[:, [3, 7, 11, 15]] = [0.0, 0.0, 0.0, 1.0]
    number = file.add("skins", {"name": name, "joints": joints, "inverseBindMatrices": file.array(binds)})
    mesh = file.surface(
        f"{name} skin",
        rot.rotate(_TO_FILE, skin.vertices),
        skin.faces,
        Look(skin.color, skin.colors, skin.paint, f"{name} skin"),
        joints=skin.joints,
        weights=skin.weights,
    )
    return file.add("nodes", {"name": f"{name} skin", "mesh": mesh, "skin": number})


def _mesh(file: GlbBuilder, name: str, mesh: Mesh) -> int:
    use, faces = np.unique(mesh.faces, return_inverse=True)
    mesh = mesh.taken(use, faces.reshape(-1, 3).astype(np.int32))
    if not np.all(np.isfinite(mesh.vertices)):
        raise BadValue(f"'{name}' has vertices that are not finite.")
    look = Look(mesh.color, mesh.colors, mesh.paint, name)
    return file.surface(name, rot.rotate(_TO_FILE, mesh.vertices), mesh.faces, look)


def _static(file: GlbBuilder, name: str, mesh: Mesh) -> int:
    """The node of a mesh that stays, with its pivot at the bottom centre, where programs turn and scale it."""
    points = corners(mesh)
    low, high = points.min(axis=0), points.max(axis=0)
    pivot = np.array([*0.5 * (low + high)[:2], low[2]])
    T = np.eye(4)
    T[:3, 3] = -pivot
    place = rot.rotate(_TO_FILE, pivot).tolist()
    return file.add("nodes", {"name": name, "mesh": _mesh(file, name, mesh.moved(T)), "translation": place})


def _object(file: GlbBuilder, keys: _AnimationChannels, name: str, thing: Thing, times: Array) -> int:
    """The node of a moving object, placed as in the first frame."""
    T = places(thing.path, times)
    place = rot.rotate(_TO_FILE, T[:, :3, 3])
    turn = rot.multiply(rot.multiply(_TO_FILE, rot.from_matrix(T[:, :3, :3])), _TO_OURS)
    turn = _file_order(rot.continuous(turn))
    node = {"name": name, "mesh": _mesh(file, name, thing.mesh)}
    number = file.add("nodes", node | {"translation": place[0].tolist(), "rotation": turn[0].tolist()})
    keys.add([number], "translation", place[None], place[:1])
    keys.add([number], "rotation", turn[None], turn[:1])
    return number
