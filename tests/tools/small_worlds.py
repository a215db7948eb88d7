"""Small worlds and files for tests that must not depend on real data."""

from __future__ import annotations

import json

import numpy as np

from elbowroom.character.body import Character, Skin
from elbowroom.character.rig import as_character
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.shapes import Shape, capsule, capsule_mesh
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.motion.clip import Clip
from elbowroom.world.world import World

# name, parent, place in the parent's frame at rest (T pose, facing -Y, left is +X)
_JOINTS = [
    ("Hips", -1, (0.0, 0.0, 0.95)),
    ("Spine", 0, (0.0, 0.0, 0.2)),
    ("Neck", 1, (0.0, 0.0, 0.3)),
    ("Head", 2, (0.0, 0.0, 0.1)),
    ("LeftArm", 1, (0.18, 0.0, 0.25)),
    ("LeftForeArm", 4, (0.28, 0.0, 0.0)),
    ("LeftHand", 5, (0.26, 0.0, 0.0)),
    ("RightArm", 1, (-0.18, 0.0, 0.25)),
    ("RightForeArm", 7, (-0.28, 0.0, 0.0)),
    ("RightHand", 8, (-0.26, 0.0, 0.0)),
    ("LeftUpLeg", 0, (0.1, 0.0, -0.05)),
    ("LeftLeg", 10, (0.0, 0.0, -0.42)),
    ("LeftFoot", 11, (0.0, 0.0, -0.4)),
    ("RightUpLeg", 0, (-0.1, 0.0, -0.05)),
    ("RightLeg", 13, (0.0, 0.0, -0.42)),
    ("RightFoot", 14, (0.0, 0.0, -0.4)),
]


def skeleton(turned: bool = True) -> Skeleton:
    """A person of sixteen joints whose frames are turned in odd ways, so that no mix-up of frames goes unseen."""
    names, parents, places = zip(*_JOINTS, strict=True)
    rng = np.random.default_rng(5)
    count = len(names)
    world = rot.normalize(rng.normal(size=(count, 4))) if turned else np.tile(rot.IDENTITY, (count, 1))
    offsets, rest = np.array(places), world.copy()
    for j, p in enumerate(parents):
        if p >= 0:
            offsets[j] = rot.rotate(rot.conjugate(world[p]), places[j])
            rest[j] = rot.multiply(rot.conjugate(world[p]), world[j])
    return Skeleton(names, np.array(parents), offsets, rest)


def skin_for(tree: Skeleton, colored: bool = True) -> Skin:
    """A ball around every joint, its upper half pulled by the parent too; bound in another pose than the rest pose."""
    ball = capsule_mesh(0.06, 0.02, segments=8)
    rng = np.random.default_rng(6)
    bent = rot.multiply(tree.rest, rot.exp(0.2 * rng.normal(size=(len(tree), 3))))
    T_bind = tree.forward(tree.offsets[0], bent)
    vertices, faces, joints, weights, colors = [], [], [], [], []
    for j, p in enumerate(tree.parents):
        pull = np.where(ball.vertices[:, 2] > 0, 0.3, 0.0) * (p >= 0)
        faces.append(ball.faces + j * len(ball.vertices))
        vertices.append(ball.vertices + T_bind[j, :3, 3])
        joints.append(np.column_stack([np.full(len(pull), j), np.full(len(pull), max(p, 0))]))
        weights.append(np.column_stack([1.0 - pull, pull]))
        colors.append(np.tile(rng.uniform(0.1, 0.9, 3), (len(pull), 1)))
    parts = [np.concatenate(x) for x in (vertices, faces, joints, weights)]
    return Skin(*parts, inverse(T_bind), np.concatenate(colors) if colored else None)


def person(name: str = "ann", *, skin: bool = True, turned: bool = True) -> Character:
    """The person as a character, with or without a skin."""
    tree = skeleton(turned)
    return as_character(tree, name=name, skin=skin_for(tree) if skin else None)


def moving(character: Character, frames: int = 31, fps: float = 30.0, seed: int = 1) -> Clip:
    """Swinging joints and a root that walks along a curve."""
    tree = character.skeleton
    rng = np.random.default_rng(seed)
    t = np.arange(frames)[:, None, None] / fps
    swing = rng.normal(size=(1, len(tree), 3)) * np.sin(2 * np.pi * (t + rng.uniform(size=(1, len(tree), 1))))
    root = tree.offsets[0] + np.column_stack([np.sin(t[:, 0, 0]), -1.3 * t[:, 0, 0], 0.02 * np.cos(9 * t[:, 0, 0])])
    return Clip(character, fps, root, rot.multiply(tree.rest, rot.exp(0.7 * swing)), name="swing")


def world(frames: int = 31) -> World:
    """Two people (one without a skin), a table, and a box that flies and turns."""
    table = box([1.2, 0.6, 0.04], at=[0.0, -1.0, 0.75], color=(0.5, 0.3, 0.1))
    shapes: tuple[Shape, ...] = (
        capsule("left_forearm", 5, [0, 0, 0], [0.1, 0.1, 0.2], 0.04),
        Shape("head", 3, "sphere", np.array([0.1, 0, 0])),
        Shape("pelvis", 0, "box", np.array([0.15, 0.1, 0.1])),
        Shape("right_foot", 15, "mesh", np.zeros(3), mesh=box([0.1, 0.25, 0.06])),
    )
    bare = person("bob", skin=False).with_(shapes=shapes)

    def flight(t: float) -> np.ndarray:
        return transform([t, 0.5, 1.0 + t * t], rot.about([0.3, 0.2, 0.9], 2.0 * t))

    return (
        World()
        .with_character("ann", moving(person(), frames))
        .with_character("bob", moving(bare, frames, seed=2))
        .with_static("table", table)
        .with_object("parcel", box([0.3, 0.2, 0.1]), flight)
    )


def glb_parts(data: bytes) -> tuple[dict, bytes]:
    """JSON and binary chunk of a GLB."""
    size = int.from_bytes(data[12:16], "little")
    return json.loads(data[20 : 20 + size]), data[28 + size :]


def glb_bytes(document: dict, binary: bytes) -> bytes:
    """A GLB of a JSON document and a binary chunk, right in all its lengths."""
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    body = len(text).to_bytes(4, "little") + b"JSON" + text + len(binary).to_bytes(4, "little") + b"BIN\0" + binary
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(body)).to_bytes(4, "little") + body
