"""Zero moment point of whole-body frames, and how much slower they have to be for it to stay in the support (P2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elbowroom.character.dynamics import GRAVITY
from elbowroom.character.masses import heavy_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, continuous, normalize
from elbowroom.motion.smooth import derivative, smoothed
from elbowroom.plan.tight.chain import BodyProblem
from elbowroom.plan.tight.frames import Planned, frames_of
from elbowroom.posing.balance import margin_inside
from elbowroom.spaces.component import PosePath

# Longest duration, share of the usual one.
_SLOWEST = 2.5


@dataclass(frozen=True, eq=False)
class ZeroMoment:
    """Zero moment points (T, 2) and centres of mass (T, 2) on the floor, and the corners of each frame's support."""

    points: Array
    centers: Array
    supports: tuple[Array, ...]

    def margins(self, slower: float = 1.0) -> Array:
        """Distances (T,) of the points inside the support, metres, where all takes `slower` times as long.

        The point is as far from the centre of mass as that accelerates, by the square of time.
        """
        at = self.centers + (self.points - self.centers) / slower**2
        return np.array([float(margin_inside(c, p)) for c, p in zip(self.supports, at, strict=True)])


def zero_moment(problem: BodyProblem, frames: tuple[Array, Array], fps: float) -> ZeroMoment | None:
    """Zero moment points of frames, roots (T, 3) and rotations (T, J, 4); None for a body that needs no balance.

    Segments and what is held count as points at their centres of mass, below 6 Hz.
    """
    body, balance = problem.body, problem.balance
    poses = [Pose.of(*row) for row in zip(*frames, strict=True)]
    path = PosePath(body, poses)
    found = [balance.support(pose, path.feet(float(s))) for pose, s in zip(poses, path.along, strict=True)]
    supports = tuple(corners for corners in found if corners is not None)
    if len(supports) < len(poses) or body.masses is None or len(poses) < 3:
        return None
    T = body.transforms(smoothed(frames[0], fps), normalize(smoothed(continuous(frames[1]), fps)))
    joints, shares, centers = heavy_joints(body)
    mass = np.broadcast_to(body.masses.total * shares, (len(T), len(joints)))
    own = T[:, joints]
    at = np.einsum("tjab,jb->tja", own[..., :3, :3], centers) + own[..., :3, 3]
    loads = [balance.load(row) if balance.load is not None else None for row in T]
    if any(loads):
        held = np.array([load.center if load else row[0] for load, row in zip(loads, at, strict=True)])
        at = np.concatenate([at, held[:, None]], axis=1)
        mass = np.concatenate([mass, np.array([[load.mass if load else 0.0] for load in loads])], axis=1)
    force = derivative(at, fps, 2) + [0.0, 0.0, GRAVITY]
    up = mass * force[..., 2]
    height = at[..., 2:] - balance.floor
    lever = up[..., None] * at[..., :2] - (mass[..., None] * height) * force[..., :2]
    points = lever.sum(axis=1) / up.sum(axis=1)[:, None]
    middle = (mass[..., None] * at[..., :2]).sum(axis=1) / mass.sum(axis=1)[:, None]
    return ZeroMoment(points, middle, supports)


def zmp_margin(problem: BodyProblem, frames: tuple[Array, Array], fps: float) -> float | None:
    """Least distance of the zero moment point inside the support, metres; None for a body that needs no balance."""
    found = zero_moment(problem, frames, fps)
    return None if found is None else float(found.margins().min()) + problem.balance.margin_m


def slowed(problem: BodyProblem, done: Planned, fps: float) -> Planned:
    """A plan with `zmp_m`, and with more frames where its zero moment point would leave the support.

    Two and a half times as many at the most.
    """
    assert done.frames is not None and done.path is not None
    found = zero_moment(problem, done.frames, fps)
    if found is None:
        return done
    inner = problem.balance.margin_m  # supports are drawn in by it
    count = len(done.frames[0]) - 1
    most = int(np.ceil(_SLOWEST * count))
    while count < most and float(found.margins().min()) + inner < 0.0:
        tried = np.arange(1.1, _SLOWEST, 0.1)
        slower = next((s for s in tried if float(found.margins(s).min()) + inner >= 0.0), _SLOWEST)
        count = min(int(np.ceil(slower * count)), most)
        frames = frames_of(problem, done.path, count)
        slowed = None if frames is None else zero_moment(problem, frames, fps)
        if frames is None or slowed is None:
            break
        done, found = replace(done, frames=frames), slowed
    return replace(done, zmp_m=float(found.margins().min()) + inner)
