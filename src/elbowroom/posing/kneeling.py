"""Postures on one knee (P2): a foot flat ahead, the other on its toes behind, its knee on the floor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.limits import pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import UP, Array, about, conjugate, from_matrix, multiply, rotate, to_matrix
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.transforms import apply, transform
from elbowroom.motion.soles import Sole
from elbowroom.posing.balance import feet_of
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.posing.stand import Balancer

Side = Literal["left", "right"]

# Lift of the heel behind, radians: on bent toes, as people kneel who are about to get up again.
HEEL_RAD = 1.2
# Angles from the vertical of the thigh behind, its hip farther back than the knee, and of the shin ahead, radians:
# upright ones need a step of 0.55 of the height, these one of a third.
_BACK_RAD, _AHEAD_RAD = 0.6, 0.3
# Turn of the knee ahead outwards, radians: the trunk bends down beside its thigh.
_APART_RAD = 0.4
# Depth of the knee in the floor, metres, and iterations that bring it there.
PRESSED_M, _ROUNDS = 0.001, 8
# Half-width of the area under a knee that bears, metres.
_KNEE_M = 0.02
# Forward tilts of the pelvis over its hips that are used, radians, and excess of a hip over its limits: rounding.
TILTS_RAD = (0.0, 0.25, 0.5, 0.75, 1.0)
_TILTED_RAD = (-0.15, 1.1)
_BEYOND_RAD = 0.02
# Steps in which an unbalanced body is brought back upright.
_BACK = 5


class StepBack:
    """The foot of a standing body that steps back to kneel: places of its ball, the heel lifted by angles.

    `front` (3,) is the direction ahead.
    """

    def __init__(self, body: Character, stand: Pose, front: Array, side: Side) -> None:
        self.body, self.front, self.side = body, front, side
        self.sole: Sole = next(sole for sole in feet_of(body) if sole.side == side)
        self._T = body.skeleton.at(stand)
        toes = self.sole.toes
        self._ball = self._T[toes, :3, 3] if toes >= 0 else apply(self._T[self.sole.foot], self.sole.ball[None])[0]
        self._axis = np.cross(UP, front)

    def foot(self, moved: Array, lift: float) -> tuple[Array, Array | None]:
        """Transform (4, 4) of the foot, its ball moved by (3,) and its heel lifted by radians, and the local rotation
        (4,) of its toes, which stay flat; None for a foot without toes."""
        turn = about(self._axis, lift)
        R, T = to_matrix(turn), self._T[self.sole.foot]
        out = transform(self._ball + moved + R @ (T[:3, 3] - self._ball))
        out[:3, :3] = R @ T[:3, :3]
        if self.sole.toes < 0:
            return out, None
        toes = from_matrix(self._T[self.sole.toes, :3, :3])
        return out, multiply(conjugate(from_matrix(out[:3, :3])), toes)


def kneeling_pose(body: Character, stand: Pose, front: Array, side: Side, floor: float) -> tuple[Pose, Array] | None:
    """A posture on the knee of one side, the other foot where it stands, and how far (3,) the ball of its foot moved.

    None where legs are out of their ranges.
    """
    T, other = body.skeleton.at(stand), "left" if side == "right" else "right"
    step, stays = StepBack(body, stand, front, side), T[body.role(f"{other}_foot")]
    thighs, shins = ({s: body.role(f"{s}_{part}") for s in (side, other)} for part in ("thigh", "shin"))
    upper = float(np.linalg.norm(body.skeleton.offsets[shins[side]]))
    lower = float(np.linalg.norm(body.skeleton.offsets[body.role(f"{side}_foot")]))
    firm, bent = LimbIK(body, f"{other}_leg", stand), LimbIK(body, f"{side}_leg", stand)
    low = [(s.joint, shape_mesh(s).vertices) for s in body.shapes if s.joint in (thighs[side], shins[side])]
    lifted, toes = step.foot(np.zeros(3), HEEL_RAD)
    knee_m = 0.06 * body.height / 1.7
    for _ in range(_ROUNDS):
        hip_m = floor + knee_m + upper * np.cos(_BACK_RAD)
        shin_ahead = stays[:3, 3] + lower * (np.cos(_AHEAD_RAD) * UP + np.sin(_AHEAD_RAD) * front)
        behind = np.sqrt(max(upper**2 - (hip_m - shin_ahead[2]) ** 2, 0.0))
        root = stand.root + ((shin_ahead - T[thighs[other], :3, 3]) @ front - behind) * front
        root = root + (hip_m - T[thighs[side], 2, 3]) * UP
        knee = T[thighs[side], :3, 3] + root - stand.root
        knee = knee + upper * (np.sin(_BACK_RAD) * front - np.cos(_BACK_RAD) * UP)
        ankle = knee - np.sqrt(max(lower**2 - (lifted[2, 3] - knee[2]) ** 2, 0.0)) * front
        moved = (ankle - lifted[:3, 3]) * [1.0, 1.0, 0.0]
        T_foot = step.foot(moved, HEEL_RAD)[0]
        q = np.array(stand.rotations)
        if toes is not None:
            q[step.sole.toes] = toes
        pose = Pose.of(root, q)
        ahead = firm.solve(firm.T_world_parent(pose), stays, firm.orbit_of(stand) + _APART_RAD, firm.keep_of(stand))
        pose = firm.posed(pose, ahead)
        kneels = bent.solve(bent.T_world_parent(pose), T_foot, 0.0)
        pose = bent.posed(pose, kneels)
        if not (ahead.reached.all() and kneels.reached.all()):
            return None
        at = body.skeleton.at(pose)
        above = min(float(apply(at[joint], points)[:, 2].min()) for joint, points in low) - floor + PRESSED_M
        if abs(above) < 1e-4:
            break
        knee_m -= above
    if max(float(ahead.excess.max()), float(kneels.excess.max())) > _BEYOND_RAD:
        return None
    return pose, moved


class Kneeling(Balancer):
    """Balance on one knee and two feet: both legs stay as they are, the pelvis tilts over the hips.

    `pose` is the posture on the knee of a `side`.
    """

    def __init__(
        self, body: Character, pose: Pose, side: Side, floor: float, margin_m: float = 0.0, **bears: Any
    ) -> None:
        T = body.skeleton.at(pose)
        knee = T[body.role(f"{side}_shin"), :2, 3]
        corners = knee + _KNEE_M * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        super().__init__(body, floor, margin_m, others=corners, **bears)
        self.pose, self.side = pose, side
        self._thighs = [body.role(f"{s}_thigh") for s in ("left", "right")]
        hips = T[self._thighs, :3, 3]
        self._middle, self._axis = hips.mean(axis=0), (hips[0] - hips[1]) / np.linalg.norm(hips[0] - hips[1])
        self._legs = [j for top in self._thighs for j in body.subtree(top)]
        self._turned = [from_matrix(T[j, :3, :3]) for j in self._thighs]
        self._limits = [body.limits[j] if j < len(body.limits) else None for j in self._thighs]

    def with_(self, margin_m: float, **bears: Any) -> Kneeling:
        """The same balance with another margin, metres, and what is carried."""
        return Kneeling(self.body, self.pose, self.side, self.floor, margin_m, **bears)

    def tilted(self, angle: float, like: Pose | None = None) -> Pose:
        """The posture with its pelvis tilted ahead over the hips, radians; spine, head and arms as in `like`."""
        turn = about(self._axis, angle)
        q = np.array((like or self.pose).rotations)
        q[self._legs] = self.pose.rotations[self._legs]
        q[0] = multiply(turn, self.pose.rotations[0])
        for joint, world in zip(self._thighs, self._turned, strict=True):
            q[joint] = multiply(conjugate(q[0]), world)
        return Pose.of(self._middle + rotate(turn, self.pose.root - self._middle), q)

    def tilt_of(self, pose: Pose) -> float:
        """Forward tilt of a pelvis over the hips, radians: the part of its turn about their axis."""
        turn = multiply(pose.rotations[0], conjugate(self.pose.rotations[0]))
        turn = turn if turn[0] >= 0.0 else -turn
        return float(2.0 * np.arctan2(turn[1:] @ self._axis, turn[0]))

    def held(self, pose: Pose) -> Pose:
        """The posture with both legs in place."""
        return self.tilted(float(np.clip(self.tilt_of(pose), *_TILTED_RAD)), pose)

    def closed(self, pose: Pose, feet: Mapping[str, Array], like: Pose) -> Pose | None:
        """The posture with legs in place, tilted back as far as balance needs it; None where that is not enough."""
        angle = float(np.clip(self.tilt_of(pose), *_TILTED_RAD))
        corners, upright = self.support(self.pose, feet), min(angle, 0.0)
        for share in np.linspace(1.0, 0.0, _BACK):
            found = self.tilted(upright + share * (angle - upright), pose)
            if pose_excess(self._limits, found.rotations[self._thighs]).max() > _BEYOND_RAD:
                continue
            if self.margin(found, corners) >= 0.0:
                return found
        return None

    projected = by_limbs = closed
