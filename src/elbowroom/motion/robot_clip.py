"""Motion of a robot: poses at given times, joints and base led straight from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.robot import Robot
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import between
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array

# Motion of a base that cannot move that way is an error beyond this, metres or quaternion components.
_STILL = 1e-6


@dataclass(frozen=True, eq=False)
class RobotClip:
    """Poses at times (K,), rising, seconds: root (K, 3) and rows q (K, 4 + joints), as in `Pose`.

    Joint values and the base's place are lerped, its rotation is slerped; the ends are held.
    """

    robot: Robot
    times: Array
    root: Array
    q: Array
    name: str = "motion"

    def __post_init__(self) -> None:
        times, root = frozen(self.times).reshape(-1), frozen(self.root).reshape(-1, 3)
        q = np.array(self.q, dtype=float)
        want = (len(times), 3 + len(self.robot.joints))
        if not len(times) or len(root) != len(times) or q.shape != want:
            raise BadValue(f"'{self.name}' needs roots ({want[0]}, 3) and rows {want}, at least one, not {q.shape}.")
        if not (np.all(np.isfinite(times)) and np.all(np.isfinite(root))):
            raise BadValue(f"'{self.name}' has values that are not finite.")
        if np.any(np.diff(times) <= 0):
            raise BadValue(f"the times of '{self.name}' must increase.")
        self.robot.check(q)
        q[:, :4] = rot.continuous(rot.normalize(q[:, :4]))
        self._check_base(root, q[:, :4])
        for field, value in (("times", times), ("root", root), ("q", frozen(q))):
            object.__setattr__(self, field, value)

    def _check_base(self, root: Array, turn: Array) -> None:
        moved = np.ptp(root, axis=0) > _STILL
        relative = rot.multiply(turn, rot.conjugate(turn[0]))
        if self.robot.base == "fixed" and (moved.any() or np.abs(relative[:, 1:]).max() > _STILL):
            raise BadValue(f"the base of {self.robot.name} is fixed and cannot move.")
        if self.robot.base == "wheels" and (moved[2] or np.abs(relative[:, 1:3]).max() > _STILL):
            raise BadValue(f"the base of {self.robot.name} rolls on the floor and can neither lift nor tilt.")

    @staticmethod
    def of(robot: Robot, poses: Sequence[Pose], times: ArrayLike = (0.0,), name: str = "motion") -> RobotClip:
        """A motion through poses."""
        root, q = np.array([p.root for p in poses]), np.array([p.q for p in poses])
        return RobotClip(robot, np.asarray(times, dtype=float), root, q, name)

    @property
    def body(self) -> Robot:
        """Body of the motion."""
        return self.robot

    @property
    def span(self) -> tuple[float, float]:
        """First and last time in seconds."""
        return float(self.times[0]), float(self.times[-1])

    def __call__(self, t: float) -> Pose:
        root, q = self.sample([t])
        return Pose(frozen(root[0]), frozen(q[0]))

    def sample(self, times: ArrayLike) -> tuple[Array, Array]:
        """Roots (N, 3) and rows (N, 4 + joints) at times (N,)."""
        k, after, s = between(self.times, times)
        w = s[:, None]
        root = self.root[k] + w * (self.root[after] - self.root[k])
        q = self.q[k] + w * (self.q[after] - self.q[k])
        q[:, :4] = rot.slerp(self.q[k, :4], self.q[after, :4], s)
        return root, q
