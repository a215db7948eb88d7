"""Numeric inverse kinematics of a robot's arm for many frames at once: six or more revolute joints (E1, E6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elbowroom.character.robot import GRIP, LEAST_JOINTS, Robot, arms_of
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse

# Iterations of damped least squares, tolerances in metres and radians, and the damping near singular postures.
_ITERATIONS = 60
_EXACT = 1e-6
_DAMPING = 1e-3
# Damping where joints at their limits leave too few others for some direction.
_HELD = 1e-9
# Largest rotation of a joint in one iteration, radians.
_STEP_RAD = 0.5
# Stride of frames that are solved sequentially; those between start from interpolated values.
_EVERY = 8
# Random starts for solutions, and the smallest difference of two solutions, radians.
_STARTS = 60
_DIFFERENT_RAD = 0.1


def arm_of(robot: Robot) -> tuple[int, ...]:
    """Joints of the arm of a robot, its longest one of six joints or more; raises where it has none."""
    arms = arms_of(robot)
    if not arms:
        raise BadValue(f"{robot.name} has no arm of {LEAST_JOINTS} or more joints and cannot carry anything.")
    return arms[0]


@dataclass(frozen=True, eq=False)
class RobotArmIK:
    """Inverse kinematics of a robot's arm with its gripper, the link `grip`."""

    robot: Robot
    hand: str
    run: tuple[int, ...]
    T_end_grip: Array

    @staticmethod
    def of(robot: Robot) -> RobotArmIK:
        """Inverse kinematics of a robot's arm; raises where it has none."""
        return RobotArmIK(robot, GRIP, arm_of(robot), robot.hand(GRIP)[1])

    @property
    def longest(self) -> float:
        """Distance of the gripper from the arm's first joint at most, metres."""
        _, frames = self.grips(np.zeros((1, len(self.run))))
        links = np.linalg.norm(np.diff(frames[0, 1:, :3, 3], axis=0), axis=1)
        return float(links.sum() + np.linalg.norm(self.T_end_grip[:3, 3]))

    def grips(self, values: Array) -> tuple[Array, Array]:
        """Transforms (N, 4, 4) of the gripper and of joint frames (N, n, 4, 4) in the base's frame, by values (N,
        n).
        """
        fixed, slides, K, KK = self._parts
        s, c = np.sin(values)[..., None, None], np.cos(values)[..., None, None]
        own = np.zeros((*values.shape, 4, 4))
        own[..., :3, :3] = np.eye(3) + s * K + (1.0 - c) * KK
        own[..., :3, 3] = values[..., None] * slides
        own[..., 3, 3] = 1.0
        steps = fixed @ own
        frames = np.empty_like(steps)
        frames[:, 0] = steps[:, 0]
        for k in range(1, len(self.run)):
            np.matmul(frames[:, k - 1], steps[:, k], out=frames[:, k])
        return frames[:, -1] @ self.T_end_grip, frames

    @cached_property
    def _parts(self) -> tuple[Array, Array, Array, Array]:
        """Frames of joints in those before them (n, 4, 4), axes along which they slide (n, 3), cross products with the
        axes about which they turn (n, 3, 3), and the squares of these.
        """
        run, joints = list(self.run), self.robot.joints
        slide = np.array([joints.kinds[j] == "slides" for j in run])[:, None]
        x, y, z = np.where(slide, 0.0, joints.axes[run]).T
        none = np.zeros(len(run))
        K = np.stack([none, -z, y, z, none, -x, -y, x, none], axis=-1).reshape(-1, 3, 3)
        return joints.T_parent_joint[run], np.where(slide, joints.axes[run], 0.0), K, K @ K

    def solved(self, targets: Array, start: Array) -> tuple[Array, Array]:
        """Values (N, n) near others with the gripper at targets (N, 4, 4) in the base's frame, and the error of
        each.
        """
        q, joints = np.array(start), self.robot.joints
        lower, upper = joints.lower[list(self.run)], joints.upper[list(self.run)]
        slides = np.array([joints.kinds[j] == "slides" for j in self.run])
        missing = np.full(len(q), np.inf)
        for _ in range(_ITERATIONS):
            T, frames = self.grips(q)
            error = np.concatenate([targets[:, :3, 3] - T[:, :3, 3], _turn(targets[:, :3, :3], T[:, :3, :3])], axis=1)
            missing = np.abs(error).max(axis=1)
            if missing.max() < _EXACT:
                break
            axes = np.einsum("nkij,kj->nki", frames[:, :, :3, :3], joints.axes[list(self.run)])
            arms = T[:, None, :3, 3] - frames[:, :, :3, 3]
            linear = np.where(slides[:, None], axes, _cross(axes, arms))
            J = np.concatenate([linear, np.where(slides[:, None], 0.0, axes)], axis=2).transpose(0, 2, 1)
            damping = _DAMPING * np.minimum(missing, 1.0)[:, None, None] * np.eye(6)
            step = _least_step(J, damping, error)
            # joints at their limits leave the work to the others
            held = ((q <= lower) & (step < 0.0)) | ((q >= upper) & (step > 0.0))
            if held.any():
                step = _least_step(np.where(held[:, None], 0.0, J), damping + _HELD * np.eye(6), error)
            longest = np.abs(step).max(axis=1, keepdims=True)
            q = np.clip(q + step * np.minimum(1.0, _STEP_RAD / np.maximum(longest, 1e-12)), lower, upper)
        return q, missing

    def solutions(self, target: Array, rng: np.random.Generator, near: Array) -> list[Array]:
        """Different values (n,) with the gripper at a target (4, 4) in the base's frame, those near others first."""
        joints = self.robot.joints
        lower = np.maximum(joints.lower[list(self.run)], near - np.pi)
        upper = np.minimum(joints.upper[list(self.run)], near + np.pi)
        starts = np.concatenate([near[None], rng.uniform(lower, upper, (_STARTS, len(near)))])
        q, missing = self.solved(np.tile(target, (len(starts), 1, 1)), starts)
        q = q[missing < 10 * _EXACT]
        out: list[Array] = []
        for values in q[np.argsort(np.abs(q - near).max(axis=1), kind="stable")]:
            if all(np.abs(values - other).max() > _DIFFERENT_RAD for other in out):
                out.append(values)
        return out

    def followed(self, T_base: Array, T_grip: Array, start: Array) -> tuple[Array, int | None]:
        """Values (N, n) of frames with bases and gripper at (N, 4, 4), continued from values (n,).

        Also the first frame out of reach, None if there is none.
        """
        targets = inverse(T_base) @ T_grip
        rows = np.unique(np.append(np.arange(0, len(targets), _EVERY), len(targets) - 1))
        coarse = np.zeros((len(rows), len(start)))
        values = np.asarray(start, dtype=float)[None]
        for n, row in enumerate(rows):
            values, missing = self.solved(targets[row][None], values)
            if missing[0] > 10 * _EXACT:
                return np.zeros((0, len(start))), int(row)
            coarse[n] = values[0]
        k = np.arange(len(targets))
        between = np.stack([np.interp(k, rows, coarse[:, c]) for c in range(coarse.shape[1])], axis=-1)
        found, missing = self.solved(targets, between)
        bad = np.flatnonzero(missing > 10 * _EXACT)
        return found, int(bad[0]) if len(bad) else None


def _least_step(J: Array, damping: Array, error: Array) -> Array:
    """Damped least steps (N, n) that reduce errors (N, 6), by Jacobians (N, 6, n)."""
    J_T = J.transpose(0, 2, 1)
    return np.asarray((J_T @ np.linalg.solve(J @ J_T + damping, error[..., None]))[..., 0])


def _cross(a: Array, b: Array) -> Array:
    """Cross products (..., 3); written out, since np.cross takes longer for few rows."""
    x, y, z = (a[..., k] for k in range(3))
    u, v, w = (b[..., k] for k in range(3))
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def _turn(R_to: Array, R_from: Array) -> Array:
    """World rotation vectors (N, 3) that take rotations (N, 3, 3) to others."""
    R = R_to @ R_from.transpose(0, 2, 1)
    w = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=-1)
    sine = np.linalg.norm(w, axis=1)
    cosine = 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0)
    angle = np.arctan2(sine, cosine)
    # half turns have no direction in w: any perpendicular direction makes progress
    flat = sine < 1e-9
    axis = np.where(flat[:, None], np.array([1.0, 0.0, 0.0]), w / np.maximum(sine, 1e-12)[:, None])
    return np.where((flat & (cosine > 0.0))[:, None], w, angle[:, None] * axis)
