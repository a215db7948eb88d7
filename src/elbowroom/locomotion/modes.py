"""Modes of walking past obstacles: upright, sideways, crouched, stepping over, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from elbowroom.errors import BadValue
from elbowroom.locomotion.course import WalkingManner

Gait = Literal["any", "walk", "brisk", "run", "crouch", "sidle", "back"]


@dataclass(frozen=True)
class Mode:
    """A mode of passing obstacles: manner of the body, band of its height in shares, cost per metre.

    Modes of different costs are the same.
    """

    name: str
    manner: WalkingManner
    low: float = 0.0
    high: float = 1.0
    factor: float = field(default=1.0, compare=False)


WALK = Mode("walk", "forward")
SIDLE = Mode("sidle", "left", factor=3.0)
DUCK = Mode("duck", "forward", high=0.8, factor=3.0)
STOOP = Mode("stoop", "forward", high=0.645, factor=6.0)
OVER = Mode("step over", "forward", low=0.19, factor=6.0)
HIGH_OVER = Mode("step high over", "forward", low=0.3, factor=12.0)
BACK = Mode("back", "back", factor=1.0)
_MODES: dict[str, tuple[Mode, ...]] = {
    "any": (WALK, SIDLE, DUCK, STOOP, OVER, HIGH_OVER),
    "walk": (WALK,),
    "brisk": (WALK,),
    "run": (WALK,),
    "crouch": (replace(DUCK, factor=1.0), STOOP),
    "sidle": (replace(SIDLE, factor=1.0),),
    "back": (BACK,),
}


def modes_of(gait: Gait, costs: Mapping[str, float]) -> tuple[Mode, ...]:
    """Modes of a gait, those that are named with other costs per metre."""
    return tuple(replace(mode, factor=costs.get(mode.name, mode.factor)) for mode in _MODES[gait])


def check_mode_costs(costs: Mapping[str, float]) -> None:
    """Raise `BadValue` unless all are costs above 0 of modes that exist."""
    known = list(dict.fromkeys(mode.name for modes in _MODES.values() for mode in modes))
    for name, cost in costs.items():
        if name not in known:
            raise BadValue(f"mode_costs has '{name}', which is not a mode of walking; modes are {', '.join(known)}.")
        if not 0.0 < cost < math.inf:
            raise BadValue(f"the cost of '{name}' in mode_costs is {cost:g}; give a number above 0.")
