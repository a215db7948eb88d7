"""Footsteps: when and where each foot stands, planned along a course before anything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import Course, facing, leftwards
from elbowroom.locomotion.figure import SIDES
from elbowroom.locomotion.gait_tables import GaitStyle
from elbowroom.locomotion.terrain import LEVEL, LOWERED_S, Terrain, risen

# Phase of the foot's cycle at which the body passes over the ankle, walking and running.
OVER_WALK, OVER_RUN = 0.222, 0.098
TOE_OUT = np.radians(6.0)


# height of an obstacle that is stepped high over, metres; samples between two footholds; shares of a stance by which a
# foot leaves earlier for it, and of the push that remains
_HIGH_M, _LOOKS, _SOONER, _LIFTED = 0.3, 33, 0.28, 0.3
_EARLY_S = 0.2  # seconds before the ground carries it in which the body follows a foot that is placed elsewhere
_MOVED_FAR_M, _SHARED = 0.12, 0.6  # metres of a foothold that its neighbours share in, and their share
_FLAT = 0.3  # share of a foot's roll that remains when going sideways or backwards
# height difference of two footprints that makes a step up or down, metres, and the sole's angle when landing lower
_CLIMBS_M, _ON_BALL = 0.05, np.radians(-14.0)


# Footprints by side: ankle (2,) and heading.
Footprints = Mapping[str, tuple[Array, float]]


@dataclass(frozen=True, eq=False)
class Stance:
    """One foot on the ground: first contact, flat, heel lifts, toes leave (seconds); position (2,) and heading.

    `strike` and `push` are the sole's angles at first contact (toes up) and at the end (heel up), radians; `running` is
    0 for a walked and 1 for a run step; `forward` is the forward share of travel, -1..1; `z` is the height of the
    ground there, `slope` its angle, toes up, `moved` the lead of the foot over where the gait would have it, metres.
    """

    begin: float
    flat: float
    rise: float
    end: float
    place: Array
    heading: float
    strike: float
    push: float
    running: float
    forward: float = 1.0
    z: float = 0.0
    moved: float = 0.0
    slope: float = 0.0


@dataclass(frozen=True, eq=False)
class Steps:
    """Stances of each foot in order, and the phase of the gait at the course's times: an integer at a left contact.

    `aside` is the extra distance of a swinging foot from the other, metres.
    """

    left: tuple[Stance, ...]
    right: tuple[Stance, ...]
    phase: Array  # (N,)
    duty: Array  # (N,)
    aside: Array | float = 0.0  # (N,)

    def of(self, side: str) -> tuple[Stance, ...]:
        """Stances of one foot."""
        return self.left if side == "left" else self.right

    def on_frames(self, fps: float) -> Steps:
        """The same steps with feet that land and leave at frames: between two of them a foot would slide."""

        def moved(stance: Stance) -> Stance:
            begin, end = (round(t * fps) / fps for t in (stance.begin, stance.end))
            flat, rise = stance.flat + begin - stance.begin, stance.rise + end - stance.end
            fits = begin < flat <= rise < end
            return replace(stance, begin=begin, flat=flat, rise=rise, end=end) if fits else stance

        return replace(self, left=tuple(map(moved, self.left)), right=tuple(map(moved, self.right)))

    @property
    def climbs(self) -> bool:
        """Return whether feet stand at different heights."""
        return len({stance.z for side in SIDES for stance in self.of(side)}) > 1

    def rise(self, times: Array) -> Array:
        """Height of the ground (N,) as the body follows it over times (N,), metres."""
        return self._followed(times, "z", LOWERED_S)

    def ahead(self, times: Array) -> Array:
        """Lead (N,) of the feet over where the gait would have them, over times (N,), smoothed, metres."""
        return self._followed(times + _EARLY_S, "moved")

    def _followed(self, times: Array, name: str, lowered: float = 0.0) -> Array:
        """A property of the stances as the body follows it (N,) over times (N,), see `risen`."""
        every = sorted((*self.left, *self.right), key=lambda stance: stance.begin)
        begins, ends, values = (np.array([getattr(s, key) for s in every]) for key in ("begin", "end", name))
        return risen(times, begins, ends, values, lowered)


@dataclass(frozen=True, eq=False)
class StepGait:
    """Properties of the walker for step planning, as functions of times or styles.

    `style` over times; `rate`: strides per second over times; `half_width`: half the distance of the feet while
    walking, of styles and times, `stand` standing, metres; `leg`: the leg's length, metres, and `scale`, relative to
    the reference; `push`: factor on the heel's rise (less for a foot without toe joint). `forward` is the forward share
    of travel, over times; `terrain` is the ground; `lean`: leg's lengths by which feet are outside a body that leans
    into a turn by one radian, less where the trunk leans, too.
    """

    style: Callable[[Array], GaitStyle]
    rate: Callable[[Array], Array]
    half_width: Callable[[GaitStyle, Array], Array]
    stand: float
    scale: float
    leg: float
    push: float = 1.0
    forward: Callable[[Array], Array] = np.ones_like
    terrain: Terrain = LEVEL
    lean: float = 0.75


@dataclass(frozen=True, eq=False)
class StartStance:
    """Stance before the first step: the foot that `lead`s, and footprints by side, ankle (2,) and heading.

    A side without a footprint stands beside the curve's start; `last` are those in which the walk ends.
    """

    go: float
    lead: str = "right"
    feet: Footprints = field(default_factory=dict)
    last: Footprints = field(default_factory=dict)


def plan(
    course: Course, gait: StepGait, start: StartStance | None = None, stop: bool = False, first_phase: float = 0.0
) -> Steps:
    """Plan the steps of a course.

    Without `start` the gait is in progress at the first time; with it the walker stands until its `go`, when the
    leading foot leaves the ground. With `stop` both feet end side by side at the end of the curve, or on the last
    footprints of the start.
    """
    go = None if start is None else start.go
    times = course.times
    rate = gait.rate(times)
    if go is not None:
        rate = np.where(times >= go, rate, 0.0)
    phase = np.cumsum(rate * np.diff(times, prepend=times[0]))
    duty = gait.style(times).duty
    if go is None:
        phase += first_phase - np.interp(0.0, times, phase)
    else:
        phase += float(np.interp(go, times, duty)) - 0.5
    found: dict[str, list[Stance]] = {side: [] for side in SIDES}
    count = int(np.floor(2 * phase[0])) - 1
    if start is not None:
        left = start.lead == "left"
        phase += 0.5 * left
        for side in SIDES:
            leads = side == start.lead
            found[side].append(
                _first_stand(course, gait, side, _when(phase, times, phase[0] + 0.5 * (not leads) + 1e-9), start)
            )
        count = 1 + left
    halt = float(times[-1]) + 10.0
    at_end: set[str] = set()
    moved = 0.0
    while len(at_end) < 2 and (stop or 0.5 * count <= phase[-1] + 0.5):
        side = SIDES[count % 2]
        stance = _stance(course, gait, phase, side, 0.5 * count, moved)
        if stop and (at_end or _is_last(course, gait, phase, count, stance)):
            at_end.add(side)
            softness = 1.0 if len(at_end) == 1 else 0.35
            stance = _last_stand(course, gait, side, stance, softness, None if start is None else start.last.get(side))
            halt = stance.flat
        found[side].append(stance)
        moved = stance.moved
        count += 1
    phase = np.minimum(phase, np.interp(halt, times, phase))
    _even_out(found, gait)
    return Steps(_matched(found["left"], gait), _matched(found["right"], gait), phase, duty)


def _even_out(found: dict[str, list[Stance]], gait: StepGait) -> None:
    """Let the steps around one that is moved far, to pass an obstacle, share the displacement."""
    order = sorted((s.begin, side, k) for side in SIDES for k, s in enumerate(found[side]))
    inner = range(2, len(order) - 2)  # those who stand stay there
    moved, z = np.array([(found[side][k].moved, found[side][k].z) for _, side, k in order]).T
    for n in inner:
        # on stairs each has a tread of its own
        beside = [m for m in (n - 1, n + 1) if m in inner and abs(z[m] - z[n]) < _CLIMBS_M]
        near = [moved[m] for m in beside if abs(moved[m]) > _MOVED_FAR_M]
        if near and abs(moved[n]) <= _MOVED_FAR_M:
            _, side, k = order[n]
            stance, more = found[side][k], _SHARED * max(near, key=abs)
            stood = gait.terrain.foothold(stance.place + more * facing(stance.heading), stance.heading)
            more = float((stood.place - stance.place) @ facing(stance.heading))
            found[side][k] = replace(stance, **stood._asdict(), moved=stance.moved + more)


def _matched(stances: list[Stance], gait: StepGait) -> tuple[Stance, ...]:
    """Stances with softer pushes before short steps, and landing on the sole or the ball on stairs."""
    out = []
    before = stances[0].z
    for a, b in zip(stances, [*stances[1:], None], strict=True):
        far = 10.0 if b is None else float(np.linalg.norm(b.place - a.place)) / gait.scale
        level = abs(a.z - before) < _CLIMBS_M or a.slope != 0.0
        strike = a.strike if level else 0.0 if a.z > before else _ON_BALL
        before = a.z
        push = gait.push * min(a.push, float(np.radians(12.0 + 50.0 * far)))
        if b is not None and _steps_high(a, b, gait):
            # before the body has gone so far that the leg leans over what is stepped over, and without a push
            sooner = _SOONER * (a.end - max(a.begin, a.end - 2.0))
            a, push = replace(a, end=a.end - sooner, rise=a.rise - sooner), _LIFTED * push
        out.append(replace(a, strike=strike, push=push))
    return tuple(out)


def _steps_high(a: Stance, b: Stance, gait: StepGait) -> bool:
    """Return whether a foot is lifted high over an obstacle between two stances."""
    between = a.place + np.linspace(0.0, 1.0, _LOOKS)[:, None] * (b.place - a.place)
    return bool(gait.terrain.along(between).max() - max(a.z, b.z) > _HIGH_M)


def _first_stand(course: Course, gait: StepGait, side: str, end: float, start: StartStance) -> Stance:
    """The foot where it stands before the first step, until it leaves the ground at `end`."""
    # the leading foot is lifted rather than pushed off
    most = np.radians(30.0 if side == start.lead else 70.0)
    push = min(float(gait.style(np.array([end])).push[0]), float(most))
    rise = end - 0.28 / float(gait.rate(np.array([end]))[0])
    place, heading = start.feet.get(side) or _footprint(course, gait, side, 0.0, end, gait.stand)
    stood = gait.terrain.foothold(place, heading, fixed=True)
    begin = float(course.times[0]) - 10.0
    forward = float(gait.forward(np.array([end]))[0])
    return Stance(
        begin,
        begin + 1.0,
        rise,
        end,
        place,
        heading,
        0.0,
        push * max(forward, _FLAT),
        0.0,
        forward,
        stood.z,
        slope=stood.slope,
    )


def _is_last(course: Course, gait: StepGait, phase: Array, count: int, stance: Stance) -> bool:
    """Return whether a step comes so near to the end of the curve that it may end there."""
    spacing = float(course.along(stance.end) - course.along(stance.begin))
    return _over(course, gait, phase, 0.5 * count) > course.curve.length - max(0.3 * spacing, 0.1)


def _last_stand(
    course: Course, gait: StepGait, side: str, stance: Stance, softness: float, there: tuple[Array, float] | None
) -> Stance:
    """The landing moved to the end of the curve, for good, or `there`: ankle (2,) and heading."""
    far = float(course.times[-1]) + 10.0
    place, heading = there or _footprint(course, gait, side, course.curve.length, stance.begin, gait.stand)
    stood, z, slope = gait.terrain.foothold(place, heading, fixed=there is not None)
    moved, strike = float((stood - place) @ facing(heading)), softness * stance.strike
    return Stance(
        stance.begin, stance.flat, far, far + 1.0, stood, heading, strike, 0.0, 0.0, z=z, moved=moved, slope=slope
    )


def _when(phase: Array, times: Array, at: float) -> float:
    """Time at which the gait reaches a phase, extrapolated at the last rate beyond the ends."""
    if at < phase[0]:
        slope = max((phase[1] - phase[0]) / (times[1] - times[0]), 1e-3)
        return float(times[0] + (at - phase[0]) / slope)
    if at > phase[-1]:
        slope = max((phase[-1] - phase[-2]) / (times[-1] - times[-2]), 0.3)
        return float(times[-1] + (at - phase[-1]) / slope)
    return float(np.interp(at, phase, times))


def _over(course: Course, gait: StepGait, phase: Array, contact: float, style: GaitStyle | None = None) -> float:
    """Position along the curve at which the body passes over the foot that lands at a phase, with the style then."""
    style = style or gait.style(np.array([_when(phase, course.times, contact)]))
    over = _when(phase, course.times, contact + float(style.mix(OVER_WALK, OVER_RUN)[0]))
    s = float(course.along(over))
    # Beyond the sampled times the course continues at its last speed.
    s += float(course.speed[0]) * min(over - course.times[0], 0.0)
    return s + float(course.speed[-1]) * max(over - course.times[-1], 0.0)


def _stance(course: Course, gait: StepGait, phase: Array, side: str, contact: float, last: float) -> Stance:
    """The stance of a foot that lands at a phase; `last`: displacement of the one before, metres."""
    begin = _when(phase, course.times, contact)
    style = gait.style(np.array([begin]))
    duty = float(style.duty[0])
    end = _when(phase, course.times, contact + duty)
    flat = begin + float(style.mix(0.17, 0.25)[0]) * (end - begin)
    rise = begin + float(style.mix(0.50, 0.42)[0]) * (end - begin)
    over = _over(course, gait, phase, contact, style)
    place, heading = _footprint(course, gait, side, over, begin, style=style)
    forward = float(gait.forward(np.array([begin]))[0])
    # without forward travel the whole foot is put down
    rolled = max(forward, _FLAT)
    strike, push = rolled * float(style.strike[0]), rolled * float(style.push[0])
    stood, z, slope = gait.terrain.foothold(place, heading, last=last)
    moved = float((stood - place) @ facing(heading))
    running = float(style.mix(0.0, 1.0)[0])
    return Stance(begin, flat, rise, end, stood, heading, strike, push, running, forward, z, moved, slope)


def _footprint(
    course: Course,
    gait: StepGait,
    side: str,
    s: float,
    t: float,
    half: float | None = None,
    style: GaitStyle | None = None,
) -> tuple[Array, float]:
    """Ankle (2,) of a foot that stands flat beside the curve at `s`, and the heading of its toes."""
    sign = 1.0 if side == "left" else -1.0
    style = style or gait.style(np.array([t]))
    at = np.array([s])
    heading = float(course.curve.heading(at)[0])
    half = float(gait.half_width(style, np.array([t]))[0]) if half is None else half
    # In a turn the body leans inwards, so the feet go outside it.
    lean = float(np.interp(t, course.times, course.speed)) ** 2 * float(course.curve.bend(at)[0]) / 9.81
    place = course.curve.at(at)[0] + (sign * half - gait.lean * lean * gait.leg) * leftwards(heading)
    toe_out = TOE_OUT * float(style.mix(1.0, 0.5)[0])
    return place, heading + sign * toe_out
