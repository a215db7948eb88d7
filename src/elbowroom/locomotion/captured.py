"""Gait from recorded cycles: feet on planned steps, everything else blended from a library.

Where `gait` reads published tables, this reads a `ClipLibrary`: pelvis, trunk, head and arms at each time's speed, turn
rate and phase; flexion of the loaded knee, which gives the height of the pelvis; and the path of each foot in the air,
bent at both ends to leave one foothold and to land on the next. Standing feet are exact by inverse kinematics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep, smoothstep
from elbowroom.geometry.rotations import UP, Array
from elbowroom.locomotion import sole as footwork
from elbowroom.locomotion import upper
from elbowroom.locomotion.blend import CycleBlend
from elbowroom.locomotion.course import Course, facing, leftwards
from elbowroom.locomotion.cycles import PARTS, SHARES
from elbowroom.locomotion.figure import SIDES, Figure
from elbowroom.locomotion.gait import HEAD_LEAD_S, LEAST_KNEE, Going, Variation
from elbowroom.locomotion.gait_tables import GaitStyle
from elbowroom.locomotion.library import ClipLibrary
from elbowroom.locomotion.mass import balance_weight
from elbowroom.locomotion.sole import measure
from elbowroom.locomotion.steps import Stance, StepGait, Steps
from elbowroom.locomotion.swing import SwingPath, Walker, ground_under, raised, toes_between
from elbowroom.locomotion.terrain import Terrain
from elbowroom.locomotion.upper import GRAVITY

# First and last steps are short but not slow: their cadence is that of this share of the fastest speed within so many
# seconds.
_BRISK, _NEARBY_S = 0.75, 2.5
_LEAST_WIDTH = 0.53  # of the hips' half distance: narrower, and legs touch
_MOST_STRIKE = np.radians(35.0)
_MOST_PUSH = np.radians(72.0)
_SOON_S = 0.004  # step of finite differences at the ends of a swing, seconds
_OFF_S = 0.06  # seconds in which bent toes are well off the floor
_SUDDEN_M_S = 1.5  # largest change of a swing's velocity at its ends, m/s
_SUDDEN_RAD_S = 12.0
# seconds over which the trunk's rotations are smoothed of those who hold something: quick twists of pelvises that step
# sideways would move it by millimetres between frames
_SMOOTHED_S = 0.06
_BRAKES = 24  # power of the share of a swing with which a foot brakes earlier than recorded
# leg lengths by which a swinging sole clears the floor (Winter 1992), and that of a short step
_CLEARS = 0.015
_STEP_OVER = 0.035
_LOW_STEP = 0.45  # share of the lift height in a step of no length
# shares of the recorded lift of a foot, and of its roll, that remain when going sideways: few such strides were
# recorded, lively ones, with knees that come far to the front
_LOW_ASIDE, _FLAT_ASIDE = 0.35, 0.55
# leg lengths from the floor to the centre of mass: recorded trunks stay upright in turns, and the legs lean alone
_LEAN = 1.1
# Below recorded crouching the trunk pitches by so many radians, with the hips back by leg lengths for balance; shares
# of the pitch taken by the head and by hanging arms. Tuned on the woman: crown at 1.08 m.
_STOOP_RAD, _STOOP_BACK = np.radians(73.0), 0.12
_STOOP_HEAD, _STOOP_ARMS = 0.9, 0.75


@dataclass(frozen=True)
class CapturedStyle(GaitStyle):
    """Gait at a moment from the library: stance share, angles of the sole (radians)."""

    of_duty: Array | float = 0.62
    of_strike: Array | float = 0.0
    of_push: Array | float = 0.0

    @property
    def duty(self) -> Array:
        """Share of the cycle that a foot is on the ground."""
        return np.asarray(self.of_duty, dtype=float)

    @property
    def strike(self) -> Array:
        """Angle of the sole with the floor at first contact, toes up, radians."""
        return np.asarray(self.of_strike, dtype=float)

    @property
    def push(self) -> Array:
        """Angle of the sole with the floor at toe-off, heel up, radians."""
        return np.asarray(self.of_push, dtype=float)


@lru_cache(maxsize=2)
def _blend(figure: Figure, course: Course, library: ClipLibrary) -> CycleBlend:
    """Weights along a course, which is performed several times until its legs are clear of each other."""
    return CycleBlend.along(figure, course, library)


def gait(figure: Figure, course: Course, library: ClipLibrary) -> StepGait:
    """Cadence, stance share, angles and width of steps along a course from the library."""
    times, pace = course.times, np.sqrt(figure.scale)
    rate = 1.0 / (times[1] - times[0])
    blend = _blend(figure, course, library)
    style = _style(figure, blend, library)
    fast = _BRISK * scipy.ndimage.maximum_filter1d(
        np.abs(course.speed), 2 * round(_NEARBY_S * rate) + 1, mode="nearest"
    )
    ahead, size = blend.velocity[:, :2], np.linalg.norm(blend.velocity[:, :2], axis=1)[:, None]
    ahead = np.where(size > 1e-3, ahead / np.maximum(size, 1e-3), [1.0, 0.0])
    quick = np.column_stack([np.maximum(size, fast[:, None]) * ahead, blend.velocity[:, 2]])
    brisk = CycleBlend.along(figure, course, library, quick)
    cadence, duty = brisk.mean(library.numbers[:, 0]) / pace, _style(figure, brisk, library).duty
    least = _LEAST_WIDTH * abs(float(figure.at("left_thigh")[0]))
    half = np.maximum(blend.mean(library.numbers[:, 4]) * figure.leg, least)

    def at(t: Array) -> GaitStyle:
        def known(values: object) -> Array:
            return np.interp(t, times, np.asarray(values, dtype=float))

        return CapturedStyle(*(known(x) for x in (style.v, style.run, duty, style.strike, style.push)))

    return StepGait(
        style=at,
        rate=lambda t: np.interp(t, times, cadence),
        half_width=lambda s, t: np.interp(t, times, half),
        scale=figure.scale,
        leg=figure.leg,
        push=1.0 if figure.has("left_toes") else 0.5,
        stand=abs(float(figure.at("left_thigh")[0])),
        lean=_LEAN,
    )


def _style(figure: Figure, blend: CycleBlend, library: ClipLibrary) -> CapturedStyle:
    """The style over a course's times. Detected contacts of runners are too short: tables replace them."""
    speed = np.linalg.norm(blend.velocity[:, :2], axis=1) / np.sqrt(figure.scale)
    tables = GaitStyle(speed, 1.0)
    numbers = blend.mean(library.numbers[:, 1:4])
    duty, strike, push = (
        own + blend.run * (table - own)
        for own, table in zip(numbers.T, (tables.duty, tables.strike, tables.push), strict=True)
    )
    aside = np.abs(blend.velocity[:, 1]) / np.maximum(np.linalg.norm(blend.velocity[:, :2], axis=1), 0.05)
    push = push * (1.0 - (1.0 - _FLAT_ASIDE) * aside**2)
    return CapturedStyle(
        speed, blend.run, duty, np.clip(strike, -_MOST_STRIKE, _MOST_STRIKE), np.clip(push, -_MOST_PUSH, _MOST_PUSH)
    )


