"""Placements of a carried object as a search space, with its carrier's posture following it (Y2).

A state (7,) is the object's position in metres and its orientation as a unit quaternion. The metric is the root of the
paper's eq. 1: sqrt(|dx|² + (turn_m · angle)²), metres.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.search.rrt import Payload

# Side of the sampled cube for a person of the paper's height (Y, section 3.1).
_CUBE_M = 2.0
_PERSON_M = 1.6
# Metres that a rotation by one radian counts for: half the width of a box between two hands.
_TURN_M = 0.25
# Share of samples around the line from start to goal, and their standard deviation, a share of the cube's side. Paths
# around a board of benchmarks/object_moves.py take 200 to 400 steps this way, from the cube alone 300 to 800.
_NEAR_SHARE = 0.5
_NEAR = 0.12
# Length of one step: warm-started poses at this distance differ by little (benchmarks/whole_body_ik.py: 2 to 7
# iterations at 2 cm); not tuned, to be set by the planner.
_STEP_M = 0.04


@dataclass(frozen=True, eq=False)
class ObjectSpace(Generic[Payload]):
    """Placements of an object within a carrier's reach.

    `middle` (3,) is the middle of the sampled cube, `side_m` its side; half of the samples are around the line between
    two positions, its `ends` (3,), if given. `follow(start, payload, end, tally)` gives the carrier's payload at `end`,
    from its payload one step before, or None; it checks the edge and counts its checks in `tally[CHECKS]`. `turning`
    says which orientations are sampled: all, those rotated about the vertical from `upright` (4,), or that one alone.
    `same(a, b)` says whether two payloads at one placement are alike; without it none are.
    """

    middle: Array
    side_m: float
    follow: Callable[[Array, Payload, Array, NDArray[np.int64]], Payload | None]
    turning: Literal["free", "level", "fixed"] = "free"
    upright: ArrayLike = (1.0, 0.0, 0.0, 0.0)
    step_m: float = _STEP_M
    turn_m: float = _TURN_M
    width: int = 7
    same: Callable[[Payload, Payload], bool] | None = None
    ends: tuple[Array, Array] | None = None

    def __post_init__(self) -> None:
        if not (self.side_m > 0.0 and self.step_m > 0.0 and self.turn_m >= 0.0):
            raise BadValue("an object's space needs a positive side and step and a weight of turns of 0 or more.")
        object.__setattr__(self, "middle", frozen(self.middle).reshape(3))
        object.__setattr__(self, "upright", frozen(rot.normalize(self.upright)).reshape(4))

    def sample(self, rng: np.random.Generator) -> Array:
        """Sample a placement from the cube, uniformly, or around the line, with an allowed orientation."""
        position = self.middle + self.side_m * (rng.random(3) - 0.5)
        if self.ends is not None and rng.random() < _NEAR_SHARE:
            start, goal = self.ends
            position = start + rng.random() * (goal - start) + _NEAR * self.side_m * rng.normal(size=3)
        if self.turning == "free":
            q = rot.normalize(rng.normal(size=4))
        elif self.turning == "level":
            q = rot.multiply(rot.about((0.0, 0.0, 1.0), rng.uniform(-math.pi, math.pi)), self.upright)
        else:
            q = np.asarray(self.upright)
        return np.concatenate([position, q])

    def distances(self, states: Array, state: Array) -> Array:
        """Distances (N,) in metres of states (N, 7) to a state."""
        way = np.linalg.norm(states[:, :3] - state[:3], axis=1)
        return np.hypot(way, self.turn_m * rot.angle_between(states[:, 3:], state[3:]))

    def steer(self, start: Array, target: Array) -> Array:
        """Placement one step from `start` towards `target`: straight line and slerp."""
        distance = float(self.distances(start[None], target)[0])
        if distance <= self.step_m * (1.0 + 1e-9):  # avoid a last step made of rounding errors alone
            return target
        share = self.step_m / distance
        return np.concatenate(
            [start[:3] + share * (target[:3] - start[:3]), rot.slerp(start[3:], target[3:], np.array(share))]
        )

    def advance(
        self, start: Array, payload: Payload, end: Array, tally: NDArray[np.int64]
    ) -> tuple[Array, Payload] | None:
        """`end` and the payload there, or None where the carrier cannot follow."""
        followed = self.follow(start, payload, end, tally)
        return None if followed is None else (end, followed)

    def alike(self, a: Payload, b: Payload) -> bool:
        """Return whether two payloads at one placement are interchangeable."""
        return self.same is not None and self.same(a, b)


def cube_side(stature_m: float) -> float:
    """Side in metres of the cube that objects are sampled from: 2 m for 1.6 m of stature."""
    return _CUBE_M * stature_m / _PERSON_M


def state_of(T_world_object: ArrayLike) -> Array:
    """State (7,) of a placement (4, 4)."""
    T = np.asarray(T_world_object, dtype=float)
    return np.concatenate([T[:3, 3], rot.from_matrix(T[:3, :3])])


def place_of(state: ArrayLike) -> Array:
    """Placement (..., 4, 4) of a state (..., 7)."""
    row = np.asarray(state, dtype=float)
    return transform(row[..., :3], row[..., 3:])


def between_states(start: Array, end: Array, share: Array) -> Array:
    """States (..., 7) at shares (...) of the way from states to others."""
    place = start[..., :3] + share[..., None] * (end[..., :3] - start[..., :3])
    return np.concatenate([place, rot.slerp(start[..., 3:], end[..., 3:], share)], axis=-1)
