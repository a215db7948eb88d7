"""Published figures of human walking and running, as tables over the gait cycle and relations with speed.

Angles in degrees, converted where they are used. The cycle starts at the foot's first contact. The walking knee is the
published mean curve; the other curves are rounded to the shapes and ranges that the sources agree on.

Sources
- knee, walking: Schwartz, Rozumalski, Trost 2008, J Biomech 41:1639, free speed.
- hip and ankle, walking: after Winter 2009, Biomechanics and Motor Control of Human Movement, 4th ed., natural
  cadence; ranges as in Perry and Burnfield 2010, Gait Analysis, 2nd ed.
- hip and knee, running: Novacheck 1998, Gait and Posture 7:77; Fukuchi, Fukuchi, Duarte 2017, PeerJ 5:e3298.
- change with speed: Schwartz 2008; Fukuchi, Fukuchi, Duarte 2018, PeerJ 6:e4640.
- cadence against speed: Grieve and Gear 1966, Ergonomics 9:379 (a power of 0.42 to 0.5); stance share: Murray 1967.
- pelvis: Murray 1967, Am J Phys Med 46:290; Saunders, Inman, Eberhart 1953; Perry and Burnfield 2010.
- arms: Murray, Sepic, Barnard 1967, Phys Ther 47:272; Perry and Burnfield 2010.
- toe clearance: Winter 1992, Phys Ther 72:45 (mean 1.3 cm).

Speeds are scaled to the reference leg by equal Froude number (Alexander 1989), so a child takes short quick steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike

from elbowroom.geometry.rotations import Array

REFERENCE_LEG = 0.92  # hip joint to sole in metres, of the adults in the tables

# 5 % steps from 0 to 95 % of the cycle
WALK_HIP = (
    20, 19.5, 17, 13, 8.5, 4, -0.5, -4.5, -7.8, -10,
    -11, -9.5, -4.5, 3, 10.5, 16.5, 20.5, 22.5, 22.5, 21,
)  # fmt: skip
WALK_KNEE = (
    5.5, 12.7, 18.9, 19.3, 16.9, 13.9, 10.8, 8.4, 6.8, 7.5,
    11.6, 20.3, 34.1, 49.8, 59.4, 59.1, 50.8, 36.2, 19, 6,
)  # fmt: skip
WALK_ANKLE = (
    0, -4.5, -2.2, 1.5, 4, 5.7, 7, 8.2, 9.3, 9.5,
    6.3, -3, -16, -17.5, -9.5, -3.2, -0.6, 0.3, 0, 0.7,
)  # fmt: skip
RUN_HIP = (
    30, 29.5, 26, 20, 12, 4, -4, -9, -10, -6,
    3, 14, 26, 36, 43, 46, 45, 40, 35, 31,
)  # fmt: skip
RUN_KNEE = (
    14, 25, 36, 42, 41, 35, 27, 20, 21, 32,
    52, 73, 88, 95, 93, 82, 63, 41, 23, 13,
)  # fmt: skip
WALK_DUTY, RUN_DUTY = 0.62, 0.37  # share of stance in the cycle of the tables


def curve(table: ArrayLike) -> scipy.interpolate.CubicSpline:
    """Periodic spline in radians over the cycle, 0..1, of a table at equal steps in degrees."""
    values = np.radians(np.asarray(table, dtype=float))
    return scipy.interpolate.CubicSpline(
        np.linspace(0.0, 1.0, len(values) + 1), np.append(values, values[0]), bc_type="periodic"
    )


@lru_cache(maxsize=1)
def _curves() -> tuple[tuple[float, scipy.interpolate.CubicSpline, scipy.interpolate.CubicSpline], ...]:
    """Share of stance, hip and knee of the walk and of the run."""
    return (WALK_DUTY, curve(WALK_HIP), curve(WALK_KNEE)), (RUN_DUTY, curve(RUN_HIP), curve(RUN_KNEE))


@dataclass(frozen=True)
class GaitStyle:
    """Gait at a moment: scaled speed (m/s of the reference leg), run share (0 walks, 1 runs).

    Fields may be numbers or arrays over frames; so are the answers.
    """

    speed: ArrayLike
    run: ArrayLike = 0.0

    def mix(self, walking: ArrayLike, running: ArrayLike) -> Array:
        """Walking value where walking, running value where running."""
        r = np.asarray(self.run, dtype=float)
        return (1.0 - r) * np.asarray(walking, dtype=float) + r * np.asarray(running, dtype=float)

    @property
    def v(self) -> Array:
        """Scaled speed as an array."""
        return np.asarray(self.speed, dtype=float)

    @property
    def stride_rate(self) -> Array:
        """Strides per second of the reference leg: 115 steps/min at 1.3 m/s; running 2.7 to 2.9 steps/s."""
        walking = 0.5 * 115.0 / 60.0 * (np.maximum(self.v, 0.35) / 1.3) ** 0.46
        return self.mix(walking, 1.335 + 0.065 * (np.maximum(self.v, 1.0) - 2.2))

    @property
    def duty(self) -> Array:
        """Share of the cycle that a foot is on the ground."""
        return self.mix(
            np.clip(0.62 - 0.055 * (self.v - 1.3), 0.57, 0.67), np.clip(0.385 - 0.05 * (self.v - 2.2), 0.28, 0.40)
        )

    @property
    def strike(self) -> Array:
        """Angle of the sole with the floor at first contact, toes up, radians."""
        return np.radians(self.mix(np.clip(8.0 + 9.5 * self.v, 10, 25), np.clip(4 + 2.5 * self.v, 5, 14)))

    @property
    def push(self) -> Array:
        """Angle of the sole with the floor at toe-off, heel up, radians."""
        return np.radians(
            self.mix(np.clip(np.minimum(50 + 12 * self.v, 28 + 48 * self.v), 28, 70), np.clip(56 + 3 * self.v, 58, 68))
        )

    @property
    def pelvis_turn(self) -> Array:
        """Rotation of the pelvis about the vertical, amplitude, radians."""
        return np.radians(self.mix(np.clip(1.2 + 2.6 * self.v, 0, 6.5), 3.0))

    @property
    def pelvis_list(self) -> Array:
        """Drop of the pelvis on the swing side, amplitude, radians."""
        return np.radians(self.mix(np.clip(1.0 + 2.1 * self.v, 0, 4.5), 4.0))

    @property
    def sway(self) -> Array:
        """Sideways excursion of the pelvis towards the standing leg, amplitude, metres of the reference leg."""
        return self.mix(np.clip(0.032 - 0.009 * self.v, 0.012, 0.03), 0.006)

    @property
    def step_width(self) -> Array:
        """Sideways distance of the ankles, metres of the reference leg."""
        return self.mix(0.095, 0.045)

    @property
    def lean(self) -> Array:
        """Forward lean of the trunk, radians."""
        return np.radians(self.mix(1.0 + 1.6 * self.v, 4.0 + 1.4 * self.v))

    @property
    def arm_swing(self) -> Array:
        """Flexion of the shoulder about its mean, amplitude, radians."""
        return np.radians(self.mix(np.clip(1.0 + 13.0 * self.v, 2, 26), 27 + 4.0 * (self.v - 2.2)))

    @property
    def elbow(self) -> Array:
        """Mean bend of the elbow, radians."""
        return np.radians(self.mix(15.0 + 10.0 * self.v, 96.0))

    @property
    def elbow_swing(self) -> Array:
        """Change of the elbow's bend about its mean, amplitude, radians."""
        return np.radians(self.mix(np.clip(1.0 + 9.5 * self.v, 1, 17), 14.0))