def perform(
    figure: Figure, course: Course, steps: Steps, library: ClipLibrary, terrain: Terrain, seed: int, rate: float
) -> tuple[dict[str, Array], Array]:
    """Rotations by role and pelvis positions (N, 3) over the course's times."""
    times = course.times
    heading = scipy.ndimage.gaussian_filter1d(course.curve.heading(course.s), 0.10 * rate, mode="nearest")
    blend = _blend(figure, course, library)
    style = _style(figure, blend, library)
    turns, offset = library.sampled(blend.weights, steps.phase)
    if not course.arms:
        turns = rot.normalize(scipy.ndimage.gaussian_filter1d(turns, _SMOOTHED_S * rate, axis=0, mode="nearest"))
    offset = offset * figure.leg
    offset[:, 0] += course.leads * _leads(figure, blend, library)
    cadence = np.maximum(blend.mean(library.numbers[:, 0]) / np.sqrt(figure.scale), 0.3)
    place = course.curve.at(course.s) + offset[:, :1] * facing(heading) + offset[:, 1:2] * leftwards(heading)
    share = np.maximum(steps.duty - 0.5, 0.05) / cadence
    soles = [measure(figure, side) for side in SIDES]
    feet = [footwork.standing(steps.of(s), sole, times, share) for s, sole in zip(SIDES, soles, strict=True)]
    knees = [_knees(library, blend, steps.of(side), side, times, steps.duty / cadence) for side in SIDES]
    stoop = np.clip(course.low * np.ones(len(times)) - 1.0, 0.0, 1.0)
    place = place - (_STOOP_BACK * figure.leg * stoop)[:, None] * facing(heading)
    trunk = _upper_body(figure, turns, heading, course, blend, Variation(times, seed), _STOOP_RAD * stoop)
    bank = np.arctan(course.speed * blend.velocity[:, 2] / GRAVITY)

    def carry(side: str, walker: Walker) -> SwingPath:
        outwards = (1.0 if side == "left" else -1.0) * leftwards(heading) * (steps.aside * np.ones(len(times)))[:, None]
        return _carried(library, blend, side, walker, times, figure.leg, outwards)

    balanced = balance_weight(course, blend.velocity, steps, terrain)
    going = Going(figure, steps, style, times, rate, heading, soles, feet, knees, trunk, carry, terrain, balanced)
    return going.performed(place, bank)


