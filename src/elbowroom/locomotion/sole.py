"""Feet on the ground: rolling over heel, sole and ball without slipping.

Everything is in the foot's own vertical plane: x forwards from the ankle of the flat foot, z up, metres. A rigid
outline that rolls by an angle moves its reference point forwards by the integral of its height over the angle, so the
height as a function of the angle determines everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import facing
from elbowroom.locomotion.figure import Figure
from elbowroom.locomotion.steps import Stance

_ANGLES = np.radians(np.linspace(-110.0, 60.0, 341))  # toes-up positive
_TOE_BEND = np.radians(32.0)  # flexion of the ball before the toes begin to lift (Bojsen-Møller 1979: 30 to 45)


@dataclass(frozen=True, eq=False)
class RollingSole:
    """Outline of one foot: `heel` tables for the part that moves with the ankle, `toes` for the part beyond the ball.

    `ball` is the toe joint relative to the ankle, (forwards, up); outline points are (K, 2) likewise.
    """

    ankle: float  # height of the ankle joint over the floor, standing
    ball: Array  # (2,)
    foot: Array  # (K, 2), against the ankle
    toes: Array  # (M, 2), against the ball
    rigid: bool = False  # without a toe joint: the whole foot rolls as one, outline in `foot`

    def __post_init__(self) -> None:
        object.__setattr__(self, "_foot", _rolling(self.foot))
        object.__setattr__(self, "_toes", _rolling(self.toes))

    def toe_pitch(self, pitch: Array) -> Array:
        """Angle of the toes with the floor (toes-up positive) in stance: flat until the ball is bent far."""
        if self.rigid:
            return pitch
        over = -pitch - _TOE_BEND
        return -0.5 * (over + np.sqrt(over * over + np.radians(6.0) ** 2)) * np.clip(-pitch / _TOE_BEND, 0.0, 1.0) ** 2

    def stance(self, pitch: Array) -> Array:
        """Ankle (N, 2), forwards and up, of a standing foot that has rolled to `pitch` (radians, toes-up positive)."""
        up = pitch if self.rigid else np.maximum(pitch, 0.0)
        forward, height = self._roll("_foot", up)
        base_forward, base_height = self._flat["_foot"]
        heel = np.stack([forward - base_forward, height - base_height + self.ankle], axis=-1)
        if self.rigid:
            return heel
        down = np.minimum(pitch, 0.0)
        # the ball (N, 2) relative to the flat foot's ankle on the floor line, after the toes rolled
        forward, height = self._roll("_toes", self.toe_pitch(down))
        base_forward, base_height = self._flat["_toes"]
        ball = np.stack([self.ball[0] + forward - base_forward, self.ball[1] + height - base_height], axis=-1)
        tip = ball - _turned(self.ball, down) + np.array([0.0, self.ankle])
        return np.where(pitch[:, None] > 0.0, heel, tip)

    def lift(self, pitch: Array, toe_pitch: Array) -> Array:
        """Lowest height of the ankle (N,) at which neither foot nor toes enter the floor."""
        foot = self._roll("_foot", pitch)[1]
        if self.rigid:
            return foot
        toes = self._roll("_toes", toe_pitch)[1] - _turned(self.ball, pitch)[:, 1]
        gap = foot - toes
        # a rounded corner keeps the speed continuous where the lowest point moves from toe to heel
        return 0.5 * (foot + toes + np.sqrt(gap * gap + 0.004**2)) - 0.002

    def reach(self, pitch: Array, toe_pitch: Array) -> Array:
        """Distance (N,) of the tip of the toes ahead of the ankle."""
        front = self.foot[self.foot[:, 0].argmax()]
        if self.rigid:
            return _turned(front, pitch)[:, 0]
        tip = self.toes[self.toes[:, 0].argmax()]
        return np.asarray(_turned(self.ball, pitch)[:, 0] + _turned(tip, toe_pitch)[:, 0])

    @cached_property
    def _flat(self) -> dict[str, tuple[Array, Array]]:
        """Forward travel and height of both parts of a flat foot, (1,) each."""
        return {part: self._roll(part, np.zeros(1)) for part in ("_foot", "_toes")}

    def _roll(self, part: str, pitch: Array) -> tuple[Array, Array]:
        forward, height = getattr(self, part)
        return np.interp(pitch, _ANGLES, forward), np.interp(pitch, _ANGLES, height)


def _turned(point: Array, pitch: Array) -> Array:
    """A point (forwards, up) rotated toes-up by pitch (N,)."""
    c, s = np.cos(pitch), np.sin(pitch)
    return np.stack([c * point[0] - s * point[1], s * point[0] + c * point[1]], axis=-1)


def _rolling(outline: Array) -> tuple[Array, Array]:
    """Forward travel and height of the reference point over `_ANGLES` for an outline (K, 2) against it."""
    c, s = np.cos(_ANGLES), np.sin(_ANGLES)
    height = -np.min(np.outer(s, outline[:, 0]) + np.outer(c, outline[:, 1]), axis=1)
    # Toes-up is a roll backwards: the reference point moves back.
    steps = 0.5 * (height[1:] + height[:-1]) * np.diff(_ANGLES)
    return -np.concatenate([[0.0], np.cumsum(steps)]), height


def measure(figure: Figure, side: str) -> RollingSole:
    """The sole of a figure's foot from its skin; where there is none, from its joints alone."""
    ankle = figure.at(f"{side}_foot")
    height = float(ankle[2])
    has_toes = figure.has(f"{side}_toes")
    ball = figure.at(f"{side}_toes") - ankle if has_toes else np.array([0.0, -1.5 * height, 0.012 - height])
    low = _points(figure, f"{side}_foot")
    low_toes = _points(figure, f"{side}_toes") if has_toes else low
    forward_ball = float(-ball[1])
    if low is None:
        low = np.array(
            [[-0.45 * forward_ball, 0.012 - height], [-0.3 * forward_ball, -height], [forward_ball, -height]]
        )
    if low_toes is None:
        low_toes = np.array([[0.0, -height], [0.35 * forward_ball, -height], [0.45 * forward_ball, 0.012 - height]])
        low_toes = low_toes + np.array([forward_ball, 0.0])
    flat_ball = np.array([forward_ball, float(ball[2])])
    foot = _under(low, -height)
    toes = _under(low_toes - flat_ball, -height - flat_ball[1])
    if not has_toes:
        return RollingSole(height, flat_ball, np.concatenate([foot, [[0.0, -height]]]), toes, rigid=True)
    # the part of the foot in front of the ball belongs to the toes' roll
    foot = foot[foot[:, 0] <= forward_ball + 1e-6]
    toes = np.concatenate([toes, [[0.0, -height - flat_ball[1]]]])
    return RollingSole(height, flat_ball, np.concatenate([foot, [[0.0, -height]]]), toes)


