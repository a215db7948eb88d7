"""Clip from a course and its steps: pelvis over the feet, legs to the feet, trunk and arms in counterpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion import mass, upper
from elbowroom.locomotion import sole as footwork
from elbowroom.locomotion.course import Course, facing, leftwards
from elbowroom.locomotion.figure import SIDES, Figure
from elbowroom.locomotion.gait_tables import GaitStyle, leg_angles
from elbowroom.locomotion.limbs import TwoBoneLimb, twist_about
from elbowroom.locomotion.sole import RollingSole, measure
from elbowroom.locomotion.steps import Steps
from elbowroom.locomotion.swing import OUTWARDS, SwingPath, Walker, swung, tabled
from elbowroom.locomotion.terrain import Terrain
from elbowroom.locomotion.upper import GRAVITY, height, turned

LEAST_KNEE = np.radians(5.5)  # never quite straight, so that the knee does not snap
# a runner lands on a bent knee; less so where the mass does not follow the ground reaction
_LEAST_RUNNING, _LEAST_UNCARRIED = np.radians(20.0), np.radians(12.0)
# lean into a turn times scaled speed (radians m/s) beyond which legs cannot fold as the ground reaction requires: lean
# lowers the body, and speed folds the legs more
_TIGHT = np.radians(45.0)
# m/s, scaled: slower walks follow the tables; from there to the second the balance fades to that of runs
_BRISK, _BRISKER = 1.45, 0.3
_EVEN = 0.06  # seconds over which a walker's height is smoothed before its curvature counts as ground reaction
# iterations of putting a runner's mass where the ground can carry it; in the first ones the trunk pitch is adjusted
_ROUNDS, _BOWING = 4, 3
# The same of recorded walks, and seconds beyond which their mass follows the course: with more they go up to 8 % slower
# in tight turns, with less the zero moment point leaves the feet again.
_ROUNDS_WALK, _FOLLOWS_WALK = 1, 0.3
# forward pitch per unit of slope on stairs, radians, from this speed on, smoothed over seconds
_BOWS_UP, _BOWS_DOWN, _STEEP_M_S, _BOWS_S = 0.2, 0.05, 0.3, 0.3
HEAD_LEAD_S = 0.30  # seconds by which the gaze turns ahead of the body (Grasso et al. 1998)
_ARM_LAG = 0.52  # the arm is foremost just after the other foot's contact, share of the cycle


@dataclass(frozen=True, eq=False)
class Variation:
    """Small slow deviations from the mean, from a seed: unit signals (N,) by name."""

    times: Array
    seed: int

    def signal(self, name: str, slowest: float = 0.13, fastest: float = 0.7) -> Array:
        """Smooth unit-variance signal (N,), a few incommensurate waves between two frequencies in Hz."""
        rng = np.random.default_rng([self.seed, *name.encode()])
        rates = rng.uniform(slowest, fastest, 4)
        lags = rng.uniform(0, 2 * np.pi, 4)
        return np.sum(np.sin(2 * np.pi * rates * self.times[:, None] + lags), axis=1) / np.sqrt(2.0)


def legs_of(figure: Figure) -> list[TwoBoneLimb]:
    """Left and right leg of the standing figure, knee hinge across."""
    out = []
    for side in SIDES:
        hip, knee, ankle = (figure.at(f"{side}_{part}") for part in ("thigh", "shin", "foot"))
        out.append(TwoBoneLimb(knee - hip, ankle - knee, figure.hinge(f"{side}_shin")))
    return out


@dataclass(frozen=True, eq=False)
class Going:
    """Gait over N frames except for the pelvis position: feet, knee flexion and trunk.

    Feet as they stand, the target flexion of each loaded knee (N,), and the trunk: for pitches (N,), radians, world
    rotations (N, 4) of the pelvis and rotations of the upper body. `carry` makes the swings of a side, over a terrain.
    `balanced` (N,) is the weight of putting a walker's mass where the ground can carry it, by default that of brisk
    walks.
    """

    figure: Figure
    steps: Steps
    style: GaitStyle
    times: Array
    rate: float
    heading: Array
    soles: list[RollingSole]
    feet: list[footwork.FootMotion]
    knees: list[Array]
    trunk: Callable[[Array], tuple[Array, dict[str, Array]]]
    carry: Callable[[str, Walker], SwingPath]
    terrain: Terrain
    balanced: Array | None = None

    @property
    def run(self) -> Array:
        """0 where walking, 1 where running, (N,)."""
        return self.style.mix(np.zeros(len(self.times)), 1.0)

    @property
    def borne(self) -> Array:
        """Weight (N,) of putting the mass where the ground can carry it: running, and walks that are `balanced`."""
        if self.run.any():
            return self.run
        return smootherstep((self.style.v - _BRISK) / _BRISKER) if self.balanced is None else self.balanced

    def over(self, place: Array, bow: Array, lift: Array | None = None) -> tuple[dict[str, Array], Array]:
        """Rotations by role and pelvis positions (N, 3) with the pelvis over positions (N, 2) on the floor.

        bow (N,): forward pitch of the trunk, added to that of the tables, radians; lift (N,): upward acceleration of a
        runner's pelvis, m/s², by default from the knees.
        """
        figure, n = self.figure, len(self.times)
        pelvis, turns = self.trunk(bow)
        offset, flat = figure.at("pelvis"), np.concatenate([place, np.zeros((n, 1))], axis=-1)
        hips = [rot.rotate(pelvis, figure.at(f"{side}_thigh") - offset) + flat for side in SIDES]
        limbs = legs_of(figure)
        least = self.style.mix(LEAST_KNEE, _LEAST_UNCARRIED if lift is None else _LEAST_RUNNING)
        rise = self.steps.rise(self.times) if self.steps.climbs else None
        z = height(self.feet, limbs, hips, self.knees, self.rate, least, float(offset[2]), self.run, lift, rise)
        hips = [h + z[:, None] * np.array([0.0, 0.0, 1.0]) for h in hips]
        for side, limb, sole, foot, hip in zip(SIDES, limbs, self.soles, self.feet, hips, strict=True):
            walker = Walker(limb, sole, self.times, hip, self.heading, figure.scale, self.terrain)
            moved = swung(foot, self.steps.of(side), walker, self.carry(side, walker))
            turns |= leg(side, limb, moved, hip, pelvis, self.heading)
        return turns, np.concatenate([place, z[:, None]], axis=-1)

    def _bowed(self) -> Array:
        """Forward pitch of the trunk (N,) on stairs, radians: into what rises."""
        if not self.steps.climbs:
            return np.zeros(len(self.times))
        speed = np.maximum(self.style.v * np.sqrt(self.figure.scale), _STEEP_M_S)
        slope = np.gradient(self.steps.rise(self.times)) * self.rate / speed
        return scipy.ndimage.gaussian_filter1d(np.where(slope > 0.0, _BOWS_UP, _BOWS_DOWN) * slope, _BOWS_S * self.rate)

    def performed(self, place: Array, bank: Array) -> tuple[dict[str, Array], Array]:
        """Rotations by role and pelvis positions (N, 3) near positions (N, 2); bank (N,): lean into turns, radians."""
        tight = (np.abs(bank) * self.style.v).max() > _TIGHT
        if self.figure.character.masses is None or not self.borne.any() or tight:
            return self.over(place, self._bowed())
        return _carried(self, place)


def perform(
    figure: Figure, course: Course, steps: Steps, style: GaitStyle, terrain: Terrain, seed: int, rate: float
) -> tuple[dict[str, Array], Array]:
    """Rotations by role and pelvis positions (N, 3) over the course's times."""
    times, scale = course.times, figure.scale
    wave = Variation(times, seed)
    heading = scipy.ndimage.gaussian_filter1d(course.curve.heading(course.s), 0.10 * rate, mode="nearest")
    active = smootherstep(style.v / 0.5)
    turn = 2 * np.pi * steps.phase
    soles = [measure(figure, side) for side in SIDES]

    share = np.maximum((steps.duty - 0.5), 0.05) / np.maximum(style.stride_rate / np.sqrt(scale), 0.3)
    feet = [footwork.standing(steps.of(s), sole, times, share) for s, sole in zip(SIDES, soles, strict=True)]

    bank = np.arctan(course.speed**2 * course.curve.bend(course.s) / GRAVITY)
    bank = scipy.ndimage.gaussian_filter1d(bank, 0.2 * rate, mode="nearest")
    place = course.curve.at(course.s) + _sway(course, heading, feet, style, rate)[:, None] * leftwards(heading)
    # the body is fastest in double support, slowest over the foot
    surge = 0.010 * scale * active * np.clip(style.v, 0, 1.5) * np.sin(2 * turn - 0.6) * style.mix(1.0, 0.4)
    place = place + surge[:, None] * facing(heading)

    def trunk(bow: Array) -> tuple[Array, dict[str, Array]]:
        pelvis = turned(
            heading - active * style.pelvis_turn * np.cos(turn - style.mix(0.25, 1.6)),
            0.7 * bank - active * style.pelvis_list * np.cos(turn - 2 * np.pi * style.mix(0.14, 0.16)),
            0.45 * style.lean * active + 0.45 * bow + np.radians(1.0) * active * np.cos(2 * turn + 0.6),
        )
        return pelvis, _upper_body(figure, course, heading, turn, style, active, bank, bow, pelvis, wave, rate)

    knees = [_stance_knee(steps.phase + lag, style, active) for lag in (0.0, 0.5)]

    def carry(side: str, walker: Walker) -> SwingPath:
        farther = 1.0 + steps.aside / (OUTWARDS * scale) * np.ones(len(times))
        away = np.concatenate([leftwards(heading) * farther[:, None], np.zeros((len(times), 1))], axis=-1)
        return tabled(walker, times, style, away if side == "left" else -away)

    going = Going(figure, steps, style, times, rate, heading, soles, feet, knees, trunk, carry, terrain)
    return going.performed(place, bank)


