"""Walking and running: clips made from published gait curves for any character."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter1d

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion import captured
from elbowroom.locomotion import course as courses
from elbowroom.locomotion.clearance import arms_clear, feet_clear
from elbowroom.locomotion.course import Course
from elbowroom.locomotion.figure import LONGEST_S, MOST_FRAMES, SIDES, Figure, check, check_time, figure
from elbowroom.locomotion.gait import perform
from elbowroom.locomotion.gait_tables import Style
from elbowroom.locomotion.legs_apart import MARGIN, MARGIN_RUNNING, too_close
from elbowroom.locomotion.library import ClipLibrary
from elbowroom.locomotion.route import TURN_M, Route
from elbowroom.locomotion.steps import Footprints, Gait, Start, plan
from elbowroom.locomotion.terrain import LEVEL, Stairs, Terrain
from elbowroom.motion.clip import Clip

STANDS_S, _STAYS_S = 0.5, 0.25  # seconds of standing before and after a walk
NO_FEET: Footprints = {}
_SOON_M, _LEADS = 0.3, 0.2  # metres of a way whose direction tells which foot leads, and the share to the left of it
_STRIDE_TURN, _STRIDE_ASIDE_M = np.radians(75.0), 0.4  # of the body in one stride, two steps
_LANDED_M_S = 0.02  # a foot that is slower stands
_PAD = 2.2  # seconds made before and after a clip, so that its ends are like its middle
_TURNING = 0.037  # metres wider on each side for each rad/s of turn
_TIGHTER, _TURNS_WIDE = 0.05, 0.4  # metres wider for each rad/s of turn beyond so many rad/s
_TIP = 0.07  # metres of the reference leg
_ROUNDS = 6  # of stepping wider where the legs come too close
_SWINGS_WIDER = 3.0  # the same for a foot in the air
_SLOWLY_M_S = 0.2  # of who steps on stairs at the least
_END_M = 0.3  # metres of a way that its last steps are on
RATE_WALK, _RATE_RUN = 60.0, 120.0  # frames per second that a gait is worked out at, at least


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
    the walk is blended from its recorded cycles, at the speeds and turn rates that it has; without, made from tables.
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
    return _made(body, going, fps, seconds, seed, run=change, name="walk to run")


def walk_along(
    character: Character,
    path: ArrayLike | Callable[[float], ArrayLike],
    speed: float = 1.2,
    *,
    fps: float = 60.0,
    seed: int = 0,
    library: ClipLibrary | None = None,
) -> Clip:
    """Walk along a path on the floor from standing to standing, facing where it leads, slower in tight turns.

    path: points (N, 2) in metres that a smooth curve is laid through, or a callable from 0..1 to such points. With a
    library the walk is blended from its recorded cycles, slower where nobody was recorded as fast.
    """
    check("walking speed", speed, 0.6, 1.8, "m/s")
    check_time(1.0, fps)
    curve = courses.through(path, longest=speed * min(LONGEST_S, MOST_FRAMES / fps))
    body = figure(character)
    rate = inner_rate(fps, RATE_WALK)
    going = courses.from_rest_to_rest(curve, speed, rate, 1.5, captured.fastest(body, curve, library))
    seconds = float(going.times[-1]) - 0.6
    return _made(body, going, fps, seconds, seed, start=True, stop=True, first=-0.5, name="walk along", library=library)


def _in_range(body: Figure, library: ClipLibrary, family: str, speed: float, turn: float) -> None:
    """`BadValue` unless a library has walks or runs of that speed (m/s) and turn rate (degrees/s)."""
    if not (np.isfinite(speed) and np.isfinite(turn) and speed > 0.0):
        raise BadValue(f"a walk has a positive speed and a finite turn rate, not {speed:g} m/s and {turn:g} degrees/s.")
    fastest = captured.fastest(body, courses.arc(1.0, np.radians(turn) / speed), library, family=family)
    most = float(fastest(np.array([0.5]))[0]) if fastest is not None else np.inf
    if speed > most + 1e-9:
        raise BadValue(
            f"'{library.name}' has no {family} at {speed:g} m/s turning by {turn:g} degrees per second; on that curve "
            f"it goes up to {most:.2f} m/s for {body.character.name}."
        )


def walk_route(
    character: Character,
    route: Route,
    speed: float = 1.2,
    *,
    fps: float = 60.0,
    seed: int = 0,
    feet: Footprints = NO_FEET,
    last: Footprints = NO_FEET,
    library: ClipLibrary | None = None,
    low: Callable[[Array], Array] | None = None,
    terrain: Terrain = LEVEL,
    not_before: Callable[[Array], Array] | None = None,
) -> Clip:
    """Walk along a route from standing to standing; `feet` and `last` are where they stand first and in the end.

    `terrain` is the ground that feet stand on; `low` the share (N,) of crouching at ways (N,),
    for a library that has crouched walks; `not_before` when ways (N,) may be reached at the earliest, seconds after
    setting out. The clip begins about `STANDS_S` before the
    first foot leaves the ground, and ends shortly after the last one landed.
    """
    body = figure(character)
    # who is to be fast runs where the way allows it
    runs = speed > captured.WALKS * np.sqrt(body.scale)
    rate = inner_rate(fps, _RATE_RUN if runs else RATE_WALK)
    fastest = captured.fastest(body, route, library, low, "run" if runs else "walk")
    stairs = Stairs.on(route, terrain)
    if stairs is not None:
        fastest = _on_stairs(stairs, body.scale, fastest)
    going = courses.from_rest_to_rest(route, speed, rate, 2.5, fastest, not_before)
    if low is not None:
        going = replace(going, low=low(going.s))
    made = walk_course(
        character, going, fps=fps, seed=seed, feet=feet, last=last, library=library, terrain=terrain, stairs=stairs
    )
    last_frame = landed(made)
    return made.with_(root=made.root[: last_frame + 1], rotations=made.rotations[: last_frame + 1])


def landed(clip: Clip) -> int:
    """Frame of a walk at which both feet have stood for a moment after the last of them landed."""
    feet = [clip.character.role(f"{side}_foot") for side in SIDES]
    steps = np.linalg.norm(np.diff(clip.world()[:, feet][..., :3, 3], axis=0), axis=-1).max(axis=1) * clip.fps
    moving = np.flatnonzero(steps > _LANDED_M_S)
    last = int(moving[-1]) + 1 if len(moving) else 0
    return min(last + round(_STAYS_S * clip.fps), len(clip) - 1)


def walk_course(
    character: Character,
    going: Course,
    *,
    fps: float = 60.0,
    seed: int = 0,
    feet: Footprints = NO_FEET,
    last: Footprints = NO_FEET,
    library: ClipLibrary | None = None,
    terrain: Terrain = LEVEL,
    stairs: Stairs | None = None,
) -> Clip:
    """Walk a course from standing to standing, from `STANDS_S` before it sets out until half a second before its end.

    The course is sampled at a multiple of `fps` that is 60 at least, from 2.5 s before to 2.5 s after the way.
    """
    seconds = float(going.times[-1]) - 0.5
    if seconds * fps > MOST_FRAMES:
        raise BadValue(f"a walk of {seconds:.0f} s exceeds the limit of {MOST_FRAMES} frames at {fps:g} a second.")
    return _made(
        figure(character), going, fps, seconds, seed, start=True, stop=True, first=-STANDS_S, name="walk",
        feet=feet, last=last, library=library, terrain=terrain, stairs=stairs,
    )  # fmt: skip


def _go(
    character: Character, speed: float, turn: float, seconds: float, fps: float, seed: int, start: bool, stop: bool,
    run: float, name: str, library: ClipLibrary | None = None,
) -> Clip:  # fmt: skip
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
        raise BadValue(f"{seconds} s are too short to start and stop a walk; use 3 s or more.")
    # what comes before a clip that is under way lies on the same circle, not straight behind
    before = 0.0 if start else speed * (_PAD + 1.0)
    going = courses.steady(courses.arc(length, np.radians(turn) / speed, before), times, v)
    return _made(body, going, fps, seconds, seed, start=start, stop=stop, run=run, name=name, library=library)


def _made(
    body: Figure, course: Course, fps: float, seconds: float, seed: int, *, start: bool = False,
    stop: bool = False,
    run: ArrayLike = 0.0, first: float = 0.0, name: str, feet: Footprints = NO_FEET, last: Footprints = NO_FEET,
    library: ClipLibrary | None = None,
    terrain: Terrain = LEVEL, stairs: Stairs | None = None,
) -> Clip:  # fmt: skip
    """The clip from time `first` to `seconds` of a course that is sampled at a multiple of the frame rate."""
    times, pace = course.times, np.sqrt(body.scale)
    share = np.broadcast_to(np.asarray(run, dtype=float), times.shape)
    style = Style(course.speed / pace, share)
    # A first or last step is short but not slow: its rate belongs to the speed that is being left or reached.
    brisk = Style(np.maximum(course.speed, 0.75 * float(np.max(course.speed))) / pace if start or stop
                  else course.speed / pace, share)  # fmt: skip
    recorded = None if library is None else captured.gait(body, course, library)
    rates = brisk.stride_rate / pace if recorded is None else recorded.rate(times)
    turned = np.abs(course.curve.turn(course.s) * course.speed)
    turning = float(np.percentile(turned, 90.0))
    forward, wider = np.ones(len(times)), np.zeros(len(times))
    if isinstance(course.curve, Route):
        ahead, aside = course.curve.going(course.s).T * course.speed
        # turns and ways to the side are made in small steps
        short = np.maximum(turned / _STRIDE_TURN, np.abs(aside) / (_STRIDE_ASIDE_M * body.scale))
        rates = np.maximum(rates, gaussian_filter1d(short, 0.2 / (times[1] - times[0]), mode="nearest"))
        moving = np.maximum(np.hypot(np.hypot(ahead, aside), TURN_M * turned), 0.02)
        forward = np.where(moving > 0.02, ahead / moving, 1.0)
        # a step to the side ends before it meets the other foot; so does one into a turn tighter than most of it
        wider = 0.25 * np.abs(aside) / rates
        wider += _TIGHTER * body.scale * np.maximum(turned - max(turning, _TURNS_WIDE), 0.0)
    rates = course.steps * rates
    if stairs is not None:
        # a step from tread to tread
        tread = stairs.treads(course.s)
        rates = np.where(tread > 0.0, np.maximum(course.speed, _SLOWLY_M_S) / (2.0 * np.maximum(tread, 0.1)), rates)
        rates = gaussian_filter1d(rates, 0.1 / (times[1] - times[0]), mode="nearest")
    planned = recorded or Gait(
        style=lambda t: Style(np.interp(t, times, style.v), np.interp(t, times, share)),
        rate=np.ones_like,
        half_width=lambda s, t: _half_width(body, s, turning),
        scale=body.scale,
        leg=body.leg,
        push=1.0 if body.has("left_toes") else 0.5,
        stand=abs(float(body.at("left_thigh")[0])),
        forward=lambda t: np.interp(t, times, forward),
    )
    gait = replace(
        planned,
        terrain=terrain,
        rate=lambda t: np.interp(t, times, rates),
        half_width=lambda s, t: planned.half_width(s, t) + np.interp(t, times, wider),
    )
    # the body tips forward before the first foot leaves the ground
    standing = Start(float(np.interp(_TIP * body.scale, course.s, times)), _lead(course), feet, last) if start else None
    rate = 1.0 / (times[1] - times[0])
    # the gait is worked out, and limbs are kept apart, at the inner rate, so that the frame rate only samples
    count = round((seconds - first) * fps)
    begin = round((first - times[0]) * rate)
    every = round(rate / fps)
    frames = np.clip(begin + np.arange(count * every + 1), 0, len(times) - 1)
    aside_by: Array | float = 0.0
    for turn in range(_ROUNDS):
        steps = replace(plan(course, gait, standing, stop, first_phase=0.05), aside=aside_by)
        # the body goes where its feet are
        gone = replace(course, s=course.s + steps.ahead(times)) if stairs is not None else course
        if library is not None:
            turns, root = captured.perform(body, gone, steps, library, terrain, seed, rate)
        else:
            turns, root = perform(body, gone, steps, style, terrain, seed, rate)
        kept = {role: q[frames] if q.ndim == 2 else q for role, q in turns.items()}
        missing = too_close(body, kept, root[frames], rate, MARGIN_RUNNING if share.any() else MARGIN)
        if not missing.any():
            break
        missing = np.interp(times, times[frames], missing)
        # thighs part less than the feet do, and hips least: what is still missing counts more each time
        missing = (1.0 + turn) * missing
        wider = wider + missing
        if isinstance(course.curve, Route) or library is not None:
            # what swings past goes farther out, and who ends with a turn stands wider
            aside_by = aside_by + _SWINGS_WIDER * missing
            gait = replace(
                gait, stand=gait.stand + float(missing[course.s > course.curve.length - _END_M].max(initial=0.0))
            )
    made = body.clip(kept, root[frames], rate, name, clamped=body.but_legs)
    made = arms_clear(made) if course.arms else made
    return feet_clear(made.with_(fps=fps, root=made.root[::every], rotations=made.rotations[::every]))


def _on_stairs(stairs: Stairs, scale: float, fastest: Callable[[Array], Array] | None) -> Callable[[Array], Array]:
    """Highest speeds (N,), m/s, at ways (N,) that are no faster than stairs are gone."""
    return lambda s: np.minimum(stairs.fastest(s, scale), np.inf if fastest is None else fastest(s))


def _lead(course: Course) -> str:
    """The foot that goes first: on the side to which the body goes or turns, else the right one."""
    soon = np.linspace(0.0, min(_SOON_M, course.curve.length), 9)
    aside = float(np.mean(course.curve.going(soon)[:, 1])) + TURN_M * float(np.mean(course.curve.turn(soon)))
    return "left" if aside > _LEADS else "right"


def _half_width(body: Figure, style: Style, turning: float) -> Array:
    """Half the distance between the feet: published, and never so narrow that the legs touch, wider in turns.

    turning: fastest turn of the course, rad/s.
    """
    hips = abs(float(body.at("left_thigh")[0]))
    return np.maximum(0.5 * body.scale * style.step_width, style.mix(0.53, 0.56) * hips) + _TURNING * body.scale * abs(
        turning
    )


def inner_rate(fps: float, least: float) -> float:
    """Frames per second that a gait is worked out at: a multiple of the frame rate."""
    return fps * max(1, int(np.ceil(least / fps - 1e-9)))


def _times(seconds: float, fps: float, least: float) -> Array:
    """Times at an inner rate of at least so much, from before the clip to after it, with 0 among them."""
    rate = inner_rate(fps, least)
    return np.arange(-int(np.ceil(_PAD * rate)), int(np.ceil((seconds + _PAD) * rate)) + 1) / rate
