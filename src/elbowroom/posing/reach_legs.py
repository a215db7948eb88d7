"""Legs of a reaching body: feet held, heels lifted about the ball, hips where the weight wants them."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import limb_ik as kernels
from elbowroom.posing.reach_help import CROUCH
from elbowroom.posing.reach_parts import Start
from elbowroom.posing.reach_style import ReachStyle

# Legs may be out of their ranges by this much more than they were, radians.
_ROUNDING = 1e-6


def lifted(start: Start, lift: Array, q: Array) -> Array:
    """Where both foot joints are (N, 2, 4, 4) with heels lifted about the ball; toes stay, by their rotation in q."""
    soles = start.parts.soles
    out = np.repeat(start.T[[sole.foot for sole in soles]][None], len(lift), axis=0)
    if not lift.any():
        return out
    for k, sole in enumerate(soles):
        T, ball = start.T[sole.foot], start.T[sole.toes, :3, 3]
        ahead = (T[:3, :3] @ rot.rotate(rot.conjugate(sole.flat), sole.ahead)) * [1.0, 1.0, 0.0]
        turn = rot.about(np.cross([0.0, 0.0, 1.0], rot.normalize(ahead)), lift)
        R = rot.to_matrix(turn)
        out[:, k, :3, :3] = R @ T[:3, :3]
        out[:, k, :3, 3] = ball + R @ (T[:3, 3] - ball)
        # toes are turned back by what the foot was turned, seen from the foot
        foot = rot.from_matrix(T[:3, :3])
        back = rot.multiply(rot.conjugate(foot), rot.multiply(rot.conjugate(turn), foot))
        q[:, sole.toes] = rot.multiply(back, start.pose.rotations[sole.toes])
    return out


class Legs:
    """Both legs under N postures of the pelvis, which is turned by R (N, 3, 3); they are set in q (N, J, 4)."""

    def __init__(self, start: Start, helps: Array, R: Array, feet: Array, q: Array, style: ReachStyle) -> None:
        self.start, self.R, self.feet, self.q, self.style = start, R, feet, q, style
        legs = start.parts.legs
        n = len(q)
        rise = (feet[:, :, 2, 3] - start.T[[leg.joints[2] for leg in legs], 2, 3]).mean(axis=1)
        self.height = start.hips[2] - helps[:, CROUCH] + rise
        hips = start.T[[leg.joints[0] for leg in legs], :3, 3] - start.hips
        self.hips = hips @ R.swapaxes(-1, -2)  # (N, 2, 3), from their middle
        self.level = start.hips[:2] + self.hips[..., :2] - feet[..., :2, 3]
        self.most = np.array(start.stretch) ** 2
        self.parents = np.zeros((len(legs), n, 4, 4))
        self.parents[..., 3, 3] = 1.0
        for k, leg in enumerate(legs):
            self.parents[k, :, :3, :3] = R @ start.T[leg.parent, :3, :3]
        self.above = np.stack([R @ (start.T[leg.parent, :3, 3] - start.hips) for leg in legs])
        self.root = R @ (start.pose.root - start.hips)
        deep = helps[:, CROUCH] / max(style.crouch * start.leg, 1e-9)
        self.orbits = [orbit + style.knees_apart * deep for orbit in start.orbits]
        self.ends = [np.ascontiguousarray(feet[:, k]) for k in range(len(legs))]
        self.rotations, self.gaps, self.excess = np.zeros((n, 3, 4)), np.zeros(n), np.zeros((n, 3))

    def stand(self, shift: Array) -> tuple[Array, Array]:
        """Roots (N, 3) with the pelvis moved over the floor by (N, 2), as high as legs allow, and strain (N,)."""
        start, n = self.start, len(shift)
        level = self.level + shift[:, None]
        reach = np.sqrt(np.maximum(self.most - (level * level).sum(axis=-1), 0.0))
        highest = (self.feet[..., 2, 3] + reach - self.hips[..., 2]).min(axis=1)
        hips = np.empty((n, 3))
        hips[:, :2] = start.hips[:2] + shift
        hips[:, 2] = np.minimum(self.height, highest)
        self.parents[..., :3, 3] = hips + self.above
        strain = np.zeros(n)
        for k, leg in enumerate(start.parts.legs):
            kernels.solve_batch(
                leg.geometry, self.parents[k], self.ends[k], self.orbits[k], *start.held[k],
                self.rotations, self.gaps, self.excess,
            )  # fmt: skip
            self.q[:, list(leg.joints)] = self.rotations
            missing = np.abs(self.gaps)
            strain = np.maximum(strain, np.where(missing > kernels.REACHED, missing, 0.0))
            if self.style.limits:
                over = (self.excess - start.excess[k]).max(axis=-1)
                strain = np.maximum(strain, np.where(over > _ROUNDING, over, 0.0))
        return hips + self.root, strain
