"""Bodies of one or two joints whose motions can be worked out by hand."""

from __future__ import annotations

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.rotations import IDENTITY, about
from elbowroom.geometry.shapes import Shape, capsule
from elbowroom.motion.clip import Clip


def ball(radius: float, name: str = "ball") -> Shape:
    """A sphere about joint 0."""
    return Shape(name, 0, "sphere", np.array([radius, 0.0, 0.0]))


def flying(roots: object, fps: float = 30.0, radius: float = 0.1, **more: object) -> Clip:
    """A ball whose frames are at places (T, 3)."""
    skeleton = Skeleton(("root",), np.array([-1]), np.zeros((1, 3)))
    roots = np.asarray(roots, dtype=float)
    turns = np.tile(IDENTITY, (len(roots), 1, 1))
    return Clip(Character(name="it", skeleton=skeleton, shapes=(ball(radius),)), fps, roots, turns, **more)


def swinging(angles: object, fps: float = 30.0, length: float = 1.0, radius: float = 0.05) -> Clip:
    """An arm along x from the origin that turns about z to angles (T,); a hub without a shape carries it."""
    skeleton = Skeleton(("hub", "arm"), np.array([-1, 0]), np.zeros((2, 3)))
    shape = capsule("arm", 1, [0.2, 0.0, 0.0], [length, 0.0, 0.0], radius)
    angles = np.asarray(angles, dtype=float)
    turns = np.tile(IDENTITY, (len(angles), 2, 1))
    turns[:, 1] = about([0.0, 0.0, 1.0], angles)
    return Clip(Character(name="arm", skeleton=skeleton, shapes=(shape,)), fps, np.zeros((len(angles), 3)), turns)