def _carried(going: Going, place: Array) -> tuple[dict[str, Array], Array]:
    """The gait near pelvis positions (N, 2), with the mass as the ground can move it where it is `borne`.

    The centre of mass depends on the legs, and these on the pelvis: hence iterations.
    """
    stepped = mass.push(going.steps, going.soles, going.times)
    character = going.figure.character
    bow = np.zeros(len(going.times))
    turns, root = going.over(place, bow)
    walks = going.balanced is not None and not going.run.any()
    follows = _FOLLOWS_WALK if walks else mass.FOLLOWS_RUN
    for k in range(_ROUNDS_WALK if walks else _ROUNDS):
        T = character.skeleton.forward(*going.figure.assemble(turns, root))
        body = mass.carried(character, T, going.rate)
        aside = body.offset[:, :2]
        high = root[:, 2] + body.offset[:, 2]
        # the ground reaction of a walker follows from the height
        up = np.gradient(np.gradient(scipy.ndimage.gaussian_filter1d(high, _EVEN * going.rate))) * going.rate**2
        given = replace(stepped, share=going.run * stepped.share + (1.0 - going.run) * (1.0 + up / GRAVITY))
        way = mass.over(place + aside, high, given, body.spin, going.borne, going.rate, follows)
        lift = GRAVITY * (given.share - 1.0) - np.gradient(np.gradient(body.offset[:, 2])) * going.rate**2
        bow = mass.bowed(bow, given, body, going.heading, going.rate) if k < _BOWING and not walks else bow
        turns, root = going.over(way - aside, bow, lift)
    return turns, root


