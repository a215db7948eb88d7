"""Path of an object that hands take: its own at first, then with the leading hand, then where it is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Motion
from elbowroom.world.paths import Path, places
from elbowroom.world.things import Hold

# Length of a hand, metres: lever of a rotation on the object.
HAND_M = 0.1


@dataclass(frozen=True, eq=False)
class Led:
    """An interval of seconds in which one hand moves the object, and `T_hand_object` (4, 4) meanwhile."""

    hold: Hold
    during: tuple[float, float]
    grip: Array


@dataclass(frozen=True, eq=False)
class Carried:
    """Path of an object in hands of moving bodies; `holds` are in the order in which they begin."""

    own: Path
    holds: tuple[Hold, ...]
    bodies: Mapping[str, Motion]

    def __call__(self, t: float) -> Array:
        return np.asarray(self.sample([t])[0])

    def sample(self, times: ArrayLike) -> Array:
        """Transforms at many times, (N, 4, 4)."""
        t = np.atleast_1d(np.asarray(times, dtype=float))
        return self._placed(t, lambda hold, rows: hands(self.bodies[hold.by], hold.hand, t[rows]))

    def with_joints(self, times: Array, joints: Mapping[str, Array]) -> Array:
        """Transforms (N, 4, 4) at times (N,) for which the joints (N, J, 4, 4) of all bodies are known."""

        def held(hold: Hold, rows: NDArray[np.int64]) -> Array:
            joint, T = self.bodies[hold.by].body.hand(hold.hand)
            return joints[hold.by][rows, joint] @ T

        return self._placed(times, held)

    def grip(self, hold: Hold) -> Array:
        """`T_hand_object` (4, 4) of one of the holds when it begins."""
        first = next((led.grip for led in self.led if led.hold is hold and led.during[0] == hold.during[0]), None)
        if first is not None:
            return first
        begin = hold.during[:1]
        return np.asarray(inverse(hands(self.bodies[hold.by], hold.hand, begin)[0]) @ self.sample(begin)[0])

    @cached_property
    def led(self) -> tuple[Led, ...]:
        """Holders of the object over time: each from the moment the previous one has released it."""
        out: list[Led] = []
        for hold, during in _leaders([hold for hold in self.holds if hold.leads]):
            if hold.T_hand_object is not None and during[0] == hold.during[0]:
                grip = hold.T_hand_object
            else:
                place = self._left(out[-1], np.array(during[:1])) if out else places(self.own, np.array(during[:1]))
                grip = inverse(hands(self.bodies[hold.by], hold.hand, during[:1])[0]) @ place[0]
            out.append(Led(hold, during, grip))
        return tuple(out)

    def _placed(self, times: Array, held: Callable[[Hold, NDArray[np.int64]], Array]) -> Array:
        begins = np.array([led.during[0] for led in self.led])
        turn = np.searchsorted(begins, times, side="right") - 1  # the hand that led last, -1 before all
        out = np.zeros((len(times), 4, 4))
        before = turn < 0
        if before.any():
            out[before] = places(self.own, times[before])
        for k, led in enumerate(self.led):
            mine = turn == k
            rows = np.flatnonzero(mine & (times < led.during[1]))
            if len(rows):
                out[rows] = held(led.hold, rows) @ led.grip
            left = mine & (times >= led.during[1])
            if left.any():
                out[left] = self._left(led, times[left])
        return out

    def _left(self, led: Led, times: Array) -> Array:
        """Transforms (N, 4, 4) at times (N,) of the object after a hand has released it."""
        if led.hold.onto is not None:
            out = led.hold.onto.sample(times)
        else:
            T_left = hands(self.bodies[led.hold.by], led.hold.hand, led.during[1:])[0] @ led.grip
            out = np.tile(T_left, (len(times), 1, 1))
        if led.hold.fall is not None:
            out[:, :3, 3] += led.hold.fall.sample(times)
        return out


def _leaders(holds: Sequence[Hold]) -> Iterator[tuple[Hold, tuple[float, float]]]:
    """Intervals and holds that lead: the one that began first, until it ends; `holds` are in order of beginnings."""
    now = -np.inf
    while True:
        left = [hold for hold in holds if hold.during[1] > now]
        if not left:
            return
        hold = min(left, key=lambda h: (max(h.during[0], now), h.during[0]))
        begin = max(hold.during[0], now)
        yield hold, (begin, hold.during[1])
        now = hold.during[1]


def hands(motion: Motion, hand: str, times: ArrayLike) -> Array:
    """`T_world_hand` (N, 4, 4) of a body's hand or gripper at times (N,)."""
    joint, T = motion.body.hand(hand)
    t = np.atleast_1d(np.asarray(times, dtype=float))
    return motion.body.transforms(*motion.sample(t))[:, joint] @ T


def slip(T_world_hand: Array, T_world_object: Array) -> float:
    """Largest motion of a hand on an object over frames (N, 4, 4), metres: translation, and rotation at a hand's
    length.
    """
    T = inverse(T_world_object) @ T_world_hand
    shift = np.linalg.norm(T[:, :3, 3] - T[0, :3, 3], axis=1)
    cosine = 0.5 * (np.einsum("nij,ij->n", T[:, :3, :3], T[0, :3, :3]) - 1.0)
    return float((shift + HAND_M * np.arccos(np.clip(cosine, -1.0, 1.0))).max(initial=0.0))