def pelvis_leads(figure: Figure, course: Course, library: ClipLibrary) -> Array:
    """Metres (N,) by which the pelvis is ahead of its course, on the mean of a stride, over the course's times."""
    return _leads(figure, CycleBlend.along(figure, course, library), library)


def _leads(figure: Figure, blend: CycleBlend, library: ClipLibrary) -> Array:
    return np.asarray(blend.mean(library.numbers[:, 5]) * figure.leg)


@lru_cache(maxsize=4)
def _knee_curves(library: ClipLibrary, blend: CycleBlend, side: str) -> Array:
    """Flexion (N, S) of the knee of a standing foot over its stance, blended."""
    return blend.mean(np.array([node.feet[SIDES.index(side)].knee for node in library.nodes]))


def _knees(
    library: ClipLibrary, blend: CycleBlend, stances: tuple[Stance, ...], side: str, times: Array, usual: Array
) -> Array:
    """Flexion (N,) of the knee of a standing foot. usual (N,): duration of a stance, seconds."""
    over = _knee_curves(library, blend, side)
    share = np.full(len(times), 0.5)
    for stance in stances:
        # a long stance has the beginning and end of a recorded one, with its middle held between them
        near = (times >= stance.begin) & (times <= stance.end)
        early = np.clip((times[near] - stance.begin) / usual[near], 0.0, 0.5)
        late = np.clip(1.0 - (stance.end - times[near]) / usual[near], 0.5, 1.0)
        share[near] = early + late - 0.5
    at = share * (len(SHARES) - 1)
    k = np.minimum(at.astype(int), len(SHARES) - 2)
    rows = np.arange(len(times))
    return np.maximum(over[rows, k] + (at - k) * (over[rows, k + 1] - over[rows, k]), LEAST_KNEE)


def _upper_body(
    figure: Figure, turns: Array, heading: Array, course: Course, blend: CycleBlend, wave: Variation, stoop: Array
) -> Callable[[Array], tuple[Array, dict[str, Array]]]:
    """The trunk as `Going` takes it, from blended rotations (N, R, 4): pelvis, chest and head in the body frame.

    stoop (N,): bow of a walk lower than recorded, radians.
    """
    times = course.times
    part = {name: turns[:, k] for k, name in enumerate(PARTS)}
    ahead = rot.about(UP, heading)
    # the gaze turns before the body does; recorded cycles contain this for steady turns
    coming = np.interp(times + HEAD_LEAD_S, times, heading) - heading - HEAD_LEAD_S * blend.velocity[:, 2]
    look = (
        heading
        + np.clip(coming, np.radians(-28.0), np.radians(28.0))
        + np.radians(1.6) * wave.signal("head yaw", 0.08, 0.35)
    )
    breath = np.radians(0.5) * np.sin(2 * np.pi * 0.28 * times) + np.radians(0.4) * wave.signal("chest pitch")
    x, still = np.array([1.0, 0.0, 0.0]), course.still_arms * np.ones(len(times))

    def trunk(bow: Array) -> tuple[Array, dict[str, Array]]:
        bow = bow + stoop
        pelvis = rot.multiply(rot.multiply(ahead, rot.about(x, 0.45 * bow)), part["pelvis"])
        chest = rot.multiply(rot.multiply(ahead, rot.about(x, bow + breath)), part["chest"])
        head = rot.multiply(rot.multiply(rot.about(UP, look), rot.about(x, _STOOP_HEAD * stoop)), part["head"])
        hanging = rot.about(x, -_STOOP_ARMS * stoop)
        out = upper.trunk(figure, pelvis, chest, head)
        for side in SIDES:
            collar, arm = part[f"{side}_clavicle"], part[f"{side}_upper_arm"]
            if figure.has(f"{side}_clavicle"):
                out[f"{side}_clavicle"] = collar
            else:
                arm = rot.multiply(collar, arm)
            arm = rot.multiply(hanging, arm)
            out |= {f"{side}_upper_arm": arm} | {f"{side}_{end}": part[f"{side}_{end}"] for end in ("forearm", "hand")}
            if np.any(still):
                at_rest = upper.arm(figure, side, upper.hanging(len(times)), chest, ahead)
                out |= {role: rot.slerp(out[role], q, still) for role, q in at_rest.items() if role in out}
            out |= upper.fingers(side, 1.0 + float(np.mean(blend.run)))
        return pelvis, out

    return trunk


