"""A reach as it would be, while its target is dragged: the posture alone, with nothing looked at that is in the way."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.tasks.director import Director
from elbowroom.tasks.hands import arms_of, shoulder_of
from elbowroom.tasks.settings import Settings
from elbowroom.tasks.touching import pointing
from elbowroom.world.world import World


@dataclass(frozen=True, eq=False)
class Preview:
    """Somebody's joints (J, 4, 4) in the world with a hand at a target; `why` not, where it is not reached."""

    who: str
    joints: Array
    why: str = ""


def reach_preview(world: World, told: Mapping[str, Any], point: Array, t: float) -> Preview:
    """The posture in which a hand is at a point (3,) at a time, or as near as it gets."""
    director = Director(world, Settings(tier="ik"), 60.0, 0, time.perf_counter())
    actor = director.actor(told["who"])
    k = min(max(actor.frame(t), 0), len(actor.base) - 1)
    pose = actor.neutral(k)
    hands = arms_of(actor, told.get("hand"))
    hand = min(hands, key=lambda h: float(np.linalg.norm(point - shoulder_of(actor, h, pose))))
    T_hand = next(pointing(actor, hand, point, shoulder_of(actor, hand, pose)))
    found = director.reach(actor, hand, T_hand, k, None)
    joints = actor.body.transforms(found.pose.root[None], found.pose.rotations[None])[0]
    return Preview(actor.who, np.asarray(joints), "" if found.found else found.why)
