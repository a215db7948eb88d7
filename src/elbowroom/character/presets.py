"""Ready-made people and near-people, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.errors import UnknownName

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
