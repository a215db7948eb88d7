"""Help of the body for a target at an effort: which parts help the arm, how far and from when on."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array
from elbowroom.posing.balance import AROUND
from elbowroom.posing.reach_parts import ReachStart

ReachStatus = Literal["found", "out-of-reach", "limits", "blocked", "out-of-balance"]


def _degrees(angle: float) -> float:
    return float(np.radians(angle))


@dataclass(frozen=True)
class ReachStyle:
    """Switches and thresholds. Angles in radians, lengths in metres, shares of what each line says.

    A target in easy reach of a standing body, nearer than `near`, moves the arm alone. Farther ones take effort, from 0
    to 1: with it the arm stretches from `near` to `far`, the spine turns and leans, legs flex for low targets, heels
    lift for high ones. Amounts at effort 1 are given below; where that is not enough, the body strains by up to a third
    more.
    """

    spine: bool = True
    clavicle: bool = True
    legs: bool = True  # pelvis moves, feet held; without, it stays where it is
    tiptoe: bool = True
    limits: bool = True
    balance: bool = True
    free_arm: bool = True  # the other arm keeps hanging when the trunk leans, if it hung before
    thorough: bool = True  # search for other help where the usual fails, which takes longer
    soft: bool = False  # belly and chest give way to the thighs of who folds up

    near: float = 0.68  # shoulder to wrist, share of the arm's length, up to which no other part helps
    far: float = 0.96  # the same at effort 1
    arm_first: float = 3.0  # how much sooner the arm stretches than the body helps: 1 is at the same time
    turn: float = _degrees(42.0)  # of the trunk, most
    ahead: float = _degrees(24.0)  # turn that brings the shoulder forward for targets straight ahead
    lean_far: float = _degrees(58.0)  # forwards, for targets at shoulder height
    lean_low: float = _degrees(84.0)  # forwards, for targets straight below
    fold: float = _degrees(96.0)  # largest forward lean on straight legs
    fold_less: float = _degrees(75.0)  # reduction of it per leg's length of crouching: thighs come up
    lean_aside: float = _degrees(34.0)
    lean_power: float = 1.25  # above 1: arm and shoulder help first, then the trunk leans
    lean_up: float = _degrees(9.0)  # to the other side, for targets straight above
    pelvis_lean: float = 0.5  # share of a forward lean that is made in the hips
    pelvis_aside: float = 0.15
    pelvis_turn: float = 0.25
    crouch: float = 0.65  # lowering of the hips, share of the leg's length, for targets on the floor
    crouch_power: float = 1.3  # above 1: first the trunk leans, then the knees bend
    crouch_flat: float = 0.3  # lowering up to which heels stay on the floor
    crouch_heels: float = _degrees(26.0)  # heel lift in the deepest crouch
    knees_apart: float = _degrees(24.0)  # turn of the knees outwards, deepest
    heel_lift: float = _degrees(32.0)  # for high targets
    heel_from: float = 0.55  # effort from which heels lift for it
    shrug: float = _degrees(26.0)  # elevation of the clavicle
    protract: float = _degrees(16.0)  # its protraction
    weight: float = 0.6  # share of the way to the edge of the support that the centre of mass moves towards the target
    margin: float = 0.01  # smallest distance of the centre of mass from that edge

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, bool) and not (np.isfinite(value) and value >= 0.0):
                raise BadValue(f"{field.name} of a reach's style is {value}; expected a finite number of 0 or more.")
        sound = self.near < self.far <= 1.0 and self.arm_first >= 1.0 and max(self.heel_from, self.crouch) < 1.0
        if not (sound and self.weight <= 1.0):
            raise BadValue(
                "a reach's style needs near < far <= 1, arm_first >= 1, heel_from < 1, crouch < 1 and weight <= 1; "
                f"not {self.near}, {self.far}, {self.arm_first}, {self.heel_from}, {self.crouch}, {self.weight}."
            )


@dataclass(frozen=True, eq=False)
class Reached:
    """A whole posture with the hand at its target, or the nearest that was found.

    `missing` in metres is the remaining distance of the wrist, 0 at the target. `used` has the help of each part:
    radians for 'turn', 'lean', 'aside', 'shrug', 'protract' and 'heels', metres for 'crouch', and the whole 'effort',
    above 1 where the body strains. `orbit` is the arm's orbit angle, radians; `why` a sentence where nothing was found.
    """

    status: ReachStatus
    pose: Pose
    missing: float
    used: dict[str, float]
    orbit: float
    why: str = ""

    @property
    def found(self) -> bool:
        """Return whether the hand is at its target, within joint limits and free of collisions."""
        return self.status == "found"


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


def direction_to(start: ReachStart, target: Array, style: ReachStyle) -> ReachDirection:
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


def _room(start: ReachStart, towards: Array, margin: float) -> float:
    """Distance that the centre of mass can move in a direction (2,) before the edge of the support."""
    if start.com is None:
        return 0.0
    slope = towards @ AROUND
    clear = start.edge - start.com[:2] @ AROUND - margin
    return max(float(np.min(np.where(slope > 1e-6, clear / np.maximum(slope, 1e-6), np.inf))), 0.0)


def help_for(start: ReachStart, direction: ReachDirection, effort: Array, style: ReachStyle) -> Array:
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


def within(start: ReachStart, helps: Array, style: ReachStyle, fold: tuple[Array, Array] | None = None) -> Array:
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
