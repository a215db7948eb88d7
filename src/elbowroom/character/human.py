"""The built-in person, made to any height, mass and build; and presets by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

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
from elbowroom.errors import UnknownName
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
    limits = limits_for(skeleton, roles, front)
    return Character(
        name=name,
        skeleton=skeleton,
        roles=roles,
        limits=limits,
        chains=chains_for(skeleton, roles),
        shapes=fit_shapes(skeleton, roles, surface, p.height, limits),
        masses=masses_for(skeleton, roles, p.height, p.mass, sex, scales),
        markers=markers_for(skeleton, roles, front, p, surface),
        skin=surface,
        front=front,
    )


# Arguments of `human` by name.
# - woman, man: means of adults in many countries (NCD-RisC 2016: about 1.63 and 1.76 m in Europe).
# - child: about eight years. Snyder et al. 1977, 'Anthropometry of infants, children and youths to age
# 18': head
#   15 % of the height, hips at half of it, head breadth 11 %, chest girth 48 %, upper thigh girth 30 %.
# The head's
#   share of mass comes out near 11 % (Jensen 1986, 'Body segment mass, radius and radius of gyration
# proportions
#   of children').
# - clown and gorilla: long legs; long arms, short legs, barrel chest. Like the characters of Yamane,
# Kuffner and
#   Hodgins 2004, 'Synthesizing animations of human manipulation tasks'.
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "woman": {"height": 1.63, "mass": 62.0, "sex": "female"},
        "man": {"height": 1.76, "mass": 77.0, "sex": "male"},
        "child": {
            "height": 1.28,
            "mass": 26.0,
            "leg_scale": 0.95,
            "arm_scale": 0.96,
            "trunk_scale": 1.03,
            "head_scale": 1.25,
            "shoulder_scale": 0.97,
            "trunk_girth_scale": 1.07,
            "arm_girth_scale": 1.05,
            "leg_girth_scale": 1.07,
        },
        "clown": {
            "height": 1.95,
            "mass": 72.0,
            "sex": "male",
            "leg_scale": 1.35,
            "arm_scale": 1.05,
            "foot_scale": 1.15,
        },
        "gorilla": {
            "height": 1.65,
            "mass": 110.0,
            "sex": "male",
            "leg_scale": 0.72,
            "arm_scale": 1.55,
            "trunk_scale": 1.20,
            "head_scale": 1.05,
            "hand_scale": 1.20,
            "foot_scale": 1.10,
            "shoulder_scale": 1.30,
            "hip_scale": 1.10,
            "trunk_girth_scale": 1.08,
            "arm_girth_scale": 1.20,
        },
    }
)


def preset(name: str, **changes: Any) -> Character:
    """A character of `PRESETS`; `changes` replace arguments of `human`: `preset("child", height=1.1)`."""
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return human(**{"name": name, **PRESETS[name], **changes})
