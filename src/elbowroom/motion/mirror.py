"""Left and right exchanged, for any rig: joints are compared as turns from the rest pose in the world.

Frames of the left and the right side of a rig need not mirror each other; what a joint did, as a turn of its
segment from where it rests, does.
"""

from __future__ import annotations

import re

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import UP, Array
from elbowroom.motion.clip import Clip

# Pairs of letters that tell the sides apart in names of joints that play no known part.
_SIDE_WORDS = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"))
_SIDE_LETTERS = (("l", "r"), ("L", "R"))


def mirror(clip: Clip) -> Clip:
    """The motion seen in a mirror that stands on the origin across the character's left-right axis at rest.

    What the left did, the right does. A joint off the middle without a counterpart keeps its local rotation.
    """
    character = clip.character
    skeleton = character.skeleton
    left = np.cross(UP, character.front)
    partner = counterparts(character)
    W = skeleton.orientations(clip.rotations)
    W_rest = skeleton.orientations(skeleton.rest)
    turned = _reflected(rot.multiply(W, rot.conjugate(W_rest)), left)
    W_new = np.zeros_like(W)
    q = np.zeros_like(W)
    for j, parent in enumerate(skeleton.parents):
        W_parent = rot.IDENTITY if parent < 0 else W_new[:, parent]
        if partner[j] >= 0:
            W_new[:, j] = rot.multiply(turned[:, partner[j]], W_rest[j])
            q[:, j] = rot.multiply(rot.conjugate(W_parent), W_new[:, j])
        else:
            q[:, j] = clip.rotations[:, j]
            W_new[:, j] = rot.multiply(W_parent, q[:, j])
    root = clip.root - 2.0 * np.sum(clip.root * left, axis=-1, keepdims=True) * left
    return clip.with_(root=root, rotations=q)


def _reflected(q: Array, normal: Array) -> Array:
    """Rotations (..., 4) as they look in a mirror with this unit normal: M R M."""
    xyz = 2.0 * np.sum(q[..., 1:] * normal, axis=-1, keepdims=True) * normal - q[..., 1:]
    return np.concatenate([q[..., :1], xyz], axis=-1)


def counterparts(character: Character) -> Array:
    """For each joint the one on the other side, itself in the middle, -1 where there is none, (J,).

    Known parts are paired by their roles, the rest by their names, then by where they are in the rest pose.
    """
    skeleton = character.skeleton
    partner = np.full(len(skeleton), -1)
    for name, j in character.roles.items():
        other = character.roles.get(_other_side(name))
        if other is not None:
            partner[j] = other
    index = {name: j for j, name in enumerate(skeleton.names)}
    for j, name in enumerate(skeleton.names):
        if partner[j] < 0:
            found = (index[n] for n in _swapped_names(name) if n in index and partner[index[n]] < 0)
            other = next(found, None)
            if other is not None:
                partner[j], partner[other] = other, j
    _pair_by_place(character, partner)
    return partner


def _other_side(role: str) -> str:
    if role.startswith("left_"):
        return "right_" + role[5:]
    return "left_" + role[6:] if role.startswith("right_") else role


def _swapped_names(name: str) -> list[str]:
    """Names that the joint on the other side could have."""
    out = [name.replace(a, b) for pair in _SIDE_WORDS for a, b in (pair, pair[::-1]) if a in name]
    for a, b in (p for pair in _SIDE_LETTERS for p in (pair, pair[::-1])):
        # a letter that stands alone ('Bip01 L Foot', 'Foot.L', 'arm_L__4_') or in front ('lhipjoint')
        out.append(re.sub(rf"(?<![A-Za-z0-9]){a}(?![A-Za-z0-9])", b, name))
        if name.startswith(a):
            out.append(b + name[1:])
    return [n for n in out if n != name]


def _pair_by_place(character: Character, partner: Array) -> None:
    """Joints still alone: in the middle they are their own partners, else the nearest in the mirror."""
    left = np.cross(UP, character.front)
    p = character.skeleton.T_rest[:, :3, 3]
    aside = (p - p[0]) @ left
    size = max(float(np.ptp(p[:, 2])), 1e-6)
    near = 0.02 * size
    alone = np.flatnonzero(partner < 0)
    for j in alone:
        if partner[j] >= 0:
            continue
        if abs(aside[j]) < near:
            partner[j] = j
            continue
        image = p[j] - 2.0 * aside[j] * left
        others = [k for k in alone if partner[k] < 0 and k != j]
        if others:
            k = min(others, key=lambda k: float(np.linalg.norm(p[k] - image)))
            if np.linalg.norm(p[k] - image) < near:
                partner[j], partner[k] = k, j
