"""Zero moment point of whole-body frames, and where they have to be slower for it to stay in the support (P2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from elbowroom.character.dynamics import GRAVITY
from elbowroom.character.masses import heavy_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.easing import covering
from elbowroom.geometry.rotations import Array, continuous, normalize
from elbowroom.motion.pace import Timing
from elbowroom.motion.smooth import derivative, smoothed
from elbowroom.plan.tight.chain import BodyProblem
from elbowroom.plan.tight.frames import Planned, frames_of
from elbowroom.posing.balance import AROUND, edges
from elbowroom.spaces.component import PosePath

# Longest duration, share of the usual one, and how often a timing is made slower.
_SLOWEST, _TIMES = 2.5, 8
# Seconds over which a motion slows down before a place and after it, and the most by which it does so at a time.
_OVER_S, _AT_ONCE = 0.4, 2.0
# Distance inside the support that slower timings aim at, metres.
_AIM_M = 0.004


@dataclass(frozen=True, eq=False)
class ZeroMoment:
    """Zero moment points (T, 2) and centres of mass (T, 2) on the floor, and the extents (T, 192) of supports."""

    points: Array
    centers: Array
    extents: Array

    @property
    def margins(self) -> Array:
        """Distances (T,) of the points inside the support, metres."""
        return np.asarray((self.extents - self.points @ AROUND).min(axis=1))

    @property
    def slowness(self) -> Array:
        """Shares (T,) of its duration, 1 or more, that each frame would have to take.

        The point is as far from the centre of mass as that accelerates, by the square of time.
        """
        room = np.maximum(self.extents - self.centers @ AROUND - _AIM_M, 1e-3)
        return np.asarray(np.sqrt(np.maximum(((self.points - self.centers) @ AROUND / room).max(axis=1), 1.0)))


def zero_moment(problem: BodyProblem, frames: tuple[Array, Array], fps: float) -> ZeroMoment | None:
    """Zero moment points of frames, roots (T, 3) and rotations (T, J, 4); None for a body that needs no balance.

    Segments and what is held count as points at their centres of mass, below 6 Hz.
    """
    body, balance = problem.body, problem.balance
    poses = [Pose.of(*row) for row in zip(*frames, strict=True)]
    path = PosePath(body, poses)
    found = [balance.support(pose, path.feet(float(s))) for pose, s in zip(poses, path.along, strict=True)]
    supports = [corners for corners in found if corners is not None]
    if len(supports) < len(poses) or body.masses is None or len(poses) < 3:
        return None
    same = {id(corners): edges(corners) + balance.margin_m for corners in supports}  # they are drawn in by it
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
    return ZeroMoment(points, middle, np.array([same[id(corners)] for corners in supports]))


def zmp_margin(problem: BodyProblem, frames: tuple[Array, Array], fps: float) -> float | None:
    """Least distance of the zero moment point inside the support, metres; None for a body that needs no balance."""
    found = zero_moment(problem, frames, fps)
    return None if found is None else float(found.margins.min())


def slowed(problem: BodyProblem, done: Planned, fps: float) -> Planned:
    """A plan with `zmp_m`, and slower where its zero moment point would leave the support.

    It takes two and a half times as long at the most.
    """
    assert done.frames is not None and done.path is not None
    found = zero_moment(problem, done.frames, fps)
    if found is None:
        return done
    share, most, best = done.shares, _SLOWEST * (len(done.frames[0]) - 1), float(found.margins.min())
    for _ in range(_TIMES):
        if best >= 0.0:
            break
        share = _slower(share, found.slowness, fps)
        if len(share) - 1 > most:
            break
        frames = frames_of(problem, done.path, len(share) - 1, share)
        calm = None if frames is None else zero_moment(problem, frames, fps)
        if frames is None or calm is None:
            break
        found, inside = calm, float(calm.margins.min())
        if inside > best:
            done, best = replace(done, frames=frames, share=share), inside
    return replace(done, zmp_m=best)


def _slower(share: Array, slowness: Array, fps: float) -> Array:
    """Shares of a path (M,) at even times, from others (N,) each of which takes that much longer (N,)."""
    pace = covering(np.minimum(slowness, _AT_ONCE), 2 * round(0.5 * _OVER_S * fps) + 1)
    times = Timing(np.arange(len(share), dtype=float), share).slower(pace).times
    even = np.linspace(0.0, times[-1], int(np.ceil(times[-1])) + 1)
    smooth = scipy.interpolate.CubicSpline(times, share, bc_type="clamped")(even)
    smooth[[0, -1]] = share[[0, -1]]  # exactly: a spline is off by rounding
    return np.maximum.accumulate(np.clip(smooth, 0.0, 1.0))
