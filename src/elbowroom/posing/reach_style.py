"""Style of a reach: which parts of the body help the arm, how far and from when on."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue

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
