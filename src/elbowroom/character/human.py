"""The built-in person, made to any height, mass and build."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from elbowroom.character.anatomy import limits_for
from elbowroom.character.anthropometry import Scales, Sex, check_height_and_mass, proportions
from elbowroom.character.body import Character
from elbowroom.character.fit_shapes import fit_shapes
from elbowroom.character.human_joints import human_skeleton
from elbowroom.character.mannequin import mannequin_skin
from elbowroom.character.markers import markers_for
from elbowroom.character.masses import masses_for
from elbowroom.character.rig import chains_for
from elbowroom.geometry.mesh import frozen


def human(
    height: float = 1.70,
    mass: float | None = None,
    *,
    sex: Sex = "average",
    name: str = "person",
    leg_scale: float = 1.0,
    arm_scale: float = 1.0,
    trunk_scale: float = 1.0,
    head_scale: float = 1.0,
    hand_scale: float = 1.0,
    foot_scale: float = 1.0,
    shoulder_scale: float = 1.0,
    hip_scale: float = 1.0,
    trunk_girth_scale: float = 1.0,
    arm_girth_scale: float = 1.0,
    leg_girth_scale: float = 1.0,
    skin: bool = True,
) -> Character:
    """A person `height` metres tall, of `mass` kg (body mass index 22.5 where not given).

    Sizes come from the tables in `anthropometry`; the scales depart from them at the same height:
    `leg_scale=1.3` gives legs that are 1.3 times as long against the trunk. `skin=False` leaves the
    skin out; shapes and markers then follow the tables instead of the surface, and it is much quicker.
    The rest pose is a T pose with identity rotations, facing -Y, left is +X, soles on z = 0.
    Equal calls return the same object.
    """
    scales = Scales(
        leg=leg_scale,
        arm=arm_scale,
        trunk=trunk_scale,
        head=head_scale,
        hand=hand_scale,
        foot=foot_scale,
        shoulder=shoulder_scale,
        hip=hip_scale,
        trunk_girth=trunk_girth_scale,
        arm_girth=arm_girth_scale,
        leg_girth=leg_girth_scale,
    )
    return _made(height, mass, sex, name, scales, bool(skin))


@lru_cache(maxsize=64)
def _made(height: float, mass: float | None, sex: Sex, name: str, scales: Scales, skin: bool) -> Character:
    p = proportions(height, check_height_and_mass(height, mass), sex=sex, scales=scales)
    skeleton = human_skeleton(p)
    surface = mannequin_skin(skeleton, p) if skin else None
    roles = {joint: j for j, joint in enumerate(skeleton.names)}
    front = frozen(np.array([0.0, -1.0, 0.0]))
    return Character(
        name=name,
        skeleton=skeleton,
        roles=roles,
        limits=limits_for(skeleton, roles, front),
        chains=chains_for(skeleton, roles),
        shapes=fit_shapes(skeleton, roles, surface, p.height),
        masses=masses_for(skeleton, roles, p.height, p.mass, sex, scales),
        markers=markers_for(skeleton, roles, front, p, surface),
        skin=surface,
        front=front,
    )