def _carried(
    library: ClipLibrary, blend: CycleBlend, side: str, walker: Walker, times: Array, leg: float, outwards: Array
) -> SwingPath:
    """Swings of a side as recorded, bent at both ends to leave one foothold and to land on the next.

    outwards (N, 2): extra distance from the other foot, metres.
    """

    def carry(a: Stance, b: Stance, frames: NDArray[np.intp]) -> tuple[Array, Array]:
        middle = int(np.clip(np.searchsorted(times, 0.5 * (a.end + b.begin)), 0, len(times) - 1))
        off, step = library.swing(blend.weights[middle], side)
        span, far = b.begin - a.end, float(np.linalg.norm(b.place - a.place))
        size = min(far / max(step * leg, 1e-3), 1.0)
        ahead = walker.heading(0.5 * (a.end + b.begin))
        aside = float((b.place - a.place) @ leftwards(ahead)) / max(far, 1e-3)
        low = 1.0 - (1.0 - _LOW_ASIDE) * aside * aside
        scale = leg * np.array([size, size, low * (_LOW_STEP + (1.0 - _LOW_STEP) * size)])
        axes = np.array([[*facing(ahead), 0.0], [*leftwards(ahead), 0.0], [0.0, 0.0, 1.0]])
        leave = footwork.stood(a, walker.sole, np.array([a.end - _SOON_S, a.end]))
        land = footwork.stood(b, walker.sole, np.array([b.begin, b.begin + _SOON_S]))
        met = np.stack([leave[1], land[0]])
        # two times next to its beginning, three next to its end, and the frames
        early, late = a.end + _SOON_S * np.arange(2), b.begin - _SOON_S * np.arange(2, -1, -1)
        u = ((np.concatenate([early, late, times[frames]]) - a.end) / span)[:, None]
        own, weight = off(np.clip(u[:, 0], 0.0, 1.0)), smoothstep(u)
        place = (1.0 - weight) * met[0, :3] + weight * met[1, :3] + (own[:, :3] * scale) @ axes
        path = np.concatenate([place, own[:, 3:]], axis=1)
        # places and speeds of both ends are matched
        most = np.array([_SUDDEN_M_S, _SUDDEN_M_S, _SUDDEN_M_S, _SUDDEN_RAD_S])
        sudden = np.stack([leave[1] - leave[0] - path[1] + path[0], land[1] - land[0] - path[4] + path[3]]) / _SOON_S
        gaps, sudden = met - path[[0, 4]], np.clip(sudden, -most, most)
        ends = u * (1.0 - u) ** 6 * sudden[0] - (1.0 - u) * u**6 * sudden[1]
        joined = path + gaps[0] + smootherstep(u) * (gaps[1] - gaps[0]) + span * ends
        u, whole = u[5:], joined[5:]
        if a.z == b.z:  # nearly at rest before it lands: heels that brake until they touch slide by up to 2 mm
            brakes = (joined[2] - 2.0 * joined[3] + joined[4])[:2] / _SOON_S**2
            whole[:, :2] -= 0.5 * (span * (1.0 - u)) ** 2 * u**_BRAKES * brakes
        room = np.sin(np.pi * u[:, 0]) ** 2
        whole[:, :2] += room[:, None] * outwards[frames]
        # off the floor at once and until shortly before landing, clearly so in short steps, to avoid scraping
        clear = leg * (_CLEARS + (_STEP_OVER - _CLEARS) * (1.0 - smoothstep(far / leg - 0.2)))
        over = 1.0 - (2.0 * u[:, 0] - 1.0) ** 4
        ground, slope = ground_under(a, b, u[:, 0])
        # Soon as high as with straight toes: feet that leave with theirs bent slide by 5 mm before they are off.
        bent = toes_between(a, b, u[:, 0], walker.sole) * (1.0 - smoothstep(span * u[:, 0] / _OFF_S))
        least = walker.sole.lift(whole[:, 3] - slope, whole[:, 3] - slope + bent) + clear * over + ground
        whole[:, 2] = raised(whole[:, 2], least, 0.012 * walker.scale * over)
        return whole[:, :3], whole[:, 3]

    return carry
