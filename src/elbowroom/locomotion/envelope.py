"""Space that a character takes while walking in some mode, measured on its own gait."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.kept import kept
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import ASIDE_RAD, WalkingManner, leftwards, route
from elbowroom.locomotion.library_arrays import recorded_cycles
from elbowroom.locomotion.room import part
from elbowroom.locomotion.walk import WalkOptions, walk_route

# Shares of the body's height that divide it into bands: legs, hips and hands, chest, head.
BANDS = (0.0, 0.42, 0.62, 0.84, 1.0)
_WAY_M = 2.4
_SAMPLES_PER_S = 15.0  # samples per second


@dataclass(frozen=True)
class Envelope:
    """Distance from its middle to the side by band of height, metres, with and without arms, and the height.

    `middle` is where the middle of trunk and legs is beside the path, metres to the left: when going sideways it is in
    front of the body.
    """

    half: tuple[float, ...]
    trunk: tuple[float, ...]
    height: float
    middle: float = 0.0

    @property
    def bands(self) -> tuple[tuple[float, float], ...]:
        """Lowest and highest metre of each band."""
        return tuple((self.height * a, self.height * b) for a, b in pairwise(BANDS))

    @property
    def width(self) -> float:
        """Largest width, metres."""
        return 2.0 * max(self.half)


def envelope(character: Character, manner: WalkingManner) -> Envelope:
    """Measure a character walking straight in some mode, as recorded; cached."""
    return kept(character, ("envelope", manner), lambda: _measured(character, manner))


def _measured(character: Character, manner: WalkingManner) -> Envelope:
    way = route([[0.0, 0.0], [0.0, -_WAY_M]], ASIDE_RAD[manner], ASIDE_RAD[manner], manner)
    clip = walk_route(character, way, WalkOptions(library=recorded_cycles()))
    T = clip.world()[:: round(clip.fps / _SAMPLES_PER_S)]
    side, up = np.array([*leftwards(0.0), 0.0]), np.array([0.0, 0.0, 1.0])
    arms = {
        j
        for name, chain in character.chains.items()
        if name.endswith("_arm")
        for j in character.subtree(chain.joints[0])
    }
    reach = {j: (_extent(character, j, T, side), _extent(character, j, T, up)) for j in range(len(character.parents))}
    height = max(high for _, (_, high) in reach.values())
    middle = 0.0
    if manner in ("left", "right"):
        sides = [across for j, (across, _) in reach.items() if j not in arms]
        middle = 0.5 * (min(a for a, _ in sides) + max(b for _, b in sides))
    halves = [
        tuple(
            max((max(middle - a, b - middle)
                 for j, ((a, b), (low, high)) in reach.items() if j not in but and low <= v and high >= u),
                default=0.0)
            for u, v in pairwise(height * np.array(BANDS))
        )
        for but in ({-1}, arms)
    ]  # fmt: skip
    return Envelope(halves[0], halves[1], height, middle)


def _extent(character: Character, joint: int, T: Array, axis: Array) -> tuple[float, float]:
    """Lowest and highest extent along an axis (3,) of a joint and its shapes over all frames."""
    one = part(character, (joint,), T, own=False)
    if one is None:
        along = T[:, joint, :3, 3] @ axis
        return float(along.min()), float(along.max())
    return -float(one.extent(-axis[None, None]).max()), float(one.extent(axis[None, None]).max())
