"""Walking and running: clips made from published gait curves for any character."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.kept import Arrays, contents, package_sources, remembered
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion import blend, captured
from elbowroom.locomotion import course as courses
from elbowroom.locomotion.clearance import arms_clear, feet_clear, landing_still
from elbowroom.locomotion.course import TURN_M, Course, Route
from elbowroom.locomotion.figure import LONGEST_S, MOST_FRAMES, SIDES, Figure, check, check_time, figure
from elbowroom.locomotion.gait import perform
from elbowroom.locomotion.gait_tables import GaitStyle
from elbowroom.locomotion.library import ClipLibrary
from elbowroom.locomotion.room import MARGIN, MARGIN_RUNNING, too_close
from elbowroom.locomotion.steps import Footprints, StartStance, StepGait, plan
from elbowroom.locomotion.terrain import LEVEL, Stairs, Terrain
from elbowroom.motion.clip import Clip

STANDS_S, _STAYS_S = 0.5, 0.25  # seconds of standing before and after a walk
NO_FEET: Footprints = {}
_SOON_M, _LEADS = 0.3, 0.2  # metres of path that decide which foot leads, and the threshold of their leftward share
_STRIDE_TURN, _STRIDE_ASIDE_M = np.radians(75.0), 0.4  # largest turn and sidestep of the body in one stride, two steps
_LANDED_M_S = 0.02  # a slower foot stands
_PAD = 2.2  # seconds generated before and after a clip, so that its ends are like its middle
_TURNING = 0.037  # metres wider on each side per rad/s of turn
_TIGHTER, _TURNS_WIDE = 0.05, 0.4  # metres wider per rad/s of turn beyond so many rad/s
_TIP = 0.07  # metres of the reference leg
_ROUNDS = 6  # iterations of stepping wider where the legs come too close
_SWINGS_WIDER = 3.0  # factor for a foot in the air
_SLOWLY_M_S = 0.2  # slowest speed on stairs
_END_M = 0.3  # length of a path below its last steps, metres
RATE_WALK, _RATE_RUN = 60.0, 120.0  # lowest frame rates at which a gait is computed


@dataclass(frozen=True, kw_only=True)
class WalkOptions:
    """Options of a walk from standing to standing, at a speed in m/s; it ends on footprints `last`, if given.

    `terrain` is the ground; `library` has recorded cycles to blend, without one the walk is made from tables. `low` is
    the share (N,) of crouching at travel (N,), for a library that has crouched walks; `still_arms` is the share (N,) of
    hanging still, not swinging, of arms at places (N, 2), with a library; `not_before` gives the earliest time of
    travel (N,), seconds after departure. With `on_frames` feet land and leave at frames, see `Steps`.
    """

    speed: float = 1.2
    fps: float = 60.0
    seed: int = 0
    last: Footprints = field(default_factory=dict)
    terrain: Terrain = LEVEL
    library: ClipLibrary | None = None
    low: Callable[[Array], Array] | None = None
    still_arms: Callable[[Array], Array] | None = None
    not_before: Callable[[Array], Array] | None = None
    on_frames: bool = False


def walk(
    character: Character,
    speed: float = 1.3,
    turn: float = 0.0,
    seconds: float = 4.0,
    fps: float = 60.0,
    *,
    seed: int = 0,
    start: bool = False,
    stop: bool = False,
    library: ClipLibrary | None = None,
) -> Clip:
    """Walk at `speed` (0.6 to 1.8 m/s) from the origin, facing -Y, turning left by `turn` (degrees/s, -60 to 60).

    With `start` the clip begins standing, with `stop` it ends so; the time for it is part of `seconds`. With a library
    the walk is blended from its recorded cycles, within their speeds and turn rates; otherwise it is made from tables.
    """
    if library is not None:
        check_time(seconds, fps)
        _in_range(figure(character), library, "walk", speed, turn)
        return _go(character, speed, turn, seconds, fps, seed, start, stop, run=0.0, name="walk", library=library)
    check("walking speed", speed, 0.6, 1.8, "m/s")
    check("turn", turn, -60.0, 60.0, "degrees per second")
    check_time(seconds, fps)
    return _go(character, speed, turn, seconds, fps, seed, start, stop, run=0.0, name="walk")


def run(
    character: Character,
    speed: float = 3.0,
    turn: float = 0.0,
    seconds: float = 3.0,
    fps: float = 60.0,
    *,
    seed: int = 0,
    library: ClipLibrary | None = None,
) -> Clip:
    """Run at `speed` (2.2 to 4 m/s) from the origin, facing -Y, turning left by `turn` (degrees/s, -60 to 60).

    With a library the run is blended from its recorded cycles.
    """
    check("running speed", speed, 2.2, 4.0, "m/s")
    check("turn", turn, -60.0, 60.0, "degrees per second")
    check_time(seconds, fps)
    if library is not None:
        _in_range(figure(character), library, "run", speed, turn)
    return _go(character, speed, turn, seconds, fps, seed, False, False, run=1.0, name="run", library=library)


def walk_to_run(
    character: Character,
    walking: float = 1.5,
    running: float = 3.0,
    seconds: float = 6.0,
    fps: float = 60.0,
    *,
    seed: int = 0,
) -> Clip:
    """Walk at one speed, then speed up into a run at another, straight ahead from the origin, facing -Y.

    The change begins after a third of the time and takes about a third of it.
    """
    check("walking speed", walking, 0.6, 1.8, "m/s")
    check("running speed", running, 2.2, 4.0, "m/s")
    check_time(seconds, fps)
    body = figure(character)
    times = _times(seconds, fps, _RATE_RUN)
    # People change to a run at about 2 m/s (Hreljac 1995).
    x = (times - seconds / 3.0) / max(seconds / 3.0, 0.8)
    speed = walking + (running - walking) * smootherstep(x)
    change = smootherstep((speed - 1.75 * np.sqrt(body.scale)) / (0.45 * np.sqrt(body.scale)))
    going = courses.steady(courses.arc(running * (seconds + 2 * _PAD), 0.0, running * (_PAD + 1.0)), times, speed)
    options = WalkOptions(fps=fps, seed=seed)
    return _made(body, going, options, (0.0, seconds), run=change).with_(name="walk to run")


def walk_along(
    character: Character,
    path: ArrayLike | Callable[[float], ArrayLike],
    speed: float = 1.2,
    *,
    fps: float = 60.0,
    seed: int = 0,
    library: ClipLibrary | None = None,
) -> Clip:
    """Walk along a path on the floor from standing to standing, facing along it, slower in tight turns.

    path: points (N, 2) in metres for a smooth curve, or a callable from 0..1 to such points. With a library the walk is
    blended from its recorded cycles, slower where none is as fast.
    """
    check("walking speed", speed, 0.6, 1.8, "m/s")
    check_time(1.0, fps)
    curve = courses.through(path, longest=speed * min(LONGEST_S, MOST_FRAMES / fps))
    body = figure(character)
    rate = inner_rate(fps, RATE_WALK)
    going = courses.from_rest_to_rest(curve, speed, rate, 1.5, blend.fastest(body, curve, library))
    seconds = float(going.times[-1]) - 0.6
    options = WalkOptions(fps=fps, seed=seed, library=library)
    return _made(body, going, options, (-0.5, seconds), (True, True)).with_(name="walk along")


def _in_range(body: Figure, library: ClipLibrary, family: str, speed: float, turn: float) -> None:
    """`BadValue` unless a library has walks or runs of that speed (m/s) and turn rate (degrees/s)."""
    if not (np.isfinite(speed) and np.isfinite(turn) and speed > 0.0):
        raise BadValue(
            f"a walk needs a positive speed and a finite turn rate, not {speed:g} m/s and {turn:g} degrees/s."
        )
    fastest = blend.fastest(body, courses.arc(1.0, np.radians(turn) / speed), library, family=family)
    most = float(fastest(np.array([0.5]))[0]) if fastest is not None else np.inf
    if speed > most + 1e-9:
        raise BadValue(
            f"'{library.name}' has no {family} at {speed:g} m/s turning by {turn:g} degrees per second; on that curve "
            f"it goes up to {most:.2f} m/s for {body.character.name}."
        )


def walk_route(
    character: Character,
    route: Route,
    options: WalkOptions,
    feet: Footprints = NO_FEET,
) -> Clip:
    """Walk along a route from standing, on footprints `feet`, to standing.

    The clip begins about `STANDS_S` before the first foot leaves the ground, and ends shortly after the last landing.
    """
    body, low = figure(character), options.low
    # fast walkers run where the path allows it
    runs = options.speed > blend.WALKS * np.sqrt(body.scale)
    rate = inner_rate(options.fps, _RATE_RUN if runs else RATE_WALK)
    fastest = blend.fastest(body, route, options.library, low, "run" if runs else "walk")
    stairs = Stairs.on(route, options.terrain)
    if stairs is not None:
        fastest = _on_stairs(stairs, body.scale, fastest)
    going = courses.from_rest_to_rest(route, options.speed, rate, 2.5, fastest, options.not_before)
    if low is not None:
        going = replace(going, low=low(going.s))
    if options.still_arms is not None:
        going = replace(going, still_arms=options.still_arms(route.at(going.s)))
    made = walk_course(character, going, options, feet, stairs)
    last_frame = landed(made)
    return made.with_(root=made.root[: last_frame + 1], rotations=made.rotations[: last_frame + 1])


def landed(clip: Clip) -> int:
    """Frame of a walk at which both feet have stood for a moment after the last landing."""
    feet = [clip.character.role(f"{side}_foot") for side in SIDES]
    steps = np.linalg.norm(np.diff(clip.world()[:, feet][..., :3, 3], axis=0), axis=-1).max(axis=1) * clip.fps
    moving = np.flatnonzero(steps > _LANDED_M_S)
    last = int(moving[-1]) + 1 if len(moving) else 0
    return min(last + round(_STAYS_S * clip.fps), len(clip) - 1)


def walk_course(
    character: Character, going: Course, options: WalkOptions, feet: Footprints = NO_FEET, stairs: Stairs | None = None
) -> Clip:
    """Walk a course from standing to standing, from `STANDS_S` before departure until half a second before its end.

    The course, whose speed counts, is sampled at a multiple of `fps` that is at least 60, from 2.5 s before to 2.5 s
    after the travel.
    """
    seconds = float(going.times[-1]) - 0.5
    if seconds * options.fps > MOST_FRAMES:
        limit = f"{MOST_FRAMES} frames at {options.fps:g} a second"
        raise BadValue(f"a walk of {seconds:.0f} s exceeds the limit of {limit}.")
    return _made(figure(character), going, options, (-STANDS_S, seconds), (True, True), feet=feet, stairs=stairs)


def _go(
    character: Character, speed: float, turn: float, seconds: float, fps: float, seed: int, start: bool, stop: bool,
    run: float, name: str, library: ClipLibrary | None = None,
) -> Clip:  # fmt: skip
    """A steady gait; one that is made from tables is cached on disk."""

    def made() -> Clip:
        body = figure(character)
        times = _times(seconds, fps, _RATE_RUN if run > 0.0 else RATE_WALK)
        v = np.full(len(times), speed)
        ramp = max(speed / 0.75, 0.9)
        if start:
            v = v * smootherstep((times - 0.3) / ramp)
        if stop:
            v = v * smootherstep((seconds - 0.7 - times) / ramp)
        distance = float(np.trapezoid(np.where(times >= 0, v, 0.0), times))
        length = distance if stop else distance + speed * (_PAD + 1.0)
        if stop and distance < 0.5:
            raise BadValue(f"{seconds} s is too short to start and stop a walk; use 3 s or more.")
        # the path before a clip in progress lies on the same circle, not straight behind
        before = 0.0 if start else speed * (_PAD + 1.0)
        going = courses.steady(courses.arc(length, np.radians(turn) / speed, before), times, v)
        options = WalkOptions(fps=fps, seed=seed, library=library)
        return _made(body, going, options, (0.0, seconds), (start, stop), run).with_(name=name)

    if library is not None:
        return made()
    about = (speed, turn, seconds, fps, seed, start, stop, run)
    held = remembered("gaits", (package_sources(), *about, *contents(character)), lambda: _frames(made()))
    return Clip(character, fps, held["root"], held["rotations"], name=name)


def _frames(clip: Clip) -> Arrays:
    return {"root": clip.root, "rotations": clip.rotations}


def _made(
    body: Figure,
    course: Course,
    options: WalkOptions,
    span: tuple[float, float],
    stands: tuple[bool, bool] = (False, False),
    run: ArrayLike = 0.0,
    feet: Footprints = NO_FEET,
    stairs: Stairs | None = None,
) -> Clip:
    """The clip of a span in seconds of a course that is sampled at a multiple of the frame rate.

    `stands` says whether it begins and ends standing; `run` is the share (N,) of running.
    """
    times, terrain, library = course.times, options.terrain, options.library
    share = np.broadcast_to(np.asarray(run, dtype=float), times.shape)
    style = GaitStyle(course.speed / np.sqrt(body.scale), share)
    planned, wider = _gait(body, course, options, style, any(stands), stairs)
    gait = replace(planned, half_width=lambda s, t: planned.half_width(s, t) + np.interp(t, times, wider))
    # the body tips forward before the first foot leaves the ground
    go = float(np.interp(_TIP * body.scale, course.s, times))
    standing = StartStance(go, _lead(course), feet, options.last) if stands[0] else None
    rate = 1.0 / (times[1] - times[0])
    # the gait is computed, and limbs are kept apart, at the inner rate, so that the frame rate only samples
    count = round((span[1] - span[0]) * options.fps)
    begin = round((span[0] - times[0]) * rate)
    every = round(rate / options.fps)
    frames = np.clip(begin + np.arange(count * every + 1), 0, len(times) - 1)
    aside_by: Array | float = 0.0
    for attempt in range(_ROUNDS):
        steps = replace(plan(course, gait, standing, stands[1], first_phase=0.05), aside=aside_by)
        steps = steps.on_frames(options.fps) if options.on_frames else steps
        # the body follows its feet
        gone = replace(course, s=course.s + steps.ahead(times)) if stairs is not None else course
        if library is not None:
            turns, root = captured.perform(body, gone, steps, library, terrain, options.seed, rate)
        else:
            turns, root = perform(body, gone, steps, style, terrain, options.seed, rate)
        kept = {role: q[frames] if q.ndim == 2 else q for role, q in turns.items()}
        missing = too_close(body, kept, root[frames], rate, MARGIN_RUNNING if share.any() else MARGIN)
        if not missing.any():
            break
        # thighs part less than the feet do, and hips least: what is still missing counts more each time
        missing = (1.0 + attempt) * np.interp(times, times[frames], missing)
        wider = wider + missing
        if isinstance(course.curve, Route) or library is not None:
            # swinging feet pass farther out, and a walk that ends in a turn stands wider
            aside_by = aside_by + _SWINGS_WIDER * missing
            last = float(missing[course.s > course.curve.length - _END_M].max(initial=0.0))
            gait = replace(gait, stand=gait.stand + last)
    made = body.clip(kept, root[frames], rate, "walk", clamped=body.but_legs)
    made = arms_clear(made) if course.arms else made
    made = made.with_(fps=options.fps, root=made.root[::every], rotations=made.rotations[::every])
    return feet_clear(landing_still(made, steps, span[0]) if options.on_frames else made)


def _gait(
    body: Figure, course: Course, options: WalkOptions, style: GaitStyle, rests: bool, stairs: Stairs | None
) -> tuple[StepGait, Array]:
    """Step planning data of a course, and the extra half width of its steps (N,), metres."""
    times, pace, share = course.times, np.sqrt(body.scale), np.asarray(style.run)
    # First and last steps are short but not slow: their rate belongs to the speed that is being left or reached.
    brisk = GaitStyle(np.maximum(course.speed, 0.75 * float(np.max(course.speed))) / pace, share) if rests else style
    recorded = None if options.library is None else captured.gait(body, course, options.library)
    rates = course.steps * (brisk.stride_rate / pace if recorded is None else recorded.rate(times))
    turned = np.abs(course.curve.turn(course.s) * course.speed)
    turning = float(np.percentile(turned, 90.0))
    forward, wider = np.ones(len(times)), np.zeros(len(times))
    if isinstance(course.curve, Route):
        ahead, aside = course.curve.going(course.s).T * course.speed
        # turns and sideways travel are made in small steps
        short = np.maximum(turned / _STRIDE_TURN, np.abs(aside) / (_STRIDE_ASIDE_M * body.scale))
        short = scipy.ndimage.gaussian_filter1d(short, 0.2 / (times[1] - times[0]), mode="nearest")
        rates = np.maximum(rates, short)
        moving = np.maximum(np.hypot(np.hypot(ahead, aside), TURN_M * turned), 0.02)
        forward = np.where(moving > 0.02, ahead / moving, 1.0)
        # a step to the side ends before it meets the other foot; so does one into a very tight turn
        wider = 0.25 * np.abs(aside) / rates
        wider += _TIGHTER * body.scale * np.maximum(turned - max(turning, _TURNS_WIDE), 0.0)
    if stairs is not None:
        # a step from tread to tread
        tread = stairs.treads(course.s)
        rates = np.where(tread > 0.0, np.maximum(course.speed, _SLOWLY_M_S) / (2.0 * np.maximum(tread, 0.1)), rates)
        rates = scipy.ndimage.gaussian_filter1d(rates, 0.1 / (times[1] - times[0]), mode="nearest")
    planned = recorded or StepGait(
        style=lambda t: GaitStyle(np.interp(t, times, style.v), np.interp(t, times, share)),
        rate=np.ones_like,
        half_width=lambda s, t: _half_width(body, s, turning),
        scale=body.scale,
        leg=body.leg,
        push=1.0 if body.has("left_toes") else 0.5,
        stand=abs(float(body.at("left_thigh")[0])),
        forward=lambda t: np.interp(t, times, forward),
    )
    return replace(planned, terrain=options.terrain, rate=lambda t: np.interp(t, times, rates)), wider


def _on_stairs(stairs: Stairs, scale: float, fastest: Callable[[Array], Array] | None) -> Callable[[Array], Array]:
    """Highest speeds (N,), m/s, at positions (N,), no faster than usual on stairs."""
    return lambda s: np.minimum(stairs.fastest(s, scale), np.inf if fastest is None else fastest(s))


def _lead(course: Course) -> str:
    """The leading foot: on the side to which the body moves or turns, else the right one."""
    soon = np.linspace(0.0, min(_SOON_M, course.curve.length), 9)
    aside = float(np.mean(course.curve.going(soon)[:, 1])) + TURN_M * float(np.mean(course.curve.turn(soon)))
    return "left" if aside > _LEADS else "right"


def _half_width(body: Figure, style: GaitStyle, turning: float) -> Array:
    """Half the distance between the feet: published, but wide enough that legs do not touch, wider in turns.

    turning: fastest turn of the course, rad/s.
    """
    hips = abs(float(body.at("left_thigh")[0]))
    return np.maximum(0.5 * body.scale * style.step_width, style.mix(0.53, 0.56) * hips) + _TURNING * body.scale * abs(
        turning
    )


def inner_rate(fps: float, least: float) -> float:
    """Frame rate at which a gait is computed: a multiple of the output rate."""
    return fps * max(1, int(np.ceil(least / fps - 1e-9)))


def _times(seconds: float, fps: float, least: float) -> Array:
    """Times at an inner rate of at least `least`, from before the clip to after it, with 0 among them."""
    rate = inner_rate(fps, least)
    return np.arange(-int(np.ceil(_PAD * rate)), int(np.ceil((seconds + _PAD) * rate)) + 1) / rate
