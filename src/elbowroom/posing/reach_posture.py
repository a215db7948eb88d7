"""Postures from terms of help: trunk and shoulder turned, feet held by the legs, the weight brought over its place."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.ease import ease
from elbowroom.geometry.rotations import Array
from elbowroom.posing.balance import contact_points, margin_inside
from elbowroom.posing.limb_ik import Keep
from elbowroom.posing.reach_help import ASIDE, BALLS, CROUCH, FORWARDS, HEELS, PROTRACT, SHRUG, TURN, WEIGHT, Way
from elbowroom.posing.reach_parts import Start
from elbowroom.posing.reach_style import ReachStyle

# The pelvis moves farther than the weight, since feet stay where they are.
_GAIN = 1.3
# Legs may be out of their ranges by this much more than they were, radians.
_ROUNDING = 1e-6
# A hanging arm: its upper bone points down by more than the second number (cosine); less than the first is no hanging.
_HANGS = (0.55, 0.85)


@dataclass(frozen=True, eq=False)
class Postures:
    """N postures with the arm as it was, and what becomes of hand, balance and legs in them."""

    root: Array  # (N, 3)
    rotations: Array  # (N, J, 4)
    T: Array  # (N, J, 4, 4)
    shift: Array  # (N, 2), of the pelvis over the floor
    distance: Array  # (N,), shoulder to target
    margin: Array  # (N,), of the centre of mass; inf where it cannot be judged
    strain: Array  # (N,), how far legs are out of range (rad) or of reach (m), 0 where they are not

    def row(self, k: int) -> Postures:
        """One of them."""
        one = slice(k, k + 1)
        return Postures(*(getattr(self, f.name)[one] for f in fields(self)))


def postures(
    start: Start, way: Way, target: Array, helps: Array, style: ReachStyle, shift: Array | None = None, rounds: int = 3
) -> Postures:
    """Postures for rows of help (N, 9); `shift` (N, 2) is where the search for balance begins."""
    parts, body = start.parts, start.parts.body
    n = len(helps)
    q = np.repeat(start.pose.rotations[None], n, axis=0)
    _bend_spine(start, helps, style, q)
    _move_clavicle(start, helps, style, q)
    pelvis = _pelvis_turn(start, helps, style)
    q[:, 0] = rot.multiply(pelvis, start.pose.rotations[0])
    R = rot.to_matrix(pelvis)
    if style.free_arm and parts.free_arm >= 0:
        _hang_free_arm(start, q)
    moved = np.zeros((n, 2)) if shift is None else np.array(shift)
    feet = [_lifted(start, side, helps[:, HEELS], q) for side in range(len(parts.legs))]
    goal = _goal(start, way, helps)
    for k in range(rounds):
        root, strain = _stand(start, helps, R, moved, feet, q, style)
        T = body.skeleton.forward(root, q)
        if start.com is None or not parts.legs or not style.legs or k == rounds - 1:
            break
        com = _with_arm(start, T, target)
        moved = moved + _GAIN * (goal - com)
    shoulder = T[:, parts.arm.joints[0], :3, 3]
    margin = np.full(n, np.inf)
    if start.com is not None:
        margin = margin_inside(contact_points(body, T, start.floor), _with_arm(start, T, target))
    return Postures(root, q, T, moved, np.linalg.norm(target - shoulder, axis=-1), margin, strain)


def _bend_spine(start: Start, helps: Array, style: ReachStyle, q: Array) -> None:
    parts = start.parts
    if not parts.spine:
        return
    front, left, up = start.frame
    axes = np.stack([left, -front, up])
    own = np.array([1.0, 1.0, 1.0]) - _pelvis_share(start, style)
    for joint, share in zip(parts.spine, parts.shares, strict=True):
        # about the axes of the standing body, as the joint below carries them
        local = axes @ start.T[parts.body.parents[joint], :3, :3]
        turn = rot.exp((helps[:, [FORWARDS, ASIDE, TURN]] * own * share) @ local)
        bent = rot.multiply(turn, start.pose.rotations[joint])
        limit = parts.limit(joint)
        q[:, joint] = limit.clamp(bent) if limit is not None and style.limits else bent


def _pelvis_share(start: Start, style: ReachStyle) -> Array:
    """Of leaning forwards, aside and turning, (3,)."""
    if not (start.parts.legs and style.legs):
        return np.zeros(3)
    return np.array([style.pelvis_lean, style.pelvis_aside, style.pelvis_turn])


def _pelvis_turn(start: Start, helps: Array, style: ReachStyle) -> Array:
    front, left, up = start.frame
    lean = helps[:, [FORWARDS, ASIDE, TURN]] * _pelvis_share(start, style)
    return rot.exp(lean @ np.stack([left, -front, up]))


def _move_clavicle(start: Start, helps: Array, style: ReachStyle, q: Array) -> None:
    joint = start.parts.clavicle
    limit = start.parts.limit(joint) if joint >= 0 else None
    if limit is None or not style.clavicle:
        return
    forwards = -1.0 if start.parts.left else 1.0
    terms = limit.coordinates(start.pose.rotations[joint])
    moved = terms + np.stack([-helps[:, SHRUG], forwards * helps[:, PROTRACT], 0.0 * helps[:, SHRUG]], axis=-1)
    if style.limits:
        moved = np.where(helps[:, [SHRUG]] + np.abs(helps[:, [PROTRACT]]) > 0.0, limit.clamp_coordinates(moved), moved)
    q[:, joint] = limit.rotation(moved)


def _hang_free_arm(start: Start, q: Array) -> None:
    """The other arm keeps its place against the vertical where it hung, and turns with the trunk."""
    parts, body = start.parts, start.parts.body
    joint = parts.free_arm
    children = [j for j in body.skeleton.children[joint] if np.linalg.norm(body.skeleton.offsets[j]) > 1e-6]
    if not children:
        return
    bone = start.T[children[0], :3, 3] - start.T[joint, :3, 3]
    low, high = _HANGS
    hangs = float(ease((-bone[2] / np.linalg.norm(bone) - low) / (high - low)))
    parent = int(body.parents[joint])
    T = body.skeleton.forward(np.zeros((len(q), 3)), q)
    above = rot.from_matrix(T[:, parent, :3, :3])
    before = rot.from_matrix(start.T[parent, :3, :3])
    turn = rot.heading(rot.multiply(above, rot.conjugate(before)))
    upright = rot.multiply(rot.about([0.0, 0.0, 1.0], turn), rot.from_matrix(start.T[joint, :3, :3]))
    hanging = rot.multiply(rot.conjugate(above), upright)
    limit = parts.limit(joint)
    if limit is not None:
        hanging = limit.clamp(hanging)
    q[:, joint] = rot.slerp(q[:, joint], hanging, hangs)


def _lifted(start: Start, side: int, lift: Array, q: Array) -> Array:
    """Where a foot joint is (N, 4, 4) with its heel lifted about the ball; the toes stay, by their rotation in q."""
    sole = start.parts.soles[side]
    T = start.T[sole.foot]
    out = np.repeat(T[None], len(lift), axis=0)
    if sole.toes < 0 or not np.any(lift):
        return out
    ball = start.T[sole.toes]
    ahead = (T[:3, :3] @ rot.rotate(rot.conjugate(sole.flat), sole.ahead)) * [1.0, 1.0, 0.0]
    turn = rot.about(np.cross([0.0, 0.0, 1.0], rot.normalize(ahead)), lift)
    R = rot.to_matrix(turn)
    out[:, :3, :3] = R @ T[:3, :3]
    out[:, :3, 3] = ball[:3, 3] + R @ (T[:3, 3] - ball[:3, 3])
    local = start.pose.rotations[sole.toes]
    foot = rot.from_matrix(T[:3, :3])
    # toes are turned back by what the foot was turned, seen from the foot
    back = rot.multiply(rot.conjugate(foot), rot.multiply(rot.conjugate(turn), foot))
    q[:, sole.toes] = rot.multiply(back, local)
    return out


def _goal(start: Start, way: Way, helps: Array) -> Array:
    """Where the weight is to be, (N, 2)."""
    if start.com is None:
        return np.zeros((len(helps), 2))
    to_target = start.com[:2] + helps[:, [WEIGHT]] * way.room
    return to_target + helps[:, [BALLS]] * (start.forefoot - to_target)


def _stand(
    start: Start, helps: Array, R: Array, shift: Array, feet: list[Array], q: Array, style: ReachStyle
) -> tuple[Array, Array]:
    """Roots (N, 3) with the pelvis turned by R (N, 3, 3) and moved over the floor, and strain (N,); sets legs in q."""
    parts = start.parts
    n = len(q)
    if not parts.legs or not style.legs:
        return start.pose.root + np.zeros((n, 3)), np.zeros(n)
    rise = np.mean(
        [foot[:, 2, 3] - start.T[leg.joints[2], 2, 3] for foot, leg in zip(feet, parts.legs, strict=True)], 0
    )
    height = start.hips[2] - helps[:, CROUCH] + rise
    for foot, leg, most in zip(feet, parts.legs, start.stretch, strict=True):
        hip = R @ (start.T[leg.joints[0], :3, 3] - start.hips)
        level = start.hips[:2] + shift + hip[:, :2] - foot[:, :2, 3]
        reach = np.sqrt(np.maximum(most**2 - np.sum(level**2, axis=-1), 0.0))
        height = np.minimum(height, foot[:, 2, 3] + reach - hip[:, 2])
    hips = np.concatenate([start.hips[:2] + shift, height[:, None]], axis=-1)
    deep = helps[:, CROUCH] / max(style.crouch * start.leg, 1e-9)
    strain = np.zeros(n)
    for k, (foot, leg) in enumerate(zip(feet, parts.legs, strict=True)):
        parent = np.repeat(np.eye(4)[None], n, axis=0)
        parent[:, :3, :3] = R @ start.T[leg.parent, :3, :3]
        parent[:, :3, 3] = hips + R @ (start.T[leg.parent, :3, 3] - start.hips)
        keep = start.keeps[k]
        solved = leg.solve(parent, foot, start.orbits[k] + style.knees_apart * deep, Keep(keep.off_axis, keep.twist))
        q[:, list(leg.joints)] = solved.rotations
        strain = np.maximum(strain, np.where(solved.reached, 0.0, solved.missing))
        if style.limits:
            over = np.max(solved.excess - start.excess[k], axis=-1)
            strain = np.maximum(strain, np.where(over > _ROUNDING, over, 0.0))
    return hips + R @ (start.pose.root - start.hips), strain


def _with_arm(start: Start, T: Array, target: Array) -> Array:
    """Centre of mass over the floor (N, 2) of postures, with the arm stretched out to the target."""
    rows, shares, centers, arm = start.parts.weights
    places = T[:, rows]
    at = np.einsum("njab,jb->nja", places[:, :, :2, :3], centers) + places[:, :, :2, 3]
    shoulder = T[:, start.parts.arm.joints[0], :2, 3]
    way = target[:2] - shoulder
    size = np.linalg.norm(way, axis=-1, keepdims=True)
    way = way * np.minimum(1.0, start.length / np.maximum(size, 1e-9))
    return np.asarray(np.einsum("j,nja->na", shares, at) + arm * (shoulder + 0.5 * way))
