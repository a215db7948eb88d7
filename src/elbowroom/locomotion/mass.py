"""The centre of mass of a runner: in free fall in flight, on the ground driven by the reaction through the foot.

A kinematic gait gives feet and joints; where the body is over them follows from what the ground can provide. The
vertical force of each step is half a wave, and together these carry the weight. The horizontal force is such that the
zero moment point goes from under the ankle over the ball to the toes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy

from elbowroom.character.body import Character
from elbowroom.character.masses import center_of_mass
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import Course, facing, leftwards
from elbowroom.locomotion.figure import SIDES
from elbowroom.locomotion.sole import RollingSole
from elbowroom.locomotion.steps import Steps
from elbowroom.locomotion.terrain import Terrain
from elbowroom.locomotion.upper import GRAVITY, bent

# Shares of a stance, and the centre of pressure then: share of the way from heel to ball, and on to the toe tips
# (Cavanagh and Lafortune 1980: soon under the middle of the foot, then long under its front); in walking it begins
# later.
_SHARES = np.array([0.0, 0.15, 0.42, 1.0])
_WALKED, _RUN = np.array([0.50, 0.80, 1.0, 1.0]), np.array([0.65, 0.90, 1.0, 1.0])
_TO_TIP = np.array([0.0, 0.05, 0.25, 0.8])
# Seconds: slower curvature of the centre of mass's path follows the course, faster curvature the ground reaction;
# where the ground reaction does not count, and running.
_FOLLOWS_COURSE, FOLLOWS_RUN = 0.03, 0.76
# Powers that shape half a sine wave into the force of a stance: largest before its middle, and full.
_EARLY, _FULL = 0.85, 0.8
_CHANGE = 0.25  # seconds: fade from walking to running
SOFT = 0.012  # seconds: a landing foot stops within this
_BOWS_ALOFT, _BOWS = 0.5, 0.25  # seconds: slower pitching is straightened out, in the air and on the ground
_LIGHT = 0.001  # of the mass: lighter parts, such as fingers, have negligible momentum
_LEAST_SHARE = 0.3  # of the weight: below this load the ground takes up no angular momentum
# m/s from which, to twice as much, the mass of a walker is where the ground can carry it
_BALANCED_M_S = 0.3
# seconds before and after something that is stepped over, and its height, metres
_OVER_S, _LOW_M = 1.5, 0.03


@dataclass(frozen=True, eq=False)
class Push:
    """Ground reaction over N frames: share of the weight (N,), and its point on the floor (N, 2), metres."""

    share: Array
    at: Array


def push(steps: Steps, soles: list[RollingSole], times: Array) -> Push:
    """The ground reaction of each stance of a run, together carrying the weight."""
    wave, at, total = np.zeros(len(times)), np.zeros((len(times), 2)), np.full(len(times), 1e-9)
    strides = []
    for side, sole in zip(SIDES, soles, strict=True):
        stances = steps.of(side)
        strides += [b.begin - a.begin for a, b in pairwise(stances)]
        ball = float(sole.ball[0])
        to_ball, to_tip = ball - float(sole.foot[:, 0].min()), float(sole.toes[:, 0].max())
        for stance in stances:
            u = (times - stance.begin) / (stance.end - stance.begin)
            here = np.sin(np.pi * np.clip(u, 0.0, 1.0) ** _EARLY) ** _FULL
            under = (1.0 - stance.running) * _WALKED + stance.running * _RUN
            before = to_ball * (np.interp(u, _SHARES, under) - 1.0)
            along = ball + before + to_tip * np.interp(u, _SHARES, _TO_TIP)
            near = np.where((u > -0.5) & (u < 1.5), here + 1e-6, 0.0)
            at += near[:, None] * (stance.place + along[:, None] * facing(stance.heading))
            total += near
            wave += here
    step = 0.5 * float(np.median(strides or [1.0]))
    mean = scipy.ndimage.gaussian_filter1d(wave, 0.7 * step / (times[1] - times[0]), mode="nearest")
    return Push(wave / np.maximum(mean, 0.1), at / total[:, None])


@dataclass(frozen=True, eq=False)
class BodyMass:
    """The mass of a moving body.

    Its centre relative to the pelvis (N, 3), metres; per kg the rate of change of its angular momentum (N, 3), m²/s²,
    and the inertia against which the trunk pitches on the hips, m².
    """

    offset: Array
    spin: Array
    inertia: float


def carried(character: Character, T: Array, rate: float) -> BodyMass:
    """Centre of mass of a body with joints at T (N, J, 4, 4), frames at `rate` per second."""
    masses = character.masses
    assert masses is not None
    com = center_of_mass(character, T)
    heavy = np.flatnonzero(masses.mass > _LIGHT * masses.total)
    placed = T[:, heavy]
    turn = placed[..., :3, :3]
    at = placed[..., :3, 3] + np.einsum("njab,jb->nja", turn, masses.center[heavy]) - com[:, None]
    velocity = np.gradient(at, axis=0) * rate
    q = rot.from_matrix(turn)
    between = rot.log(rot.multiply(q[1:], rot.conjugate(q[:-1]))) * rate
    turning = np.concatenate([between[:1], 0.5 * (between[1:] + between[:-1]), between[-1:]])
    inner = np.swapaxes(turn, -1, -2) @ turning[..., None]
    own = (turn @ (masses.inertia[heavy] @ inner))[..., 0]
    momentum = np.sum(masses.mass[heavy, None] * np.cross(at, velocity) + own, axis=1) / masses.total
    soft = scipy.ndimage.gaussian_filter1d(momentum, SOFT * rate, axis=0, mode="nearest")
    against = com - T[:, character.role("pelvis"), :3, 3]
    offset = scipy.ndimage.gaussian_filter1d(against, SOFT * rate, axis=0, mode="nearest")
    return BodyMass(offset, np.gradient(soft, axis=0) * rate, _of_trunk(character, T, com))


def _of_trunk(character: Character, T: Array, com: Array) -> float:
    """Average angular momentum per kg of the body for 1 rad/s of the trunk about the hips, m²."""
    masses = character.masses
    assert masses is not None
    legs = {j for side in SIDES for j in character.skeleton.subtree(character.role(f"{side}_thigh"))}
    trunk = np.array([j for j in np.flatnonzero(masses.mass > 0.0) if j not in legs])
    placed = T[:, trunk]
    at = placed[..., :3, 3] + np.einsum("njab,jb->nja", placed[..., :3, :3], masses.center[trunk])
    hips = T[:, character.role("pelvis"), :3, 3]
    lever = np.sum((at - com[:, None]) * (at - hips[:, None]), axis=-1).mean(axis=0)
    return float(masses.mass[trunk] @ lever + masses.inertia[trunk].trace(axis1=1, axis2=2).sum() / 3.0) / masses.total


def over(
    reference: Array, height: Array, given: Push, spin: Array, borne: Array, rate: float, follows: float = FOLLOWS_RUN
) -> Array:
    """Path of the centre of mass over the floor (N, 2): near the reference (N, 2), moved by ground reaction alone.

    height (N,): of the centre of mass, metres; spin (N, 3) as in `BodyMass`; borne (N,): 0 follows the reference,
    1 only in what is slower than `follows`, seconds.
    """
    draw = GRAVITY * given.share / height  # 1/s²: a body in front of its foot is accelerated, behind it decelerated
    takes_up = np.clip(given.share / _LEAST_SHARE, 0.0, 1.0) / height
    turned = takes_up[:, None] * np.stack([-spin[:, 1], spin[:, 0]], axis=-1)
    law = (turned - draw[:, None] * given.at) / rate**2
    share = scipy.ndimage.gaussian_filter1d(borne, _CHANGE * rate, mode="nearest")
    stiff = (_FOLLOWS_COURSE ** (1.0 - share) * follows**share * rate) ** 4
    return bent(reference, np.ones(len(reference)), law, stiff, -2.0 - draw / rate**2)


def bowed(bow: Array, given: Push, body: BodyMass, heading: Array, rate: float) -> Array:
    """Trunk pitch (N,), radians, that conserves angular momentum in flight, from one that does not.

    The legs' swing in the air would turn the body over backwards; the trunk turns against it, and on the ground back.
    """
    across = np.sum(body.spin[:, :2] * leftwards(heading), axis=1)
    aloft = 1.0 - np.clip(given.share / _LEAST_SHARE, 0.0, 1.0)
    law = aloft * (np.gradient(np.gradient(bow)) * rate**2 - across / body.inertia)
    stiff = ((_BOWS + aloft * (_BOWS_ALOFT - _BOWS)) * rate) ** 4
    return bent(np.zeros(len(bow)), np.ones(len(bow)), law / rate**2, stiff)


def balance_weight(course: Course, velocity: Array, steps: Steps, terrain: Terrain) -> Array:
    """Weight (N,) of balance in a walk: upright, forwards on level ground, with arms that swing, and under way.

    velocity (N, 3): forwards and left, m/s, and turn. Around what is stepped over the pelvis stays where the legs have
    room.
    """
    if steps.climbs or not course.arms:
        return np.zeros(len(course.times))
    speed = np.linalg.norm(velocity[:, :2], axis=1)
    ahead = velocity[:, 0] / np.maximum(speed, _BALANCED_M_S)
    upright = 1.0 - np.clip(course.low * np.ones(len(speed)), 0.0, 1.0)
    around = 2 * round(_OVER_S / (course.times[1] - course.times[0])) + 1
    upright *= scipy.ndimage.maximum_filter1d(terrain.along(course.curve.at(course.s)), around) < _LOW_M
    return smootherstep((speed - _BALANCED_M_S) / _BALANCED_M_S) * smootherstep((ahead - 0.7) / 0.25) * upright
