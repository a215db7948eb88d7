"""The way of an object that hands take: its own at first, then with the hand, then where it was left or falls to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Motion
from elbowroom.world.paths import Path, places
from elbowroom.world.things import Hold


@dataclass(frozen=True, eq=False)
class Carried:
    """Path of an object under holds that follow each other in time, by bodies that move so."""

    own: Path
    holds: tuple[Hold, ...]
    bodies: Mapping[str, Motion]

    def __call__(self, t: float) -> Array:
        return np.asarray(self.sample([t])[0])

    def sample(self, times: ArrayLike) -> Array:
        """Places at many times, (N, 4, 4)."""
        t = np.atleast_1d(np.asarray(times, dtype=float))
        return self._placed(t, lambda hold, rows: hands(self.bodies[hold.by], hold.hand, t[rows]))

    def with_joints(self, times: Array, joints: Mapping[str, Array]) -> Array:
        """Places (N, 4, 4) at times (N,) for which the joints (N, J, 4, 4) of all bodies are known."""

        def held(hold: Hold, rows: NDArray[np.int64]) -> Array:
            joint, T = self.bodies[hold.by].body.hand(hold.hand)
            return joints[hold.by][rows, joint] @ T

        return self._placed(times, held)

    def grip(self, hold: Hold) -> Array:
        """`T_hand_object` (4, 4) of one of the holds."""
        return self._grips[self.holds.index(hold)]

    def _placed(self, times: Array, held: Callable[[Hold, NDArray[np.int64]], Array]) -> Array:
        begins = np.array([h.during[0] for h in self.holds])
        turn = np.searchsorted(begins, times, side="right") - 1  # the hold that began last, -1 before all
        out = np.zeros((len(times), 4, 4))
        before = turn < 0
        if before.any():
            out[before] = places(self.own, times[before])
        for k, hold in enumerate(self.holds):
            mine = turn == k
            rows = np.flatnonzero(mine & (times < hold.during[1]))
            if len(rows):
                out[rows] = held(hold, rows) @ self._grips[k]
            left = mine & (times >= hold.during[1])
            if left.any():
                out[left] = _fallen(self._left[k], hold, times[left])
        return out

    @property
    def _grips(self) -> list[Array]:
        return self._story[0]

    @property
    def _left(self) -> list[Array]:
        return self._story[1]

    @cached_property
    def _story(self) -> tuple[list[Array], list[Array]]:
        """`T_hand_object` of each hold, and where each leaves the object."""
        grips: list[Array] = []
        left: list[Array] = []
        for k, hold in enumerate(self.holds):
            begin, end = hands(self.bodies[hold.by], hold.hand, hold.during)
            if hold.T_hand_object is not None:
                grips.append(hold.T_hand_object)
            else:
                begins = np.array(hold.during[:1])
                before = places(self.own, begins)[0] if k == 0 else _fallen(left[k - 1], self.holds[k - 1], begins)[0]
                grips.append(inverse(begin) @ before)
            left.append(end @ grips[k])
        return grips, left


def _fallen(T_left: Array, hold: Hold, times: Array) -> Array:
    """Places (N, 4, 4) at times (N,) of an object that a hold has left at a place (4, 4)."""
    out = np.tile(T_left, (len(times), 1, 1))
    if hold.fall is not None:
        out[:, :3, 3] += hold.fall.sample(times)
    return out


def hands(motion: Motion, hand: str, times: ArrayLike) -> Array:
    """`T_world_hand` (N, 4, 4) of a body's hand or gripper at times (N,)."""
    joint, T = motion.body.hand(hand)
    t = np.atleast_1d(np.asarray(times, dtype=float))
    return motion.body.transforms(*motion.sample(t))[:, joint] @ T