def leg(
    side: str, limb: TwoBoneLimb, foot: footwork.FootMotion, hip: Array, pelvis: Array, heading: Array
) -> dict[str, Array]:
    """Rotations of thigh, shin, foot and toes for a foot's path and the hip joint's path (N, 3)."""
    # The knee points between the headings of body and foot; a lifted foot leaves it to the body. Legs that a rig has
    # turned out, knees and feet alike, stay so: turned in at the hips, its thighs would collide.
    apart = (foot.heading - heading + np.pi) % (2 * np.pi) - np.pi
    across = heading + np.arctan2(limb.axis[1], limb.axis[0]) + 0.4 * apart
    axis = np.stack([np.cos(across), np.sin(across), np.zeros_like(across)], axis=-1)
    if np.any(foot.splay):
        out = foot.splay if side == "left" else -foot.splay
        axis = rot.rotate(rot.about(rot.normalize(foot.ankle - hip), out), axis)
    solved = limb.solve(foot.ankle - hip, axis, least=0.6 * LEAST_KNEE)
    bent = rot.about(limb.axis, solved.bend)
    shin = rot.multiply(solved.upper, bent)
    ankle = rot.multiply(rot.conjugate(shin), foot.turn)
    # the ankle does not twist: the bent knee provides rotation about the shin
    twist = twist_about(ankle, limb.lower)
    return {
        f"{side}_thigh": rot.multiply(rot.conjugate(pelvis), solved.upper),
        f"{side}_shin": rot.multiply(bent, twist),
        f"{side}_foot": rot.multiply(rot.conjugate(twist), ankle),
        f"{side}_toes": rot.about([1.0, 0.0, 0.0], -foot.toes),
    }


def _positive(x: Array) -> Array:
    """Positive part of x, rounded at 0 over some 6 degrees."""
    return 0.5 * (x + np.sqrt(x * x + np.radians(6.0) ** 2))


