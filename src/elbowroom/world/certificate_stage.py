"""A world as it is played back, prepared over time for a proof.

Frames and the ends of holds and contacts cut time into intervals in which every joint rotates, and everything
translates, at constant speed.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.robot import Robot
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.kernels.sweep import Tree
from elbowroom.motion.clip import Motion
from elbowroom.world.pairs import Part
from elbowroom.world.played import PlayedWorld
from elbowroom.world.world import Record

# Times closer than this are the same, seconds.
SAME_S = 1e-9


class Stage:
    """A played world at any time, and its motion between the knots (K,) of time.

    With `during`, knots are those of that interval of seconds alone. `cuts` are further times of knots.
    """

    def __init__(
        self, world: PlayedWorld, during: tuple[float, float] | None = None, cuts: Iterable[float] = ()
    ) -> None:
        self.world = world
        self._cuts = np.array([*cuts], dtype=float)
        span = float(world.times[0]), float(world.times[-1])
        self._span = span if during is None else _within(during, span)
        self.knots = self._cut()
        counts = [len(m.body.parents) for m in world.characters.values()]
        self._first = dict(zip(world.characters, np.cumsum([0, *counts])[:-1].tolist(), strict=True))
        self._things = {name: sum(counts) + i for i, name in enumerate(world.objects)}

    def joints_of(self, parts: tuple[Part, ...]) -> NDArray[np.int64]:
        """Number (M,) in `tree` of the joint that each part of a body and each thing rides on."""
        ridden = {"body": lambda p: self._first[p.owner] + p.joint, "thing": lambda p: self._things[p.owner]}
        return np.array([ridden[p.kind](p) for p in parts if p.kind in ridden], dtype=np.int64)

    def tree(self, record: Record) -> Tree:
        """Motion of joints between the times of a record: bodies first, then one joint for each object.

        People's joints move with their parents; links of robots and objects move independently, as in files.
        """
        times = record.times
        count = sum(len(m.body.parents) for m in self.world.characters.values()) + len(self._things)
        place = np.zeros((len(times), count, 3))
        parent = np.full((len(times) - 1, count), -1, np.int32)
        angle, shift = np.zeros((len(times) - 1, count)), np.zeros((len(times) - 1, count))
        for name, motion in self.world.characters.items():
            o, parents = self._first[name], motion.body.parents
            rows = slice(o, o + len(parents))
            place[:, rows] = record.joints[name][..., :3, 3]
            if isinstance(motion.body, Robot):
                angle[:, rows], shift[:, rows] = _world_steps(record.joints[name])
            else:
                parent[:, rows] = np.where(parents < 0, -1, parents + o)
                angle[:, rows], shift[:, rows] = _steps(motion, times)
        for name, j in self._things.items():
            T = record.things[name]
            place[:, j] = T[:, :3, 3]
            angle[:, j], shift[:, j] = _world_steps(T)
        return Tree(parent, angle, shift, place)

    def _cut(self) -> Array:
        """All times at which a speed or an allowance changes."""
        begin, end = self._span
        ends = [*map(self.world.held_during, self.world.holds), *(c.during for c in self.world.contacts)]
        times = [np.array([begin, end]), self.world.times, self._cuts, *(np.array(d) for d in ends if d is not None)]
        merged = np.unique(np.clip(np.concatenate(times), begin, end))
        if len(merged) == 1:  # a single frame is held
            return np.array([begin, begin + 1.0 / self.world.fps])
        kept = merged[:1].tolist()
        for t in merged[1:].tolist():
            if t - kept[-1] > SAME_S:  # than the last that is kept: a row of close times is not one time
                kept.append(t)
        return np.array(kept)


def _steps(motion: Motion, times: Array) -> tuple[Array, Array]:
    """Rotations and translations (K - 1, J) of a person's joints against their parents from one time to the next."""
    root, q = motion.sample(times)
    shift = np.zeros((len(times) - 1, len(motion.body.parents)))
    shift[:, 0] = np.linalg.norm(np.diff(root, axis=0), axis=1)
    return rot.angle_between(q[:-1], q[1:]), shift


def _world_steps(T: Array) -> tuple[Array, Array]:
    """Rotations and translations (K - 1, ...) of transforms T (K, ..., 4, 4) from one time to the next."""
    turn = np.swapaxes(T[:-1, ..., :3, :3], -1, -2) @ T[1:, ..., :3, :3]
    return rot.angle(rot.from_matrix(turn)), np.linalg.norm(np.diff(T[..., :3, 3], axis=0), axis=-1)


def _within(during: tuple[float, float], span: tuple[float, float]) -> tuple[float, float]:
    """The part of an interval that lies in a span."""
    begin, end = max(during[0], span[0]), min(during[1], span[1])
    if not begin <= end:
        raise BadValue(
            f"a proof during {during[0]:g} to {during[1]:g} s has nothing to check: the motion lasts from "
            f"{span[0]:g} to {span[1]:g} s."
        )
    return begin, end