def _points(figure: Figure, role: str) -> Array | None:
    """Points (K, 2), forwards and up from the ankle, of the skin that moves with a joint; None without any."""
    character = figure.character
    skeleton = character.skeleton
    joint = character.role(role)
    side = role.split("_")[0]
    rest = skeleton.T_rest
    front = np.asarray(character.front, dtype=float)
    ankle = rest[character.role(f"{side}_foot"), :3, 3]
    if character.skin is None:
        return None
    points = character.skin.posed(rest)[character.skin.owner == joint] - ankle
    if len(points) < 8:
        return None
    return np.stack([points @ front, points[:, 2]], axis=-1)


def _under(points: Array, floor: float) -> Array:
    """Outline points moved so that the lowest touches the floor line exactly."""
    return points - np.array([0.0, points[:, 1].min() - floor])


_RISE_WALK, _RISE_RUN = 2.45, 1.9  # power of time with which the heel rises, walking and running


_TILTS = 0.4  # share of the turn of a knee that its foot goes along with


@dataclass(frozen=True, eq=False)
class FootMotion:
    """One foot over N frames: ankle (N, 3), pitch (toes up), heading, flexion of the toes (up), radians each (N,).

    `load` is 1 where the foot carries alone, 0 in the air, between in double support; `planted` marks stance; `ground`
    (N,) is the height of the ground at the nearest stance; `splay` (N,) is the rotation of the knee outwards about the
    line from hip to ankle, radians to the left.
    """

    ankle: Array
    pitch: Array
    heading: Array
    toes: Array
    load: Array
    planted: NDArray[np.bool_]
    ground: Array
    splay: Array | float = 0.0

    @property
    def turn(self) -> Array:
        """World rotations (N, 4) of the foot relative to the standing figure; it tilts with a splayed knee."""
        tilted = rot.multiply(rot.about([0.0, 1.0, 0.0], -_TILTS * self.splay * np.ones(len(self.pitch))),
                              rot.about([1.0, 0.0, 0.0], -self.pitch))  # fmt: skip
        return rot.multiply(rot.about([0.0, 0.0, 1.0], self.heading), tilted)


