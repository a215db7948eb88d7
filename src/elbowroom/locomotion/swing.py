"""Feet in the air: moved by published hip and knee angles, bent to leave and land at the right place and speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.easing import smootherstep, smoothstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import facing, leftwards
from elbowroom.locomotion.gait_tables import GaitStyle, leg_angles
from elbowroom.locomotion.limbs import TwoBoneLimb
from elbowroom.locomotion.sole import FootMotion, RollingSole, rise_power, stance_ankle, toes_at
from elbowroom.locomotion.steps import Stance
from elbowroom.locomotion.terrain import Terrain

_SOON = 0.008  # step of finite differences at the ends of a swing, seconds
_LIFTED = 3.0  # factor on the clearance when stepping sideways or back
_CLEARANCE = 0.013  # metres of the reference leg (Winter 1992)
OUTWARDS = 0.02  # distance by which a foot passes wide of the other, metres
_LEAST_KNEE = np.radians(5.0)
# change of the foot's speed before it lands, m/s; runners' feet land hard
_SOFTENED_WALK, _SOFTENED_RUN = 0.6, 0.3
# share of a swing, at both ends, for which a foot stays in place when the body stands, and scaled speed of a body (m/s)
# that carries it off at once
_HELD, _CARRIED = 0.4, 0.75
_CLIMBS = 0.5  # share of a swing in which a foot goes up to higher ground, or down to lower
# height by which a foot is lifted, rather than swung, metres, and shares of such a swing in which it goes straight up,
# and straight down: over an obstacle, onto higher ground, and down to lower
_STEPS_OVER_M, _UP_DOWN, _UP_DOWN_CLIMBING, _UP_DOWN_LOWER = 0.05, (0.15, 0.15), (0.3, 0.15), (0.02, 0.12)
# shares of a swing by which the foot is up in time, and clearances when stepping on something and over it, metres
_ONTO, _OVER = (0.07, 0.0), (0.2, 0.07)
_BACK_M = 0.015  # distance by which a foot is drawn back from a tread onto which it climbs, metres
_ROUNDED = 0.035  # share of a swing over which corners of its arc are rounded
# Lift over an obstacle from which on the trailing knee turns outwards rather than hanging down, range over which that
# sets in, metres, and the angle, radians.
_HIGH_M, _HIGHER_M, _SPLAY_RAD = 0.3, 0.1, np.radians(75.0)
_TAPER = 0.002  # metres before full stretch over which the reach tapers off


@dataclass(frozen=True, eq=False)
class Walker:
    """Leg data for swings: bones, sole, hips (N, 3) and headings (N,) at times (N,), leg scale, ground below."""

    limb: TwoBoneLimb
    sole: RollingSole
    times: Array
    hips: Array
    headings: Array
    scale: float
    terrain: Terrain

    @cached_property
    def hip(self) -> scipy.interpolate.CubicSpline:
        """Position of the hip (3,) over time."""
        return scipy.interpolate.CubicSpline(self.times, self.hips)

    @cached_property
    def heading(self) -> scipy.interpolate.CubicSpline:
        """Heading of the body over time."""
        return scipy.interpolate.CubicSpline(self.times, self.headings)


# Path of a foot between two stances: frames (N,) to ankles (N, 3) and angles of the sole (N,), toes up.
SwingPath = Callable[[Stance, Stance, NDArray[np.intp]], tuple[Array, Array]]


def tabled(walker: Walker, times: Array, style: GaitStyle, outwards: Array) -> SwingPath:
    """Swings from the tables.

    outwards (N, 3): direction away from the other leg, longer than a unit vector where it passes farther out.
    """
    speed = np.broadcast_to(style.v, times.shape)

    def carry(a: Stance, b: Stance, frames: NDArray[np.intp]) -> tuple[Array, Array]:
        t = times[frames]
        span = b.begin - a.end
        u = (t - a.end) / span
        pitch = _pitch(a, b, u, span) + ground_under(a, b, u)[1]
        leaving, landing = (float(np.interp(when, times, speed)) for when in (a.end, b.begin))
        late, early = _held(u, leaving), _held(1.0 - u, landing)
        place = Swing.between(a, b, walker, leaving, landing).at(t)
        rolled = walker.sole.stance(pitch)[:, :1]
        for stance, share in ((a, late), (b, early)):
            place[:, :2] += share[:, None] * (stance.place + rolled * facing(stance.heading) - place[:, :2])
        return place + (OUTWARDS * walker.scale * np.sin(np.pi * u) ** 2)[:, None] * outwards[frames], pitch

    return carry


def swung(foot: FootMotion, stances: tuple[Stance, ...], walker: Walker, carry: SwingPath) -> FootMotion:
    """The foot with its swings filled in, kept off the floor and in reach of the hip."""
    ankle, pitch, heading, toes = (x.copy() for x in (foot.ankle, foot.pitch, foot.heading, foot.toes))
    splay, times = np.zeros(len(ankle)), walker.times
    for a, b in pairwise(stances):
        inside = np.arange(np.searchsorted(times, a.end, "right"), np.searchsorted(times, b.begin))
        if not len(inside):
            continue
        u, hip, ahead = (times[inside] - a.end) / (b.begin - a.end), walker.hips[inside], walker.headings[inside]
        place, pitch[inside] = carry(a, b, inside)
        ground, slope = ground_under(a, b, u)
        place, over = _over_terrain(place, u, a, b, walker, ahead)
        toes[inside] = toes_between(a, b, u, walker.sole)
        if b.z - a.z > _STEPS_OVER_M:
            place[:, :2] -= _drawn_back(a, u, pitch[inside], toes[inside], walker)
        turn = (b.heading - a.heading + np.pi) % (2 * np.pi) - np.pi
        heading[inside] = a.heading + turn * smootherstep(u / 0.7)
        room = np.sin(np.pi * u) ** 2
        # without forward travel feet are lifted rather than swung
        clear = _CLEARANCE * (1.0 + _LIFTED * (1.0 - max(min(a.forward, b.forward), 0.0)))
        sole = pitch[inside] - slope
        least = walker.sole.lift(sole, sole + toes[inside]) + clear * walker.scale * room + np.maximum(ground, over)
        place[:, 2] = raised(place[:, 2], least, 0.012 * walker.scale * room)
        ankle[inside] = _within_reach(place, hip, walker.limb)
        splay[inside] = _splayed(ankle[inside], u, float(over.max()) - max(a.z, b.z), hip, ahead)
    return replace(foot, ankle=ankle, pitch=pitch, heading=heading, toes=toes, splay=splay)


def _drawn_back(a: Stance, u: Array, pitch: Array, toes: Array, walker: Walker) -> Array:
    """Distances (N, 2) by which a foot that climbs is drawn back while it goes up in its swing (0..1), metres.

    Its toes would come forward against the tread as it levels off from its angle (N,) and bend of the toes (N,).
    """
    left, up = np.array([-a.push]), _UP_DOWN_CLIMBING[0]
    before = walker.sole.reach(left, left + toes_at(-a.push, walker.sole))
    ahead = np.maximum(walker.sole.reach(pitch, pitch + toes) - before, 0.0)
    back = ahead + _BACK_M * walker.scale * smootherstep(2.0 * u / up)
    return np.outer(back * smootherstep((2.0 * up - u) / up), facing(a.heading))


def _splayed(ankle: Array, u: Array, high: float, hip: Array, heading: Array) -> Array:
    """Outward turn of the knee (N,), radians, over a swing (0..1) that is lifted high over an obstacle.

    While the ankle is behind the hip the knee would hang down to it.
    """
    if high <= _HIGH_M:
        return np.zeros(len(u))
    most = _SPLAY_RAD * float(smoothstep(np.array((high - _HIGH_M) / _HIGHER_M)))
    behind = np.sum((hip[:, :2] - ankle[:, :2]) * facing(heading), axis=1)
    return most * smootherstep(u / 0.12) * smootherstep((0.8 - u) / 0.3) * smootherstep(behind / 0.15 + 0.4)


def toes_between(a: Stance, b: Stance, u: Array, sole: RollingSole) -> Array:
    """Bend of the toes (N,) over a swing (0..1), up, radians: from that of leaving to that of landing."""
    leave, land = toes_at(-a.push, sole), toes_at(b.strike, sole)
    toes = leave * (1.0 - smootherstep(u / 0.45)) + land * smootherstep((u - 0.55) / 0.45)
    return np.asarray(toes + np.radians(8.0) * np.sin(np.pi * u) ** 2)


def raised(height: Array, least: Array, soft: Array) -> Array:
    """Heights (N,) raised to at least others, rounded over `soft` metres."""
    over = height - least
    return least + 0.5 * (over + np.sqrt(over * over + soft * soft))


def ground_under(a: Stance, b: Stance, u: Array) -> tuple[Array, Array]:
    """Height and slope (N,) of a foot over a swing (0..1): up early and down late, evenly on a ramp."""
    slope = a.slope + (b.slope - a.slope) * smootherstep(u)
    early = u / _CLIMBS if b.z > a.z else (u - 1.0 + _CLIMBS) / _CLIMBS
    return a.z + (b.z - a.z) * (smootherstep(early) if a.slope == b.slope == 0.0 else smoothstep(u)), slope


def _over_terrain(place: Array, u: Array, a: Stance, b: Stance, walker: Walker, heading: Array) -> tuple[Array, Array]:
    """Ankles (N, 3) of a swing (0..1) that rises before it advances where there is something to step on or over.

    Also the height (N,) to which the foot is lifted; heading (N,) of the body.
    """
    ground, slope = ground_under(a, b, u)
    over = walker.terrain.under(place[:, :2], heading, slope)
    if (over - (ground if slope.any() else min(a.z, b.z))).max() < _STEPS_OVER_M:
        return place, over
    climbs = (b.z - a.z) / _STEPS_OVER_M
    up, down = _UP_DOWN_CLIMBING if climbs > 1.0 else _UP_DOWN_LOWER if climbs < -1.0 else _UP_DOWN
    late = np.clip((u - up) / (1.0 - up - down), 0.0, 1.0)
    place = place.copy()
    place[:, :2] = np.stack([np.interp(late, u, place[:, k]) for k in (0, 1)], axis=-1)
    over = walker.terrain.under(place[:, :2], heading)
    # in time before the foot is there, and until it has passed
    share, clear = _OVER if over.max() - max(a.z, b.z) > _STEPS_OVER_M else _ONTO
    wide = max(round(share * len(u)), 1)
    over = over + np.where(over > min(a.z, b.z) + _STEPS_OVER_M, clear * walker.scale, 0.0)
    over = scipy.ndimage.maximum_filter1d(over, 2 * wide + 1, mode="nearest")
    level = abs(climbs) < 1.0
    lifted = scipy.ndimage.gaussian_filter1d(over, 0.5 * wide, mode="nearest") if level else over
    ends = [smootherstep(x) if level else np.minimum(x, 1.0) for x in (u / up, (1.0 - u) / down)]
    lifted = np.minimum(a.z + ends[0] * np.maximum(lifted - a.z, 0.0), b.z + ends[1] * np.maximum(lifted - b.z, 0.0))
    if level:
        return place, lifted
    # one arc over all edges, rather than a leap at each
    arc = _arc(np.concatenate([[0.0], u, [1.0]]), np.concatenate([[a.z], lifted, [b.z]]))
    return place, scipy.ndimage.gaussian_filter1d(arc, _ROUNDED * len(u), mode="nearest")[1:-1]


def _arc(u: Array, height: Array) -> Array:
    """The lowest curve (N,) over heights (N,) at ascending u (N,) that is nowhere bent upwards."""
    kept: list[int] = []
    for k in range(len(u)):
        while len(kept) > 1 and (height[kept[-1]] - height[kept[-2]]) * (u[k] - u[kept[-2]]) <= (
            height[k] - height[kept[-2]]
        ) * (u[kept[-1]] - u[kept[-2]]):
            kept.pop()
        kept.append(k)
    return np.interp(u, u[kept], height[kept])


def _held(u: Array, speed: float) -> Array:
    """Weights (N,) by which a foot stays at its foothold over the swing (0..1): for a while at low scaled speed.

    A foot that hardly advances would scrape along the ground while it is low.
    """
    span = _HELD * (1.0 - min(speed / _CARRIED, 1.0))
    return 1.0 - smootherstep(u / span) if span > 1e-3 else np.zeros_like(u)


@dataclass(frozen=True, eq=False)
class Swing:
    """One swing: the table's angles times `size`, plus corrections at its ends, blended over its time."""

    a: Stance
    b: Stance
    walker: Walker
    table: GaitStyle
    size: float
    gaps: Array  # (2, 3): thigh, knee (radians), sideways (metres), missing at the ends
    jumps: Array  # (2, 3): velocity (m/s) missing at the ends

    @staticmethod
    def between(a: Stance, b: Stance, walker: Walker, leaving: float, landing: float) -> Swing:
        """The swing from one stance to the next; scaled speeds of the body when leaving and landing."""
        span = b.begin - a.end
        run = 0.5 * (a.running + b.running)
        # A short step swings as a slow one, and one from or to standing with less amplitude,
        duty = float(GaitStyle(0.5 * (leaving + landing), run).duty)
        travel = float(np.linalg.norm(b.place - a.place)) / span * (1.0 - duty) / np.sqrt(walker.scale)
        # as does one without forward travel.
        ahead = max(min(a.forward, b.forward), 0.0)
        size = float(np.clip(0.35 + 0.85 * ahead * min(leaving, landing, travel), 0.35, 1.0))
        table = GaitStyle(travel, run)
        ends = np.array([a.end, b.begin])
        planted = np.concatenate([stance_ankle(a, walker.sole, ends[:1]), stance_ankle(b, walker.sole, ends[1:])])
        met = _angles(planted - walker.hip(ends), walker.heading(ends), walker.limb)
        gaps = met - size * _table(np.array([0.0, 1.0]), table)
        bare = Swing(a, b, walker, table, size, gaps, np.zeros((2, 3)))
        near = bare.at(np.array([a.end, a.end + _SOON, b.begin - _SOON, b.begin]))
        leave = stance_ankle(a, walker.sole, np.array([a.end - _SOON, a.end]))
        land = stance_ankle(b, walker.sole, np.array([b.begin, b.begin + _SOON]))
        jumps = np.stack([leave[1] - leave[0] - near[1] + near[0], land[1] - land[0] - near[3] + near[2]]) / _SOON
        most = (1.0 - run) * _SOFTENED_WALK + run * _SOFTENED_RUN
        return replace(bare, jumps=np.clip(jumps, -most, most))

    def at(self, t: Array) -> Array:
        """Ankle (N, 3) at times within the swing."""
        span = self.b.begin - self.a.end
        u = np.clip((t - self.a.end) / span, 0.0, 1.0)
        fade = smootherstep(u)[:, None]
        thigh, bend, aside = (self.size * _table(u, self.table) + (1.0 - fade) * self.gaps[0] + fade * self.gaps[1]).T
        # never quite straight, with a smooth limit
        spare = bend - _LEAST_KNEE
        soft = np.radians(6.0) * np.sin(np.pi * u) ** 2
        knee = _LEAST_KNEE + 0.5 * (spare + np.sqrt(spare * spare + soft * soft))
        upper, lower = np.linalg.norm(self.walker.limb.upper), np.linalg.norm(self.walker.limb.lower)
        forward = upper * np.sin(thigh) + lower * np.sin(thigh - knee)
        down = upper * np.cos(thigh) + lower * np.cos(thigh - knee)
        heading = self.walker.heading(t)
        flat = forward[:, None] * facing(heading) + aside[:, None] * leftwards(heading)
        place = self.walker.hip(t) + np.concatenate([flat, -down[:, None]], axis=-1)
        # correct speeds near the ends only, so that they do not reshape the swing
        early, late = span * u * (1.0 - u) ** 6, -span * (1.0 - u) * u**6
        return place + early[:, None] * self.jumps[0] + late[:, None] * self.jumps[1]