def leg_angles(phase: ArrayLike, style: GaitStyle) -> tuple[Array, Array]:
    """Hip and knee flexion in radians at phases (N,) of the leg's own cycle, scaled to speed and stance share.

    The tables' stance and swing are stretched to the style's share of stance. With speed the hip's range follows
    the stride's length, the knee bends more under load and in swing.
    """
    phase = np.asarray(phase, dtype=float) % 1.0
    duty = style.duty
    answers = []
    for table_duty, *curves in _curves():
        warped = np.where(
            phase < duty, phase / duty * table_duty, 1.0 - (1.0 - phase) / (1.0 - duty) * (1.0 - table_duty)
        )
        answers.append([c(warped) for c in curves] + [warped])
    (walk_hip, walk_knee, at), (run_hip, run_knee, run_at) = answers
    load = np.exp(-(((at - 0.13) / 0.085) ** 2))
    swing = np.exp(-(((at - 0.73) / 0.11) ** 2))
    walk_hip = walk_hip * np.clip(0.72 + 0.33 * style.v, 0.7, 1.4)
    walk_knee = walk_knee + np.radians(8.0 * (style.v - 1.3)) * load + np.radians(7.0 * (style.v - 1.3)) * swing
    run_swing = np.exp(-(((run_at - 0.66) / 0.12) ** 2))
    run_knee = run_knee + np.radians(15.0 * (np.minimum(style.v, 4.2) - 3.2)) * run_swing
    run_hip = run_hip * np.clip(0.72 + 0.0875 * style.v, 0.8, 1.15)
    return style.mix(walk_hip, run_hip), style.mix(walk_knee, run_knee)
