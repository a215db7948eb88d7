"""Constraints on postures: points of hands and feet as sums of markers (Y, eq. 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.character.markers import MARKERS, marker_positions
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.motion import marker_poses as mp
from elbowroom.motion.soles import soles

HandSide = Literal["left", "right"]
BOTH: tuple[HandSide, HandSide] = ("left", "right")

# Constraint points as sums of markers (eq. 3): wrist and fingers of a hand, middle of a foot.
_POINTS = ("left wrist", "left fingers", "right wrist", "right fingers", "left foot", "right foot")
_TARGETS = ("left_hand", "right_hand", "left_foot", "right_foot")


def _sums() -> Array:
    """Weights v (6, 41) of eq. 3."""
    v = np.zeros((len(_POINTS), len(MARKERS)))
    for k, side in enumerate("LR"):
        v[2 * k, mp.rows(side + "WRA", side + "WRB")] = 0.5
        v[2 * k + 1, mp.rows(side + "FIN")] = 1.0
        v[4 + k, mp.FEET[side]] = 1.0 / 3.0
    return v


SUMS = frozen(_sums())


@dataclass(frozen=True, eq=False)
class Constraints:
    """Points of hands and feet that a pose has to keep, in the world.

    `points` (6, 3) are wrist and fingers of the left and right hand and the middles of both feet, NaN for a free hand;
    `heading` and `origin` (3,) place the frame of the feet, with the origin on the floor.
    """

    points: Array
    heading: float
    origin: Array
    hands: tuple[HandSide, ...] = BOTH

    def local(self) -> Array:
        """Points (6, 3) in the frame of the feet."""
        return mp.turned(self.points - self.origin, -self.heading)


def constraints_of(character: Character, targets: Mapping[str, ArrayLike]) -> Constraints:
    """Constraints by the transforms (4, 4) of hands and feet in the world.

    Both of 'left_foot' and 'right_foot', and one or both of 'left_hand' and 'right_hand', as the joints of those roles
    have them.
    """
    for foot in ("left_foot", "right_foot"):
        if foot not in targets:
            raise BadValue(f"posture constraints need a target for the {foot.replace('_', ' ')}.")
    hands = tuple(h for h in BOTH if f"{h}_hand" in targets)
    if not hands:
        raise BadValue("posture constraints need a target for at least one hand.")
    groups, feet = _parts(character)
    world = np.full((len(MARKERS), 3), np.nan)
    for role, T in targets.items():
        if role not in _TARGETS:
            raise UnknownName("target of posture constraints", role, _TARGETS)
        rows, points = groups[role]
        world[rows] = apply(np.asarray(T, dtype=float), points)
    heading, origin = mp.feet_frame(world)
    # amid both feet where they stand at different heights
    floor = np.mean([apply(np.asarray(targets[foot]), points)[:, 2] for foot, points in feet.items()])
    given = SUMS @ np.nan_to_num(world)
    given[[k for hand in BOTH if hand not in hands for k in points_of((hand,))[:2]]] = np.nan
    return Constraints(frozen(given), float(heading), frozen([origin[0], origin[1], floor]), hands)


@lru_cache(maxsize=32)
def _parts(character: Character) -> tuple[dict[str, tuple[list[int], Array]], dict[str, Array]]:
    """Markers of hands and feet by role, their numbers and places in the frame of the joint, and each sole's heel and
    ball (2, 3)."""
    need_markers(character)
    T_rest = character.skeleton.T_rest
    rest = marker_positions(character, T_rest)
    groups = {}
    for role in (role for role in _TARGETS if role in character.roles):
        side, _, part = role.partition("_")
        rows = (mp.HANDS if part == "hand" else mp.FEET)[side[0].upper()]
        groups[role] = rows, apply(inverse(T_rest[character.role(role)]), rest[rows])
    return groups, {f"{sole.side}_foot": np.stack([sole.heel, sole.ball]) for sole in soles(character)}


def points_of(hands: tuple[HandSide, ...]) -> list[int]:
    """Constraint points in use: those of some hands, and of both feet."""
    return [2 * BOTH.index(hand) + k for hand in hands for k in (0, 1)] + [4, 5]


def mirrored_rows(rows: Array, hands: tuple[HandSide, ...]) -> tuple[Array, tuple[HandSide, ...]]:
    """Constraint rows (Q, 3 n) of some hands with left and right exchanged, and the hands that they are of then."""
    n = 2 * len(hands)
    order = [*range(2, n), 0, 1, n + 1, n]
    points = rows.reshape(len(rows), -1, 3)[:, order] * [-1.0, 1.0, 1.0]
    return points.reshape(rows.shape), hands if len(hands) > 1 else (BOTH[1 - BOTH.index(hands[0])],)


def need_markers(character: Character) -> None:
    """Raise `BadValue` where a rig has too few parts for the 41 markers."""
    missing = [name for name in MARKERS if name not in character.markers]
    if missing:
        raise BadValue(
            f"{character.name}: postures need a rig with arms, legs, trunk and head; markers missing: "
            f"{', '.join(missing[:6])}{', …' if len(missing) > 6 else ''}."
        )
