"""Feet on the ground: rolled over heel, sole and ball without slipping."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import facing
from elbowroom.locomotion.sole import Sole
from elbowroom.locomotion.steps import Stance

_RISE_WALK, _RISE_RUN = 2.45, 1.9  # the heel rises with this power of time, walking and running


@dataclass(frozen=True, eq=False)
class Foot:
    """One foot over N frames: ankle (N, 3), pitch (toes up), heading, bend of the toes (up), radians each (N,).

    `load` is 1 where the foot carries alone, 0 in the air, between in double support; `planted` marks stance;
    `ground` (N,) is the height of the ground at the nearest stance.
    """

    ankle: Array
    pitch: Array
    heading: Array
    toes: Array
    load: Array
    planted: NDArray[np.bool_]
    ground: Array

    @property
    def turn(self) -> Array:
        """World turns (N, 4) of the foot against the standing figure."""
        return rot.multiply(rot.about([0.0, 0.0, 1.0], self.heading), rot.about([1.0, 0.0, 0.0], -self.pitch))


def stance_pitch(stance: Stance, t: Array) -> Array:
    """Angle of the sole with the ground (N,) over a stance, toes up, radians."""
    x = np.clip((t - stance.begin) / (stance.flat - stance.begin), 0.0, 1.0)
    y = np.clip((t - stance.rise) / (stance.end - stance.rise), 0.0, 1.0)
    return stance.strike * (1.0 - x) ** 3 * (1.0 + 2.0 * x) - stance.push * y ** rise_power(stance)


def rise_power(stance: Stance) -> float:
    """Power of time with which the heel rises: faster from the start when running."""
    return (1.0 - stance.running) * _RISE_WALK + stance.running * _RISE_RUN


def stance_ankle(stance: Stance, sole: Sole, t: Array) -> Array:
    """Ankle (N, 3) over a stance."""
    forward, up = sole.stance(stance_pitch(stance, t)).T
    if stance.slope != 0.0:
        c, s = np.cos(stance.slope), np.sin(stance.slope)
        forward, up = c * forward - s * (up - sole.ankle), s * forward + c * (up - sole.ankle) + sole.ankle
    return np.concatenate([stance.place + forward[:, None] * facing(stance.heading), up[:, None] + stance.z], axis=-1)


def standing(stances: tuple[Stance, ...], sole: Sole, times: Array, share: Array) -> Foot:
    """The foot where it stands; swing frames are held at the nearest stance and filled in by `swing.swung`.

    share (N,): time of double support in seconds, over which the load is taken over.
    """
    n = len(times)
    ankle = np.zeros((n, 3))
    pitch, heading, load, ground, slope = np.zeros((5, n))
    planted = np.zeros(n, dtype=bool)
    for k, stance in enumerate(stances):
        before = times[0] - 1.0 if k == 0 else 0.5 * (stances[k - 1].end + stance.begin)
        after = times[-1] + 1.0 if k == len(stances) - 1 else 0.5 * (stance.end + stances[k + 1].begin)
        near = (times > before) & (times <= after)
        t = times[near]
        held = np.clip(t, stance.begin, stance.end)
        ankle[near] = stance_ankle(stance, sole, held)
        pitch[near] = stance_pitch(stance, held)
        heading[near], ground[near], slope[near] = stance.heading, stance.z, stance.slope
        on = (t >= stance.begin) & (t <= stance.end)
        planted[near] = on
        load[near] = (
            np.minimum(smootherstep((t - stance.begin) / share[near]), smootherstep((stance.end - t) / share[near]))
            * on
        )
    down = np.minimum(pitch, 0.0)
    return Foot(ankle, pitch + slope, heading, sole.toe_pitch(down) - down, load, planted, ground)


def toes_at(pitch: float, sole: Sole) -> float:
    """Bend of the toes of a foot that stands at an angle of its sole, toes up, radians."""
    down = np.array([min(pitch, 0.0)])
    return float((sole.toe_pitch(down) - down)[0])
