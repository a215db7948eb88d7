"""Grasps for hands that cannot close: rigs without fingers or thumb use those of a person of their height."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from elbowroom.character.body import Body, Character
from elbowroom.character.grip import grip_frame
from elbowroom.character.hand_shapes import finger_roles
from elbowroom.character.human import human
from elbowroom.geometry.transforms import inverse
from elbowroom.posing.fingers_model import HandAtThing, hand_model
from elbowroom.posing.grasps_settle import BACK, MARGIN, Grasp

# Metres that a stiff hand goes on towards a thing from where the person's hand is, at most.
_AHEAD = 0.03

# Heights of people whose hands are borrowed, metres.
_HEIGHTS = (1.0, 2.2)


def closes(body: Body, hand: str) -> bool:
    """Return whether a hand has a thumb and another finger to hold things between."""
    roles = finger_roles(body, hand)
    return any("thumb" in role for role in roles) and any("thumb" not in role for role in roles)


@lru_cache(maxsize=8)
def _person(height: float) -> Character:
    return human(height=height)


def lender(body: Body) -> Character:
    """The person whose hands are borrowed."""
    height = body.height if isinstance(body, Character) else _HEIGHTS[0]
    return _person(round(float(np.clip(height, *_HEIGHTS)), 2))


def borrowed(body: Body, hand: str, grasps: list[Grasp], scene: HandAtThing) -> list[Grasp]:
    """Grasps of the lender as grasps of a stiff hand: palm where hers would be, moved until it touches."""
    model = hand_model(body, hand)
    T_lent = grip_frame(lender(body), hand) @ inverse(grip_frame(body, hand))
    out = []
    for grasp in grasps:
        T = grasp.T_thing_hand @ T_lent
        scene.put_hand(model.places(grasp.open))
        way = scene.slid(T, grasp.approach, BACK, _AHEAD, MARGIN)
        if np.isfinite(way):
            T[:3, 3] += way * grasp.approach
            out.append(replace(grasp, T_thing_hand=T))
    return out
