"""Help of the body for a target at an effort: ten amounts per row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array
from elbowroom.posing.balance import AROUND
from elbowroom.posing.reach_parts import Start
from elbowroom.posing.reach_style import ReachStyle

# Columns of help: forward lean, lean to the left, turn to the left (rad), lowering of the hips (m), heel lift,
# elevation and protraction of the clavicle (rad), share of the centre of mass's way to the target, and of its way over
# the balls, extra distance of the knees (rad).
FORWARDS, ASIDE, TURN, CROUCH, HEELS, SHRUG, PROTRACT, WEIGHT, BALLS, KNEES = range(10)
TERMS = 10

# Angle past straight behind, on the side of the hand, up to which a target counts as lying on that side (rad).
_ROUND = np.radians(30.0)
# Near the trunk's axis a target has no side; near the shoulder it has no height.
_NO_SIDE = 0.3
# Amount of crouching (share of the leg's length) by which the weight is over the balls before heels lift.
_BEFORE_HEELS = 0.12
# Target heights below which knees bend, and at which they bend most, share of the hips' height.
_LOW = 0.95, 0.15
# Depression of the clavicle for low targets relative to its elevation, and its protraction.
DROP, _DOWN_IS_FRONT = 0.3, 0.6
# A body that leans sideways comes over one of its thighs: it folds less by this share of that lean.
_FOLD_ASIDE = 0.3
# Largest backward lean relative to the forward one.
_BACKWARDS = 0.25


@dataclass(frozen=True, eq=False)
class ReachDirection:
    """A target relative to the body before it helps."""

    out: float  # horizontal share of the way from the shoulder
    down: float  # downward share, 0 for higher targets
    up: float
    front: float  # of the horizontal direction, by its cosine and sine
    left: float
    azimuth: float  # of the target about the trunk, to the left, radians
    low: float  # 0 at hip height, 1 at the height of a hand that takes things off the floor
    distance: float  # from the shoulder, share of the arm's length
    room: Array  # (2,), farthest shift of the centre of mass


def direction_to(start: Start, target: Array, style: ReachStyle) -> ReachDirection:
    """Position of a target (3,) relative to the body."""
    away = start.frame @ (target - start.shoulder)
    distance = float(np.linalg.norm(away))
    n = away / max(distance, 1e-9)
    front, left = start.frame[:2, :2] @ (target[:2] - start.axis)
    level = float(np.hypot(front, left))
    azimuth = float(np.arctan2(left, front))
    # around the back on the hand's own side
    if start.parts.left and azimuth < -np.pi + _ROUND:
        azimuth += 2.0 * np.pi
    elif not start.parts.left and azimuth > np.pi - _ROUND:
        azimuth -= 2.0 * np.pi
    sided = float(smoothstep(level / (_NO_SIDE * start.length)))
    high = max(float(start.hips[2]) - start.floor, 1e-6)
    towards = np.array([front, left]) @ start.frame[:2, :2] / max(level, 1e-9)
    return ReachDirection(
        out=float(np.hypot(n[0], n[1])),
        down=max(-float(n[2]), 0.0),
        up=max(float(n[2]), 0.0),
        front=sided * front / max(level, 1e-9),
        left=sided * left / max(level, 1e-9),
        azimuth=sided * azimuth,
        low=float(np.clip((_LOW[0] * high - (target[2] - start.floor)) / ((_LOW[0] - _LOW[1]) * high), 0.0, 1.0)),
        distance=distance / start.length,
        room=sided * style.weight * _room(start, towards, style.margin) * towards,
    )


def _room(start: Start, towards: Array, margin: float) -> float:
    """Distance that the centre of mass can move in a direction (2,) before the edge of the support."""
    if start.com is None:
        return 0.0
    slope = towards @ AROUND
    clear = start.edge - start.com[:2] @ AROUND - margin
    return max(float(np.min(np.where(slope > 1e-6, clear / np.maximum(slope, 1e-6), np.inf))), 0.0)


def help_for(start: Start, direction: ReachDirection, effort: Array, style: ReachStyle) -> Array:
    """Help of the body for a target at efforts (N,) from 0 to 1, (N, 10)."""
    out = np.zeros((len(effort), TERMS))
    e = np.asarray(effort, dtype=float)
    parts, towards_other = start.parts, (-1.0 if start.parts.left else 1.0)
    if style.spine and parts.spine:
        ahead = direction.front if direction.front > 0.0 else _BACKWARDS * direction.front
        lean = e**style.lean_power
        over = direction.down * (1.0 + min(direction.front, 0.0))  # not away from low targets behind
        out[:, FORWARDS] = lean * (style.lean_far * direction.out * ahead + style.lean_low * over)
        aside = (
            direction.left * (direction.out + 0.5 * direction.down) * style.lean_aside
            + towards_other * style.lean_up * direction.up
        )
        out[:, ASIDE] = lean * aside
        turn = 0.8 * direction.azimuth * (1.0 - 0.5 * direction.down)
        turn += towards_other * style.ahead * (max(direction.front, 0.0) * direction.out + 1.25 * direction.down)
        out[:, TURN] = e * style.turn * np.tanh(turn / max(style.turn, 1e-9))
    if style.legs and parts.legs:
        out[:, CROUCH] = style.crouch * start.leg * direction.low * e**style.crouch_power
        out[:, WEIGHT] = e * (1.0 + 0.45 * smoothstep((e - 0.6) / 0.7))  # a far lean takes the weight along
        if style.tiptoe and parts.toes:
            high = float(smoothstep((direction.up - 0.35) / 0.35))
            out[:, BALLS] = smoothstep(e / style.heel_from) * float(smoothstep((direction.up - 0.1) / 0.25))
            out[:, HEELS] = style.heel_lift * high * smoothstep((e - style.heel_from) / (1.0 - style.heel_from))
    if style.clavicle and parts.clavicle >= 0:
        level = float(smoothstep((direction.up - direction.down + 0.25) / 1.25))
        out[:, SHRUG] = style.shrug * level * (0.35 + 0.65 * e) * float(smoothstep(direction.distance / style.near))
        out[:, SHRUG] -= DROP * style.shrug * direction.down * e
        across = direction.front * 0.8 + direction.left * towards_other * 0.6
        out[:, PROTRACT] = style.protract * (direction.out * across + _DOWN_IS_FRONT * direction.down) * e
    return out


def within(start: Start, helps: Array, style: ReachStyle, fold: tuple[Array, Array] | None = None) -> Array:
    """Help (N, 10) limited to what a body can give: less lean and heel lift the deeper it crouches.

    `fold`: crouches (K,) and the largest free forward lean (K,), where known.
    """
    out = np.array(helps)
    deep = out[:, CROUCH] / max(start.leg, 1e-9)
    most = style.fold - style.fold_less * deep
    if fold is not None:
        most = np.minimum(most, np.interp(deep, *fold))
    out[:, FORWARDS] = np.minimum(out[:, FORWARDS], most - _FOLD_ASIDE * np.abs(out[:, ASIDE]))
    if style.tiptoe and start.parts.toes:
        over = np.clip((deep - style.crouch_flat) / max(style.crouch - style.crouch_flat, 1e-9), 0.0, 1.0)
        out[:, HEELS] = np.maximum(out[:, HEELS], style.crouch_heels * over)
        out[:, BALLS] = np.maximum(out[:, BALLS], smoothstep(1.0 + (deep - style.crouch_flat) / _BEFORE_HEELS))
    return out
