"""Ground-contact trajectories of the feet: rolled without slipping in stance, carried by published angles in swing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import facing, leftwards
from elbowroom.locomotion.gait_tables import Style, leg_angles
from elbowroom.locomotion.limbs import Limb
from elbowroom.locomotion.sole import Sole
from elbowroom.locomotion.steps import Stance

_SOON = 0.015  # seconds, for velocities at the ends of a swing
_CLEARANCE = 0.013  # metres of the reference leg (Winter 1992)
_LEAST_KNEE = np.radians(3.0)
# thigh and knee (rad/s) and foot sideways (m/s) at first contact differ from the tables by no more than this
_LANDING_RATES = np.array([1.5, 2.0, 0.3])
_RISE_WALK, _RISE_RUN = 2.45, 1.9  # the heel rises with this power of time, walking and running


@dataclass(frozen=True, eq=False)
class Foot:
    """One foot over N frames: ankle (N, 3), pitch (toes up), heading, bend of the toes (up), radians each (N,).

    `load` is 1 where the foot carries alone, 0 in the air, between in double support; `planted` marks stance.
    """

    ankle: Array
    pitch: Array
    heading: Array
    toes: Array
    load: Array
    planted: Array

    @property
    def turn(self) -> Array:
        """World turns (N, 4) of the foot against the standing figure."""
        return rot.multiply(rot.about([0.0, 0.0, 1.0], self.heading), rot.about([1.0, 0.0, 0.0], -self.pitch))


def ease(x: Array) -> Array:
    """Rise from 0 to 1 with no velocity and acceleration at the ends."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * x * (x * (6.0 * x - 15.0) + 10.0)


def stance_pitch(stance: Stance, t: Array) -> Array:
    """Angle of the sole (N,) over a stance, toes up, radians."""
    x = np.clip((t - stance.begin) / (stance.flat - stance.begin), 0.0, 1.0)
    y = np.clip((t - stance.rise) / (stance.end - stance.rise), 0.0, 1.0)
    return stance.strike * (1.0 - x) ** 3 * (1.0 + 2.0 * x) - stance.push * y ** _rise(stance)


def _rise(stance: Stance) -> float:
    return (1.0 - stance.running) * _RISE_WALK + stance.running * _RISE_RUN


def stance_ankle(stance: Stance, sole: Sole, t: Array) -> Array:
    """Ankle (N, 3) over a stance."""
    rolled = sole.stance(stance_pitch(stance, t))
    flat = stance.place + rolled[:, :1] * facing(stance.heading)
    return np.concatenate([flat, rolled[:, 1:]], axis=-1)


def standing(stances: tuple[Stance, ...], sole: Sole, times: Array, share: Array) -> Foot:
    """The foot where it stands; swing frames are held at the nearest stance and filled in by `swung`.

    share (N,): time of double support in seconds, over which the load is taken over.
    """
    n = len(times)
    ankle, pitch, heading, load = np.zeros((n, 3)), np.zeros(n), np.zeros(n), np.zeros(n)
    planted = np.zeros(n, dtype=bool)
    for k, stance in enumerate(stances):
        before = times[0] - 1.0 if k == 0 else 0.5 * (stances[k - 1].end + stance.begin)
        after = times[-1] + 1.0 if k == len(stances) - 1 else 0.5 * (stance.end + stances[k + 1].begin)
        near = (times > before) & (times <= after)
        t = times[near]
        held = np.clip(t, stance.begin, stance.end)
        ankle[near] = stance_ankle(stance, sole, held)
        pitch[near] = stance_pitch(stance, held)
        heading[near] = stance.heading
        on = (t >= stance.begin) & (t <= stance.end)
        planted[near] = on
        load[near] = np.minimum(ease((t - stance.begin) / share[near]), ease((stance.end - t) / share[near])) * on
    return Foot(ankle, pitch, heading, sole.toe_pitch(np.minimum(pitch, 0)) - np.minimum(pitch, 0), load, planted)


