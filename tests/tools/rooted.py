"""Rigs whose root joint is not the pelvis, and the turn of one against the other."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from elbowroom.character.body import Character, Skin
from elbowroom.character.human import human
from elbowroom.character.rig import as_character
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry import rotations as rot
from elbowroom.motion.clip import Clip


@lru_cache
def rooted(at: str = "hips") -> Character:
    """A person under a root joint: one at the hips that carries the lower half of their skin, or one on the ground."""
    plain = human(1.70)
    old, skin = plain.skeleton, plain.skin
    assert skin is not None
    place = old.offsets[0] if at == "hips" else np.zeros(3)
    offsets = np.concatenate([[place], [old.offsets[0] - place], old.offsets[1:]])
    skeleton = Skeleton(("Bip01", *old.names), [-1, *(old.parents + 1)], offsets)
    joints = np.array(skin.joints + 1)
    if at == "hips":
        low = skin.vertices[:, 2] < old.offsets[0][2]
        joints[(joints == 1) & low[:, None]] = 0
    bind = np.eye(4)
    bind[:3, 3] = -place
    inverse_bind = np.concatenate([bind[None], skin.inverse_bind])
    return as_character(
        skeleton, name="rooted", skin=Skin(skin.vertices, skin.faces, joints, skin.weights, inverse_bind)
    )


def wrung(clip: Clip) -> float:
    """Largest turn of a joint above the pelvis against the pelvis since rest, degrees."""
    body, skeleton = clip.character, clip.character.skeleton
    rest = skeleton.orientations(skeleton.rest)
    turns = rot.multiply(skeleton.orientations(clip.rotations), rot.conjugate(rest))
    pelvis = body.role("pelvis")
    above = [j for j in range(len(skeleton)) if pelvis in body.subtree(j)]
    against = rot.multiply(rot.conjugate(turns[:, [pelvis]]), turns[:, above])
    return float(np.degrees(rot.angle(against).max()))