def _within_reach(place: Array, hip: Array, limb: TwoBoneLimb) -> Array:
    """Ankles (N, 3) pulled towards the hip where the leg would be straighter than the least flexion."""
    line = place - hip
    distance = np.linalg.norm(line, axis=1)
    over = (distance - limb.length(_LEAST_KNEE)) / _TAPER
    shorter = distance - _TAPER * np.logaddexp(0.0, over)
    return hip + line * (shorter / distance)[:, None]


def _table(u: Array, style: GaitStyle) -> Array:
    """Thigh and knee angle and no sideways offset (N, 3) over the swing (0..1) from the tables."""
    duty = style.duty
    hip, knee = leg_angles(np.clip(duty + u * (1.0 - duty), 0.0, 0.9999999), style)
    return np.stack([hip, knee, np.zeros_like(hip)], axis=-1)


def _angles(reach: Array, heading: Array, limb: TwoBoneLimb) -> Array:
    """Thigh forwards of the vertical, knee flexion (radians), offset to the left (m): (N, 3), ankles from hips."""
    forward = np.sum(reach[:, :2] * facing(heading), axis=1)
    aside = np.sum(reach[:, :2] * leftwards(heading), axis=1)
    upper, lower = float(np.linalg.norm(limb.upper)), float(np.linalg.norm(limb.lower))
    distance = np.hypot(forward, reach[:, 2])
    cosine = (distance**2 - upper**2 - lower**2) / (2 * upper * lower)
    knee = np.arccos(np.clip(cosine, -1.0, np.cos(_LEAST_KNEE)))
    line = np.arctan2(forward, -reach[:, 2])
    return np.stack([line + np.arctan2(lower * np.sin(knee), upper + lower * np.cos(knee)), knee, aside], axis=-1)


def _pitch(a: Stance, b: Stance, u: Array, span: float) -> Array:
    """Angle of the sole in swing: first further down, then level, then toes up for the next contact."""
    run = 0.5 * (a.running + b.running)
    leave = rise_power(a) * span / (a.end - a.rise)  # slope that the stance ends with, per unit of push and swing
    land = -span / (b.flat - b.begin)
    knots = np.array([0.0, 0.1, 0.22, 0.36, 0.5, 0.65, 0.8, 1.0])
    walking = np.array([1.0, 1.13, 1.06, 0.78, 0.40, 0.10, 0.0, 0.0])
    running = np.array([1.0, 1.24, 1.50, 1.50, 1.15, 0.58, 0.14, 0.0])
    down = scipy.interpolate.CubicSpline(knots, (1 - run) * walking + run * running, bc_type=((1, leave), (1, 0.0)))
    up = scipy.interpolate.CubicSpline(
        np.array([0.0, 0.5, 0.65, 0.8, 0.92, 1.0]),
        np.array([0.0, 0.0, 0.16, 0.70, 1.06, 1.0]),
        bc_type=((1, 0.0), (1, land)),
    )
    return -a.push * down(u) + b.strike * np.where(u > 0.5, up(u), 0.0)