def swung(
    foot: Foot, stances: tuple[Stance, ...], sole: Sole, limb: Limb, hip: Array, times: Array, course_heading: Array,
    style: Style, scale: float, outwards: Array,
) -> Foot:  # fmt: skip
    """The foot with its swings filled in: the published angles carry it, bent to meet both stances in place and speed.

    hip (N, 3): path of the hip joint; course_heading (N,): direction of travel; outwards (N, 3): unit direction away
    from the other leg.
    """
    ankle, pitch, heading = foot.ankle.copy(), foot.pitch.copy(), foot.heading.copy()
    toes = foot.toes.copy()
    hip_at, heading_at = CubicSpline(times, hip), CubicSpline(times, course_heading)
    for a, b in zip(stances[:-1], stances[1:], strict=True):
        inside = (times > a.end) & (times < b.begin)
        if not inside.any():
            continue
        t = times[inside]
        span = b.begin - a.end
        u = (t - a.end) / span
        path = hip_at(t) + _carried(
            t, a, b, limb, sole, hip_at, heading_at, Style(*_at(t, a, b, style, times)), np.sqrt(scale)
        )
        pitch[inside] = _swing_pitch(a, b, u, span)
        toes[inside] = toes_at_end(a, sole) * (1.0 - ease(u / 0.45)) + np.radians(8.0) * np.sin(np.pi * u) ** 2
        turn = (b.heading - a.heading + np.pi) % (2 * np.pi) - np.pi
        heading[inside] = a.heading + turn * ease(u)
        room = np.sin(np.pi * u) ** 2
        floor = sole.lift(pitch[inside], pitch[inside] + toes[inside]) + _CLEARANCE * scale * room
        round_off = (0.012 * scale * room) ** 2
        gap_z = path[:, 2] - floor
        path[:, 2] = floor + 0.5 * (gap_z + np.sqrt(gap_z * gap_z + round_off))
        ankle[inside] = path + (0.012 * scale * room)[:, None] * outwards[inside]
    return Foot(ankle, pitch, heading, toes, foot.load, foot.planted)


def toes_at_end(stance: Stance, sole: Sole) -> float:
    """Bend of the toes when they leave the ground."""
    pitch = np.array([-stance.push])
    return float((sole.toe_pitch(pitch) - pitch)[0])


def _at(t: Array, a: Stance, b: Stance, style: Style, times: Array) -> tuple[Array, Array]:
    """Scaled speed and run share over a swing; a swing is walked or run as a whole."""
    return np.interp(t, times, np.broadcast_to(style.v, times.shape)), np.full(len(t), 0.5 * (a.running + b.running))