def stance_pitch(stance: Stance, t: Array) -> Array:
    """Angle of the sole with the ground (N,) over a stance, toes up, radians."""
    x = np.clip((t - stance.begin) / (stance.flat - stance.begin), 0.0, 1.0)
    y = np.clip((t - stance.rise) / (stance.end - stance.rise), 0.0, 1.0)
    return stance.strike * (1.0 - x) ** 3 * (1.0 + 2.0 * x) - stance.push * y ** rise_power(stance)


def rise_power(stance: Stance) -> float:
    """Power of time with which the heel rises: faster from the start when running."""
    return (1.0 - stance.running) * _RISE_WALK + stance.running * _RISE_RUN


def stance_ankle(stance: Stance, sole: RollingSole, t: Array) -> Array:
    """Ankle (N, 3) over a stance."""
    return _rolled_ankle(stance, sole, stance_pitch(stance, t))


def _rolled_ankle(stance: Stance, sole: RollingSole, pitch: Array) -> Array:
    """Ankle (N, 3) of a stance with its sole at angles (N,) with the ground."""
    forward, up = sole.stance(pitch).T
    if stance.slope != 0.0:
        c, s = np.cos(stance.slope), np.sin(stance.slope)
        forward, up = c * forward - s * (up - sole.ankle), s * forward + c * (up - sole.ankle) + sole.ankle
    return np.concatenate([stance.place + forward[:, None] * facing(stance.heading), up[:, None] + stance.z], axis=-1)


def stood(stance: Stance, sole: RollingSole, t: Array) -> Array:
    """Ankle and angle of the sole (N, 4) of a standing foot."""
    pitch = stance_pitch(stance, t)
    return np.concatenate([_rolled_ankle(stance, sole, pitch), pitch[:, None] + stance.slope], axis=1)


def standing(stances: tuple[Stance, ...], sole: RollingSole, times: Array, share: Array) -> FootMotion:
    """The foot where it stands; swing frames are held at the nearest stance and filled in by `swing.swung`.

    share (N,): time of double support in seconds, over which the load shifts.
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
        pitch[near] = stance_pitch(stance, held)
        ankle[near] = _rolled_ankle(stance, sole, pitch[near])
        heading[near], ground[near], slope[near] = stance.heading, stance.z, stance.slope
        on = (t >= stance.begin) & (t <= stance.end)
        planted[near] = on
        load[near] = (
            np.minimum(smootherstep((t - stance.begin) / share[near]), smootherstep((stance.end - t) / share[near]))
            * on
        )
    down = np.minimum(pitch, 0.0)
    return FootMotion(ankle, pitch + slope, heading, sole.toe_pitch(down) - down, load, planted, ground)


def toes_at(pitch: float, sole: RollingSole) -> float:
    """Flexion of the toes of a standing foot with its sole at an angle, toes up, radians."""
    down = np.array([min(pitch, 0.0)])
    return float((sole.toe_pitch(down) - down)[0])
