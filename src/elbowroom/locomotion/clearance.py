"""Room between hanging arms and the body beside them, from the collision shapes of a figure."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.transforms import apply
from elbowroom.locomotion.figure import Figure

_BESIDE = ("pelvis", "spine1", "spine2", "left_thigh")
_BIN = 0.01  # metres of height
_ANGLES = np.radians(np.arange(4.0, 50.0, 0.5))
_ALONG = np.linspace(0.0, 1.0, 9)


def least_abduction(figure: Figure, turns: dict[str, Array], drop: float, margin: float) -> float:
    """Smallest angle from the vertical (radians) at which the hanging left arm stays `margin` metres off the body.

    turns: of the fingers, (4,) by role; drop: how far the collar bone is lowered, radians.
    """
    character = figure.character
    wanted = {character.roles[r] for r in _BESIDE if r in character.roles}
    arm = character.skeleton.subtree(character.role("left_forearm"))
    root, local = figure.assemble(turns, figure.at("pelvis")[None])
    T = character.skeleton.forward(root, local)[0]
    body = _points(character.shapes, wanted, T)
    limb = _points(character.shapes, set(arm), T)
    if not len(body) or not len(limb):
        return float(np.radians(9.0))
    shoulder = figure.at("left_upper_arm")
    along, inwards = limb[:, 0] - shoulder[0], shoulder[2] - limb[:, 2]
    if figure.has("left_clavicle"):
        collar = figure.at("left_clavicle")
        shoulder = collar + rot.rotate(rot.about([0.0, 1.0, 0.0], np.array(drop)), shoulder - collar)
    floor = float(body[:, 2].min())
    widths = np.full(int((body[:, 2].max() - floor) / _BIN) + 2, -np.inf)
    np.maximum.at(widths, ((body[:, 2] - floor) / _BIN).astype(int), body[:, 0])
    for angle in _ANGLES:
        x = shoulder[0] + along * np.sin(angle) - inwards * np.cos(angle)
        z = shoulder[2] - along * np.cos(angle) - inwards * np.sin(angle)
        k = np.floor((z - floor) / _BIN).astype(int)
        inside = (k >= 0) & (k < len(widths))
        if np.all(x[inside] - widths[k[inside]] >= margin):
            return float(angle)
    return float(_ANGLES[-1])


def _points(shapes: tuple[Shape, ...], joints: set[int], T: Array) -> Array:
    """Points (N, 3) on the outlines of the shapes that ride on some joints, world transforms T (J, 4, 4)."""
    found = []
    for shape in shapes:
        if shape.joint not in joints:
            continue
        if shape.kind == "mesh" and shape.mesh is not None:
            a, b = (shape.mesh.vertices[shape.mesh.faces[:, k]] for k in ((0, 1, 2), (1, 2, 0)))
            local = (a[..., None, :] + _ALONG[:, None] * (b - a)[..., None, :]).reshape(-1, 3)
        else:
            local = _round(shape)
        found.append(apply(T[shape.joint] @ shape.T_joint_shape, local))
    return np.concatenate(found) if found else np.zeros((0, 3))


def _round(shape: Shape) -> Array:
    """Points (N, 3) on a capsule, sphere or box in its own frame."""
    if shape.kind == "box":
        return np.stack(np.meshgrid(*([-1.0, 0.0, 1.0],) * 3), axis=-1).reshape(-1, 3) * shape.size
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 16, endpoint=False), np.linspace(0, np.pi, 9))
    ball = shape.size[0] * np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1).reshape(-1, 3)
    if shape.kind == "sphere":
        return ball
    slide = np.linspace(-shape.size[1], shape.size[1], 9)
    return (ball[None] + slide[:, None, None] * np.array([0.0, 0.0, 1.0])).reshape(-1, 3)
