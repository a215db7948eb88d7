"""Legs of a reaching body: feet held, heels lifted about the ball, hips where the weight wants them."""

from __future__ import annotations

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import limb_ik as kernels
from elbowroom.posing.reach_help import CROUCH, HEELS, KNEES
from elbowroom.posing.reach_parts import Start
from elbowroom.posing.reach_style import ReachStyle

# Legs may be out of their ranges by this much more than they were, radians.
_ROUNDING = 1e-6


# Heels are lifted by a little more than ankles lack, so that few rounds do; never farther than this (rad).
_RELIEF, _HIGHEST = 1.6, float(np.radians(50.0))


class Legs:
    """Both legs under N postures of the pelvis, which is turned by R (N, 3, 3); they are set in q (N, J, 4)."""

    def __init__(self, start: Start, helps: Array, R: Array, q: Array, style: ReachStyle) -> None:
        self.start, self.q, self.style = start, q, style
        legs = start.parts.legs
        n = len(q)
        self.rows = [list(leg.joints) for leg in legs]
        hips = start.T[[leg.joints[0] for leg in legs], :3, 3] - start.hips
        self.hips = hips @ R.swapaxes(-1, -2)  # (N, 2, 3), from their middle
        self.most = np.array(start.stretch) ** 2
        self.parents = np.zeros((len(legs), n, 4, 4))
        self.parents[..., 3, 3] = 1.0
        for k, leg in enumerate(legs):
            self.parents[k, :, :3, :3] = R @ start.T[leg.parent, :3, :3]
        self.above = np.stack([R @ (start.T[leg.parent, :3, 3] - start.hips) for leg in legs])
        self.root = R @ (start.pose.root - start.hips)
        deep = helps[:, CROUCH] / max(style.crouch * start.leg, 1e-9)
        self.orbits = [orbit + style.knees_apart * deep + helps[:, KNEES] for orbit in start.orbits]
        self.height = start.hips[2] - helps[:, CROUCH]
        self.rotations, self.gaps, self.excess = np.zeros((n, 3, 4)), np.zeros(n), np.zeros((n, 3))
        self.ends = np.repeat(start.T[[leg.joints[2] for leg in legs]][:, None], n, axis=1)  # (2, N, 4, 4)
        self.lift = np.zeros((n, 2))
        self.rise = np.zeros(n)  # of the ankles for what is high; in a crouch heels lift under hips that stay
        if helps[:, HEELS].any():
            self._lift_heels(np.repeat(helps[:, HEELS, None], 2, axis=1))
            self.rise = np.where(helps[:, CROUCH] > 0.0, 0.0, (self.ends[..., 2, 3] - self._flat).mean(axis=0))

    @property
    def _flat(self) -> Array:
        """Height of the ankles as the feet stood, (2, 1)."""
        return self.start.T[[rows[2] for rows in self.rows], 2, 3][:, None]

    def stand(self, shift: Array) -> tuple[Array, Array]:
        """Roots (N, 3) with the pelvis moved over the floor by (N, 2), as high as legs allow, and strain (N,)."""
        start, n = self.start, len(shift)
        feet = self.ends.swapaxes(0, 1)
        level = start.hips[:2] + shift[:, None] + self.hips[..., :2] - feet[..., :2, 3]
        reach = np.sqrt(np.maximum(self.most - (level * level).sum(axis=-1), 0.0))
        highest = (feet[..., 2, 3] + reach - self.hips[..., 2]).min(axis=1)
        hips = np.empty((n, 3))
        hips[:, :2] = start.hips[:2] + shift
        hips[:, 2] = np.minimum(self.height + self.rise, highest)
        self.parents[..., :3, 3] = hips + self.above
        strain, relief = np.zeros(n), np.zeros((n, 2))
        for k, leg in enumerate(start.parts.legs):
            kernels.solve_batch(
                leg.geometry, self.parents[k], self.ends[k], self.orbits[k], *start.held[k],
                self.rotations, self.gaps, self.excess,
            )  # fmt: skip
            self.q[:, self.rows[k]] = self.rotations
            missing = np.abs(self.gaps)
            strain = np.maximum(strain, np.where(missing > kernels.REACHED, missing, 0.0))
            if self.style.limits:
                over = self.excess - start.excess[k]
                worst = over.max(axis=-1)
                strain = np.maximum(strain, np.where(worst > _ROUNDING, worst, 0.0))
                relief[:, k] = np.maximum(over[:, 2], 0.0)
        self.relief = relief
        return hips + self.root, strain

    def relieve(self) -> None:
        """Lift heels where ankles are bent past their ranges, each foot by what it lacks."""
        if self.style.tiptoe and self.start.parts.toes and (self.relief > _ROUNDING).any():
            self._lift_heels(np.minimum(self.lift + _RELIEF * self.relief, _HIGHEST))

    def _lift_heels(self, lift: Array) -> None:
        """Turn the feet about their balls by angles (N, 2); toes stay where they are, by their rotation in q."""
        start = self.start
        self.lift = lift
        for k, sole in enumerate(start.parts.soles):
            T, ball = start.T[sole.foot], start.T[sole.toes, :3, 3]
            axis, foot = start.heels[k]
            turn = rot.about(axis, lift[:, k])
            R = rot.to_matrix(turn)
            self.ends[k, :, :3, :3] = R @ T[:3, :3]
            self.ends[k, :, :3, 3] = ball + R @ (T[:3, 3] - ball)
            # toes are turned back by what the foot was turned, seen from the foot
            back = rot.multiply(rot.conjugate(foot), rot.multiply(rot.conjugate(turn), foot))
            self.q[:, sole.toes] = rot.multiply(back, start.pose.rotations[sole.toes])