def _carried(
    t: Array,
    a: Stance,
    b: Stance,
    limb: Limb,
    sole: Sole,
    hip: CubicSpline,
    heading: CubicSpline,
    style: Style,
    pace: float,
) -> Array:
    """Ankle against hip (N, 3) in a swing from `a` to `b`: hip and knee by the tables, bent to meet both stances."""
    span = b.begin - a.end
    ends = np.array([a.end - _SOON, a.end, b.begin, b.begin + _SOON])
    planted = np.concatenate([stance_ankle(a, sole, ends[:2]), stance_ankle(b, sole, ends[2:])])
    met = _angles(planted - hip(ends), heading(ends), limb)  # (4, 3): thigh, knee, sideways
    speed = np.stack([met[1] - met[0], met[3] - met[2]]) / _SOON
    u = (t - a.end) / span
    soon = _SOON / span
    # a short step is carried as a slow one, and one from or to standing with less swing
    run = float(np.mean(np.asarray(style.run)))
    travel = float(np.linalg.norm(b.place - a.place)) / span * (1.0 - float(np.mean(style.duty))) / pace
    middle = Style(travel, run)
    size = float(np.clip(0.35 + 0.85 * min(style.v[0], style.v[-1], travel), 0.35, 1.0))
    edge = size * _table(np.array([0.0, soon, 1.0 - soon, 1.0]), middle)
    gap = np.stack([met[1] - edge[0], met[2] - edge[3]])
    rate_gap = speed - np.stack([edge[1] - edge[0], edge[3] - edge[2]]) / _SOON
    rate_gap[1] = np.clip(rate_gap[1], -_LANDING_RATES, _LANDING_RATES)
    # positions blend over the whole swing, speeds only near its ends, so that they do not reshape it
    fade = ease(u)[:, None]
    early, late = span * u * (1.0 - u) ** 4, -span * (1.0 - u) * u**4
    angles = size * _table(u, middle) + gap[0] * (1.0 - fade) + gap[1] * fade
    angles = angles + early[:, None] * rate_gap[0] + late[:, None] * rate_gap[1]
    thigh, aside = angles[:, 0], angles[:, 2]
    # never quite straight, and softly so
    spare = angles[:, 1] - _LEAST_KNEE
    round_off = np.radians(6.0) * np.sin(np.pi * u) ** 2
    knee = _LEAST_KNEE + 0.5 * (spare + np.sqrt(spare * spare + round_off**2))
    upper, lower = np.linalg.norm(limb.upper), np.linalg.norm(limb.lower)
    forward = upper * np.sin(thigh) + lower * np.sin(thigh - knee)
    down = upper * np.cos(thigh) + lower * np.cos(thigh - knee)
    flat = forward[:, None] * facing(heading(t)) + aside[:, None] * leftwards(heading(t))
    return np.concatenate([flat, -down[:, None]], axis=-1)


def _table(u: Array, style: Style) -> Array:
    """Thigh and knee angle and no sideways offset (N, 3) over the swing by the tables."""
    duty = style.duty
    hip, knee = leg_angles(np.clip(duty + u * (1.0 - duty), 0.0, 0.9999999), style)
    return np.stack([hip, knee, np.zeros_like(hip)], axis=-1)


def _angles(reach: Array, heading: Array, limb: Limb) -> Array:
    """Thigh forwards of the vertical, bend of the knee (radians), offset to the left (m), (N, 3), of ankles against hips."""
    forward = np.sum(reach[:, :2] * facing(heading), axis=1)
    aside = np.sum(reach[:, :2] * leftwards(heading), axis=1)
    upper, lower = float(np.linalg.norm(limb.upper)), float(np.linalg.norm(limb.lower))
    distance = np.hypot(forward, reach[:, 2])
    cosine = (distance**2 - upper**2 - lower**2) / (2 * upper * lower)
    knee = np.arccos(np.clip(cosine, -1.0, np.cos(_LEAST_KNEE)))
    line = np.arctan2(forward, -reach[:, 2])
    return np.stack([line + np.arctan2(lower * np.sin(knee), upper + lower * np.cos(knee)), knee, aside], axis=-1)


def _swing_pitch(a: Stance, b: Stance, u: Array, span: float) -> Array:
    """Angle of the sole in swing: first further down, then level, then toes up for the next contact."""
    run = 0.5 * (a.running + b.running)
    leave = _rise(a) * span / (a.end - a.rise)  # slope that the stance ends with, per unit of push and swing
    land = -span / (b.flat - b.begin)
    knots = np.array([0.0, 0.1, 0.22, 0.36, 0.5, 0.65, 0.8, 1.0])
    walking = np.array([1.0, 1.13, 1.06, 0.78, 0.40, 0.10, 0.0, 0.0])
    running = np.array([1.0, 1.24, 1.50, 1.50, 1.15, 0.58, 0.14, 0.0])
    down = CubicSpline(knots, (1 - run) * walking + run * running, bc_type=((1, leave), (1, 0.0)))
    up = CubicSpline(
        np.array([0.0, 0.5, 0.65, 0.8, 0.92, 1.0]),
        np.array([0.0, 0.0, 0.16, 0.70, 1.06, 1.0]),
        bc_type=((1, 0.0), (1, land)),
    )
    return -a.push * down(u) + b.strike * np.where(u > 0.5, up(u), 0.0)