def _stance_knee(phase: Array, style: GaitStyle, active: Array) -> Array:
    """Flexion of a loaded knee: from the tables when walking, slightly bent when standing."""
    knee = np.clip(leg_angles(phase, style)[1], LEAST_KNEE, style.mix(np.radians(22.0), np.radians(60.0)))
    return active * knee + (1 - active) * np.radians(7.0)


def _sway(course: Course, heading: Array, feet: list[footwork.FootMotion], style: GaitStyle, rate: float) -> Array:
    """Pelvis to the left of the course (N,), metres: towards the supporting foot."""
    left = leftwards(heading)
    middle = course.curve.at(course.s)
    weight = feet[0].load + feet[1].load + 1e-3
    off = [np.sum((f.ankle[:, :2] - middle) * left, axis=1) * f.load for f in feet]
    towards = scipy.ndimage.gaussian_filter1d((off[0] + off[1]) / weight, 0.13 * rate, mode="nearest")
    # feet outside the course for a whole turn do not pull the body after them
    towards = towards - scipy.ndimage.gaussian_filter1d(towards, 0.7 * rate, mode="nearest")
    # Towards a foot half a step width away: the published excursion; standing on one leg at rest takes more.
    share = np.clip(1.35 * style.sway / (0.5 * style.step_width), 0.0, 0.85)
    return scipy.ndimage.gaussian_filter1d(towards * share, 0.04 * rate, mode="nearest")


def _upper_body(
    figure: Figure, course: Course, heading: Array, turn: Array, style: GaitStyle, active: Array, bank: Array,
    bow: Array, pelvis: Array, wave: Variation, rate: float,
) -> dict[str, Array]:  # fmt: skip
    times = course.times
    n = len(times)
    breath = np.sin(2 * np.pi * 0.28 * times)
    counter = active * np.radians(style.mix(1.4 + 2.7 * np.clip(style.v, 0, 2), 7.0)) * np.cos(turn - 0.25)
    chest_yaw = heading + counter + np.radians(0.6) * wave.signal("chest yaw")
    chest = turned(
        chest_yaw,
        bank + active * np.radians(0.8) * np.cos(turn - 0.9) + np.radians(0.4) * wave.signal("chest roll"),
        style.lean * active + bow + active * np.radians(0.8) * np.cos(2 * turn + 2.6) + np.radians(0.5) * breath,
    )
    ahead = np.interp(times + HEAD_LEAD_S, times, heading)
    look = heading + np.clip(1.25 * (ahead - heading), np.radians(-28), np.radians(28))
    look = scipy.ndimage.gaussian_filter1d(look, 0.08 * rate, mode="nearest")
    head = turned(
        look + 0.18 * counter + np.radians(1.6) * wave.signal("head yaw", 0.08, 0.35),
        0.3 * bank + np.radians(0.7) * wave.signal("head roll"),
        np.radians(3.0) + 0.25 * style.lean + np.radians(0.8) * wave.signal("head nod")
        - active * np.radians(0.8) * np.cos(2 * turn + 0.3),
    )  # fmt: skip
    turns = upper.trunk(figure, pelvis, chest, head)
    rest = upper.hanging(n)
    for side, lag in (("left", 0.0), ("right", np.pi)):
        swing = turn - 2 * np.pi * _ARM_LAG + lag
        inside = 1.0 if side == "left" else -1.0
        size = active * (1.0 + 0.06 * wave.signal(f"{side} arm"))
        swung = np.cos(swing) + 0.10 * np.cos(2 * swing + 0.5)
        forward = size * style.arm_swing * swung
        elbow = np.cos(swing - style.mix(0.55, 0.2))
        bent = active * style.elbow + (1 - active) * rest.elbow
        pose = replace(
            rest,
            flexion=rest.flexion + active * style.mix(np.radians(-3.0), np.radians(-14.0)) + forward,
            abduction=rest.abduction
            + 0.7 * _positive(inside * bank)
            + active * style.mix(0.0, np.radians(11.0))
            - 0.06 * forward,
            twist=rest.twist
            + active * style.mix(0.0, np.radians(-4.0))
            + style.mix(0.25, 0.45) * _positive(forward) * active,
            elbow=bent + size * style.elbow_swing * elbow + 0.02 * wave.signal(f"{side} elbow"),
            pronation=rest.pronation + active * style.mix(0.0, np.radians(-20.0)) + 0.02 * wave.signal(f"{side} turn"),
            wrist=rest.wrist + active * 0.10 * np.cos(swing - 1.1) + 0.02 * wave.signal(f"{side} wrist"),
            curl=float(np.mean(style.mix(1.0, 2.0))),
        )
        turns |= upper.arm(figure, side, pose, chest, upper.upright(chest_yaw, roll=bank))
    return turns
