"""Postures from amounts of help: trunk and shoulder rotated, feet held by the legs, centre of mass over its goal."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import limb_ik as kernels
from elbowroom.posing.balance import contact_points, margin_inside
from elbowroom.posing.reach_help import (
    ASIDE,
    BALLS,
    CROUCH,
    FORWARDS,
    HEELS,
    KNEES,
    PROTRACT,
    SHRUG,
    TURN,
    WEIGHT,
    ReachDirection,
    ReachStyle,
)
from elbowroom.posing.reach_parts import ReachStart, below_floor

# Excess of legs over their limits beyond the present one, radians.
_ROUNDING = 1e-6


# Heels lift a little more than ankles need, so that few iterations are necessary; never more than this (rad).
_RELIEF, _HIGHEST = 1.6, float(np.radians(50.0))


class Legs:
    """Both legs under N postures of the pelvis, rotated by R (N, 3, 3); they are set in q (N, J, 4)."""

    def __init__(self, start: ReachStart, helps: Array, R: Array, q: Array, style: ReachStyle) -> None:
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
        self.rise = np.zeros(n)  # of the ankles for high targets; in a crouch heels lift under fixed hips
        if helps[:, HEELS].any():
            self._lift_heels(np.repeat(helps[:, HEELS, None], 2, axis=1))
            self.rise = np.where(helps[:, CROUCH] > 0.0, 0.0, (self.ends[..., 2, 3] - self._flat).mean(axis=0))

    @property
    def _flat(self) -> Array:
        """Height of the ankles of flat feet, (2, 1)."""
        return self.start.T[[rows[2] for rows in self.rows], 2, 3][:, None]

    def stand(self, shift: Array) -> tuple[Array, Array]:
        """Roots (N, 3) with the pelvis shifted over the floor by (N, 2), as high as legs allow, and strain (N,)."""
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
        """Lift heels where ankles exceed their limits, each foot by its own excess."""
        if self.style.tiptoe and self.start.parts.toes and (self.relief > _ROUNDING).any():
            self._lift_heels(np.minimum(self.lift + _RELIEF * self.relief, _HIGHEST))

    def _lift_heels(self, lift: Array) -> None:
        """Rotate the feet about their balls by angles (N, 2); toes keep their world rotation."""
        start = self.start
        self.lift = lift
        for k, sole in enumerate(start.parts.soles):
            T, ball = start.T[sole.foot], start.T[sole.toes, :3, 3]
            axis, foot = start.heels[k]
            turn = rot.about(axis, lift[:, k])
            R = rot.to_matrix(turn)
            self.ends[k, :, :3, :3] = R @ T[:3, :3]
            self.ends[k, :, :3, 3] = ball + R @ (T[:3, 3] - ball)
            # toes rotate back by the rotation of the foot, in the foot's frame
            back = rot.multiply(rot.conjugate(foot), rot.multiply(rot.conjugate(turn), foot))
            self.q[:, sole.toes] = rot.multiply(back, start.pose.rotations[sole.toes])


# Ratio of pelvis shift to centre of mass shift: feet stay in place.
_GAIN = 1.3
# Share of the way to the target up to which the arm's own weight is ignored.
_ARM_ALONE = 0.3
# Rounding tolerance on how much deeper shins may go below the floor, metres.
_SUNK_M = 1e-6
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class ReachPostures:
    """N postures with the arm unchanged, and the resulting hand distance, balance and leg strain."""

    helps: Array  # (N, 10)
    root: Array  # (N, 3)
    rotations: Array  # (N, J, 4)
    T: Array  # (N, J, 4, 4)
    shift: Array  # (N, 2), of the pelvis over the floor
    distance: Array  # (N,), shoulder to target
    margin: Array  # (N,), of the centre of mass; inf where unknown
    strain: Array  # (N,), excess of legs over limits (rad), reach or floor (m), 0 without any

    def row(self, k: int) -> ReachPostures:
        """A single row."""
        one = slice(k, k + 1)
        return ReachPostures(*(getattr(self, f.name)[one] for f in fields(self)))


def postures(
    start: ReachStart,
    direction: ReachDirection,
    target: Array,
    helps: Array,
    style: ReachStyle,
    *,
    shift: Array | None = None,
    rounds: int = 3,
    free_arm: bool = True,
    margin: bool = True,
) -> ReachPostures:
    """Postures for rows of help (N, 10).

    `shift` (N, 2) is the initial pelvis shift of the search for balance, `rounds` its iterations. Without `free_arm`
    that arm is not updated, without `margin` that is not computed: the search only needs the shoulder.
    """
    parts, body = start.parts, start.parts.body
    n = len(helps)
    q = np.repeat(start.pose.rotations[None], n, axis=0)
    _bend_spine(start, helps, style, q)
    _move_clavicle(start, helps, style, q)
    pelvis = _pelvis_turn(start, helps, style)
    q[:, 0] = rot.multiply(pelvis, start.pose.rotations[0])
    if style.free_arm and start.hangs > 0.0 and free_arm:
        _hang_free_arm(start, q)
    moved = np.zeros((n, 2)) if shift is None else np.array(shift)
    root, strain = np.repeat(start.pose.root[None], n, axis=0), np.zeros(n)
    inside = np.full(n, np.inf)
    if parts.legs and style.legs:
        legs = Legs(start, helps, rot.to_matrix(pelvis), q, style)
        goal = _goal(start, direction, target, helps)
        for _ in range(rounds if start.com is not None else 0):
            root, strain = legs.stand(moved)
            legs.relieve()
            moved = moved + _GAIN * (goal - _with_arm(start, body.skeleton.forward(root, q), target))
        root, strain = legs.stand(moved)
        helps = np.concatenate([helps[:, :HEELS], legs.lift.max(axis=1, keepdims=True), helps[:, HEELS + 1 :]], axis=1)
    T = body.skeleton.forward(root, q)
    if parts.legs and style.legs:
        sunk = below_floor(parts, T, start.floor)
        strain = np.maximum(strain, np.where(sunk > start.sunk + _SUNK_M, sunk, 0.0))
    if start.com is not None and margin:
        inside = margin_inside(contact_points(body, T, start.floor), _with_arm(start, T, target))
    away = target - T[:, parts.arm.joints[0], :3, 3]
    return ReachPostures(helps, root, q, T, moved, np.sqrt((away * away).sum(axis=-1)), inside, strain)


def _bend_spine(start: ReachStart, helps: Array, style: ReachStyle, q: Array) -> None:
    parts = start.parts
    if not parts.spine:
        return
    spine = list(parts.spine)
    own = np.array([1.0, 1.0, 1.0]) - _pelvis_share(start, style)
    terms = helps[:, None, [FORWARDS, ASIDE, TURN]] * (own * parts.shares)
    # about the axes of the standing body, as carried by the joint below
    turns = rot.exp((terms[:, :, None, :] @ start.spine_axes)[:, :, 0])
    bent = rot.multiply(turns, start.pose.rotations[spine])
    if style.limits:
        for k, joint in enumerate(spine):
            limit = parts.limit(joint)
            if limit is not None:
                bent[:, k] = limit.rotation(limit.clamp_coordinates(limit.coordinates(bent[:, k])))
    q[:, spine] = bent


def _pelvis_share(start: ReachStart, style: ReachStyle) -> Array:
    """Amounts (3,) of forward lean, side lean and turn."""
    if not (start.parts.legs and style.legs):
        return np.zeros(3)
    return np.array([style.pelvis_lean, style.pelvis_aside, style.pelvis_turn])


def _pelvis_turn(start: ReachStart, helps: Array, style: ReachStyle) -> Array:
    front, left, up = start.frame
    lean = helps[:, [FORWARDS, ASIDE, TURN]] * _pelvis_share(start, style)
    return rot.exp(lean @ np.stack([left, -front, up]))


def _move_clavicle(start: ReachStart, helps: Array, style: ReachStyle, q: Array) -> None:
    joint = start.parts.clavicle
    limit = start.parts.limit(joint) if joint >= 0 else None
    if limit is None or not style.clavicle:
        return
    forwards = -1.0 if start.parts.left else 1.0
    coordinates = limit.coordinates(start.pose.rotations[joint])
    moved = coordinates + np.stack([-helps[:, SHRUG], forwards * helps[:, PROTRACT], 0.0 * helps[:, SHRUG]], axis=-1)
    if style.limits:
        moved = np.where(helps[:, [SHRUG]] + np.abs(helps[:, [PROTRACT]]) > 0.0, limit.clamp_coordinates(moved), moved)
    q[:, joint] = limit.rotation(moved)


def _hang_free_arm(start: ReachStart, q: Array) -> None:
    """The other arm keeps its angle to the vertical as far as it hung, and turns with the trunk."""
    parts = start.parts
    joint = parts.free_arm
    above = q[:, 0]
    for j in parts.above_free_arm:
        above = rot.multiply(above, q[:, j])
    moved = rot.multiply(above, rot.conjugate(start.free_parent))
    heading = rot.about(_UP, rot.heading(moved))
    # when the trunk leans away from the arm it follows, otherwise it would hang into the trunk
    aside = rot.log(rot.multiply(rot.conjugate(heading), moved)) @ -start.frame[0]
    sign = 1.0 if parts.left else -1.0
    away = sign * np.maximum(sign * aside - start.spare, 0.0)
    with_trunk = rot.multiply(heading, rot.exp(away[:, None] * -start.frame[0]))
    hanging = rot.multiply(rot.conjugate(above), rot.multiply(with_trunk, start.free_arm))
    limit = parts.limit(joint)
    if limit is not None:
        hanging = limit.clamp(hanging)
    q[:, joint] = rot.slerp(q[:, joint], hanging, start.hangs)


def _goal(start: ReachStart, direction: ReachDirection, target: Array, helps: Array) -> Array:
    """Goal of the centre of mass on the floor, (N, 2)."""
    if start.com is None:
        return np.zeros((len(helps), 2))
    # the weight of a stretched arm counts once the body helps
    arm = _with_arm(start, start.T[None], target)[0] - start.com[:2]
    alone = 1.0 - smoothstep(helps[:, [WEIGHT]] / _ARM_ALONE)
    to_target = start.com[:2] + alone * arm + helps[:, [WEIGHT]] * direction.room
    return to_target + helps[:, [BALLS]] * (start.forefoot - to_target)


def _with_arm(start: ReachStart, T: Array, target: Array) -> Array:
    """Centre of mass over the floor (N, 2) of postures, with the arm stretched out to the target."""
    rows, shares, centers, arm = start.parts.weights
    places = T[:, rows]
    at = np.einsum("njab,jb->nja", places[:, :, :2, :3], centers) + places[:, :, :2, 3]
    shoulder = T[:, start.parts.arm.joints[0], :2, 3]
    direction = target[:2] - shoulder
    size = np.linalg.norm(direction, axis=-1, keepdims=True)
    direction = direction * np.minimum(1.0, start.length / np.maximum(size, 1e-9))
    return np.asarray(np.einsum("j,nja->na", shares, at) + arm * (shoulder + 0.5 * direction))
