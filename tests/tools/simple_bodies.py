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


def crossing(depths: object, thick: tuple[float, float] = (0.058, 0.058), **more: object) -> Clip:
    """Two bars that hang 0.2 m apart from knobs; the tip of the first is in the second to depths (T,), metres.

    `roles` name the bars, which have the radii `thick`.
    """
    roles = more.pop("roles", ("left_shin", "right_shin"))
    names, parents = ("hub", "knob", "other knob", *roles), np.array([-1, 0, 0, 1, 2])
    offsets = np.array([[0.0] * 3, [-0.1, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0] * 3, [0.0] * 3])
    knobs = [Shape(names[k], k, "sphere", np.array([0.01, 0.0, 0.0])) for k in (1, 2)]
    bars = [
        capsule(role, k, [0.0, 0.0, -0.05], [0.0, 0.0, -length], radius)
        for k, role, length, radius in zip((3, 4), roles, (0.4, 0.6), thick, strict=True)
    ]
    depths = np.asarray(depths, dtype=float)
    turns = np.tile(IDENTITY, (len(depths), 5, 1))
    turns[:, 3] = about([0.0, -1.0, 0.0], np.arcsin((0.2 - sum(thick) + depths) / 0.4))
    skeleton = Skeleton(names, parents, offsets)
    body = Character(
        name="legs", skeleton=skeleton, shapes=(*knobs, *bars), roles=dict(zip(roles, (3, 4), strict=True))
    )
    return Clip(body, 30.0, np.zeros((len(depths), 3)), turns, **more)
